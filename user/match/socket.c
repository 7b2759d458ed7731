// SPDX-License-Identifier: BSD-3-Clause
/*
 * Positions in TCP connections: a sequence number and a hash of the connection's addresses and
 * ports. The sender's record and the arrival's have the same one, on one host or on two, whichever
 * is read first. Nothing lies twice at a position until the connection has moved 4 GiB on: by then
 * the link has had other anchors, or all that was sent before is given up.
 */
#include "match/internal.h"

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

bool socket_sent(struct matcher *matcher, struct sent *sent, const struct ub_xfer *xfer)
{
	if (!(xfer->h.flags & UB_F_SOCKET) || class_is_exact(sent->class))
		return false;
	if (anchor_in_place(matcher, sent,
			    at_position(&matcher->sockets, xfer->raddr, END_ARRIVED)))
		return true;
	sent->sockets = &matcher->sockets;
	sent->position = xfer->raddr;
	*map_insert(sent->sockets, sent->position, END_SENT, NULL) = (uintptr_t)sent;
	return false;
}

struct sent *socket_arrived(struct matcher *matcher, const struct ub_rx *rx)
{
	return at_position(&matcher->sockets, rx->data, END_SENT);
}

void socket_await(struct matcher *matcher, struct arrival *arrival, const struct ub_rx *rx)
{
	if (!(rx->h.flags & UB_F_SOCKET) || class_is_exact(arrival->class))
		return;
	arrival->sockets = &matcher->sockets;
	arrival->position = rx->data;
	*map_insert(arrival->sockets, arrival->position, END_ARRIVED, NULL) = (uintptr_t)arrival;
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
