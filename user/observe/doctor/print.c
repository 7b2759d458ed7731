// SPDX-License-Identifier: BSD-3-Clause
/* The text of a report. */
#include "observe/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/text.h"
#include "base/vec.h"

/* A member's text, "-" where it has none. */
static const char *doctor_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "-";
}

static void print_strings(const char *title, const json_t *strings, FILE *out)
{
	size_t i;
	json_t *string;

	if (!json_array_size(strings))
		return;
	fprintf(out, "      %s:", title);
	json_array_foreach((json_t *)strings, i, string)
		fprintf(out, " %s", json_string_value(string));
	fputc('\n', out);
}

static void print_sites(const json_t *library, FILE *out)
{
	size_t i;
	json_t *site;

	json_array_foreach(json_object_get(library, "sites"), i, site)
		fprintf(out, "      %-3s %-40s +%-3lld %s\n", doctor_text(site, "layer"),
			doctor_text(site, "symbol"),
			(long long)json_integer_value(json_object_get(site, "delta")),
			doctor_text(site, "place"));
	print_strings("missing", json_object_get(library, "missing"), out);
}

static void print_stepped(const json_t *library, FILE *out)
{
	json_t *names = json_array(), *site;
	size_t i;

	json_array_foreach(json_object_get(library, "sites"), i, site)
	{
		if (!strcmp(doctor_text(site, "place"), "single-stepped"))
			json_array_append(names, json_object_get(site, "symbol"));
	}
	print_strings("rare and single-stepped", names, out);
	json_decref(names);
}

static void print_plan(const json_t *library, bool verbose, FILE *out)
{
	const json_t *left_out = json_object_get(library, "left_out");
	const char *place;
	json_t *count;

	fprintf(out, "      sites: %zu", json_array_size(json_object_get(library, "sites")));
	json_object_foreach(json_object_get(library, "places"), place, count)
	{
		if (json_integer_value(count))
			fprintf(out, ", %lld %s", (long long)json_integer_value(count), place);
	}
	fprintf(out, ", %zu left out, %zu missing\n", json_array_size(left_out),
		json_array_size(json_object_get(library, "missing")));
	if (verbose)
		print_sites(library, out);
	else
		print_stepped(library, out);
	print_strings("left out", left_out, out);
}

/* verbose: every site with its place. */
static void doctor_print_library(const json_t *library, bool verbose, FILE *out)
{
	size_t i;
	json_t *role;

	fprintf(out, "    %s\n     ", doctor_text(library, "path"));
	json_array_foreach(json_object_get(library, "roles"), i, role)
		fprintf(out, " %s", json_string_value(role));
	fprintf(out, ", version %s, layout %s, build id %s\n", doctor_text(library, "version"),
		doctor_text(library, "layout"), doctor_text(library, "build_id"));
	if (json_object_get(library, "places"))
		print_plan(library, verbose, out);
}

/* ns per hit, from measurements on Linux 6.18: docs/overhead.md. */
static const struct {
	const char *place, *cost;
} costs[] = {
	{ "optimised", "0.25 us a hit (0.55 before Linux 6.18)" },
	{ "emulated", "0.55 us" },
	{ "single-stepped", "3 to 18 us" },
};

static long long count_places(const json_t *processes, const char *place)
{
	long long sum = 0;
	json_t *process, *library;
	size_t i, k;

	json_array_foreach((json_t *)processes, i, process)
	{
		json_array_foreach(json_object_get(process, "libraries"), k, library) sum +=
			json_integer_value(
				json_object_get(json_object_get(library, "places"), place));
	}
	return sum;
}

static size_t count_left_out(const json_t *processes)
{
	size_t sum = 0, i, k;
	json_t *process, *library;

	json_array_foreach((json_t *)processes, i, process)
	{
		json_array_foreach(json_object_get(process, "libraries"), k, library) sum +=
			json_array_size(json_object_get(library, "left_out"));
	}
	return sum;
}

/* All libraries together, with what a probe there is expected to cost. */
static void doctor_print_placement(const json_t *processes, FILE *out)
{
	const size_t left_out = count_left_out(processes);
	long long count, any = 0;

	for (size_t i = 0; i < ARRAY_SIZE(costs); i++) {
		count = count_places(processes, costs[i].place);
		if (count)
			fprintf(out, "%-11s %lld sites %s: %s\n", any ? "" : "placement", count,
				costs[i].place, costs[i].cost);
		any += count;
	}
	if (!any)
		return;
	if (left_out)
		fprintf(out, "%-11s no hot site is single-stepped: %zu are left out\n", "",
			left_out);
	else
		fprintf(out, "%-11s no hot site is single-stepped\n", "");
}

static const char *yes_no(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "not known";
}

static void print_kernel(const json_t *kernel, FILE *out)
{
	fprintf(out, "kernel      %s %s: BTF %s, uprobes %s, BPF %s, links %s, lockdown %s\n",
		doctor_text(kernel, "release"), doctor_text(kernel, "machine"),
		yes_no(kernel, "btf"), yes_no(kernel, "uprobes"), yes_no(kernel, "bpf"),
		doctor_text(kernel, "links"), doctor_text(kernel, "lockdown"));
}

static void print_privileges(const json_t *privileges, FILE *out)
{
	const json_t *capabilities = json_object_get(privileges, "capabilities");
	json_int_t memlock = json_integer_value(json_object_get(privileges, "memlock_bytes"));
	const char *name;
	json_t *have;

	fprintf(out, "privileges ");
	json_object_foreach((json_t *)capabilities, name, have)
		fprintf(out, " %s %s,", name, json_is_true(have) ? "yes" : "no");
	if (memlock < 0)
		fprintf(out, " locked memory unlimited\n");
	else
		fprintf(out, " locked memory %lld KiB\n", (long long)memlock / 1024);
}

/* Without a list of sites, one line: which MPI and which UCX. */
static void print_summary(const json_t *process, FILE *out)
{
	size_t i, k;
	json_t *library, *role;
	const char *separator = ": ";

	json_array_foreach(json_object_get(process, "libraries"), i, library)
	{
		json_array_foreach(json_object_get(library, "roles"), k, role)
		{
			const char *name = json_string_value(role);

			if (!strcmp(name, "mpi"))
				fprintf(out, "%s%s", separator, doctor_text(library, "version"));
			else if (!strcmp(name, "ucp"))
				fprintf(out, "%sUCX %s (layout %s)", separator,
					doctor_text(library, "version"),
					doctor_text(library, "layout"));
			else
				continue;
			separator = ", ";
		}
	}
	fputc('\n', out);
}

static void print_processes(const json_t *processes, bool verbose, FILE *out)
{
	size_t i, k;
	json_t *process, *library, *libraries;

	json_array_foreach((json_t *)processes, i, process)
	{
		libraries = json_object_get(process, "libraries");
		fprintf(out, "process     %lld %s",
			(long long)json_integer_value(json_object_get(process, "pid")),
			doctor_text(process, "comm"));
		print_summary(process, out);
		json_array_foreach(libraries, k,
				   library) if (verbose || json_object_get(library, "places"))
			doctor_print_library(library, verbose, out);
	}
}

static void print_problems(const json_t *problems, FILE *out)
{
	size_t i;
	json_t *problem;

	json_array_foreach((json_t *)problems, i, problem)
	{
		fprintf(out, "%-11s %s\n",
			json_is_true(json_object_get(problem, "fatal")) ? "PROBLEM" : "note",
			doctor_text(problem, "text"));
		if (json_string_value(json_object_get(problem, "fix")))
			fprintf(out, "            -> %s\n", doctor_text(problem, "fix"));
	}
}

static const char *verdict(int status)
{
	switch (status) {
	case UCXBPF_EXIT_OK:
		return "a trace would work here";
	case UCXBPF_EXIT_PARTIAL:
		return "a trace would work here, but not show everything, see PROBLEM above";
	default:
		return "a trace would show nothing here, see PROBLEM above";
	}
}

/*
 * Names come from any user's processes: they must not contain control characters for the terminal.
 */
static void tame(json_t *value)
{
	const char *key;
	json_t *member;
	char *plain;
	size_t i;

	json_object_foreach(value, key, member) tame(member);
	json_array_foreach(value, i, member) tame(member);
	if (!json_is_string(value))
		return;
	plain = text_plain(json_string_value(value));
	json_string_set(value, plain);
	free(plain);
}

void doctor_print(const struct doctor *doctor, bool verbose, FILE *out)
{
	json_t *report = json_deep_copy(doctor->report);

	tame(report);
	print_kernel(json_object_get(report, "kernel"), out);
	print_privileges(json_object_get(report, "privileges"), out);
	print_processes(json_object_get(report, "processes"), verbose, out);
	doctor_print_placement(json_object_get(report, "processes"), out);
	print_problems(json_object_get(report, "problems"), out);
	fprintf(out, "verdict     %s\n", verdict(doctor->status));
	json_decref(report);
}
