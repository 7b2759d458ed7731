// SPDX-License-Identifier: BSD-3-Clause
/* Processes, processes killed by unexpected signals, and clocks of hosts. */
#include "show/report/text.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/signals.h"
#include "base/text.h"
#include "base/units.h"
#include "base/vec.h"

/* Processes that differ only in rank and pid share a line. */
struct process_group {
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
	order = order ? order : order_text(fact_mpi(a), fact_mpi(b));
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
	return ((const struct process_group *)row)->members[0];
}

static void print_host(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", first(row)->host_name ? first(row)->host_name : "unknown");
}

static void print_ranks(char *cell, size_t size, const void *row, const void *context)
{
	const struct process_group *group = row;

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
	const struct process_group *group = row;

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
	snprintf(cell, size, "%s", fact_mpi_word(first(row)));
}

static void print_ucx(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_process *process = first(row);

	(void)context;
	if (!process->ucx_count) {
		snprintf(cell, size, "%s", process->ucx_unknown ? "unknown" : "none");
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

static const struct table_column processes_columns[] = {
	{ "PROCESSES", true, 8, 0, print_host }, { "rank", true, 14, 0, print_ranks },
	{ "pid", true, 0, 3, print_pids },       { "program", true, 8, 0, print_comm },
	{ "MPI", true, 14, 1, print_mpi },       { "UCX", true, 8, 0, print_ucx },
	{ "seen from", true, 0, 2, print_seen },
};

void text_processes(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 3, 64 };
	const struct report *report = text->report;
	VEC(const struct fact_process *) all = { 0 };
	VEC(struct process_group) groups = { 0 };
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
			vec_push(&groups, ((struct process_group){ &all.data[i], 1 }));
	}
	for (size_t i = 0; i < groups.len; i++)
		vec_push(&rows, &groups.data[i]);
	if (rows.len) {
		size_t shown = text_limit(text, rows.len, limits);

		table_print(text->out, text->options,
			    &(struct report_table){ processes_columns, 7, text, rows.data, shown });
		text_end(text, shown, rows.len);
	}
	vec_release(&rows);
	vec_release(&groups);
	vec_release(&all);
}

static bool ends_jobs(uint32_t number)
{
	return number == SIGTERM || number == SIGKILL || number == SIGINT || number == SIGHUP;
}

static bool has_died(const struct report_process *process)
{
	return process->known && process->lifetime.exited && process->lifetime.exit_signal &&
	       !ends_jobs(process->lifetime.exit_signal);
}

static void print_death(const struct text_report *text, const struct report_process *process)
{
	const struct fact_process *fact = &process->fact;
	char who[64], how[40], *host = text_plain(fact->host_name ? fact->host_name : "unknown");

	signal_text(how, sizeof(how), process->lifetime.exit_signal);
	if (fact->rank < 0)
		snprintf(who, sizeof(who), "pid %u on", fact->pid);
	else
		snprintf(who, sizeof(who), "rank %d (pid %u) on", fact->rank, fact->pid);
	fprintf(text->out, "%s %s died of %s\n", who, host, how);
	free(host);
}

void text_deaths(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 3, 64 };
	const struct report *report = text->report;
	VEC(const struct report_process *) dead = { 0 };
	size_t shown;

	for (size_t i = 0; i < report->processes.len; i++)
		if (has_died(&report->processes.data[i]))
			vec_push(&dead, &report->processes.data[i]);
	shown = text_limit(text, dead.len, limits);
	for (size_t i = 0; i < shown; i++)
		print_death(text, dead.data[i]);
	if (dead.len)
		text_end(text, shown, dead.len);
	vec_release(&dead);
}

struct clock_row {
	const char *host, *other;
	const struct clock_pair *pair;
	struct clock_estimate estimate;
};

static const struct clock_row *row_of(const void *row)
{
	return row;
}

static void print_pair(char *cell, size_t size, const void *row, const void *context)
{
	const struct text_report *text = context;

	snprintf(cell, size, "%s %s %s", row_of(row)->host, text->arrow, row_of(row)->other);
}

static void print_messages(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%" PRIu64 " + %" PRIu64, row_of(row)->pair->there.messages,
		 row_of(row)->pair->back.messages);
}

/* The offset needs all its digits: clocks start when their machine boots. */
static void print_offset(char *cell, size_t size, const void *row, const void *context)
{
	const struct clock_estimate *estimate = &row_of(row)->estimate;
	const struct text_report *text = context;
	char uncertainty[40];

	if (estimate->reason) {
		snprintf(cell, size, "unknown: %s", estimate->reason);
		return;
	}
	unit_time(uncertainty, sizeof(uncertainty), estimate->offset_uncertainty,
		  text->options->exact);
	snprintf(cell, size, "%" PRId64 " ns %s %s", estimate->offset,
		 text->options->utf8 ? "±" : "+-", uncertainty);
}

static void print_drift(char *cell, size_t size, const void *row, const void *context)
{
	const struct clock_estimate *estimate = &row_of(row)->estimate;
	const struct text_report *text = context;

	if (estimate->reason)
		snprintf(cell, size, "-");
	else
		snprintf(cell, size, "%.2f %s %.2f ppm", estimate->drift / 1e3,
			 text->options->utf8 ? "±" : "+-", estimate->drift_uncertainty / 1e3);
}

static const struct table_column clocks_columns[] = {
	{ "CLOCKS", true, 0, 0, print_pair },
	{ "messages", false, 0, 0, print_messages },
	{ "ahead by", true, 0, 0, print_offset },
	{ "faster by", true, 0, 0, print_drift },
};

static const char *name_of(const struct report *report, int host)
{
	return report->hosts.data[host].name ? report->hosts.data[host].name : "?";
}

void text_clocks(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 4, 40 };
	const struct report *report = text->report;
	const struct clocks *clocks = &report->clocks;
	VEC(struct clock_row) list = { 0 };
	VEC(const void *) rows = { 0 };
	size_t shown = text_limit(text, clocks->list.len, limits);

	if (!clocks->list.len)
		return;
	for (size_t i = 0; i < shown; i++) {
		const struct clock_pair *pair = &clocks->list.data[i];

		vec_push(&list, ((struct clock_row){ name_of(report, pair->host),
						     name_of(report, pair->other), pair,
						     clocks_solve(pair) }));
	}
	for (size_t i = 0; i < list.len; i++)
		vec_push(&rows, &list.data[i]);
	table_print(text->out, text->options,
		    &(struct report_table){ clocks_columns, ARRAY_SIZE(clocks_columns), text,
					    rows.data, rows.len });
	text_end(text, shown, clocks->list.len);
	vec_release(&rows);
	vec_release(&list);
}
