/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of match/ share among themselves. */
#ifndef UCXBPF_MATCH_INTERNAL_H
#define UCXBPF_MATCH_INTERNAL_H

#include "explain/match/model.h"

/* ---- message.c ---- */
struct sent *sent_new(struct matcher *matcher);
void sent_free(struct matcher *matcher, struct sent *sent);
struct arrival *arrival_new(struct matcher *matcher);
void arrival_forget(struct matcher *matcher, struct arrival *arrival);
/* Once both the send and the receive of an arrival are decided, the message is counted and gone. */
void message_settle(struct matcher *matcher, struct arrival *arrival);
void sent_give_up(struct matcher *matcher, struct sent *sent, const char *reason);
void arrival_give_up(struct matcher *matcher, struct arrival *arrival, const char *reason);

/* ---- inbox.c ---- */
struct inbox *inbox_of(struct matcher *matcher, struct process *process, uint64_t worker);
void posted_add(struct inbox *inbox, struct receive *receive);
void posted_remove(struct receive *receive);
void unexpected_add(struct arrival *arrival);
void unexpected_remove(struct arrival *arrival);
/* Decides the current arrival by what UCX's tag matching does with it. */
void inbox_settle(struct matcher *matcher, struct inbox *inbox);
void bind(struct matcher *matcher, struct receive *receive, struct arrival *arrival);
/* Where nothing better is known, a receive is over when the handler that completed it began. */
void receive_end(struct op *op, const struct arrival *arrival);

bool receive_accepts(const struct op *op, const struct arrival *arrival);

/* ---- threads.c ---- */
/* Whether it was queued first, as far as that is known: one may be put back long after. */
bool posted_before(const struct receive *receive, const struct receive *other);
/* Marks two receives that a message may be of, if they were posted at the same time. */
void contest(struct receive *receive, struct receive *other);
void bound_add(struct receive *receive);
void bound_remove(struct receive *receive);
/*
 * A receive that is done and has nothing takes the message of another thread's that is like it and
 * was posted at the same time: that one gets a later one. False: there is none.
 */
bool swap_at_once(struct matcher *matcher, struct receive *receive);
/* A receive that returned then waits, although this message was there: another one has it. */
void arrival_pass(struct arrival *arrival, uint64_t returned);
/*
 * What is certain by now: receives that have returned with nothing take what they say they got, as
 * above, and a message that was passed went to a receive that was not seen.
 */
void inbox_catch_up(struct matcher *matcher, struct inbox *inbox, uint64_t now);

/* ---- doubt.c ---- */
/* Records were lost, or nobody watched: what is posted and what waits is not known any more. */
void inbox_lost(struct matcher *matcher, struct inbox *inbox);
/* Whether what a later record says of its request may be said of another receive. */
bool receive_lost(const struct receive *receive);
/* Whether all receives and messages with that tag that are in the queues were seen. */
bool inbox_sure(const struct inbox *inbox, uint64_t tag);
/* The arrival is known to be this receive's, whatever else was not seen. */
void receive_proved(struct receive *receive, struct arrival *arrival);
/* A receive is done: whether only one message can have been its own; else it is told of none. */
void receive_judge(struct matcher *matcher, struct receive *receive);

/* ---- evidence.c ---- */
/* Whether tag and length that a receive tells are the arrival's. */
bool arrival_is_told(const struct op *op, const struct arrival *arrival);
struct arrival *unexpected_told(const struct inbox *inbox, const struct op *op);
void arrival_taken_unseen(struct matcher *matcher, struct arrival *arrival);
/* Corrects what a receive is thought to have got by what it says. */
void receive_verify(struct matcher *matcher, struct receive *receive);

/* ---- receive.c ---- */
struct receive *receive_of(const struct op *op);

/* ---- stream.c ---- */
void stream_posted(struct matcher *matcher, struct op *op);
void stream_arrived(struct matcher *matcher, const struct process *process, uint64_t ep,
		    uint64_t bytes);
void stream_done(struct matcher *matcher, struct op *op);

/* ---- unseen.c ---- */
/* What a receive took without an arrival that was seen: the next one in order, if that is one. */
void infer(struct matcher *matcher, struct receive *receive);
/* The send behind an arrival whose header could not be read; NULL if it may be one of several. */
const struct sent *headless(const struct matcher *matcher, const struct inbox *inbox, uint8_t am_id,
			    uint64_t length);

/* ---- link.c ---- */
struct link *link_of(struct matcher *matcher, struct object *ep);
/* Whether one of its ends is cut. */
bool link_ends(const struct link *link);
/* Order is known on the link from now on, until a gap or a cut; its inbox is known. */
void link_sync(struct matcher *matcher, struct link *link);
/* Some record of the host is missing. A sender that nobody saw may reach any of its processes:
 * order is known on none of its links. */
void links_unsync(struct matcher *matcher, int host);
void link_append(struct link *link, struct sent *sent);
void link_remove(struct sent *sent);
/* Forward in the link's order: whatever has arrived meanwhile. */
void link_pair(struct matcher *matcher, struct link *link);
/* Learns the receiving end from a message that was matched exactly. */
void link_learn(struct matcher *matcher, struct link *link, struct inbox *inbox);

/* ---- bucket.c ---- */
struct bucket *bucket_of(struct matcher *matcher, uint64_t key, enum message_class class,
			 const struct inbox *inbox);
void bucket_add_sent(struct bucket *bucket, struct sent *sent);
void bucket_add_arrival(struct bucket *bucket, struct arrival *arrival);
void bucket_remove_sent(struct sent *sent);
void bucket_remove_arrival(struct arrival *arrival);
enum message_class message_class(uint8_t am_id);
bool class_is_exact(enum message_class class);
/* Joins a send and an arrival: out of their buckets, and on to the message. */
void join(struct matcher *matcher, struct sent *sent, struct arrival *arrival);

/* ---- pair.c ---- */
/* On one clock: the arrival was there before the send. */
bool before_send(const struct sent *sent, const struct arrival *arrival);
/* Whether order or clock say that the arrival cannot be of this send. */
bool stale(const struct sent *sent, const struct arrival *arrival);
/* Joins by id: the other end of an exact class, if it is there already. */
void bucket_pair_exact(struct matcher *matcher, struct bucket *bucket);
/* Joins whatever can be joined in a bucket of an order class. */
void bucket_pair(struct matcher *matcher, struct bucket *bucket);

/* ---- align.c ---- */
/* Links that never saw an anchor and are cut, once all records up to there are read. */
void align_links(struct matcher *matcher);

/* ---- anchor.c ---- */
/* An exact match: what lies before it on the link is aligned backwards from it. */
void anchor(struct matcher *matcher, struct sent *sent, struct arrival *arrival);
/* Joins two ends with the same position as an anchor, if what they say of themselves agrees. */
bool anchor_in_place(struct matcher *matcher, struct sent *sent, struct arrival *arrival);

/* ---- fifo.c ---- */
/* What is known of the FIFOs of an inbox that is new. */
void fifos_find(struct inbox *inbox);
void fifos_release(struct inbox *inbox);
void fifo_expect(struct matcher *matcher, struct sent *sent, const struct ub_xfer *xfer);
void fifo_forget(struct sent *sent);
/* Arrivals may be missing: those that are expected may be others. */
void fifos_lost(struct inbox *inbox);
/* The send that this message must be, by its place; NULL: not known. */
struct sent *fifo_arrived(struct inbox *inbox, const struct ub_rx *rx);

/* ---- socket.c ---- */
/* Counts a transfer of any kind, which moves its connection on. ep: NULL, not known. */
void socket_passed(struct process *process, const struct object *ep, const struct ub_xfer *xfer);
/* Allows for bytes sent in records of the process that may be missing in between. */
void socket_hidden(struct process *process, uint64_t from, uint64_t until);
/*
 * Lists a send by its position in a TCP connection, if that is known. True: the arrival was there
 * already, the message is joined.
 */
bool socket_sent(struct matcher *matcher, struct sent *sent, const struct ub_xfer *xfer);
/* The send at the arrival's position; NULL: none is known. */
struct sent *socket_arrived(struct matcher *matcher, const struct ub_rx *rx);
/* Lists an arrival by its position, if that is known, for a send that is read later. */
void socket_await(struct matcher *matcher, struct arrival *arrival, const struct ub_rx *rx);
/* Both tell where in one connection they are, and not the same place. */
bool socket_differs(const struct sent *sent, const struct arrival *arrival);
void socket_forget_sent(struct sent *sent);
void socket_forget_arrival(struct arrival *arrival);

#endif
