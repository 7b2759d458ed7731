/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attribution: the call that caused an operation, the operation that caused a transfer
 * (docs/attribution.md). Events come in time order per process. Certain results are emitted at
 * once, the others when their request completes.
 *
 * Layers, each calling only those before it: payload.c; op.c; request.c; thread.c; transfer.c;
 * attribute.c, which hands each record to the others.
 */
#ifndef UCXBPF_ATTRIBUTE_ATTRIBUTE_H
#define UCXBPF_ATTRIBUTE_ATTRIBUTE_H

#include "explain/decode/decode.h"

enum precision { PRECISION_UNKNOWN, PRECISION_EXACT, PRECISION_UPPER, PRECISION_LOWER };

struct moment {
	uint64_t ns;
	enum precision precision;
};

/* A UCP operation from its entry until nothing more can be learnt about it. */
struct op {
	uint64_t id; /* above 0, calls count as well */
	uint64_t call; /* id of the MPI call around it, 0 = outside MPI */
	struct process *process;
	struct object *ep; /* of sends, put, get, atomics; NULL: none or not known */
	const struct site_info *site;
	const char *function; /* MPI function around it, NULL = outside MPI */
	const struct place *place; /* of that call, else where UCP was called; NULL: not known */
	const struct place *caller; /* where UCP was called; NULL: not known */
	const struct stack *stack; /* how it was reached, outside of calls; NULL: not known */
	const char *protocol;
	uint32_t tid, seq;
	uint64_t start, returned;
	struct moment end;
	struct memory_answer memory; /* of its buffer, at its start */
	const char *taken_as; /* memory type in UCX; static, NULL: not recorded */
	uint64_t object; /* first argument: ucp_ep or worker */
	uint64_t tag, mask;
	uint64_t bytes; /* UINT64_MAX unknown */
	uint64_t room; /* bytes that a stream receive asked for */
	bool whole; /* it is done only with all of them */
	uint64_t buffer, req, handle, message;
	uint32_t transfers; /* that were sent for it */
	uint64_t carried; /* payload that its transfers took away so far */
	uint64_t copied; /* bytes that were copied from its buffer, or into it */
	struct transfer *copies; /* of these, those whose role is not known yet; latest first */
	int status;
	uint64_t freed; /* when ucp_mem_unmap() freed its buffer, before a known end; 0 */
	bool sends; /* carries payload away */
	bool immediate; /* done at its return */
	bool returns; /* its return was seen */
	bool bare; /* no transfers were recorded when it began */
	bool unsized; /* bytes were not known at its entry: its transfers show them */
	bool open; /* its request may still make transfers */
	bool framed; /* its frame may still be live */
	bool completed; /* its completion callback ran, or its return showed the completion */
	bool released; /* the user freed its request before it was known to be done */
	bool failed; /* ended with an error or was cancelled */
	bool deferred; /* UCP_OP_ATTR_FLAG_NO_IMM_CMPL: completes through its request, always */
	bool refused; /* one of its transfers found no resources before any other had left */
	bool overtaken; /* likewise, and a later one of its endpoint has left since */
	bool queued; /* a receive whose request was not done at its return: it found no message */
	bool removes; /* a probe that takes the message out of the queue */
	bool handled; /* it began inside an arrival's handler */
	bool info; /* info_tag, info_len hold the sender's tag and length */
	uint8_t protocol_trust; /* how good the evidence for protocol is */
	bool plain_rndv; /* protocol is a rendezvous, with unknown data movement */
	uint64_t info_tag, info_len;
	uint64_t number; /* of a receive in the order in which UCX queued them; 0: not known */
	unsigned int refs;
	struct op *newer; /* next generation of the same request */
	struct op *before,
		*after; /* in a ring of receives into the same buffer, oldest first; NULL */
	uint64_t met; /* bytes of the message announced to it by an RTS; 0 */
	uint64_t met_by; /* id of the endpoint to its sender */
	uint32_t rtrs; /* sent for it, */
	uint64_t asked; /* the first as the asked-th of the job, */
	bool asked_whole; /* and for all of the message */
	uint64_t coming, coming_since; /* bytes sent for an RTR and not yet written; their order */
	uint64_t filled_from, filled_to; /* addresses of the data that was sent for it then */
	uint64_t filled_by; /* id of the message in several fragments that it receives; 0 */
	size_t open_at; /* of an open one: position among those of its process */
	struct match_op *match; /* owned by the match stage, which frees it in op_over; NULL */
};

struct transfer {
	struct process *process;
	struct object *ep; /* the ucp_ep, NULL not known */
	const struct object *iface; /* NULL not known */
	const struct site_info *site;
	struct op *op; /* held; NULL: no operation */
	const char *protocol;
	const char *reason; /* data without an operation: why; static */
	uint32_t tid;
	uint8_t am_id;
	bool control, retried;
	bool copy; /* within the process: its bytes are no payload */
	bool named; /* protocol is UCX's own name */
	bool derived; /* from its operation */
	uint64_t start;
	struct moment end;
	uint64_t bytes, wire_bytes, laddr, raddr;
	/* memory at laddr, else of the op, and at raddr; zeros where no process has a GPU library
	 */
	struct memory_answer here, there;
	uint64_t count; /* fragments reported together: bytes are of all of them, */
	uint64_t time; /* as is the time, ns; count 1: from start to end */
	uint64_t req;
	struct transfer *next; /* pending on the same request, oldest first */
};

struct call {
	uint64_t id; /* 0: the record is missing; only the kind and the inner frames are known */
	struct process *process;
	const char *function;
	const char *comm; /* from decoder_comm() */
	uint64_t handle; /* communicator handle that the call was given; 0: none */
	const struct place *place; /* where it was made; NULL: the capture does not tell */
	const struct place *returns_to; /* the same, or a binding that the program called */
	const struct stack *stack; /* how it was reached; NULL: the capture does not tell */
	uint32_t tid, seq;
	uint64_t start;
	struct moment end;
	uint64_t until; /* its thread was outside it then; 0: that was not seen */
	/*
	 * Above 1: calls of a loop, reported together, with nothing inside. They start in turn from
	 * start to until; an exact end is as far behind start as all of them took together.
	 */
	uint64_t count;
	uint32_t ops;
	uint64_t bytes;
	bool one_op; /* its function makes one operation a call */
	bool bare; /* no operations were recorded then: ops and bytes mean nothing */
	bool derived; /* from its operation, whose start it has */
};

/* All are called in time order per process; op_done, transfer and call when they are final. */
struct attribute_sink {
	void *arg;
	void (*call_start)(void *arg, const struct call *call); /* one with a record */
	void (*call)(void *arg, const struct call *call);
	void (*op_start)(void *arg, struct op *op);
	void (*op_done)(void *arg, struct op *op);
	/* called after the last event of an operation with match set, transfers included */
	void (*op_over)(void *arg, struct op *op);
	void (*transfer)(void *arg, const struct transfer *transfer);
	/* the process's sends left an endpoint unseen, after that time and before this event */
	void (*hidden)(void *arg, const struct event *event, uint64_t from);
	/* a transfer was sent, in send order: op NULL = none known */
	void (*sent)(void *arg, const struct event *event, struct op *op, struct object *ep);
	/* idle_since: its thread has been inside one call since then, with nothing recorded; 0: no
	 */
	void (*arrived)(void *arg, const struct event *event, uint64_t idle_since);
	/* a user callback for an operation's request (op NULL: not known) */
	void (*completed)(void *arg, const struct event *event, struct op *op);
	/* an RTS met a receive request */
	void (*met)(void *arg, const struct event *event, struct op *op);
};

struct attribute;

/* The decoder must outlive it; the sink is copied. */
struct attribute *attribute_new(struct decoder *decoder, const struct attribute_sink *sink);
void attribute_free(struct attribute *attribute);

/* Takes the next event, in the decoder's order; results go to the sink. */
void attribute_event(struct attribute *attribute, const struct event *event);

/* Closes everything open of the processes that are ending (decoder_end()). */
void attribute_cut(struct attribute *attribute);

/*
 * Records of the processes that are ending are missing: requests and addresses may be reused from
 * now on. Calls and operations that a thread is inside of have their own numbers, and stay.
 */
void attribute_forget(struct attribute *attribute);

/* End of all captures: all processes are ending. */
void attribute_finish(struct attribute *attribute);

/* The number of calls of ucp_mem_unmap() that freed memory which ucp_mem_map() had allocated. */
uint64_t attribute_unmapped(const struct attribute *attribute);

void op_hold(struct op *op);
void op_drop(struct attribute *attribute, struct op *op);

/* Whether operations of that kind carry payload away from their process. */
bool op_sends(enum op_kind kind);

/*
 * Payload that the transfers of a cell carried, UINT64_MAX where it is not known. Each of them
 * carried the least, but for the last fragment of a message.
 */
struct cell_load {
	bool control;
	uint64_t payload, least;
};

struct cell_load cell_load(const struct count_cell *cell);

/* Whether an address lies in the operation's buffer, as far as its size is known. */
bool op_covers(const struct op *op, uint64_t address);
/* Bytes of the operation's buffer; 0: unknown. */
uint64_t op_buffer_size(const struct op *op);

/* Whether a transfer left the process: neither refused for lack of resources nor failed. */
bool xfer_sent(const struct ub_xfer *xfer);

#endif
