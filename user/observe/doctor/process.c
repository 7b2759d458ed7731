// SPDX-License-Identifier: BSD-3-Clause
/*
 * The processes of this machine: the libraries they map, the probes that these would get, and why
 * a trace of a process would show nothing.
 */
#include "observe/doctor/doctor.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/readable.h"
#include "base/vec.h"
#include "observe/probe/plan.h"
#include "observe/process/layout.h"
#include "observe/process/library.h"
#include "observe/process/process.h"
#include "observe/process/remote.h"

#define COMPONENT "/mca_pml_"
#define VARIABLE "OMPI_MCA_pml="

/* Where Open MPI's builds keep the site's parameters, as the process sees it. */
static const char *const parameter_files[] = {
	"/etc/openmpi/openmpi-mca-params.conf",
	"/etc/openmpi-x86_64/openmpi-mca-params.conf",
	"/opt/openmpi/etc/openmpi-mca-params.conf",
};

static FILE *open_of(pid_t pid, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return readable_open(path);
}

/*
 * Name of the point-to-point layer (PML) that an Open MPI process runs on: "ucx", "ob1", "cm"; ""
 * where none is mapped (yet). Open MPI unloads the PML components that it does not use, so the one
 * that stays mapped is the one in use (seen with 4.1.4: a plain run keeps mca_pml_ob1.so, one over
 * UCX mca_pml_ucx.so).
 */
static void openmpi_pml(pid_t pid, char *pml, size_t size)
{
	FILE *maps = open_of(pid, "maps");
	char *line = NULL, *name;
	size_t capacity = 0;

	pml[0] = '\0';
	while (maps && xgetline(&line, &capacity, maps) > 0) {
		name = strstr(line, COMPONENT);
		if (!name)
			continue;
		name += strlen(COMPONENT);
		name[strcspn(name, ".\n")] = '\0';
		snprintf(pml, size, "%s", name);
		/* several: MPI_Init is still choosing, or UCX won and another was kept */
		if (!strcmp(name, "ucx"))
			break;
	}
	free(line);
	if (maps)
		fclose(maps);
}

static bool from_environment(pid_t pid, char *setting, size_t size)
{
	FILE *file = open_of(pid, "environ");
	char *entry = NULL;
	size_t capacity = 0;
	bool found = false;

	while (file && !found && getdelim(&entry, &capacity, '\0', file) > 0) {
		found = !strncmp(entry, VARIABLE, strlen(VARIABLE));
		if (found)
			snprintf(setting, size, "%s", entry);
	}
	free(entry);
	if (file)
		fclose(file);
	return found;
}

static bool is_pml_line(char *line)
{
	size_t length = strlen(line);

	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = '\0';
	return !strncmp(line, "pml", 3) && line[3 + strspn(line + 3, " \t")] == '=';
}

#define PARAMETERS_MAX 65536 /* bytes of such a file */

/* Reads in the process's own root, which may be a file system that any user provides. */
static bool from_file(pid_t pid, const char *path, char *setting, size_t size)
{
	char name[256], *text = xmalloc(PARAMETERS_MAX), *rest = text, *line;
	bool found = false;
	long got;

	snprintf(name, sizeof(name), "/proc/%d/root%s", pid, path);
	got = remote_read_text(name, text, PARAMETERS_MAX - 1);
	text[got > 0 ? got : 0] = '\0';
	while ((line = strsep(&rest, "\n"))) {
		char *start = line + strspn(line, " \t");

		if (!is_pml_line(start))
			continue;
		found = true;
		snprintf(setting, size, "%s", start);
	}
	free(text);
	return found;
}

/*
 * The setting that decides about the PML: "pml = ^ucx", and the file or variable it comes from.
 * False where none is set. The environment comes before the site's file, as in Open MPI.
 */
static bool openmpi_pml_setting(pid_t pid, char *setting, size_t size, const char **where)
{
	*where = "the environment";
	if (from_environment(pid, setting, size))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(parameter_files); i++) {
		*where = parameter_files[i];
		if (from_file(pid, *where, setting, size))
			return true;
	}
	return false;
}

/* A program without an interpreter is linked statically (vdso aside, it maps no library). */
static bool is_static(pid_t pid)
{
	char path[64];
	struct elf *elf;
	bool is_static;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (elf_load(&elf, path))
		return false;
	is_static = !elf_has_interpreter(elf);
	elf_free(elf);
	return is_static;
}

static const struct library *find_role(const mapped_libraries *libraries, unsigned int role)
{
	for (size_t i = 0; i < libraries->len; i++)
		if (libraries->data[i].library->roles & role)
			return libraries->data[i].library;
	return NULL;
}

static const char *mpi_name(const struct library *mpi)
{
	return mpi->mpi_version[0] ? mpi->mpi_version : mpi->path;
}

static void explain_other_pml(struct doctor *doctor, pid_t pid, const char *pml)
{
	char setting[128];
	const char *where;

	if (openmpi_pml_setting(pid, setting, sizeof(setting), &where))
		doctor_problem(doctor, PROBLEM_OB1_CONFIGURED, pml, setting, where);
	else
		doctor_problem(doctor, PROBLEM_OTHER_PML, pml);
}

static void explain_openmpi(struct doctor *doctor, pid_t pid, const struct library *mpi, bool ucx)
{
	char pml[32];

	openmpi_pml(pid, pml, sizeof(pml));
	if (!pml[0] && !ucx)
		doctor_problem(doctor, PROBLEM_MPI_NOT_STARTED, mpi_name(mpi));
	else if (pml[0] && strcmp(pml, "ucx") != 0 && ucx)
		doctor_problem(doctor, PROBLEM_UCX_UNUSED, pml);
	else if (pml[0] && strcmp(pml, "ucx") != 0)
		explain_other_pml(doctor, pid, pml);
}

/* Adds the problem if a process with these libraries would show nothing. */
static void doctor_explain(struct doctor *doctor, pid_t pid, const mapped_libraries *libraries)
{
	const struct library *mpi = find_role(libraries, LIB_MPI);
	const struct library *ucp = find_role(libraries, LIB_UCP);
	const struct library *uct = find_role(libraries, LIB_UCT);

	if (mpi && mpi->mpi == MPI_OPEN_MPI)
		explain_openmpi(doctor, pid, mpi, ucp != NULL);
	else if (mpi && !ucp)
		doctor_problem(doctor, PROBLEM_MPI_WITHOUT_UCX, mpi_name(mpi));
	else if (!mpi && !ucp && !uct)
		doctor_problem(doctor, is_static(pid) ? PROBLEM_STATIC : PROBLEM_NOTHING_MAPPED);
	if (ucp && !uct)
		doctor_problem(doctor, PROBLEM_NO_MODULES);
}

static const char *const classes[] = {
	[PLACE_NOP5] = "optimised",
	[PLACE_EMULATED] = "emulated",
	[PLACE_STEPPED] = "single-stepped",
	[PLACE_REFUSED] = "refused",
};

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
static int add_sites(json_t *out, const struct probe_plan *plan)
{
	json_t *sites = json_array(), *count = json_object();
	int by_class[ARRAY_SIZE(classes)] = { 0 };

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
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		json_object_set_new(count, classes[i], json_integer(by_class[i]));
	json_object_set_new(out, "sites", sites);
	json_object_set_new(out, "left_out", symbols(plan->left_out.data, plan->left_out.len));
	json_object_set_new(out, "missing", symbols(plan->missing.data, plan->missing.len));
	json_object_set_new(out, "places", count);
	return (int)json_array_size(sites) - by_class[PLACE_REFUSED];
}

static void add_plan(struct doctor *doctor, json_t *out, const struct library *library)
{
	struct probe_plan plan = { 0 };
	int err = plan_library(&plan, library, LEVEL_UCT);
	int found = err < 0 ? 0 : add_sites(out, &plan);
	char number[24];

	if (!found && library->roles & (LIB_MPI | LIB_UCP | LIB_UCT))
		doctor_problem(doctor, PROBLEM_NO_SITES, library->path);
	snprintf(number, sizeof(number), "%zu", plan.left_out.len);
	if (plan.left_out.len)
		doctor_problem(doctor, PROBLEM_LEFT_OUT, library->path, number);
	plan_release(&plan);
}

/* One library of a process as JSON, with its sites if plan is true; adds problems of that library.
 */
static json_t *doctor_library(struct doctor *doctor, const struct mapped_library *mapped, bool plan)
{
	const struct library *library = mapped->library;
	char version[80];
	json_t *out;

	version_text(library, version, sizeof(version));
	out = json_pack("{s:s, s:s, s:o, s:s?, s:s?, s:I}", "path", library->path, "build_id",
			elf_build_id(library->elf), "roles", library_roles_json(library->roles),
			"version", version[0] ? version : NULL, "layout",
			library->layout ? library->layout->name : NULL, "base",
			(json_int_t)mapped->base);
	if (!plan)
		return out;
	add_plan(doctor, out, library);
	if (library->roles & LIB_UCP && !library->layout)
		doctor_problem(doctor, PROBLEM_UNKNOWN_BUILD, library->path);
	return out;
}

#define WORTH_LISTING (LIB_MPI | LIB_UCP | LIB_UCT)

/* A process as JSON without its libraries: pid, comm, exe; NULL where it is gone. */
static json_t *doctor_process_facts(pid_t pid)
{
	char path[64], comm[32] = "", exe[4096];
	FILE *file;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = readable_open(path);
	if (!file)
		return NULL;
	if (!fgets(comm, sizeof(comm), file))
		comm[0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	fclose(file);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	return json_pack("{s:i, s:s%, s:s?}", "pid", pid, "comm", comm, strlen(comm), "exe",
			 n > 0 ? exe : NULL);
}

static void add_process(struct doctor *doctor, pid_t pid, const mapped_libraries *libraries,
			bool plan)
{
	json_t *facts = doctor_process_facts(pid), *list = json_array();

	if (!facts) {
		json_decref(list);
		return;
	}
	for (size_t i = 0; i < libraries->len; i++)
		json_array_append_new(list, doctor_library(doctor, &libraries->data[i], plan));
	json_object_set_new(facts, "libraries", list);
	json_array_append_new(json_object_get(doctor->report, "processes"), facts);
}

static bool worth_listing(const mapped_libraries *libraries)
{
	for (size_t i = 0; i < libraries->len; i++)
		if (libraries->data[i].library->roles & WORTH_LISTING)
			return true;
	return false;
}

/* Whether a trace of it would show MPI calls at most. */
static bool avoids_ucx(pid_t pid, const mapped_libraries *libraries)
{
	struct doctor alone;
	bool uses_mpi = false, avoids;

	for (size_t i = 0; i < libraries->len; i++)
		uses_mpi |= libraries->data[i].library->roles & LIB_MPI;
	if (!uses_mpi)
		return false;
	doctor_init(&alone);
	doctor_explain(&alone, pid, libraries);
	avoids = alone.status != 0;
	doctor_release(&alone);
	return avoids;
}

static void name_process(char *list, size_t size, pid_t pid)
{
	size_t used = strlen(list);

	if (used < size - 16)
		snprintf(list + used, size - used, "%s%d", used ? ", " : "", pid);
	else if (list[used - 1] != '.')
		strcpy(list + used, "...");
}

void doctor_list(struct doctor *doctor)
{
	char without[160] = "";
	struct library_set set = { 0 };
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int hidden = 0;
	char number[24];

	while (proc && (entry = readdir(proc))) {
		mapped_libraries libraries = { 0 };
		pid_t pid = isdigit(entry->d_name[0]) ? atoi(entry->d_name) : 0;
		int err = pid ? process_libraries(pid, &set, &libraries) : 0;

		if (err == -EACCES || err == -EPERM)
			hidden++;
		if (!err && worth_listing(&libraries))
			add_process(doctor, pid, &libraries, false);
		if (!err && avoids_ucx(pid, &libraries))
			name_process(without, sizeof(without), pid);
		vec_release(&libraries);
	}
	if (proc)
		closedir(proc);
	library_set_release(&set);
	snprintf(number, sizeof(number), "%d", hidden);
	if (*without)
		doctor_problem(doctor, PROBLEM_AVOIDS_UCX, without);
	/* root is refused only where the process is protected from everyone */
	if (hidden && geteuid())
		doctor_problem(doctor, PROBLEM_HIDDEN, number);
	else if (!json_array_size(json_object_get(doctor->report, "processes")))
		doctor_problem(doctor, PROBLEM_NOBODY);
}

static void explain_error(struct doctor *doctor, pid_t pid, int err)
{
	char number[24];

	snprintf(number, sizeof(number), "%d", pid);
	if (err == -ESRCH || err == -ENOENT)
		doctor_problem(doctor, PROBLEM_NO_PROCESS, number);
	else if (err == -EOPNOTSUPP)
		doctor_problem(doctor, PROBLEM_NOT_64BIT);
	else
		doctor_problem(doctor, PROBLEM_NOT_READABLE, strerror(-err));
}

void doctor_process(struct doctor *doctor, pid_t pid)
{
	struct library_set set = { 0 };
	mapped_libraries libraries = { 0 };
	int err = process_libraries(pid, &set, &libraries);

	if (err < 0) {
		explain_error(doctor, pid, err);
	} else {
		add_process(doctor, pid, &libraries, true);
		doctor_explain(doctor, pid, &libraries);
	}
	vec_release(&libraries);
	library_set_release(&set);
}
