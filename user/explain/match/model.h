/* SPDX-License-Identifier: BSD-3-Clause */
/* What the matcher thinks of: sends on links, arrivals in inboxes, receives. */
#ifndef UCXBPF_MATCH_MODEL_H
#define UCXBPF_MATCH_MODEL_H

#include "explain/match/match.h"

/* First fragments, by what identifies them. */
enum message_class {
	CLASS_NONE,
	CLASS_EAGER, /* tag and order only */
	CLASS_MULTI, /* message id */
	CLASS_REQUEST, /* request id: RTS, sync */
	CLASS_AM, /* AM id and order */
	CLASS_AM_FIRST,
	CLASS_STREAM, /* order */
};

/* Messages that share a key: FIFO on both sides. */
struct bucket {
	struct sent *sents, *last_sent;
	struct arrival *arrivals, *last_arrival;
	struct link *only; /* the link that all of them came over so far */
	bool many; /* more than one link */
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
	uint64_t position; /* in that FIFO, from its start; or in a TCP connection */
	struct map *sockets; /* of the matcher, while it is listed there; NULL */
	uint64_t passed; /* what its link had carried by then, see socket.c */
	bool vacant; /* its slot was consumed before */
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
	const char *orphan; /* why no send will be found; NULL: it may be found */
	bool doubt; /* a receive that was not seen may have it: see doubt.c */
	bool held; /* in the inbox's handles, by this one: */
	uint64_t handle;
	uint32_t tid, seq;
	uint64_t pos, ts, idle_since, tag, key, length, bytes, ep_id;
	struct map *sockets; /* as above */
	uint64_t position; /* in a TCP connection, while it is listed */
	uint64_t passed; /* when a receive had returned that left it where it was; 0: none */
	struct process *source; /* NULL = not known */
	struct sent *sent;
	struct way *way; /* of its receive */
	enum receive_state state;
	struct receive *receive; /* while its operation is open */
	uint64_t recv_start, recv_id;
	uint32_t recv_tid;
	const char *recv_op;
};

/* A tag receive operation. */
struct receive {
	struct op *op;
	struct inbox *inbox;
	struct receive *older, *newer; /* in the posted queue */
	bool queued, bound;
	bool contested; /* another thread's receive may have been posted before it, or after */
	bool alike; /* the same, but it makes no difference to what is told of the messages */
	bool listed; /* among the bound ones of its inbox, linked as in the posted queue */
	bool lost; /* posted before records were lost: what it took is not known */
	unsigned int epoch; /* of the inbox, as it was posted */
	uint64_t arrived; /* messages with a tag that had come to the inbox by then */
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
	struct map expected; /* position -> struct sent * */
	struct map slots; /* slot -> struct sent * that will arrive there next */
};

/* A worker as the receiving end. */
struct inbox {
	struct process *process;
	uint64_t worker;
	int id;
	uint64_t arrivals;
	unsigned int epoch; /* how often its state was lost */
	uint64_t tagged; /* arrivals with a tag */
	struct map sure; /* tag -> the epoch in which its queues were seen to be known */
	struct receive *posted, *posted_last;
	unsigned int returned; /* posted ones that were done at their return: of what? */
	struct receive *bound; /* have their message, are not done */
	struct arrival *unexpected, *unexpected_last;
	unsigned int passed; /* unexpected ones that somebody has taken, or will have */
	struct arrival *current; /* arrived, not known yet whether expected */
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
	bool listed; /* in matcher.synced */
	uint64_t sends;
	uint64_t bytes; /* of all its transfers that were seen */
	uint64_t anchor_sent, anchor_arrival; /* positions of the last anchor */
	struct sent *first, *last; /* not arrived */
};

struct matcher {
	struct decoder *decoder;
	struct attribute *attribute;
	bool gpu; /* a process has a GPU library */
	void (*emit)(void *arg, const struct message *message);
	void *arg;
	struct map inboxes; /* (worker, process) */
	VEC(struct inbox *) all_inboxes;
	VEC(struct link *) links;
	VEC(struct link *) synced; /* those that are, and some that were: what a gap ends */
	struct map streams; /* (ep, process) -> oldest waiting struct stream_receive * */
	struct map buckets; /* (key, class and inbox) */
	VEC(struct bucket *) all_buckets;
	struct map sockets; /* (position, enum socket_end) -> what waits for the other end */
	struct sent *free_sents;
	struct arrival *free_arrivals;
	uint64_t sends, receives, matched, ambiguous;
	const char *ending; /* why operations end now; NULL: by themselves */
	struct fact_reason unmatched_sends[MAX_REASONS], unmatched_receives[MAX_REASONS];
};

#endif
