// SPDX-License-Identifier: BSD-3-Clause
/* Positions, which are an identity for messages without an id: in FIFOs, in TCP connections. */
#include "explain/match/internal.h"

#include "base/alloc.h"

/*
 * Positions in a shared-memory FIFO: what a message without an id has of an identity. The sender's
 * record tells the position. The arrival's record tells it, too, or its address tells the slot. A
 * slot is written again only after what lay in it was consumed (src/uct/sm/mm/base/mm_ep.c, since
 * UCX 1.13), so the first arrival at the slot after the send is the message; unless the slot was
 * still occupied when the send began.
 */

/* One FIFO per transport of a worker; a second one at another address would be a later one. */
static struct fifo *fifo_named(struct inbox *inbox, const struct object *iface)
{
	struct fifo *fifo;

	for (size_t i = 0; i < inbox->fifos.len; i++) {
		fifo = inbox->fifos.data[i];
		if (fifo->transport == iface->transport && fifo->device == iface->device)
			return fifo;
	}
	fifo = xcalloc(1, sizeof(*fifo));
	fifo->transport = iface->transport;
	fifo->device = iface->device;
	vec_push(&inbox->fifos, fifo);
	return fifo;
}

void fifos_find(struct inbox *inbox)
{
	for (size_t i = 0; i < inbox->process->ifaces.len; i++) {
		const struct object *iface = inbox->process->ifaces.data[i];
		struct fifo *fifo;

		if (!iface->fifo.slots || iface->parent != inbox->worker)
			continue;
		fifo = fifo_named(inbox, iface);
		fifo->several = fifo->several ||
				(fifo->memory && fifo->memory->fifo.base != iface->fifo.base);
		fifo->memory = fifo->memory ? fifo->memory : iface;
	}
}

void fifos_release(struct inbox *inbox)
{
	for (size_t i = 0; i < inbox->fifos.len; i++) {
		map_release(&inbox->fifos.data[i]->expected);
		map_release(&inbox->fifos.data[i]->slots);
		free(inbox->fifos.data[i]);
	}
	vec_release(&inbox->fifos);
}

static bool has_slots(const struct fifo *fifo)
{
	return fifo->memory && !fifo->several;
}

static uint64_t slot_of(const struct fifo *fifo, uint64_t position)
{
	return position & (fifo->memory->fifo.slots - 1);
}

/*
 * One position has one message. Where two sends claim it, the position of one is wrong: a process
 * can fill the memory that it is read from as it likes. Then neither send has a position, nor has a
 * third one that claims it: the place stays taken, by 0, until something arrives there.
 */
static bool place_in_fifo(struct fifo *fifo, struct sent *sent, uint64_t position)
{
	bool fresh;
	uint64_t *place = map_insert(&fifo->expected, position, 0, &fresh);

	if (fresh) {
		*place = (uintptr_t)sent;
		sent->fifo = fifo;
		sent->position = position;
		return true;
	}
	if (*place)
		fifo_forget((struct sent *)(uintptr_t)*place);
	map_insert(&fifo->expected, position, 0, NULL);
	return false;
}

/*
 * Without position, an arrival in a slot is the last send's to it. But a process vouches for its
 * own sends alone: where another one's send is still expected there, the slot tells nothing.
 */
static void place_in_slot(struct fifo *fifo, struct sent *sent)
{
	bool fresh;
	uint64_t *place = map_insert(&fifo->slots, slot_of(fifo, sent->position), 0, &fresh);
	const struct sent *other = (struct sent *)(uintptr_t)*place;

	sent->vacant = fifo->known && sent->position <= fifo->reached + fifo->memory->fifo.slots;
	*place = fresh || (other && other->link->process == sent->link->process) ? (uintptr_t)sent
										 : 0;
}

void fifo_expect(struct matcher *matcher, struct sent *sent, const struct ub_xfer *xfer,
		 bool in_slot)
{
	struct inbox *inbox = sent->link->inbox;
	const struct object *iface = decoder_object(matcher->decoder, sent->link->process,
						    OBJECT_IFACE, xfer->iface, xfer->h.ts);
	struct fifo *fifo;

	if (class_is_exact(sent->class) || !inbox || !iface || !iface->tl || !iface->tl->fifo ||
	    inbox->process->host != sent->link->process->host)
		return;
	fifo = fifo_named(inbox, iface);
	sent->into = fifo;
	if (!(xfer->h.flags & UB_F_FIFO) || !place_in_fifo(fifo, sent, xfer->raddr))
		return;
	/* probes are placed one after the other: its handler must be known to have one */
	if (in_slot && has_slots(fifo) && sent->ts > inbox->process->blind_until &&
	    inbox->handlers >> (sent->am_id & 31) & 1)
		place_in_slot(fifo, sent);
}

static void forget_in(struct map *map, uint64_t key, const struct sent *sent)
{
	const uint64_t *expected = map_find(map, key, 0);

	if (expected && *expected == (uintptr_t)sent)
		map_remove(map, key, 0);
}

void fifo_forget(struct sent *sent)
{
	struct fifo *fifo = sent->fifo;

	if (!fifo)
		return;
	forget_in(&fifo->expected, sent->position, sent);
	if (has_slots(fifo))
		forget_in(&fifo->slots, slot_of(fifo, sent->position), sent);
	sent->fifo = NULL;
}

void fifos_lost(struct inbox *inbox)
{
	for (size_t i = 0; i < inbox->fifos.len; i++)
		map_release(&inbox->fifos.data[i]->slots);
}

static struct fifo *fifo_at(struct inbox *inbox, uint64_t data)
{
	for (size_t i = 0; i < inbox->fifos.len; i++) {
		struct fifo *fifo = inbox->fifos.data[i];
		const struct object *memory = fifo->memory;

		if (has_slots(fifo) && data >= memory->fifo.base &&
		    data - memory->fifo.base < (uint64_t)memory->fifo.slots * memory->fifo.stride)
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

	fifo->reached += step ? step : fifo->memory->fifo.slots;
}

/*
 * The slot was vacant at the send if what lay there one turn before is known to have arrived, or at
 * the latest when the send was done.
 */
static bool is_certain(const struct sent *sent, uint64_t ts)
{
	return ts >= sent->ts && (sent->vacant || ts > sent->done);
}

static struct sent *arrived_in_slot(struct fifo *fifo, const struct ub_rx *rx)
{
	uint64_t slot = (rx->data - fifo->memory->fifo.base) / fifo->memory->fifo.stride, *expected;
	struct sent *sent;

	if (fifo->known)
		fifo_reach(fifo, slot);
	expected = map_find(&fifo->slots, slot, 0);
	if (!expected)
		return NULL;
	sent = (struct sent *)(uintptr_t)*expected;
	map_remove(&fifo->slots, slot, 0);
	if (!sent || !is_certain(sent, rx->h.ts))
		return NULL;
	if (fifo->known && fifo->reached > sent->position) {
		fifo->known = false; /* the FIFO is not the one it was */
		return NULL;
	}
	fifo->known = true;
	fifo->reached = sent->position;
	return sent;
}

/* The worker's interface with these bits in its address; NULL: none is known, or several are. */
static const struct object *iface_marked(const struct inbox *inbox, uint32_t mark)
{
	const struct object *found = NULL;

	for (size_t i = 0; i < inbox->process->ifaces.len; i++) {
		const struct object *iface = inbox->process->ifaces.data[i];

		if (iface->parent != inbox->worker || (iface->address >> 4 & 0xffff) != mark)
			continue;
		if (found && found->address != iface->address)
			return NULL;
		found = iface; /* the last one at that address */
	}
	return found;
}

/* A new interface, or positions that restart: expected positions belong to the old one. */
static void fifo_anew(struct fifo *fifo)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&fifo->expected, &pos)))
		if (slot->value)
			((struct sent *)(uintptr_t)slot->value)->fifo = NULL;
	map_release(&fifo->expected);
	map_release(&fifo->slots);
}

struct fifo *fifo_of(struct inbox *inbox, const struct ub_rx *rx)
{
	const struct object *iface =
		rx->h.flags & UB_F_FIFO ? iface_marked(inbox, rx->am_flags >> 16) : NULL;

	return iface && iface->transport ? fifo_named(inbox, iface) : NULL;
}

static struct sent *arrived_at(struct inbox *inbox, const struct ub_rx *rx)
{
	const struct object *iface = iface_marked(inbox, rx->am_flags >> 16);
	struct fifo *fifo = fifo_of(inbox, rx);
	uint64_t position = rx->data, *expected;
	struct sent *sent;

	if (!fifo)
		return NULL;
	if (fifo->iface &&
	    (fifo->iface != iface->address || (fifo->known && position <= fifo->reached)))
		fifo_anew(fifo);
	fifo->iface = iface->address;
	fifo->known = true;
	fifo->reached = position;
	expected = map_find(&fifo->expected, position, 0);
	if (!expected)
		return NULL;
	sent = (struct sent *)(uintptr_t)*expected;
	if (!sent)
		map_remove(&fifo->expected, position, 0);
	return sent;
}

struct sent *fifo_arrived(struct inbox *inbox, const struct ub_rx *rx)
{
	struct sent *sent = NULL;
	struct fifo *fifo;

	if (rx->h.flags & UB_F_FIFO) {
		sent = arrived_at(inbox, rx);
	} else if (!(rx->am_flags & UCT_FLAG_DESC)) {
		fifo = fifo_at(inbox, rx->data);
		sent = fifo ? arrived_in_slot(fifo, rx) : NULL;
	}
	if (sent)
		fifo_forget(sent);
	return sent && rx->h.ts >= sent->ts ? sent : NULL;
}

/*
 * Positions in TCP connections: a sequence number and a hash of the connection's addresses and
 * ports. The sender's record and the arrival's have the same one, on one host or on two, whichever
 * is read first. Once the connection has moved 4 GiB on, another message may lie at the position.
 * An end that waits counts no more from half of that on: the other half allows for headers below
 * UCP, which are at most as long as their payload, and for clock offsets. For a send, its link's
 * bytes are known. A receiver does not see all bytes: for an arrival, time decides.
 */

#define REACH (1ull << 31)
#define FASTEST 16 /* bytes per ns, of a connection or in a gap */

enum socket_end { END_SENT, END_ARRIVED };

static void *at_position(const struct map *sockets, uint64_t position, enum socket_end end)
{
	const uint64_t *there = map_find(sockets, position, end);

	return there ? (void *)(uintptr_t)*there : NULL;
}

static void remove_from(struct map *sockets, uint64_t position, enum socket_end end,
			const void *there)
{
	if (sockets && at_position(sockets, position, end) == there)
		map_remove(sockets, position, end);
}

static uint64_t *hidden_of(struct matcher *matcher, const struct process *process)
{
	while (matcher->hidden.len <= (size_t)process->id)
		vec_add(&matcher->hidden);
	return &matcher->hidden.data[process->id];
}

void socket_passed(struct matcher *matcher, const struct process *process, const struct object *ep,
		   const struct ub_xfer *xfer)
{
	uint64_t bytes = xfer->length > 0 ? (uint64_t)xfer->length : 0;
	struct link *link = ep ? ep->link : NULL;

	if (link)
		link->bytes += bytes;
	else if (!ep)
		*hidden_of(matcher, process) += bytes;
}

void socket_hidden(struct matcher *matcher, const struct process *process, uint64_t from,
		   uint64_t until)
{
	uint64_t time = until > from ? until - from : 0;

	*hidden_of(matcher, process) += time < REACH / FASTEST ? time * FASTEST : REACH;
}

static uint64_t passed(struct matcher *matcher, const struct link *link)
{
	return link->bytes + *hidden_of(matcher, link->process);
}

bool socket_sent(struct matcher *matcher, struct sent *sent, const struct ub_xfer *xfer)
{
	struct arrival *arrival;

	if (!(xfer->h.flags & UB_F_SOCKET) || class_is_exact(sent->class))
		return false;
	arrival = at_position(&matcher->sockets, xfer->raddr, END_ARRIVED);
	if (arrival && sent->ts < arrival->ts + REACH / FASTEST &&
	    anchor_in_place(matcher, sent, arrival))
		return true;
	sent->passed = passed(matcher, sent->link);
	sent->sockets = &matcher->sockets;
	sent->position = xfer->raddr;
	*map_insert(sent->sockets, sent->position, END_SENT, NULL) = (uintptr_t)sent;
	return false;
}

struct sent *socket_arrived(struct matcher *matcher, const struct ub_rx *rx)
{
	struct sent *sent = at_position(&matcher->sockets, rx->data, END_SENT);

	return sent && passed(matcher, sent->link) - sent->passed < REACH ? sent : NULL;
}

void socket_await(struct matcher *matcher, struct arrival *arrival, const struct ub_rx *rx)
{
	if (!(rx->h.flags & UB_F_SOCKET) || class_is_exact(arrival->class))
		return;
	arrival->sockets = &matcher->sockets;
	arrival->position = rx->data;
	*map_insert(arrival->sockets, arrival->position, END_ARRIVED, NULL) = (uintptr_t)arrival;
}

bool places_differ(const struct sent *sent, const struct arrival *arrival)
{
	uint64_t differs = sent->position ^ arrival->position;
	const struct link *link = sent->link;

	if (sent->fifo && sent->fifo == arrival->fifo)
		return true; /* the same place would have joined them */
	if (arrival->sockets && link->connection && arrival->position >> 32 != link->connection - 1)
		return true;
	/* another connection: a router between hosts may have changed the addresses */
	return sent->sockets && arrival->sockets && differs &&
	       (!(differs >> 32) || link->process->host == arrival->inbox->process->host);
}

void socket_forget_sent(struct sent *sent)
{
	remove_from(sent->sockets, sent->position, END_SENT, sent);
	sent->sockets = NULL;
}

void socket_forget_arrival(struct arrival *arrival)
{
	remove_from(arrival->sockets, arrival->position, END_ARRIVED, arrival);
	arrival->sockets = NULL;
}
