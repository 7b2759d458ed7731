// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/cut.h"

static void cut(struct decoder *decoder, struct attribute *attribute, struct matcher *matcher,
		const char *reason)
{
	matcher_ending(matcher, reason);
	attribute_cut(attribute);
	matcher_cut(matcher);
	decoder_ended(decoder);
}

/* Order is known again from what was sent after that time. */
static void blind(struct process *process, uint64_t until)
{
	if (process->blind_until < until)
		process->blind_until = until;
	if (process->missing_until < until)
		process->missing_until = until;
}

/* The capture before knew them: their state ends with it. */
static void rejoin(const struct capture *capture, struct decoder *decoder,
		   struct attribute *attribute, struct matcher *matcher)
{
	for (size_t i = 0; i < capture->rejoined.len; i++)
		decoder_end(decoder, capture->rejoined.data[i].process);
	if (capture->rejoined.len)
		cut(decoder, attribute, matcher, "between captures");
	for (size_t i = 0; i < capture->rejoined.len; i++)
		blind(capture->rejoined.data[i].process, capture->rejoined.data[i].until);
}

static void window_edge(const struct capture *capture, uint64_t from, struct decoder *decoder,
			struct attribute *attribute, struct matcher *matcher)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&capture->tgids, &pos)))
		decoder_end(decoder, (struct process *)(uintptr_t)slot->value);
	cut(decoder, attribute, matcher, "window edge");
	pos = 0;
	while ((slot = map_next(&capture->tgids, &pos)))
		blind((struct process *)(uintptr_t)slot->value, from);
}

/* Returns when the next one begins. */
static uint64_t cut_windows(struct input *input, uint64_t until, struct decoder *decoder,
			    struct attribute *attribute, struct matcher *matcher)
{
	const struct capture *capture = &input->capture;

	for (; input->window < capture->windows.len; input->window++) {
		uint64_t from = capture->windows.data[input->window].from;

		if (from + (uint64_t)input->to_real > until)
			return from + (uint64_t)input->to_real;
		if (input->window) /* before the first one nothing was watched either */
			window_edge(capture, from, decoder, attribute, matcher);
	}
	return UINT64_MAX;
}

/* Detail begins again: what a record named before may be another thing by now. */
static void slice_edge(const struct capture *capture, uint64_t from, struct decoder *decoder,
		       struct attribute *attribute, struct matcher *matcher)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&capture->tgids, &pos))) {
		struct process *process = (struct process *)(uintptr_t)slot->value;

		decoder_end(decoder, process);
		blind(process, from);
	}
	matcher_ending(matcher, "detail was thinned");
	attribute_forget(attribute);
	matcher_cut(matcher);
	decoder_ended(decoder);
}

/* Returns when detail begins again for the next time. */
static uint64_t cut_slices(struct input *input, uint64_t until, struct decoder *decoder,
			   struct attribute *attribute, struct matcher *matcher)
{
	const uint64_t round = (uint64_t)UB_SLICES << UB_SLICE_SHIFT;
	const uint64_t to_real = (uint64_t)input->to_real;
	uint64_t last = input->slice_edge, edge = capture_slice_edge(&input->capture, last), now;

	if (edge == UINT64_MAX || edge + to_real > until)
		return edge == UINT64_MAX ? edge : edge + to_real;
	/* no record lies between the edges that were passed: one cut is enough */
	now = until - to_real;
	last = edge;
	if (now > last && now - last > 2 * round)
		last = now - 2 * round;
	while ((edge = capture_slice_edge(&input->capture, last)) <= now && edge > last)
		last = edge;
	slice_edge(&input->capture, last, decoder, attribute, matcher);
	input->slice_edge = last;
	return edge == UINT64_MAX ? edge : edge + to_real;
}

void cut_before(const inputs *inputs, const struct input *next, uint64_t *edge,
		struct decoder *decoder, struct attribute *attribute, struct matcher *matcher)
{
	uint64_t until = next->head->ts + (uint64_t)next->to_real;

	if (!next->stored)
		rejoin(&next->capture, decoder, attribute, matcher);
	if (until < *edge)
		return;
	*edge = UINT64_MAX;
	for (size_t i = 0; i < inputs->len; i++) {
		uint64_t from = cut_windows(inputs->data[i], until, decoder, attribute, matcher);

		*edge = from < *edge ? from : *edge;
		from = cut_slices(inputs->data[i], until, decoder, attribute, matcher);
		*edge = from < *edge ? from : *edge;
	}
}

void cut_lost(const struct event *event, struct decoder *decoder, struct attribute *attribute,
	      struct matcher *matcher)
{
	const struct ub_loss *loss = (const struct ub_loss *)event->h;
	struct process *process = event->process;
	bool lost = event->h->kind == UB_LOSS && loss->records;

	if (!lost && (!process->lost_until || event->h->ts <= process->lost_until))
		return;
	process->lost_until = lost ? loss->until : 0;
	decoder_end(decoder, process);
	matcher_ending(matcher, "lost records");
	attribute_forget(attribute);
	matcher_ending(matcher, NULL);
	decoder_ended(decoder);
}

void cut_at_end(struct attribute *attribute, struct matcher *matcher)
{
	matcher_ending(matcher, "in flight at end");
	attribute_finish(attribute);
	matcher_cut(matcher);
}
