// SPDX-License-Identifier: BSD-3-Clause
/* The environment and the libraries of a run, as texts by rank and host. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/library_role.h"
#include "show/diff/internal.h"

static void set(struct diff *diff, enum diff_table_id table, uint64_t role, const char *key,
		const char *property, const char *value)
{
	const struct diff_setting setting = {
		.table = table,
		.keys = { diff_keep(diff, key), diff_keep(diff, property) },
		.role = role,
		.run = diff->runs.len - 1,
		.value = diff_keep(diff, value),
	};

	if (!value)
		return;
	if (rowset_add(&diff->settings_by_key, ROWSET_ROWS(&diff->settings, sizeof(setting)),
		       &setting) == diff->settings.len)
		vec_push(&diff->settings, setting);
}

static uint64_t role_number(struct diff *diff, enum diff_role_kind kind, uint64_t number,
			    const char *name)
{
	const struct diff_role role = { kind, number, diff_keep(diff, name) };
	const size_t at =
		rowset_add(&diff->roles_by_key, ROWSET_ROWS(&diff->roles, sizeof(role)), &role);

	if (at == diff->roles.len)
		vec_push(&diff->roles, role);
	return at;
}

/* Ranks are the same in all runs; processes without one, by their program. */
static uint64_t role_of(struct diff *diff, const struct fact_process *fact)
{
	if (fact->rank < 0)
		return role_number(diff, DIFF_PROGRAM, 0, fact->comm);
	return role_number(diff, DIFF_RANK, (uint64_t)fact->rank, NULL);
}

static void note_host(struct diff *diff, const struct fact_process *fact)
{
	struct diff_host *host;

	while (fact->host >= 0 && diff->hosts.len <= (size_t)fact->host)
		vec_add(&diff->hosts);
	if (fact->host < 0)
		return;
	host = &diff->hosts.data[fact->host];
	if (!host->known)
		*host = (struct diff_host){ true, -1, diff_keep(diff, fact->host_name) };
	if (fact->rank >= 0 && (host->first_rank < 0 || fact->rank < host->first_rank))
		host->first_rank = fact->rank;
}

static void note_run(struct diff *diff, const struct fact_process *fact)
{
	struct diff_run *run = diff_now(diff);

	run->processes++;
	run->attached = run->attached || !fact->from_start;
	run->undescribed = run->undescribed || fact->undescribed;
	run->whole = run->whole && fact->environment_cut == 0;
	run->mpi = run->mpi ? run->mpi : diff_keep(diff, fact->mpi);
	if (!run->ucx && fact->ucx_count)
		run->ucx = diff_keep(diff, fact->ucx[0].version);
}

/* The value with each job's number replaced; the caller frees it. */
static char *without_job(const char *value, const char *job)
{
	char *text = NULL;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	for (const char *at; (at = strstr(value, job)); value = at + strlen(job))
		fprintf(out, "%.*s(job)", (int)(at - value), value);
	fputs(value, out);
	fclose(out);
	return text;
}

/* A job's number in a value, as in the name of a log, is no difference. */
static void set_variable(struct diff *diff, const struct fact_process *fact,
			 const struct fact_variable *variable, uint64_t role)
{
	const char *job = fact->job && strlen(fact->job) > 2 ? fact->job : NULL;
	char *value = job && variable->value ? without_job(variable->value, job) : NULL;

	set(diff, TABLE_VARIABLES, role, variable->name, NULL, value ? value : variable->value);
	free(value);
}

static void set_process(struct diff *diff, const struct fact_process *fact, uint64_t role)
{
	char size[16];

	set(diff, TABLE_SYSTEM, role, "program", NULL, fact->exe ? fact->exe : fact->comm);
	set(diff, TABLE_SYSTEM, role, "MPI", NULL, fact_mpi_word(fact));
	set(diff, TABLE_SYSTEM, role, "cores", NULL, fact->cpus);
	snprintf(size, sizeof(size), "%d", fact->size);
	if (fact->size >= 0)
		set(diff, TABLE_SYSTEM, role, "ranks", NULL, size);
	for (int i = 0; i < fact->ucx_count; i++)
		set(diff, TABLE_SYSTEM, role, "UCX", NULL,
		    fact->ucx[i].version ? fact->ucx[i].version : "unknown");
	for (int i = 0; i < fact->environment_count; i++)
		set_variable(diff, fact, &fact->environment[i], role);
}

void diff_feed_process(struct diff *diff, const struct fact_process *fact)
{
	struct diff_member *member;

	if (fact->index < 0)
		return;
	while (diff->members.len <= (size_t)fact->index)
		vec_add(&diff->members);
	member = &diff->members.data[fact->index];
	if (!member->known)
		note_run(diff, fact);
	*member = (struct diff_member){ true, fact->host, fact->rank, role_of(diff, fact) };
	note_host(diff, fact);
	set_process(diff, fact, member->role);
}

/* ---- at the end: libraries, interfaces, hosts ---- */

static uint64_t role_at(const struct diff *diff, int process, bool *known)
{
	*known = process >= 0 && (size_t)process < diff->members.len &&
		 diff->members.data[process].known;
	return *known ? diff->members.data[process].role : 0;
}

/* There may be several of these roles: their files tell them apart, up to the version. */
static bool is_module(const char *role)
{
	return !strcmp(role, "uct_module") || !strcmp(role, "mpi_plugin");
}

/* "libuct_cma" of ".../libuct_cma.so.0.0.0". The caller frees it. */
static char *stem_of(const char *path)
{
	const char *name = basename(path);

	return xstrndup(name, library_stem(name));
}

static void set_library(struct diff *diff, const struct library_use *library)
{
	bool known;
	const uint64_t role = role_at(diff, library->process, &known);
	char *stem = stem_of(library->path);
	const char *name = is_module(library->role) ? stem : library->role;

	if (known) {
		set(diff, TABLE_LIBRARIES, role, name, "path", library->path);
		set(diff, TABLE_LIBRARIES, role, name, "build id", library->build_id);
	}
	free(stem);
}

/* In order of processes: a list of interfaces of each, which totals have in order. */
static void set_interfaces(struct diff *diff, const struct fact_totals *totals)
{
	for (int i = 0, end; i < totals->open_device_count; i = end) {
		const struct open_device *first = &totals->open_devices[i], *last = NULL;
		char *list = NULL;
		size_t size;
		bool known;
		FILE *out = xmemstream(&list, &size);
		const uint64_t role = role_at(diff, first->process, &known);

		for (end = i; end < totals->open_device_count &&
			      totals->open_devices[end].process == first->process;
		     end++) {
			const struct open_device *one = &totals->open_devices[end];

			if (last && !strcmp(last->transport, one->transport) &&
			    !strcmp(last->device, one->device))
				continue;
			fprintf(out, "%s%s/%s", last ? " " : "", one->transport, one->device);
			last = one;
		}
		fclose(out);
		if (known)
			set(diff, TABLE_SYSTEM, role, "interfaces", NULL, list);
		free(list);
	}
}

struct placed_host {
	const struct diff_host *host;
	int number; /* as facts have it */
};

/* Hosts without ranks come last, by name. */
static int by_rank(const void *left, const void *right)
{
	const struct placed_host *a = left, *b = right;
	const int first = a->host->first_rank, other = b->host->first_rank;

	if (first < 0 && other < 0)
		return strcmp(a->host->name ? a->host->name : "",
			      b->host->name ? b->host->name : "");
	if (first < 0 || other < 0)
		return first < 0 ? 1 : -1;
	return (first > other) - (first < other);
}

static void set_host(struct diff *diff, const struct fact_totals *totals,
		     const struct placed_host *placed, size_t position)
{
	const uint64_t role = role_number(diff, DIFF_HOST, position + 1, NULL);
	const struct host_system *system =
		placed->number < totals->system_count ? &totals->systems[placed->number] : NULL;
	char *name;

	set(diff, TABLE_SYSTEM, role, "host name", NULL, placed->host->name);
	if (system) {
		set(diff, TABLE_SYSTEM, role, "kernel", NULL, system->kernel);
		set(diff, TABLE_SYSTEM, role, "machine", NULL, system->machine);
	}
	for (int i = 0; i < totals->device_count; i++) {
		const struct fact_device *device = &totals->devices[i];

		if (device->host != placed->number)
			continue;
		name = xasprintf("gpu%d", device->number);
		set(diff, TABLE_SYSTEM, role, name, NULL,
		    device->model ? device->model : "unknown model");
		free(name);
	}
}

/* Hosts are numbered by the ranks on them, not by their names. */
static void set_hosts(struct diff *diff, const struct fact_totals *totals)
{
	VEC(struct placed_host) list = { 0 };

	for (size_t i = 0; i < diff->hosts.len; i++)
		if (diff->hosts.data[i].known)
			vec_push(&list, ((struct placed_host){ &diff->hosts.data[i], (int)i }));
	if (list.len)
		qsort(list.data, list.len, sizeof(*list.data), by_rank);
	for (size_t i = 0; i < list.len; i++)
		set_host(diff, totals, &list.data[i], i);
	diff_now(diff)->hosts = list.len;
	vec_release(&list);
}

static void set_job(struct diff *diff)
{
	const uint64_t role = role_number(diff, DIFF_JOB, 0, NULL);
	char count[24];

	if (diff_now(diff)->killed || diff_now(diff)->ends_known)
		set(diff, TABLE_SYSTEM, role, "ended by signals", NULL,
		    diff_now(diff)->killed ? "some processes" : "no process");
	if (diff_now(diff)->damaged) /* there may have been more */
		return;
	snprintf(count, sizeof(count), "%zu", diff_now(diff)->processes);
	set(diff, TABLE_SYSTEM, role, "processes", NULL, count);
	snprintf(count, sizeof(count), "%zu", diff_now(diff)->hosts);
	set(diff, TABLE_SYSTEM, role, "hosts", NULL, count);
}

void diff_feed_software(struct diff *diff, const struct fact_totals *totals)
{
	for (int i = 0; i < totals->library_count; i++)
		set_library(diff, &totals->libraries[i]);
	set_interfaces(diff, totals);
	set_hosts(diff, totals);
	set_job(diff);
}
