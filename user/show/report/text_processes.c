// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

#include "show/report/text.h"

/* Processes that differ in rank and pid only share a line. */
struct group {
	const struct fact_process *const *members; /* in order of rank */
	size_t count;
};

static int order_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static const char *ucx_version(const struct fact_process *process)
{
	return process->ucx_count ? process->ucx[0].version : NULL;
}

static const char *ucx_layout(const struct fact_process *process)
{
	return process->ucx_count ? process->ucx[0].layout : NULL;
}

static int order_kind(const struct fact_process *a, const struct fact_process *b)
{
	int order = a->host - b->host;

	order = order ? order : order_text(a->comm, b->comm);
	order = order ? order : order_text(a->job, b->job);
	order = order ? order : order_text(a->mpi, b->mpi);
	order = order ? order : order_text(ucx_version(a), ucx_version(b));
	order = order ? order : order_text(ucx_layout(a), ucx_layout(b));
	order = order ? order : a->from_start - b->from_start;
	return order ? order : a->size - b->size;
}

static int by_kind(const void *left, const void *right)
{
	const struct fact_process *a = *(const struct fact_process *const *)left;
	const struct fact_process *b = *(const struct fact_process *const *)right;
	int order = order_kind(a, b);

	order = order ? order : a->rank - b->rank;
	return order ? order : a->index - b->index;
}

static const struct fact_process *first(const void *row)
{
	return ((const struct group *)row)->members[0];
}

static void print_host(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", first(row)->host_name ? first(row)->host_name : "unknown");
}

static void print_ranks(char *cell, size_t size, const void *row, const void *context)
{
	const struct group *group = row;

	(void)context;
	if (first(row)->rank < 0) {
		snprintf(cell, size, "unknown");
		return;
	}
	for (size_t i = 0, end; i < group->count; i = end) {
		int from = group->members[i]->rank;

		for (end = i + 1; end < group->count; end++)
			if (group->members[end]->rank != from + (int)(end - i))
				break;
		text_append(cell, size, end - i > 1 ? "%s%d-%d" : "%s%d", i ? "," : "", from,
			    group->members[end - 1]->rank);
	}
	if (first(row)->size > 0)
		text_append(cell, size, " of %d", first(row)->size);
}

static void print_pids(char *cell, size_t size, const void *row, const void *context)
{
	const struct group *group = row;

	(void)context;
	if (group->count == 1)
		snprintf(cell, size, "%u", first(row)->pid);
	else
		snprintf(cell, size, "%zu processes", group->count);
}

static void print_comm(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", first(row)->comm ? first(row)->comm : "unknown");
}

static void print_mpi(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", first(row)->mpi ? first(row)->mpi : "none");
}

static void print_ucx(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_process *process = first(row);

	(void)context;
	if (!process->ucx_count) {
		snprintf(cell, size, "none");
		return;
	}
	snprintf(cell, size, "%s", ucx_version(process) ? ucx_version(process) : "unknown");
	if (!ucx_layout(process))
		text_append(cell, size, " (layout unknown)");
	if (process->ucx_count > 1)
		text_append(cell, size, " +%d", process->ucx_count - 1);
}

static void print_seen(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", first(row)->from_start ? "start" : "attach");
}

static const struct table_column columns[] = {
	{ "PROCESSES", true, 8, 0, print_host }, { "rank", true, 14, 0, print_ranks },
	{ "pid", true, 0, 3, print_pids },       { "program", true, 8, 0, print_comm },
	{ "MPI", true, 14, 1, print_mpi },       { "UCX", true, 8, 0, print_ucx },
	{ "seen from", true, 0, 2, print_seen },
};

void text_processes(const struct text *text)
{
	static const size_t limits[TEXT_LIMITS] = { 3, 64 };
	const struct report *report = text->report;
	VEC(const struct fact_process *) all = { 0 };
	VEC(struct group) groups = { 0 };
	VEC(const void *) rows = { 0 };
	bool fold;

	for (size_t i = 0; i < report->processes.len; i++)
		if (report->processes.data[i].known)
			vec_push(&all, &report->processes.data[i].fact);
	fold = text_limit(text, all.len, limits) < all.len;
	if (all.len)
		qsort(all.data, all.len, sizeof(*all.data), by_kind);
	for (size_t i = 0; i < all.len; i++) {
		if (i && fold && !order_kind(all.data[i - 1], all.data[i]))
			groups.data[groups.len - 1].count++;
		else
			vec_push(&groups, ((struct group){ &all.data[i], 1 }));
	}
	for (size_t i = 0; i < groups.len; i++)
		vec_push(&rows, &groups.data[i]);
	if (rows.len) {
		size_t shown = text_limit(text, rows.len, limits);

		table_print(text->out, text->options,
			    &(struct table){ columns, 7, text, rows.data, shown });
		text_end(text, shown, rows.len);
	}
	vec_release(&rows);
	vec_release(&groups);
	vec_release(&all);
}
