// SPDX-License-Identifier: BSD-3-Clause
/*
 * Positions in TCP connections: a sequence number and a hash of the connection's addresses and
 * ports. The sender's record and the arrival's have the same one, on one host or on two, whichever
 * is read first. Once the connection has moved 4 GiB on, another message may lie at the position.
 * An end that waits counts no more from half of that on: the other half is for headers below UCP,
 * which are no longer than what they precede, and for clocks that differ. For a send, its link's
 * bytes are known. A receiver does not see all bytes that come: for an arrival, the time must do.
 */
#include "explain/match/internal.h"

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

void socket_passed(struct process *process, const struct object *ep, const struct ub_xfer *xfer)
{
	uint64_t bytes = xfer->length > 0 ? (uint64_t)xfer->length : 0;
	struct link *link = ep ? ep->link : NULL;

	if (link)
		link->bytes += bytes;
	else if (!ep)
		process->hidden += bytes;
}

void socket_hidden(struct process *process, uint64_t from, uint64_t until)
{
	uint64_t time = until > from ? until - from : 0;

	process->hidden += time < REACH / FASTEST ? time * FASTEST : REACH;
}

static uint64_t passed(const struct link *link)
{
	return link->bytes + link->process->hidden;
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
	sent->passed = passed(sent->link);
	sent->sockets = &matcher->sockets;
	sent->position = xfer->raddr;
	*map_insert(sent->sockets, sent->position, END_SENT, NULL) = (uintptr_t)sent;
	return false;
}

struct sent *socket_arrived(struct matcher *matcher, const struct ub_rx *rx)
{
	struct sent *sent = at_position(&matcher->sockets, rx->data, END_SENT);

	return sent && passed(sent->link) - sent->passed < REACH ? sent : NULL;
}

void socket_await(struct matcher *matcher, struct arrival *arrival, const struct ub_rx *rx)
{
	if (!(rx->h.flags & UB_F_SOCKET) || class_is_exact(arrival->class))
		return;
	arrival->sockets = &matcher->sockets;
	arrival->position = rx->data;
	*map_insert(arrival->sockets, arrival->position, END_ARRIVED, NULL) = (uintptr_t)arrival;
}

bool socket_differs(const struct sent *sent, const struct arrival *arrival)
{
	uint64_t differs = sent->position ^ arrival->position;

	/* another connection: a router may have changed the addresses */
	return sent->sockets && arrival->sockets && differs && !(differs >> 32);
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
