/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared among the files of attribute/. */
#ifndef UCXBPF_ATTRIBUTE_INTERNAL_H
#define UCXBPF_ATTRIBUTE_INTERNAL_H

#include "explain/attribute/attribute.h"

#define MAX_FRAMES 16

/* A thread and its open frames. */
struct thread {
	struct process *process;
	uint32_t tid;
	uint32_t last_call; /* call around the last record */
	uint64_t last_end; /* of the last record */
	uint64_t idle_since; /* nothing was recorded in this call since then; 0: not in one call */
	bool in_call;
	struct call call; /* the outermost one */
	struct {
		uint32_t seq;
		const char *function;
	} missed[4]; /* calls that loss records name, which come in the order of their losses */
	unsigned int misses;
	uint32_t inner; /* the last call that the MPI library made inside it; 0: none */
	uint32_t left; /* a call that records may name although it has returned; 0: none */
	unsigned int depth;
	struct op *frames[MAX_FRAMES]; /* held */
	unsigned int arrivals;
	struct {
		uint32_t seq;
		uint8_t am_id;
		uint64_t req_id; /* of a request to which the arrival asks for an answer */
		uint64_t tag, message; /* of a message with a tag; id of one in fragments, 0 */
		bool unread; /* its header is not known */
	} arrival; /* the innermost one */
	struct {
		uint64_t from, to;
		struct op *op; /* held; NULL */
	} around; /* the last transfer that was no copy: copies may run inside */
	struct {
		uint32_t rx, frame;
		struct op *op; /* held; NULL */
	} about; /* the operation that a handler, or an operation, was last seen to work for */
};

/* A request that UCX made internally, and its owner as far as known. */
struct inner {
	uint64_t req, super;
	struct op *op; /* held; NULL */
	struct transfer *pending; /* sent, not known to be complete; oldest first */
};

/* Which process will answer a peer's request id: with an ATS, an RTR, an ATP. */
struct request_answer {
	uint64_t id;
	struct op *op; /* held */
	uint64_t ep;
};

/* Lists a process's entries in the maps below: a cut through it visits nothing else. */
struct owned {
	VEC(struct op *) open; /* requests, in no order */
	VEC(struct inner *) inners; /* oldest first, as are the others */
	VEC(struct request_answer *) answers;
	VEC(struct thread *) threads;
	uint64_t request_size; /* user's handle - request, once seen; 0 before */
};

#define RECENT_THREADS 256 /* that are found without the map */

#define STRANGERS 64 /* a power of two */

struct attribute {
	struct decoder *decoder;
	struct attribute_sink sink;
	bool gpu; /* a process has a GPU library */
	bool refusals; /* an operation is refused */
	struct map threads; /* (tid, process) -> struct thread * */
	struct map requests; /* (request, process) -> oldest open generation */
	struct map buffers; /* (buffer, process) -> oldest open receive that has nothing yet */
	struct map filled; /* (message id, process) -> receive that gets its fragments */
	struct map inners; /* (request, process) -> struct inner * */
	struct map answers; /* (peer's request id, process) -> struct request_answer * */
	struct map communicators; /* see thread.c */
	struct map allocations; /* (handle, process) -> struct allocation *, see allocation.c */
	uint64_t unmapped; /* see attribute_unmapped() */
	VEC(struct owned) owned; /* by process.id, see owned_by() */
	struct thread *recent[RECENT_THREADS]; /* by tid; NULL */
	uint64_t ids; /* the last one given to a call or operation */
	uint64_t asked; /* the last struct op.asked */
	struct op *free_ops;
	struct transfer *free_transfers;
	struct transfer *strangers[STRANGERS]; /* the latest whose peer is not known yet; NULL */
	unsigned int next_stranger;
	uint64_t peers_learnt; /* the decoder's, when they were looked at */
};

/* Layers: each file calls only those above it. */

/* ---- payload.c ---- */
bool xfer_is_control(const struct site_info *site, const struct ub_xfer *xfer);
uint64_t xfer_payload(const struct site_info *site, const struct ub_xfer *xfer,
		      const struct op *op);

/* Payload of all fragments. */
uint64_t frags_payload(const struct site_info *site, const struct ub_frags *frags,
		       const struct op *op);
/* The protocol as far as one transfer shows it. */
struct protocol {
	const char *name; /* static; NULL: not known */
	uint8_t trust; /* the higher, the better the evidence */
	bool plain_rndv; /* a rendezvous, with unknown data movement */
};

struct protocol xfer_protocol(const struct site_info *site, const struct ub_xfer *xfer,
			      const struct op *op);

/* ---- op.c ---- */
struct op *op_new(struct attribute *attribute, const struct event *event);
void op_close(struct attribute *attribute, struct op *op);
void op_unframe(struct attribute *attribute, struct op *op);
/* Whether the transfer moves data within its process, to where another one can reach it. */
bool is_copy(const struct object *iface, const struct site_info *site, const struct ub_xfer *xfer,
	     const struct op *op);
struct transfer *transfer_new(struct attribute *attribute);
/* Emits the transfer, or keeps it until its owner and its peer are known. */
void transfer_emit(struct attribute *attribute, struct transfer *transfer);
/* Emits those whose peer is known by now, or all. */
void strangers_emit(struct attribute *attribute, bool all);
/* Ends transfers pending on a request; one: only the oldest. */
void transfers_complete(struct attribute *attribute, struct inner *inner, uint64_t ns, bool one,
			bool exact);

/* ---- request.c ---- */
/* Valid until the next call. */
struct owned *owned_by(struct attribute *attribute, const struct process *process);

/* The request is the operation's now; one that is done at its return only ends older ones. */
void request_open(struct attribute *attribute, struct op *op);
/* The generation that a record at that time on that thread refers to; kinds: mask of op kinds. */
struct op *request_find(struct attribute *attribute, const struct process *process, uint64_t req,
			const struct ub_hdr *h, unsigned int kinds);
/*
 * A send of that endpoint that began before ns, was refused, and has sent nothing that was seen:
 * overtaken from now on. NULL: none.
 */
struct op *request_left(struct attribute *attribute, const struct process *process, uint64_t ep,
			uint64_t ns);
/*
 * The oldest open send of those kinds that has sent nothing yet, with that payload and tag (AM id);
 * ep 0: on any endpoint, puts and atomics only where all of them are on one.
 */
struct op *request_unsent(struct attribute *attribute, const struct process *process,
			  unsigned int kinds, uint64_t ep, uint64_t tag, uint64_t bytes);
/*
 * An open one of those kinds whose buffer has that address: the only one; or, of receives that have
 * all data up to there and no more, the first that asked for its data, else the oldest. NULL: none,
 * or ambiguous.
 */
struct op *request_covering(struct attribute *attribute, const struct process *process,
			    unsigned int kinds, uint64_t address, uint64_t bytes);
/*
 * The receive into which the handler of the thread's arrival, of a message with a tag, writes at an
 * address: UCX fills receives in the order in which they were posted. NULL: not known.
 */
struct op *request_filled(struct attribute *attribute, const struct thread *thread,
			  uint64_t address);
/* The receive sends an RTR; whole: not for one of several fragments. */
void request_asks(struct attribute *attribute, struct op *op, bool whole);
/* Data was sent to a request of that process, as an RTR had asked for it. */
void request_sent_to(struct attribute *attribute, const struct process *process, uint64_t req,
		     const struct ub_hdr *h, uint64_t bytes);
/* It gets data that was sent to an RTR. */
void request_filling(struct op *op, uint64_t address, uint64_t bytes);
/* A receive has its message, or a part of it: no other message will be written there. */
void request_begun(struct attribute *attribute, struct op *op);
void request_close(struct attribute *attribute, struct op *op);
struct inner *inner_get(struct attribute *attribute, const struct process *process, uint64_t req);
struct inner *inner_find(struct attribute *attribute, const struct process *process, uint64_t req);
void inner_bind(struct attribute *attribute, struct inner *inner, struct op *op);
void requests_cut(struct attribute *attribute);

void answer_learn(struct attribute *attribute, const struct process *process, uint64_t id,
		  struct op *op, uint64_t ep);
/* By the process that will answer; NULL: not seen. */
const struct request_answer *answer_to(const struct attribute *attribute,
				       const struct process *process, uint64_t id);
/* NULL: a transfer that answers nothing, or something not seen. */
const struct request_answer *answer_find(const struct attribute *attribute,
					 const struct event *event);
void answers_cut(struct attribute *attribute);

/* ---- allocation.c ---- */
/* ucp_mem_map() or ucp_mem_unmap(). */
void allocation_event(struct attribute *attribute, const struct event *event);
void allocations_release(struct attribute *attribute);

/* ---- thread.c ---- */
struct thread *thread_of(struct attribute *attribute, const struct event *event);
/* Removes the frames that are over at this record; shows the call that it is not over yet. */
void thread_step(struct attribute *attribute, struct thread *thread, const struct ub_hdr *h);
void thread_call(struct attribute *attribute, struct thread *thread, const struct event *event);
/* A call whose record is missing; the thread is inside of it at some later record. */
void thread_missed(struct thread *thread, uint32_t seq, const char *function);
void thread_call_end(struct attribute *attribute, struct thread *thread, const struct ub_hdr *h);
/* Attaches the stack to its call, or to its operation outside of calls. */
void thread_stack(struct attribute *attribute, struct thread *thread, const struct event *event);
void thread_push(struct attribute *attribute, struct thread *thread, struct op *op);
/* The operation whose own code runs: none where an arrival handler is nested deeper. */
struct op *thread_op(const struct thread *thread, const struct ub_hdr *h);
/*
 * A live operation whose request it is, however deep below it: one that is done at its return never
 * gets into the table of requests, but over "self" the whole exchange runs inside it.
 */
struct op *thread_find(const struct thread *thread, uint64_t req, unsigned int kinds);
/*
 * Records name a call until the thread's stack shows another one. leaves: the caller of an
 * operation shows that the thread has left the call that the operation's record names.
 */
void thread_leaves(struct thread *thread, const struct ub_hdr *h, bool leaves);
const char *thread_function(const struct thread *thread, const struct ub_hdr *h);
/* Bytes of an operation whose size was unknown at its entry. */
void thread_bytes(struct thread *thread, const struct ub_hdr *h, uint64_t bytes);
void threads_cut(struct attribute *attribute);
/* Forgets the operations behind handlers and transfers; the frames stay. */
void threads_forget(struct attribute *attribute);
void thread_around(struct attribute *attribute, struct thread *thread, const struct ub_xfer *xfer,
		   struct op *op);
/* Sets the operation that the record's handler or operation, or its enclosing one, works for. */
void thread_about(struct attribute *attribute, struct thread *thread, const struct ub_hdr *h,
		  struct op *op);

/* ---- transfer.c ---- */
void transfer_event(struct attribute *attribute, struct thread *thread, const struct event *event);

#endif
