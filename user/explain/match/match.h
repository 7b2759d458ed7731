/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matches sends to receives without clocks (docs/attribution.md): messages of an endpoint arrive in
 * order, and are received as by UCX's own tag matching, corrected by observed results.
 *
 * Layers: way.c, then match_op.c; the matching itself (pair.c, anchor.c, position.c, inbox.c,
 * receive.c, message.c, offer.c), whose files call each other, since one joined message lets others
 * be joined; match.c, which feeds it.
 */
#ifndef UCXBPF_MATCH_MATCH_H
#define UCXBPF_MATCH_MATCH_H

#include "explain/attribute/attribute.h"
#include "explain/facts/facts.h"
#include "explain/match/way.h"

struct matcher;

/* The buffer at the other end of an operation's message. */
struct other_end {
	uint64_t buffer, bytes; /* bytes 0: not known */
	struct memory_answer memory;
};

/*
 * Facts about an operation, by attribution and matching together. A receive takes from its message
 * what its own records lack.
 */
const char *matched_protocol(const struct op *op); /* NULL: not known */
uint64_t matched_tag(const struct op *op);
uint64_t matched_bytes(const struct op *op); /* UINT64_MAX: not known */
struct moment matched_end(const struct op *op);
struct process *matched_peer(const struct op *op); /* of receives; NULL: not matched */
const struct other_end *matched_other(const struct op *op); /* NULL: not known */
struct way *matched_way(const struct op *op); /* NULL: of no interest */

/* The operations at both ends of a message, as they are when the message is known. */
struct message {
	uint64_t send, recv; /* ids of operations; recv 0: none, or not known which */
	uint64_t send_call, recv_call; /* ids of the calls that made them; 0: outside MPI */
	struct process *src, *dst;
	const char *function, *send_op, *recv_op;
	uint64_t tag, bytes, send_start, recv_start, arrival;
	struct way *src_way, *dst_way; /* NULL: of no interest, or of no operation */
	uint32_t send_tid, recv_tid;
	const struct place *send_place, *recv_place; /* of the calls */
	const struct place *send_caller; /* where UCP was called */
	const char *recv_function; /* MPI function of the receive */
	uint32_t arrival_tid, arrival_call; /* the handler's thread and frame of the call; 0 */
	bool rts; /* the arrival announces it */
};

struct match_sink {
	void *arg;
	/* all of its ends are known and final */
	void (*message)(void *arg, const struct message *message);
	/*
	 * The same message, once: as soon as both of its ends are found and unambiguous, which may
	 * be long before either operation is over.
	 */
	void (*joined)(void *arg, const struct message *message);
};

/* The sink is copied. */
struct matcher *matcher_new(struct decoder *decoder, struct attribute *attribute,
			    const struct match_sink *sink);
void matcher_free(struct matcher *matcher);

void matcher_op_start(struct matcher *matcher, struct op *op);
void matcher_op_done(struct matcher *matcher, struct op *op);
/* After the last event of an operation with match set: frees it. */
void matcher_op_over(struct matcher *matcher, struct op *op);
void matcher_sent(struct matcher *matcher, const struct event *event, struct op *op,
		  struct object *ep);
/* The thread continues outside the handlers of all that arrived on it. */
void matcher_handled(struct matcher *matcher, const struct process *process, uint32_t tid);
void matcher_arrived(struct matcher *matcher, const struct event *event, uint64_t idle_since);
void matcher_completed(struct matcher *matcher, const struct event *event, struct op *op);
/*
 * Before a transfer is added to a way: if it shows that its operation fetches an announced active
 * message, that operation has a way from now on. The way of its send is returned, else NULL.
 */
struct way *matcher_fetched(struct matcher *matcher, const struct transfer *transfer);
void matcher_met(struct matcher *matcher, const struct event *event, struct op *op);

/* Why order is lost: records are missing, or messages may have passed unseen although none is. */
extern const char lost_records[], order_not_known[];

/*
 * Records of a host may be missing between two times: order counts nothing until the next anchor.
 * owner: the process that made all of them, whose receives are in doubt then; NULL: any may have.
 * why: one of the above.
 */
void matcher_gap(struct matcher *matcher, int host, struct process *owner, uint64_t from,
		 uint64_t until, const char *why);

/*
 * A cut through the processes that are ending (struct process): from matcher_ending() on their
 * operations end for that reason (static); matcher_cut() counts their remaining ends with reasons,
 * and forgets them. Later they begin anew, as if attached then.
 */
void matcher_ending(struct matcher *matcher, const char *reason);
void matcher_cut(struct matcher *matcher);

/* The sums, once all processes were cut. */
void matcher_finish(struct matcher *matcher, struct fact_totals *totals);

#endif
