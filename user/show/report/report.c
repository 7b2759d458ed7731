// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/internal.h"

#include <string.h>

bool report_knows_memory(const struct report *report)
{
	return report->gpu;
}

struct report *report_new(struct filter *filter)
{
	struct report *report = NULL;
	size_t room = 0;

	report = vec_grow(report, &room, 1, sizeof(*report));
	*report = (struct report){ .filter = filter, .filtering = filter_active(filter) };
	cube_init(&report->calls, &report_calls_shape);
	cube_init(&report->ops, &report_ops_shape);
	cube_init(&report->transfers, &report_transfers_shape);
	cube_init(&report->messages, &report_messages_shape);
	cube_init(&report->call_sites, &report_call_sites_shape);
	cube_init(&report->stacks, &report_stacks_shape);
	return report;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->processes.len; i++) {
		free((void *)report->processes.data[i].fact.ucx);
		free((void *)report->processes.data[i].fact.environment);
	}
	vec_release(&report->processes);
	vec_release(&report->hosts);
	vec_release(&report->windows);
	vec_release(&report->memory);
	clocks_release(&report->clocks);
	cube_release(&report->calls);
	cube_release(&report->ops);
	cube_release(&report->transfers);
	cube_release(&report->messages);
	cube_release(&report->call_sites);
	cube_release(&report->stacks);
	map_release(&report->places);
	map_release(&report->paths);
	free(report);
}

static int by_text(const char *left, const char *right)
{
	if (!left || !right)
		return !right - !left;
	return strcmp(left, right);
}

static int by_memory(const void *left, const void *right)
{
	const struct fact_memory *a = left, *b = right;
	int order = (a->process > b->process) - (a->process < b->process);

	order = order ? order : by_text(a->kind, b->kind);
	order = order ? order : by_text(a->sort, b->sort);
	order = order ? order : (a->device > b->device) - (a->device < b->device);
	order = order ? order : (a->exporter > b->exporter) - (a->exporter < b->exporter);
	order = order ? order : by_text(a->reason, b->reason);
	return order ? order : by_text(a->function, b->function);
}

void report_finish(struct report *report, const struct fact_totals *totals)
{
	report->totals = *totals;
	if (report->memory.len)
		qsort(report->memory.data, report->memory.len, sizeof(*report->memory.data),
		      by_memory);
	clocks_order(&report->clocks);
	cube_join(&report->calls);
	cube_join(&report->ops);
	cube_join(&report->transfers);
	cube_join(&report->messages);
}

bool report_lacks_detail(const struct fact_totals *totals)
{
	return totals->calls.of > totals->calls.recorded || totals->ops.of > totals->ops.recorded ||
	       totals->transfers.of > totals->transfers.recorded || totals->unsummed;
}

bool report_only_counts(const struct report *report)
{
	return report->totals.counted && report->totals.counted == report->totals.captures;
}

const struct report_process *report_process_at(const struct report *report, int64_t index)
{
	const struct report_process *process;

	if (index < 0 || (size_t)index >= report->processes.len)
		return NULL;
	process = &report->processes.data[index];
	return process->known ? process : NULL;
}

const struct place *report_place(const struct report *report, uint64_t key)
{
	const uint64_t *place = map_find(&report->places, key, 0);

	return place ? (const struct place *)(uintptr_t)*place : NULL;
}

const struct stack *report_stack(const struct report *report, uint64_t key)
{
	const uint64_t *stack = map_find(&report->paths, key, 0);

	return stack ? (const struct stack *)(uintptr_t)*stack : NULL;
}

static int by_reason(const void *left, const void *right)
{
	const struct fact_reason *a = left, *b = right;

	return strcmp(a->reason, b->reason);
}

int report_reasons(const struct fact_reason *from, struct fact_reason *to)
{
	int count = 0;

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		if (from[i].reason && from[i].count)
			to[count++] = from[i];
	qsort(to, count, sizeof(*to), by_reason);
	return count;
}
