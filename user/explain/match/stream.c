// SPDX-License-Identifier: BSD-3-Clause
/*
 * How much a stream receive got that was not done at its return: what arrives on an endpoint fills
 * the receives that wait there, oldest first (src/ucp/stream/stream_recv.c, 1.13.1).
 */
#include "explain/match/internal.h"

struct stream_receive {
	struct op *op;
	struct stream_receive *next;
	uint64_t got;
	unsigned int arrivals;
};

void stream_posted(struct matcher *matcher, struct op *op)
{
	struct stream_receive *receive, **last;

	if (op->immediate)
		return;
	receive = calloc(1, sizeof(*receive));
	if (!receive)
		abort();
	receive->op = op;
	last = (struct stream_receive **)(uintptr_t)map_insert(&matcher->streams, op->object,
							       op->process->id, NULL);
	while (*last)
		last = &(*last)->next;
	*last = receive;
}

/* Where the arrival's header could not be read: the one endpoint of the process with a stream. */
static uint64_t *only_stream(const struct matcher *matcher, const struct process *process)
{
	struct map_slot *slot;
	uint64_t *found = NULL;
	size_t pos = 0;

	while ((slot = map_next(&matcher->streams, &pos))) {
		if (slot->b != (uint64_t)process->id)
			continue;
		if (found)
			return NULL;
		found = &slot->value;
	}
	return found;
}

void stream_arrived(struct matcher *matcher, const struct process *process, uint64_t ep,
		    uint64_t bytes)
{
	uint64_t *slot =
		ep ? map_find(&matcher->streams, ep, process->id) : only_stream(matcher, process);
	struct stream_receive *receive = slot ? (struct stream_receive *)(uintptr_t)*slot : NULL;

	for (; receive && bytes; receive = receive->next) {
		uint64_t room = receive->op->room - receive->got;
		uint64_t taken = bytes < room ? bytes : room;

		if (!taken)
			continue;
		receive->got += taken;
		receive->arrivals++;
		bytes -= taken;
	}
}

/* Half full after several arrivals: it may have been done after the first one. */
void stream_done(struct matcher *matcher, struct op *op)
{
	struct stream_receive **link = (struct stream_receive **)(uintptr_t)map_find(
		&matcher->streams, op->object, op->process->id);
	struct stream_receive *receive;

	while (link && *link && (*link)->op != op)
		link = &(*link)->next;
	if (!link || !*link)
		return;
	receive = *link;
	*link = receive->next;
	if (!op->failed && op->whole && !matcher->ending)
		op->bytes = op->room;
	else if (!op->failed && receive->arrivals &&
		 (receive->arrivals == 1 || receive->got == op->room))
		op->bytes = receive->got;
	free(receive);
}
