// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/feed.h"

#include <string.h>

static struct report_host *host_at(struct report *report, int index)
{
	while (report->hosts.len <= (size_t)index)
		vec_add(&report->hosts);
	return &report->hosts.data[index];
}

static void *copy_of(const void *list, size_t length, size_t size)
{
	size_t room = 0;

	return length ? memcpy(vec_grow(NULL, &room, length, size), list, length * size) : NULL;
}

static void copy_lists(struct fact_process *fact)
{
	fact->ucx = copy_of(fact->ucx, fact->ucx_count, sizeof(*fact->ucx));
	fact->environment =
		copy_of(fact->environment, fact->environment_count, sizeof(*fact->environment));
}

static void feed_process(void *arg, const struct fact_process *fact)
{
	struct report *report = arg;
	struct report_process *process;
	struct report_host *host;

	if (fact->index < 0)
		return;
	while (report->processes.len <= (size_t)fact->index)
		vec_add(&report->processes);
	process = &report->processes.data[fact->index];
	free((void *)process->fact.ucx);
	free((void *)process->fact.environment);
	process->fact = *fact;
	copy_lists(&process->fact);
	process->known = true;
	report->gpu = report->gpu || fact->gpu_library;
	process->selected = filter_process(report->filter, fact);
	if (fact->host < 0)
		return;
	host = host_at(report, fact->host);
	host->known = true;
	host->id = fact->host_id;
	host->name = fact->host_name;
}

bool report_selects(const struct report *report, int index)
{
	const struct report_process *process = report_process_at(report, index);

	return !process || process->selected;
}

void report_see_time(struct report *report, int index, uint64_t start, uint64_t end)
{
	const struct report_process *process = report_process_at(report, index);
	struct report_host *host;

	if (!process || process->fact.host < 0 || !start)
		return;
	host = &report->hosts.data[process->fact.host];
	if (!host->last || start < host->first)
		host->first = start;
	if (start > host->last)
		host->last = start;
	if (end > host->last)
		host->last = end;
}

static void feed_lifetime(void *arg, const struct fact_lifetime *fact)
{
	struct report *report = arg;

	if (report_process_at(report, fact->process))
		report->processes.data[fact->process].lifetime = *fact;
}

/* The span of a host's trace begins with its first window, whenever the first fact was. */
static void feed_window(void *arg, const struct fact_window *fact)
{
	struct report *report = arg;
	struct report_host *host = host_at(report, fact->host);

	vec_push(&report->windows, *fact);
	if (!host->last || fact->from < host->first)
		host->first = fact->from;
	if (fact->until > host->last)
		host->last = fact->until;
}

static void feed_memory(void *arg, const struct fact_memory *fact)
{
	struct report *report = arg;

	report->gpu = true;
	if (report_selects(report, fact->process))
		vec_push(&report->memory, *fact);
}

struct fact_sink report_sink(struct report *report)
{
	return (struct fact_sink){
		.arg = report,
		.process = feed_process,
		.call = report_feed_call,
		.op = report_feed_op,
		.transfer = report_feed_transfer,
		.message = report_feed_message,
		.window = feed_window,
		.memory = feed_memory,
		.lifetime = feed_lifetime,
		.calls = report_feed_calls,
		.ops = report_feed_ops,
		.transfers = report_feed_transfers,
	};
}
