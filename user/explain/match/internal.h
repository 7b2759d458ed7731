/* SPDX-License-Identifier: BSD-3-Clause */
/* The matcher's own state: sends on links, arrivals in inboxes, receives. Private to match/. */
#ifndef UCXBPF_MATCH_INTERNAL_H
#define UCXBPF_MATCH_INTERNAL_H

#include "explain/match/match.h"

/* Messages that share a key: FIFO on both sides. */
struct bucket {
	struct sent *sents, *last_sent;
	struct arrival *arrivals, *last_arrival;
	struct arrival
		*claim[2]; /* at a cut: next one for sends without order, [1]: for placed ones */
	struct link *only; /* the link that all of them came over so far */
	bool many; /* more than one link */
	const char *claimed; /* at a cut: why sends were left that these may be of; NULL: none */
	uint64_t given_up; /* time of the last arrival that was given up; 0: none */
	const char *hidden; /* why a send that was removed may still arrive, while inbox.hidden */
};

#define UCT_FLAG_DESC 1u /* UCT_CB_PARAM_FLAG_DESC: the message does not lie in a FIFO */

/* AM id and length of the user's header; the flags between them differ by the way it is sent. */
#define AM_KEY_MASK 0xffffffff0000ffffu

/* A first fragment that was sent and has not been seen to arrive. */
struct sent {
	struct link *link;
	struct sent *before, *after; /* order on the link */
	struct bucket *bucket;
	struct sent *prev, *next; /* in the bucket */
	struct op *from; /* held; NULL */
	enum message_class class;
	uint8_t am_id;
	bool counted; /* by a known operation; continuations of a stream send are not */
	bool inlined; /* its handler runs inside its own transfer */
	bool active; /* of an AM operation */
	bool ambiguous;
	uint64_t pos, ts, done;
	uint64_t tag, key, length; /* length: of the UCT message; of the data for CLASS_REQUEST */
	uint64_t bytes, start, op_id;
	uint32_t tid; /* of the operation */
	const char *function, *op, *protocol;
	struct fifo *fifo; /* where it is expected; NULL */
	const struct fifo *into; /* that it was sent into, at whatever position; NULL */
	uint64_t position; /* in that FIFO, from its start; or in a TCP connection */
	struct map *sockets; /* of the matcher, while it is listed there; NULL */
	uint64_t passed; /* what its link had carried by then, see position.c */
	bool vacant; /* its slot was consumed before */
	bool maybe_gone; /* it may be what arrived with a header that could not be read */
	enum tag_senders senders; /* of its tag */
};

enum receive_state { RECEIVE_WAIT, RECEIVE_BOUND, RECEIVE_UNSEEN, RECEIVE_IS_ARRIVAL };

struct arrival {
	struct inbox *inbox;
	struct bucket *bucket;
	struct arrival *prev, *next; /* in the bucket */
	struct arrival *older, *newer; /* in the unexpected queue */
	bool queued;
	enum message_class class;
	bool rts, ambiguous, waits; /* waits: in the bucket */
	bool multi;
	const char *orphan; /* why no send will be found; NULL: one may be found */
	bool placed; /* its record has a position */
	const struct fifo *fifo; /* in that one; NULL */
	bool doubt; /* a receive that was not seen may have it: see inbox.c */
	bool told; /* its message, by match_sink.joined */
	bool held; /* in the inbox's handles, by this one: */
	uint64_t handle;
	uint32_t tid, seq, call; /* call: the frame of the one that it came in; 0: none */
	uint64_t pos, ts, idle_since, tag, key, length, bytes, ep_id;
	struct map *sockets; /* as above */
	uint64_t position; /* in a TCP connection, while it is listed */
	uint64_t passed; /* when a receive had returned that left it where it was; 0: none */
	struct process *source; /* NULL = not known */
	struct sent *sent;
	struct way *way; /* of its receive */
	enum receive_state state;
	struct receive *receive; /* while its operation is open */
	uint64_t recv_start, recv_id, recv_call;
	const struct place *recv_place;
	const char *recv_function;
	uint32_t recv_tid;
	const char *recv_op;
};

enum match_state {
	MATCH_NONE, /* no message was sent by it yet, or its receive is done */
	MATCH_SENT, /* its message was sent; later transfers are the rest of it */
	MATCH_RECEIVE, /* a tag receive that is not done */
};

/* State of an operation in matching: a member of struct op, until op_over. */
struct match_op {
	enum match_state state;
	bool tagged; /* tag is set: of a receive by handle */
	struct receive *receive; /* of MATCH_RECEIVE */
	struct arrival *unsized; /* of sends: joined, waits for the length; NULL */
	struct way *way; /* held; NULL */
	struct offer *offer; /* of sends: until it is known who fetches the data; NULL */
	struct process *peer; /* of receives: the sender; NULL: not known */
	const char *protocol; /* of receives: the sender's; NULL: not known */
	uint64_t tag;
	uint64_t bytes; /* of receives: the message's; UINT64_MAX: not known */
	struct moment end; /* of receives: when the message was there */
	struct other_end other;
	struct match_op *next; /* free one */
};

/* A tag receive operation. */
struct receive {
	struct op *op;
	struct inbox *inbox;
	struct receive *older, *newer; /* in the posted queue */
	bool queued, bound;
	bool contested; /* another thread's receive may have been posted before it, or after */
	bool alike; /* ambiguous, but the messages' facts are the same either way */
	bool listed; /* among the bound ones of its inbox, linked as in the posted queue */
	const char *lost; /* why its message is unknown, whatever comes; NULL: it is not */
	unsigned int epoch; /* of the inbox, as it was posted */
	uint64_t came; /* messages that it would have taken, and that had come by then */
	struct arrival *arrival; /* until the message is settled */
};

/* The receive FIFO of a worker's shared memory transport. */
struct fifo {
	const char *transport, *device; /* of its interface */
	const struct object *memory; /* an interface that a snapshot tells the slots of; NULL */
	bool several; /* not known which of several memory is: not used */
	uint64_t iface; /* address of the interface that the last position is of; 0 */
	bool known; /* reached is the least position that the last message can have had */
	uint64_t reached;
	struct map expected; /* position -> struct sent *; 0: several claim it */
	struct map slots; /* slot -> struct sent * that will arrive there next; 0: likewise */
};

#define MASKS 8 /* MPI libraries have three: for any source, for any tag, for neither */

/* A worker as the receiving end. */
struct inbox {
	struct process *process;
	uint64_t worker;
	int id;
	uint64_t arrivals;
	uint64_t headless; /* position of the last one whose send is unknown for lack of a header */
	unsigned int hidden; /* links to it that may hide such a send */
	uint64_t shown; /* position of the last anchor of one */
	uint64_t unseen_until; /* processes of its host may have sent to it unseen before that */
	unsigned int epoch; /* how often its state was lost */
	struct map came[MASKS]; /* by mask: tag & mask -> messages, since it was listed */
	uint64_t masks[MASKS]; /* of receives posted while the queues are not known */
	unsigned int mask_count;
	struct map sure; /* tag -> the epoch in which its queues were seen to be known */
	struct receive *posted, *posted_last;
	unsigned int returned; /* posted ones that were done at their return: of what? */
	struct receive *bound; /* have their message, are not done */
	struct arrival *unexpected, *unexpected_last;
	unsigned int passed; /* unexpected ones that some receive has taken, or will take */
	struct arrival *current; /* arrived, not known yet whether expected */
	struct offer *offers; /* the latest first */
	bool handling; /* listed in matcher.handling */
	struct { /* the last transfer to the thread itself */
		struct sent *sent; /* NULL: arrived */
		uint32_t tid;
		uint64_t until;
	} inlined;
	struct map handles; /* message handle of a probe -> arrival */
	uint32_t handlers; /* bit n: one of active message n was seen */
	VEC(struct fifo *) fifos;
};

/* An endpoint as the sending end. */
struct link {
	struct object *ep;
	struct process *process;
	struct inbox *inbox; /* NULL: not known */
	bool untraced, synced;
	bool complete; /* no record of its own two processes is missing, since an anchor: the order
			  of messages that no other process can send is known */
	const char *lost; /* why it is not synced any more; NULL: it never was, since a cut */
	bool hides; /* counted in its inbox's hidden: until its next anchor */
	bool listed; /* in matcher.synced */
	uint64_t connection; /* 1 + the upper half of positions that both ends have had; 0: none */
	uint64_t sends;
	uint64_t kept; /* up to this position its sends are in order, whatever was lost later */
	uint64_t kept_in_fifo; /* likewise, for sends that arrive by a FIFO, */
	uint64_t lost_from; /* and were done before that */
	uint64_t bytes; /* of all its transfers that were seen */
	uint64_t anchor_sent, anchor_arrival; /* positions of the last anchor */
	struct sent *first, *last; /* not arrived */
	struct { /* the last transfer */
		uint32_t tid;
		bool derived;
		uint64_t ts, done;
	} newest;
};

struct matcher {
	struct decoder *decoder;
	struct attribute *attribute;
	bool gpu; /* a process has a GPU library */
	struct match_sink sink;
	struct map inboxes; /* (worker, process) */
	VEC(struct inbox *) all_inboxes;
	VEC(struct inbox *) handling; /* those with a current arrival, and some that had one */
	VEC(struct link *) links;
	VEC(struct link *) synced; /* complete links, until a gap; some are complete no longer */
	struct map ways; /* (process, inbox) -> how many links go there */
	struct map blocking; /* (thread, process) -> its last struct receive *, of a call that
				blocks */
	struct map unseen; /* (worker, process) -> inbox.unseen_until */
	struct map ends; /* (worker, its process and another one): that has an endpoint there */
	size_t ends_seen; /* objects of the decoder that are in it */
	struct map streams; /* (ep, process) -> oldest waiting struct stream_receive * */
	struct map buckets; /* (key, class and inbox) */
	VEC(struct bucket *) all_buckets;
	struct map sockets; /* (position, enum socket_end) -> what waits for the other end */
	VEC(uint64_t) hidden; /* by process.id: bytes it may have sent beside those of its links */
	struct sent *free_sents;
	struct arrival *free_arrivals;
	struct receive *free_receives;
	struct match_op *free_ops;
	struct way_pool free_ways;
	uint64_t sends, receives, matched, ambiguous;
	const char *ending; /* why operations end now: ending_at(); NULL: by themselves */
	struct fact_reason unmatched_sends[FACT_MAX_REASONS];
	struct fact_reason unmatched_receives[FACT_MAX_REASONS];
};

/* ---- pair.c ---- */
extern const char one_of_several[];
/* The reason why order does not pair messages of a link that is not in order. */
const char *order_lost(const struct link *link);
struct bucket *bucket_of(struct matcher *matcher, uint64_t key, enum message_class class,
			 const struct inbox *inbox);
void bucket_add_sent(struct bucket *bucket, struct sent *sent);
void bucket_add_arrival(struct bucket *bucket, struct arrival *arrival);
void bucket_remove_sent(struct sent *sent);
void bucket_remove_arrival(struct arrival *arrival);
bool class_is_exact(enum message_class class);
/* Joins a send and an arrival: out of their buckets, and on to the message. */
void join(struct matcher *matcher, struct sent *sent, struct arrival *arrival);

/* On one clock: the arrival was there before the send. */
bool before_send(const struct sent *sent, const struct arrival *arrival);
/* Where order is lost: whether the arrival may be of this send, as far as they tell. */
bool may_be_of(const struct sent *sent, const struct arrival *arrival);
/* Whether an arrival that may have been this send's was given up. */
bool arrival_given_up(const struct sent *sent);
/* Whether the record of its arrival may be among the receiver's missing ones. */
bool arrival_may_be_lost(const struct sent *sent);
/* Whether order or clock say that the arrival cannot be of this send. */
bool stale(const struct sent *sent, const struct arrival *arrival);
/* Joins by id: the other end of an exact class, if it is there already. */
void bucket_pair_exact(struct matcher *matcher, struct bucket *bucket);
/* Joins whatever can be joined in a bucket of an order class. */
void bucket_pair(struct matcher *matcher, struct bucket *bucket);

/*
 * A send is given up in a bucket of several links, and its arrival may be one of those before a
 * position: they are given up, too, and links that one of them may be of are not in order any more.
 */
void bucket_doubt(struct matcher *matcher, const struct sent *given_up, uint64_t pos);

struct link *link_of(struct matcher *matcher, struct object *ep);
/* Whether one of its ends is cut. */
bool link_ends(const struct link *link);
/* Order is known on the link from now on, until a gap or a cut; its inbox is known. */
void link_sync(struct matcher *matcher, struct link *link);
/* Likewise, of messages whose tag is of one sender. */
void link_complete(struct matcher *matcher, struct link *link);
/*
 * Some record of the host is missing. A message may have been sent unseen: order is known on no
 * link of the host, and on no link of others to a worker that owner has an endpoint to, or to any
 * if owner is NULL. Where owner made all of these records, its sends before them stay in order, and
 * so do those of others whose tag is of one sender.
 */
void links_unsync(struct matcher *matcher, int host, const struct process *owner, uint64_t from,
		  const char *why);
/* A send of it that may have been hidden has arrived, or is not awaited any more. */
void link_shows(struct link *link);
/* From now on nothing is known of its order. why: a reason, for its messages. */
void link_unsync(struct link *link, const char *why);
/* Whether all that was sent before it on its link was seen, and it is the next to arrive. */
bool in_order(const struct sent *sent);
/*
 * Whether only the process that sent it can send its tag to that inbox. A tag that has one sender
 * at a time may have had an unseen one before: its messages arrived before, as one clock shows.
 */
bool is_of_one(const struct sent *sent);
void link_append(struct link *link, struct sent *sent);
void link_remove(struct sent *sent);
/* Forward in the link's order: whatever has arrived meanwhile. */
void link_pair(struct matcher *matcher, struct link *link);
/* Learns the receiving end from a message that was matched exactly. */
void link_learn(struct matcher *matcher, struct link *link, struct inbox *inbox);

/* ---- anchor.c ---- */
/* An exact match: aligns the earlier messages of the link backwards from it. */
void anchor(struct matcher *matcher, struct sent *sent, struct arrival *arrival);
/* Joins two ends with the same position as an anchor, if their own data agree. */
bool anchor_in_place(struct matcher *matcher, struct sent *sent, struct arrival *arrival);

/* Links that never saw an anchor and are cut, once all records up to there are read. */
void align_links(struct matcher *matcher);

/* ---- position.c ---- */
/* What is known of the FIFOs of an inbox that is new. */
void fifos_find(struct inbox *inbox);
void fifos_release(struct inbox *inbox);
/* in_slot: it lies in its slot, not in a receive descriptor. */
void fifo_expect(struct matcher *matcher, struct sent *sent, const struct ub_xfer *xfer,
		 bool in_slot);
void fifo_forget(struct sent *sent);
/* Arrivals may be missing: forgets the expected ones. */
void fifos_lost(struct inbox *inbox);
/* The FIFO that the arrival's record has a position in; NULL: none. */
struct fifo *fifo_of(struct inbox *inbox, const struct ub_rx *rx);
/* The send that this message must be, by its place; NULL: not known. */
struct sent *fifo_arrived(struct inbox *inbox, const struct ub_rx *rx);

/* Counts a transfer of any kind, which moves its connection on. ep: NULL, not known. */
void socket_passed(struct matcher *matcher, const struct process *process, const struct object *ep,
		   const struct ub_xfer *xfer);
/* Allows for bytes sent in records of the process that may be missing in between. */
void socket_hidden(struct matcher *matcher, const struct process *process, uint64_t from,
		   uint64_t until);
/*
 * Lists a send by its position in a TCP connection, if that is known. True: the arrival was there
 * already, the message is joined.
 */
bool socket_sent(struct matcher *matcher, struct sent *sent, const struct ub_xfer *xfer);
/* The send at the arrival's position; NULL: none is known. */
struct sent *socket_arrived(struct matcher *matcher, const struct ub_rx *rx);
/* Lists an arrival by its position, if that is known, for a send that is read later. */
void socket_await(struct matcher *matcher, struct arrival *arrival, const struct ub_rx *rx);
/* Both tell where in one FIFO or connection they are, and not the same place. */
bool places_differ(const struct sent *sent, const struct arrival *arrival);
void socket_forget_sent(struct sent *sent);
void socket_forget_arrival(struct arrival *arrival);

/* ---- offer.c ---- */
/* The announcement of an active message has arrived. */
void offer_add(struct inbox *inbox, struct op *send);
void offer_forget(struct match_op *match);

/* ---- match_op.c ---- */
/* Makes it with the first call. */
struct match_op *match_op_of(struct matcher *matcher, struct op *op);
void match_ops_release(struct matcher *matcher);

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
void bind_arrival(struct matcher *matcher, struct receive *receive, struct arrival *arrival);

void bound_remove(struct receive *receive);
/*
 * A completed receive without a message takes that of an equal receive that another thread posted
 * at the same time, which gets a later one. False: no such receive.
 */
bool swap_at_once(struct matcher *matcher, struct receive *receive);
/* A receive that returned then waits, although this message was there: another one has it. */
void arrival_pass(struct arrival *arrival, uint64_t returned);
/*
 * Settles what is certain by now: returned receives without a message take the one that they
 * report, as above, and a skipped message went to an unseen receive.
 */
void inbox_catch_up(struct matcher *matcher, struct inbox *inbox, uint64_t now);

/* After a loss or a pause: posted receives and waiting messages are unknown. why: a reason. */
void inbox_lost(struct matcher *matcher, struct inbox *inbox, const char *why);
/* Whether later records of its request may refer to another receive. */
bool receive_lost(const struct receive *receive);
/* Whether all receives and messages with that tag that are in the queues were seen. */
bool inbox_sure(const struct inbox *inbox, uint64_t tag);
/* The arrival is known to be this receive's, whatever else was not seen. */
void receive_proved(struct receive *receive, struct arrival *arrival);
/* A receive completes: keeps its message only if no other can have been its own. */
bool receive_judged(const struct receive *receive);
/* A message with a tag has come, or a receive is posted: what receive_judged() counts. */
void inbox_came(struct inbox *inbox, uint64_t tag);
void inbox_expect(struct inbox *inbox, struct receive *receive);
void receive_judge(struct matcher *matcher, struct receive *receive);

/* Why an end of a message in this process stays alone when a cut goes through all. */
const char *ending_at(const struct matcher *matcher, const struct process *process);

/* ---- receive.c ---- */
struct receive *receive_of(const struct op *op);

/* Whether tag and length that a receive tells are the arrival's. */
bool arrival_is_told(const struct op *op, const struct arrival *arrival);
struct arrival *unexpected_told(const struct inbox *inbox, const struct op *op);
void arrival_taken_unseen(struct matcher *matcher, struct arrival *arrival);

void stream_arrived(struct matcher *matcher, const struct process *process, uint64_t ep,
		    uint64_t bytes);

/* The send behind an arrival whose header could not be read; NULL if it may be one of several. */
const struct sent *headless(const struct matcher *matcher, const struct inbox *inbox, uint8_t am_id,
			    uint64_t length);
/* It may be one of several: from now on order tells nothing where it may have been. */
void headless_unknown(struct matcher *matcher, struct inbox *inbox, uint8_t am_id, uint64_t length);

#endif
