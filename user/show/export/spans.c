// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/spans.h"

#include <string.h>

#include "show/export/sorter.h"

const char *const span_layer_names[LAYERS] = { "MPI", "UCP", "UCT" };

/* Whatever contains others comes before them; beyond that, an order that is always the same. */
static int in_order(const void *left, const void *right)
{
	const struct span *a = left, *b = right;
	const uint64_t words[][2] = {
		{ a->group, b->group }, { a->start, b->start }, { a->what, b->what },
		{ b->end, a->end },     { a->id, b->id },       { a->cause, b->cause },
		{ a->shape, b->shape }, { a->bytes, b->bytes }, { a->detail, b->detail },
		{ a->time, b->time },   { a->count, b->count }, { a->number, b->number },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i][0] != words[i][1])
			return words[i][0] < words[i][1] ? -1 : 1;
	return 0;
}

struct spans_host *spans_host_at(struct spans *spans, int host)
{
	while (spans->hosts.len <= (size_t)host)
		vec_add(&spans->hosts);
	return &spans->hosts.data[host];
}

void spans_see(struct spans *spans, int host, uint64_t start, uint64_t end)
{
	struct spans_host *seen;

	if (host < 0 || !start)
		return;
	seen = spans_host_at(spans, host);
	if (!seen->last || start < seen->first)
		seen->first = start;
	if (start > seen->last)
		seen->last = start;
	if (end > seen->last)
		seen->last = end;
}

void spans_add(struct spans *spans, const struct span *span)
{
	spans_see(spans, spans_host_of(spans, span_process(span)), span->start,
		  span->what < SPAN_FACT ? 0 : span->end);
	if (!spans->err)
		spans->err = sorter_add(spans->sorter, span);
	spans->facts += span->what == SPAN_FACT;
	spans->summed += span->what == SPAN_SUMS;
}

void spans_init(struct spans *spans, enum span_layer message_layer)
{
	*spans = (struct spans){ .message_layer = message_layer };
	spans->sorter = sorter_new(sizeof(struct span), in_order);
}

void spans_release(struct spans *spans)
{
	size_t at = 0;
	struct map_slot *slot;

	sorter_free(spans->sorter);
	while ((slot = map_next(&spans->stack_texts, &at)))
		free((void *)(uintptr_t)slot->value);
	map_release(&spans->stack_texts);
	map_release(&spans->shape_numbers);
	map_release(&spans->channels);
	vec_release(&spans->shapes);
	vec_release(&spans->sums);
	vec_release(&spans->processes);
	vec_release(&spans->clocks);
	vec_release(&spans->windows);
	vec_release(&spans->memory);
	vec_release(&spans->hosts);
}

int spans_finish(struct spans *spans, char why[EXPORT_WHY])
{
	int err = spans->err ? spans->err : sorter_finish(spans->sorter);

	if (err)
		snprintf(why, EXPORT_WHY,
			 "what is to be sorted waits in a file below $TMPDIR, else /var/tmp: %s",
			 strerror(-err));
	return err;
}

int spans_next(struct spans *spans, const struct span **span)
{
	const void *record;
	int more = sorter_next(spans->sorter, &record);

	*span = more > 0 ? record : NULL;
	return more;
}

const struct fact_process *spans_process(const struct spans *spans, int index)
{
	bool known = index >= 0 && (size_t)index < spans->processes.len &&
		     spans->processes.data[index].index >= 0;

	return known ? &spans->processes.data[index] : NULL;
}

int spans_host_of(const struct spans *spans, int process)
{
	const struct fact_process *fact = spans_process(spans, process);

	return fact ? fact->host : -1;
}

const struct fact_clock *spans_clock(const struct spans *spans, int host)
{
	for (size_t i = 0; i < spans->clocks.len; i++)
		if (spans->clocks.data[i].host == host)
			return &spans->clocks.data[i];
	return NULL;
}
