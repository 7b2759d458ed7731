// SPDX-License-Identifier: BSD-3-Clause
/* The last calls of each thread, and how long they waited. */
#include "explain/waits/internal.h"

#include "base/alloc.h"

/* Most processes call MPI from one thread. */
struct wait_lines *lines_of(struct waits *waits, const struct process *process)
{
	while (waits->lines_of.len <= (size_t)process->id)
		vec_add(&waits->lines_of);
	return &waits->lines_of.data[process->id];
}

struct wait_thread *line_find(struct waits *waits, const struct process *process, uint32_t tid)
{
	struct wait_lines *lines = lines_of(waits, process);
	const uint64_t *at;

	if (lines->last && lines->last->tid == tid)
		return lines->last;
	at = map_find(&waits->lines, tid, (uint64_t)process->id);
	if (!at)
		return NULL;
	lines->last = (struct wait_thread *)(uintptr_t)*at;
	return lines->last;
}

struct wait_thread *line_only(struct waits *waits, const struct process *process)
{
	const struct wait_lines *lines = lines_of(waits, process);

	return lines->count == 1 ? lines->last : NULL;
}

struct wait_thread *line_of(struct waits *waits, struct process *process, uint32_t tid)
{
	struct wait_thread *line = line_find(waits, process, tid);

	if (line)
		return line;
	line = xcalloc(1, sizeof(*line));
	line->process = process;
	line->tid = tid;
	*map_insert(&waits->lines, tid, (uint64_t)process->id, NULL) = (uintptr_t)line;
	vec_push(&waits->all, line);
	lines_of(waits, process)->last = line;
	lines_of(waits, process)->count++;
	return line;
}

static struct wait_turn *turn_before(struct wait_thread *line, unsigned int ago)
{
	return &line->turns[(line->newest - ago) % TURNS];
}

struct wait_turn *turn_by_id(struct wait_thread *line, uint64_t id)
{
	for (unsigned int i = 0; line && id && i < TURNS; i++) {
		struct wait_turn *turn = turn_before(line, i);

		if (turn->id <= id)
			return turn->id == id ? turn : NULL;
	}
	return NULL;
}

bool turn_over_by(struct wait_thread *line, const struct wait_turn *turn, uint64_t ns)
{
	for (unsigned int i = 1; i < TURNS; i++)
		if (turn_before(line, i) == turn)
			return turn_before(line, i - 1)->start < ns;
	return false;
}

struct wait_turn *turn_at(struct wait_thread *line, uint64_t ns, uint32_t frame)
{
	for (unsigned int i = 0; line && i < TURNS; i++) {
		struct wait_turn *turn = turn_before(line, i);

		if (!turn->id)
			return NULL;
		if (turn->start > ns || (frame && turn->seq > frame))
			continue;
		return turn->over && turn->end < ns ? NULL : turn;
	}
	return NULL;
}

/* Whether it lasts for most of a span that it begins before. */
static bool turn_fills(const struct wait_turn *turn, struct wait_span span)
{
	return !turn->over || turn->end > span.from + (span.to - span.from) / 2;
}

struct wait_turn *turn_within(struct wait_thread *line, struct wait_span span)
{
	struct wait_turn *first = NULL;

	for (unsigned int i = 0; line && i < TURNS; i++) {
		struct wait_turn *turn = turn_before(line, i);

		if (!turn->id)
			return first;
		if (turn->start < span.from)
			return !first || turn_fills(turn, span) ? turn : first;
		if (turn->start <= span.to)
			first = turn;
	}
	return NULL;
}

bool turn_awaits(const struct wait_turn *turn, uint64_t call)
{
	return turn && turn->kind->blocks && (turn->id == call || turn->kind->completes);
}

struct cause turn_cause(const struct wait_thread *line, const struct wait_turn *turn)
{
	return (struct cause){ .process = line->process,
			       .function = turn ? turn->function : NULL,
			       .place = turn ? turn->place : NULL };
}

static uint64_t common(struct wait_span a, struct wait_span b)
{
	const uint64_t from = a.from > b.from ? a.from : b.from;
	const uint64_t to = a.to < b.to ? a.to : b.to;

	return to > from ? to - from : 0;
}

static uint64_t covered(const struct wait_spans *spans, struct wait_span span)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < SPANS && spans->list[i].to; i++)
		sum += common(spans->list[i], span);
	return sum;
}

uint64_t turn_waited(const struct wait_turn *turn, struct wait_span span)
{
	return covered(&turn->waited, span);
}

/* Makes room for one more: joins the two that are closest. */
static void join_closest(struct wait_span *spans)
{
	unsigned int at = 1;

	for (unsigned int i = 2; i < SPANS; i++)
		if (spans[i].from - spans[i - 1].to < spans[at].from - spans[at - 1].to)
			at = i;
	spans[at - 1].to = spans[at].to;
	for (; at + 1 < SPANS; at++)
		spans[at] = spans[at + 1];
	spans[SPANS - 1] = (struct wait_span){ 0 };
}

uint64_t spans_add(struct wait_spans *spans, struct wait_span span)
{
	const uint64_t fresh = span.to - span.from - covered(spans, span);
	struct wait_span *list = spans->list;
	unsigned int kept = 0, at = 0;

	for (unsigned int i = 0; i < SPANS && list[i].to; i++) {
		if (list[i].to < span.from || list[i].from > span.to) {
			list[kept++] = list[i];
			continue;
		}
		span.from = span.from < list[i].from ? span.from : list[i].from;
		span.to = span.to > list[i].to ? span.to : list[i].to;
	}
	for (unsigned int i = kept; i < SPANS; i++)
		list[i] = (struct wait_span){ 0 };
	if (kept == SPANS) {
		join_closest(list);
		spans_add(spans, span); /* which may lie in the joined span */
		return fresh;
	}
	while (at < kept && list[at].from < span.from)
		at++;
	for (unsigned int i = kept; i > at; i--)
		list[i] = list[i - 1];
	list[at] = span;
	return fresh;
}
