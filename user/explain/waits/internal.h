/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared among the files of waits/. */
#ifndef UCXBPF_WAITS_INTERNAL_H
#define UCXBPF_WAITS_INTERNAL_H

#include "base/mpi_function.h"
#include "explain/clocks/clocks.h"
#include "explain/pattern/pattern.h"
#include "explain/waits/waits.h"

#define TURNS 32 /* calls that are kept of each thread; a power of two */
#define SPANS 4 /* separate waits that are kept of a call: the closest ones are joined beyond */

struct wait_span {
	uint64_t from, to;
};

/* Waits of a call, in order of time and apart from each other; to 0: none. */
struct wait_spans {
	struct wait_span list[SPANS];
};

/* Kinds of which a call may have many at once. */
#define CROWDED_KINDS 4

/* Who ends a wait, and by which call. */
struct cause {
	const struct process *process; /* NULL: not known */
	const char *function, *did;
	const struct place *place;
};

#define CONTEXT_NONE (-1) /* of no message */
#define CONTEXT_SEVERAL (-2)

/* A call of a thread. */
struct wait_turn {
	uint64_t id; /* of the call; 0: none */
	uint32_t seq; /* its frame */
	bool over;
	const char *function;
	const struct place *place;
	const struct mpi_function *kind;
	const char *comm; /* this and the next two: of a blocking collective */
	uint64_t sequence; /* number_call() */
	const char *unnumbered;
	int64_t context; /* of its messages' communicator, CONTEXT_NONE or CONTEXT_SEVERAL */
	uint64_t start;
	uint64_t end; /* once over: of the last that was seen inside it */
	uint64_t polled; /* it is many, in turn until then, for who knows how long each; 0: no */
	struct wait_spans waited; /* of any kind */
	struct wait_spans hidden; /* in which it may have waited, too */
	struct wait_spans crowds[CROWDED_KINDS]; /* of one kind */
	uint64_t longest; /* ns of its longest wait, */
	struct cause root; /* and what caused that */
	struct participant *member; /* of a collective whose members are not all known yet; NULL */
	bool given_up; /* that collective was, while the call lasted */
	struct awaited_op {
		const char *op; /* NULL: it waits for none that is known */
		const struct process *peer;
		uint64_t tag, mask; /* mask 0: its tag is not of MPI */
		bool receives, certain;
		struct awaited_state state;
	} open;
};

struct wait_thread {
	struct process *process;
	uint32_t tid;
	unsigned int newest; /* turn */
	struct wait_turn turns[TURNS];
};

/* A call that is part of a collective operation. */
struct participant {
	struct instance *instance;
	struct participant *next; /* of the instance */
	struct wait_thread *line;
	struct wait_turn *turn; /* outlives the participant */
	uint32_t number; /* among the members, once all are known */
	unsigned int sends, receives; /* of its messages, */
	unsigned int unpaired; /* and those whose other end is not known yet */
	uint64_t sent; /* messages to other members, as far as both ends are known */
	uint64_t until; /* once over: it was so by then */
	bool over;
};

/* A message from one member to another one. */
struct passed {
	const struct participant *from, *to;
	uint64_t bytes, sent, posted, arrived; /* as in struct pattern_message */
	uint64_t context; /* of its communicator */
};

#define PASSED_MOST 65536 /* that are kept of an instance */

/* Calls that are joined by messages between them: one operation of a communicator. */
struct instance {
	struct participant *first, *last;
	unsigned int size;
	unsigned int undone; /* members that are not over, or have unpaired messages */
	enum collective_kind kind;
	enum collective_flow flow;
	VEC(struct passed) passed;
	uint64_t messages, bytes; /* between members, with those beyond; of known sizes */
	bool unsized; /* the size of one is not known */
	bool unkept; /* there were messages beyond those */
	bool cut; /* a call of it may go on after the capture */
	/* set by number_check(), for two members or more */
	int64_t context; /* that all members have, else CONTEXT_NONE or CONTEXT_SEVERAL */
	uint64_t sequence; /* of the first member that has one */
	const char *unnumbered; /* why a member has none; NULL: all have one */
	bool contradicted; /* its members have different numbers */
	struct instance *free;
};

/* A message that is announced first, from its RTS until its send is done; by the send. */
struct announced {
	bool joined; /* then the following is known */
	uint64_t recv; /* id of the receive */
	struct process *receiver;
	uint64_t recv_start, arrival;
	struct cause posted, progressed; /* the calls that made the receive, and met the RTS */
	uint64_t progress; /* start of the latter: the receiver made no progress before */
	uint32_t recv_tid, progress_tid;
	uint64_t unread; /* since when data waits for the receiver to read it; 0: none does */
	struct wait_span refused; /* the RTS found no resource; to 0: it did */
};

/* A receive that asks its sender for the data; by the receive. */
struct asked {
	uint64_t at; /* ns of the RTR, on the receiver's clock */
	struct wait_thread *sender; /* NULL: it has not answered yet */
	uint64_t progress; /* start of the sender's call that answered, on its clock */
	struct cause answered;
};

/* Threads of a process. */
struct wait_lines {
	struct wait_thread *last; /* found last; NULL */
	unsigned int count;
	bool began; /* its MPI_Init was seen */
	bool missed; /* some call of the process has no record */
	bool unread; /* some collective of the process has no communicator */
	uint32_t frees; /* communicators that it has freed */
};

/* Collective calls of a process with one communicator handle. */
struct comm_calls {
	uint64_t count; /* blocking collectives */
	uint32_t frees; /* of its process, when it was used first */
};

struct skew {
	struct clock_estimate estimate;
	uint64_t messages; /* that it was made of */
};

struct waits {
	struct decoder *decoder;
	struct waits_sink sink;
	bool ending;
	struct map lines; /* (tid, process) -> struct wait_thread * */
	VEC(struct wait_thread *) all;
	VEC(struct wait_lines) lines_of; /* by process.id */
	struct map announced, asked; /* by id of an operation */
	struct map refused; /* likewise: since when it has no resource, ns */
	struct clocks clocks;
	struct map skews; /* (host, other) -> struct skew * */
	struct map comms; /* (handle, process) -> number of its element in comm_calls */
	VEC(struct comm_calls) comm_calls;
	struct participant *free_members;
	struct instance *free_instances;
	struct patterns *patterns;
	VEC(struct pattern_message) pattern; /* of the instance that is shown */
	VEC(struct collective_member) members;
};

/* ---- turns.c ---- */
struct wait_lines *lines_of(struct waits *waits, const struct process *process);
struct wait_thread *line_of(struct waits *waits, struct process *process,
			    uint32_t tid); /* makes it */
struct wait_thread *line_find(struct waits *waits, const struct process *process, uint32_t tid);
/* The one thread of a process that calls MPI; NULL: there are more, or none. */
struct wait_thread *line_only(struct waits *waits, const struct process *process);
/* The first call that began in a span, but the one before it where that lasts for most of the span;
 * NULL: none is kept any more. */
struct wait_turn *turn_within(struct wait_thread *line, struct wait_span span);
struct wait_turn *turn_by_id(struct wait_thread *line, uint64_t id); /* NULL: not kept any more */
/* The call that was open then, as far as is known; frame: of that call, 0: not told. */
struct wait_turn *turn_at(struct wait_thread *line, uint64_t ns, uint32_t frame);
/* Adds a wait; returns how much of it is new. */
uint64_t spans_add(struct wait_spans *spans, struct wait_span span);
/* Whether its thread made another call before that time. */
bool turn_over_by(struct wait_thread *line, const struct wait_turn *turn, uint64_t ns);
/* Time of its waits within a span. */
uint64_t turn_waited(const struct wait_turn *turn, struct wait_span span);
/* Whether the call waits for an operation that this call made. */
bool turn_awaits(const struct wait_turn *turn, uint64_t call);
struct cause turn_cause(const struct wait_thread *line, const struct wait_turn *turn);

/* ---- skew.c ---- */
/* A time of one host on another's clock. */
struct instant {
	bool known;
	uint64_t ns, uncertainty;
};

struct instant skew_time(struct waits *waits, int host, uint64_t ns, int on);
void skews_release(struct waits *waits);

/* ---- tell.c ---- */
struct waiting {
	enum wait_kind kind;
	struct wait_thread *line;
	struct wait_turn *turn;
	struct wait_span span; /* on the clock of the line's host */
	uint64_t uncertainty;
	uint64_t until; /* it was over by then, whatever the clocks; 0: not told */
	struct cause culprit;
	struct wait_thread *culprit_line; /* NULL: not known */
};

void tell(struct waits *waits, const struct waiting *waiting);
/* A call may have waited besides, in that span at most; turn NULL: it is not known which. */
void hidden(struct waits *waits, enum wait_kind kind, struct wait_turn *turn,
	    struct wait_span span);
/* Counts such a wait. */
void unknown(struct waits *waits, const char *reason, enum wait_kind kind, struct wait_turn *turn,
	     struct wait_span span);

/* ---- number.c ---- */
/* A call without a record is over. */
void number_missed(struct waits *waits, const struct call *call);
/* A call has begun, in order of time in its process. */
void number_watch(struct waits *waits, const struct call *call, const struct mpi_function *kind);
/*
 * The number of a call among the blocking collectives of its communicator in its process, from 1
 * on. 0: not known, *reason (static) says why.
 */
uint64_t number_call(struct waits *waits, const struct call *call, const char **reason);
/* As waits_entered(). */
uint64_t number_entered(struct waits *waits, const struct process *process);
/* The context of two; CONTEXT_NONE adds nothing. */
int64_t context_join(int64_t a, int64_t b);
/* Compares the members' numbers once all are there, and counts the result. */
void number_check(struct waits *waits, struct instance *instance);
void numbers_release(struct waits *waits);

/* ---- shown.c ---- */
/* Hands on an operation with its algorithm. whole: all of its members and messages are known. */
void show_instance(struct waits *waits, struct instance *instance, bool whole);

/* ---- instance.c ---- */
void member_begin(struct waits *waits, struct wait_thread *line, struct wait_turn *turn,
		  const struct call *call);
void member_op(struct wait_turn *turn, const struct op *op);
void member_join(struct waits *waits, struct wait_turn *send, struct wait_turn *receive,
		 const struct message *message);
/* until: as in struct participant; cut: the call may have gone on. */
void member_over(struct waits *waits, struct wait_turn *turn, uint64_t until, bool cut);
/* The turn is forgotten: its instance is closed as it is. */
void member_leave(struct waits *waits, struct wait_turn *turn);
void members_release(struct waits *waits);

/* ---- point.c ---- */
void late_sender(struct waits *waits, const struct message *message);
void announce(struct waits *waits, const struct message *message);
/* NULL: no RTS of the operation was sent, as far as is known. */
const struct announced *announced_of(const struct waits *waits, const struct op *op);
void announced_done(struct waits *waits, const struct op *op);
void asked_done(struct waits *waits, const struct op *op);
void points_transfer(struct waits *waits, const struct transfer *transfer);
void points_release(struct waits *waits);

#endif
