// SPDX-License-Identifier: BSD-3-Clause
#include "observe/doctor/library.h"

#include <string.h>

#include "observe/probe/plan.h"
#include "observe/process/layout.h"

static const char *const classes[] = {
	[PLACE_NOP5] = "optimised",
	[PLACE_EMULATED] = "emulated",
	[PLACE_STEPPED] = "single-stepped",
	[PLACE_REFUSED] = "refused",
};

static json_t *role_names(unsigned int set)
{
	json_t *names = json_array();

	for (size_t i = 0; library_role_names[i].name; i++)
		if (set & library_role_names[i].role)
			json_array_append_new(names, json_string(library_role_names[i].name));
	return names;
}

static void version_text(const struct library *library, char *text, size_t size)
{
	const unsigned int *v = library->version;

	if (library->roles & LIB_MPI)
		snprintf(text, size, "%s", library->mpi_version);
	else if (v[0] || v[1] || v[2])
		snprintf(text, size, "%u.%u.%u", v[0], v[1], v[2]);
	else
		text[0] = '\0';
}

static json_t *symbols(const unsigned int *rows, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(site_row(rows[i])->symbol));
	return list;
}

/* Returns how many sites would get a probe. */
static int add_sites(json_t *out, const struct plan *plan)
{
	json_t *sites = json_array(), *count = json_object();
	int by_class[sizeof(classes) / sizeof(classes[0])] = { 0 };

	for (size_t i = 0; i < plan->probes.len; i++) {
		const struct planned_probe *probe = &plan->probes.data[i];
		const struct site *site = site_row(probe->row);

		if (probe->at_exit)
			continue;
		by_class[probe->class]++;
		json_array_append_new(
			sites, json_pack("{s:s, s:s, s:s, s:I, s:I, s:s}", "symbol", site->symbol,
					 "name", site->name, "layer", site_layer_name(site->layer),
					 "function", (json_int_t)probe->function, "delta",
					 (json_int_t)(probe->offset - probe->function), "place",
					 classes[probe->class]));
	}
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		json_object_set_new(count, classes[i], json_integer(by_class[i]));
	json_object_set_new(out, "sites", sites);
	json_object_set_new(out, "left_out", symbols(plan->left_out.data, plan->left_out.len));
	json_object_set_new(out, "missing", symbols(plan->missing.data, plan->missing.len));
	json_object_set_new(out, "places", count);
	return (int)json_array_size(sites) - by_class[PLACE_REFUSED];
}

static void add_plan(struct doctor *doctor, json_t *out, const struct library *library)
{
	struct plan plan = { 0 };
	int err = plan_library(&plan, library, LAYER_UCT);
	int found = err < 0 ? 0 : add_sites(out, &plan);
	char number[24];

	if (!found && library->roles & (LIB_MPI | LIB_UCP | LIB_UCT))
		doctor_problem(doctor, PROBLEM_NO_SITES, library->path);
	snprintf(number, sizeof(number), "%zu", plan.left_out.len);
	if (plan.left_out.len)
		doctor_problem(doctor, PROBLEM_LEFT_OUT, library->path, number);
	plan_release(&plan);
}

json_t *doctor_library(struct doctor *doctor, const struct mapped_library *mapped, bool plan)
{
	const struct library *library = mapped->library;
	char version[80];
	json_t *out;

	version_text(library, version, sizeof(version));
	out = json_pack("{s:s, s:s, s:o, s:s?, s:s?, s:I}", "path", library->path, "build_id",
			elf_build_id(library->elf), "roles", role_names(library->roles), "version",
			version[0] ? version : NULL, "layout",
			library->layout ? library->layout->name : NULL, "base",
			(json_int_t)mapped->base);
	if (!plan)
		return out;
	add_plan(doctor, out, library);
	if (library->roles & LIB_UCP && !library->layout)
		doctor_problem(doctor, PROBLEM_UNKNOWN_BUILD, library->path);
	return out;
}
