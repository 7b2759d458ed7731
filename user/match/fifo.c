// SPDX-License-Identifier: BSD-3-Clause
/*
 * Positions in a shared-memory FIFO: what a short message has of an identity. The sender's record
 * tells the position, the arrival's address the slot. A slot is written again only after what lay
 * in it was consumed (src/uct/sm/mm/base/mm_ep.c, 1.13.1 to 1.18.1), so the first arrival at the
 * slot after the send is the message; unless the slot was still occupied when the send began.
 */
#include "match/internal.h"

/* One FIFO per transport of a worker; a second one at another address would be a later one. */
static void fifo_add(struct inbox *inbox, const struct object *iface)
{
	for (size_t i = 0; i < inbox->fifos.len; i++) {
		struct fifo *fifo = &inbox->fifos.data[i];

		if (fifo->iface->transport != iface->transport ||
		    fifo->iface->device != iface->device)
			continue;
		fifo->several = fifo->several || fifo->iface->fifo.base != iface->fifo.base;
		return;
	}
	vec_push(&inbox->fifos, ((struct fifo){ .iface = iface }));
}

void fifos_find(struct inbox *inbox)
{
	for (size_t i = 0; i < inbox->process->ifaces.len; i++) {
		const struct object *iface = inbox->process->ifaces.data[i];

		if (iface->fifo.slots && iface->parent == inbox->worker)
			fifo_add(inbox, iface);
	}
}

void fifos_release(struct inbox *inbox)
{
	for (size_t i = 0; i < inbox->fifos.len; i++)
		map_release(&inbox->fifos.data[i].expected);
	vec_release(&inbox->fifos);
}

static struct fifo *fifo_to(struct inbox *inbox, const struct object *iface)
{
	for (size_t i = 0; i < inbox->fifos.len; i++) {
		struct fifo *fifo = &inbox->fifos.data[i];

		if (!fifo->several && fifo->iface->transport == iface->transport &&
		    fifo->iface->device == iface->device)
			return fifo;
	}
	return NULL;
}

static uint64_t slot_of(const struct fifo *fifo, uint64_t position)
{
	return position & (fifo->iface->fifo.slots - 1);
}

void fifo_expect(struct matcher *matcher, struct sent *sent, const struct ub_xfer *xfer)
{
	struct inbox *inbox = sent->link->inbox;
	const struct object *iface = decoder_object(matcher->decoder, sent->link->process,
						    OBJECT_IFACE, xfer->iface, xfer->h.ts);
	struct fifo *fifo;

	if (!(xfer->h.flags & UB_F_FIFO) || class_is_exact(sent->class) || !inbox || !iface ||
	    inbox->process->host != sent->link->process->host ||
	    sent->ts <= inbox->process->blind_until)
		return;
	/* probes are placed one after the other: its handler must be known to have one */
	fifo = inbox->handlers >> sent->am_id & 1 ? fifo_to(inbox, iface) : NULL;
	if (!fifo)
		return;
	sent->fifo = fifo;
	sent->position = xfer->raddr;
	sent->vacant = fifo->known && xfer->raddr <= fifo->reached + fifo->iface->fifo.slots;
	*map_insert(&fifo->expected, slot_of(fifo, xfer->raddr), 0, NULL) = (uintptr_t)sent;
}

void fifo_forget(struct sent *sent)
{
	uint64_t slot, *expected;

	if (!sent->fifo)
		return;
	slot = slot_of(sent->fifo, sent->position);
	expected = map_find(&sent->fifo->expected, slot, 0);
	if (expected && *expected == (uintptr_t)sent)
		map_remove(&sent->fifo->expected, slot, 0);
	sent->fifo = NULL;
}

void fifos_lost(struct inbox *inbox)
{
	for (size_t i = 0; i < inbox->fifos.len; i++) {
		struct map *expected = &inbox->fifos.data[i].expected;
		struct map_slot *slot;
		size_t pos = 0;

		while ((slot = map_next(expected, &pos)))
			((struct sent *)(uintptr_t)slot->value)->fifo = NULL;
		map_release(expected);
	}
}

static struct fifo *fifo_at(struct inbox *inbox, uint64_t data)
{
	for (size_t i = 0; i < inbox->fifos.len; i++) {
		struct fifo *fifo = &inbox->fifos.data[i];
		uint64_t slots = fifo->iface->fifo.slots, base = fifo->iface->fifo.base;

		if (!fifo->several && data >= base &&
		    data - base < slots * fifo->iface->fifo.stride)
			return fifo;
	}
	return NULL;
}

/*
 * Positions only grow: from the slot follows the least that this arrival's can be. It is below the
 * true one if a whole turn was not seen.
 */
static void fifo_reach(struct fifo *fifo, uint64_t slot)
{
	uint64_t step = slot_of(fifo, slot - fifo->reached);

	fifo->reached += step ? step : fifo->iface->fifo.slots;
}

/*
 * The slot was vacant at the send if what lay there one turn before is known to have arrived, or at
 * the latest when the send was done.
 */
static bool is_certain(const struct sent *sent, uint64_t ts)
{
	return ts >= sent->ts && (sent->vacant || ts > sent->done);
}

struct sent *fifo_arrived(struct inbox *inbox, const struct ub_rx *rx)
{
	struct fifo *fifo = rx->am_flags & UCT_FLAG_DESC ? NULL : fifo_at(inbox, rx->data);
	struct sent *sent;
	uint64_t slot, *expected;

	if (!fifo)
		return NULL;
	slot = (rx->data - fifo->iface->fifo.base) / fifo->iface->fifo.stride;
	if (fifo->known)
		fifo_reach(fifo, slot);
	expected = map_find(&fifo->expected, slot, 0);
	if (!expected)
		return NULL;
	sent = (struct sent *)(uintptr_t)*expected;
	fifo_forget(sent);
	if (!is_certain(sent, rx->h.ts))
		return NULL;
	if (fifo->known && fifo->reached > sent->position) {
		fifo->known = false; /* the FIFO is not the one it was */
		return NULL;
	}
	fifo->known = true;
	fifo->reached = sent->position;
	return sent;
}

bool fifo_anchor(struct matcher *matcher, struct sent *sent, struct arrival *arrival)
{
	if (!sent || sent->class != arrival->class || sent->tag != arrival->tag ||
	    sent->length != arrival->length)
		return false;
	bucket_remove_sent(sent);
	anchor(matcher, sent, arrival);
	join(matcher, sent, arrival);
	return true;
}
