/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The facts known after decoding, attribution and matching: the input of every report and export.
 * Strings are interned: they live as long as the analysis and compare by pointer. NULL and negative
 * indices mean unknown or none, never a default.
 */
#ifndef UCXBPF_FACTS_H
#define UCXBPF_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/level.h"
#include "base/place.h"

/* Copies: of payload, within one process, so that a transfer can take it on. */
enum fact_kind { KIND_DATA, KIND_CONTROL, KIND_COPY };

enum fact_precision {
	TIME_UNKNOWN,
	TIME_EXACT,
	TIME_UPPER_BOUND,
	TIME_LOWER_BOUND,
	TIME_SAMPLED, /* exact, of some taken at random */
};

/* Not a bound: means and rates are made of such times only. */
static inline bool fact_is_exact(enum fact_precision precision)
{
	return precision == TIME_EXACT || precision == TIME_SAMPLED;
}

enum fact_locality { LOCALITY_UNKNOWN, LOCALITY_SELF, LOCALITY_NODE, LOCALITY_REMOTE };

/* Their names in every output, NULL behind the last one. */
extern const char *const fact_kind_names[]; /* "data", "control", "copy" */
extern const char *const fact_precision_names[]; /* "unknown", "exact", "upper_bound"... */
extern const char *const fact_locality_names[]; /* "unknown", "self", "node", "remote" */

struct fact_ucx {
	int process; /* that maps it */
	const char *path, *build_id, *version, *layout; /* layout NULL: unknown build */
};

/* A variable of an environment. */
struct fact_variable {
	int process;
	const char *name, *value; /* one line of UTF-8 each */
};

struct fact_process {
	int index; /* position over all files, the id in reports */
	int host;
	const char *host_id, *host_name; /* boot id, node name */
	uint32_t pid; /* in its own pid namespace where known, else the tracer's */
	uint32_t tgid; /* as the tracer saw it */
	uint64_t start_time; /* ns since boot; 0: unknown */
	const char *comm, *exe, *mpi, *job;
	const char *batch_job, *step; /* of the batch system, and of Slurm */
	int rank, size; /* -1 unknown */
	bool from_start; /* every worker was seen being created */
	const struct fact_ucx *ucx;
	int ucx_count;
	bool gpu_library; /* it maps one, as far as known by then */
	/*
	 * Variables at exec that affect how messages travel (docs/side-records.md), by name.
	 * environment_cut: number of others that had no room; -1: all are unknown.
	 */
	const struct fact_variable *environment;
	int environment_count, environment_cut;
	/*
	 * CPUs that its first thread might run on when it was found: "0-31,64-95", from
	 * Cpus_allowed_list of /proc/PID/status; NULL: not known.
	 */
	const char *cpus;
	/* it ended before it was examined: its program and libraries are not known */
	bool undescribed;
	bool ucx_unknown; /* it ended before its last libraries were read: ucx may lack some */
};

/* Its mpi; "unknown" of an undescribed process, NULL: it has none. */
const char *fact_mpi(const struct fact_process *process);
/* Likewise, but "none" where it has none. */
const char *fact_mpi_word(const struct fact_process *process);

/* Used instead of an MPI function if the caller is not known. */
#define FACT_OUTSIDE_MPI "outside MPI"

/*
 * Who called UCP outside MPI, by the place: the library above UCP, else what its file is, else the
 * file's name; "unknown". NULL: MPI's own code, whose call was not seen.
 */
const char *fact_caller(const struct place *place);

/* The word for that caller used instead of an MPI function: its own, if it is known. */
const char *fact_outside(const char *caller);

/* A simultaneous reading of a host's CLOCK_MONOTONIC and CLOCK_REALTIME, ns. */
struct fact_clock {
	int host;
	uint64_t mono, real;
};

/*
 * Calls and operations have an id: a number above 0 that no other one of the analysis has, 0 where
 * a fact stands for many.
 */
struct fact_call {
	uint64_t id;
	int process;
	const char *function; /* MPI_Send */
	const char *comm; /* "MPI_COMM_WORLD", "another"; NULL: none, or not known which */
	int context; /* blocking collectives: as fact_collective.context; -1: none, or unknown */
	uint64_t sequence; /* likewise, as this process counts; 0: none, or unknown */
	const struct place *place; /* of the call; NULL: the capture does not have it */
	const struct stack *stack; /* how it was reached; NULL: the capture does not have it */
	uint32_t tid;
	uint64_t start, end; /* ns, CLOCK_MONOTONIC of its host; end 0 = unknown */
	enum fact_precision end_precision;
	/*
	 * It was over by then: its thread made another call, or nothing more was seen of it. 0:
	 * unknown. That of an exact end is the end.
	 */
	uint64_t until;
	bool open; /* it had not returned when its process was last seen, at its end */
	uint64_t ops; /* UCP operations below it; UINT64_MAX: not recorded then */
	uint64_t bytes; /* of its send-like ops; UINT64_MAX: likewise */
	const char *seen; /* "probe", or "derived" from its operation, whose start it has */
};

/* Its operations, as far as they are known. */
static inline uint64_t fact_call_ops(const struct fact_call *call)
{
	return call->ops == UINT64_MAX ? 0 : call->ops;
}

struct fact_op {
	uint64_t id;
	uint64_t call; /* id of the call that made it, 0 = outside MPI */
	int process, peer; /* peer process, -1 unknown or none */
	const char *op; /* tag_send, tag_recv, put, am_send, flush... */
	const char *function; /* MPI function, NULL = outside MPI */
	const struct place *place; /* of that call, else where UCP was called; NULL: not known */
	const struct stack *stack; /* outside MPI: how it was reached; NULL: not known */
	const char *protocol; /* UCX's name for v2, our derived name for v1; NULL unknown */
	uint32_t tid;
	uint64_t start, end;
	enum fact_precision end_precision;
	uint64_t tag;
	uint64_t bytes; /* payload; UINT64_MAX unknown */
	uint64_t buffer;
	const char *memory; /* that buffer: "host", "pinned", "managed", "gpu0"; NULL unknown, */
	const char *memory_reason; /* and why: static; "gpu": why it is not known which one */
	const char *memory_known_by; /* "allocation", "map", "ucx"...; NULL: it is not known */
	const char *taken_as; /* memory type in UCX: "host", "cuda"...; NULL: not recorded */
	int status; /* ucs_status_t */
	bool freed; /* it was done after ucp_mem_unmap() had freed its buffer */
	bool sends; /* carries payload away from this process */
};

struct fact_transfer {
	uint64_t caused_by; /* id of its operation, 0 = unknown or none */
	int caused_in; /* its process: another one may make its transfers; -1 unknown or none */
	int process, peer;
	const char *op; /* am_short, get_zcopy... */
	const char *transport, *device; /* UCX's names */
	enum fact_locality locality;
	enum fact_kind kind;
	const char *data_path; /* fact_data_path() */
	const char *initiator; /* fact_initiator() */
	const char *ucp_op, *function, *protocol;
	const struct place *place; /* as fact_op.place */
	const char *src_mem, *dst_mem; /* as fact_op.memory */
	const char *src_reason, *dst_reason; /* as fact_op.memory_reason */
	const char *unexplained; /* data without op: the reason; NULL = explained */
	uint32_t tid;
	uint64_t start, end;
	enum fact_precision end_precision;
	uint64_t bytes; /* payload: UCT length less the UCP header */
	uint64_t wire_bytes;
	uint64_t laddr, raddr;
	bool retried; /* no resource: nothing was sent, not counted as a transfer */
	const char *seen; /* "probe", or "derived" from its operation, whose times it has */
	bool fetches; /* data moves from peer to process: fact_fetches() */
	/*
	 * Of an emulated one: the lanes of its endpoint, "cma/memory, tcp/eth0", "?" for one
	 * without a name; or, behind LANES_SOME_OF, all interfaces that its worker has open, which
	 * include the lanes. NULL: unknown.
	 */
	const char *lanes;
};

/*
 * The one definition of a transfer's direction: whether it brings data to the process that starts
 * it. A get does, except over a transport that copies (cuda_copy, gdr_copy): that one reads the
 * remote address, which is the process's own GPU, and writes the local one. It reaches another
 * process only where the local address is the peer's memory, mapped here (src/ucp/rndv/rndv.c,
 * "rndv/rkey_ptr/mtype"), so its data leaves the process.
 */
bool fact_fetches(const char *op, const char *transport);

/* By the observed field of a call or a transfer; NULL, for sums: false. */
bool fact_is_derived(const char *seen);

/*
 * Whether a protocol emulates a put, get or atomic operation by active messages, which the target's
 * process must progress: UCX's "software emulation" (src/ucp/rma/put_am.c, get_am.c, amo_sw.c).
 * NULL: unknown, so not.
 */
bool fact_emulates(const char *protocol);

/*
 * The one definition of a transfer's data path, by its other members: "direct" (zcopy: UCT takes
 * the user's memory), "buffered" (short, bcopy: UCX copies it), "staged" (a copy between memories
 * of one process), "emulated" (a put, get or atomic operation made of active messages, which the
 * peer's CPU carries out), "control" (no payload). NULL: unknown.
 */
const char *fact_data_path(const struct fact_transfer *transfer);

/*
 * The one definition of who starts a transfer, by the operation that caused it: "sender" or
 * "receiver" of a message, "origin" of a put, get or atomic operation, or its "target", which
 * answers one that is emulated. NULL: the operation is unknown, or has no such ends.
 */
const char *fact_initiator(const struct fact_transfer *transfer);

struct fact_message {
	uint64_t send, recv; /* ids of operations; recv 0: no operation, or one of several alike */
	int src, dst; /* processes */
	const char *function; /* MPI function of the send */
	const char *send_op, *recv_op;
	uint64_t tag, bytes;
	const char *src_mem, *dst_mem; /* of both operations' buffers, as fact_op.memory */
	const char *src_reason, *dst_reason;
	/*
	 * All memory that its bytes were in ("gpu0,host,host,gpu1"), and the transports between
	 * ("cuda_copy,cma,cuda_copy"); NULL: not known. All are NULL where no process has a GPU
	 * library.
	 */
	const char *chain, *via;
	const char *chain_reason; /* static: why they are not known */
	uint64_t copies, copy_bytes; /* transfers of KIND_COPY that were made for it */
	uint64_t send_start, recv_start, arrival; /* on their own hosts' clocks; 0: unknown */
	/* threads of both operations: with process and start, these name one; 0: unknown */
	uint32_t send_tid, recv_tid;
	/*
	 * Which library other than MPI sent it, and the meaning of the tag, or of an active
	 * message's id, to it: "UCC", "collective", "UCC team 1". NULL, -1: none, or not known.
	 */
	const char *library, *kind, *team;
	int sender; /* the sender's number in the team */
	int number; /* of the team's collective operation; such numbers come back some time */
};

/*
 * Time in which an MPI call waits for another process. The same time may be of several kinds: a
 * wait in a collective shows by the operation and by its messages.
 */
struct fact_wait {
	const char *kind; /* of wait_kind_names[] */
	uint64_t call; /* id of the call that waits */
	int process;
	const char *function;
	const struct place *place; /* of that call; NULL: the capture does not have it */
	uint32_t tid;
	uint64_t start, end; /* ns, on the clock of its host */
	uint64_t ns; /* the part that no wait of the same call and kind covered before; above 0 */
	uint64_t fresh; /* likewise, of the same call and any kind */
	/* between hosts, ns that start or end may be off; 0: all is on one clock */
	uint64_t uncertainty;
	const char *precision; /* "exact"; "clocks": within the uncertainty */
	/* process it waits for, -1: not known, that one's call that ends the wait, and its place */
	int culprit;
	const char *culprit_function;
	const struct place *culprit_place;
	/*
	 * What the culprit did meanwhile for most of the time: "computing" (outside of MPI calls),
	 * "communicating" (in calls, not waiting), "waiting"; NULL: not known.
	 */
	const char *culprit_did;
	/* Where the chain of waiting processes begins: the culprit, or one behind it */
	int root;
	const char *root_function;
	const struct place *root_place;
	const char *root_did; /* as culprit_did, but for "waiting" */
};

/* A call that is part of a collective operation. */
struct collective_member {
	uint64_t call; /* its id */
	int process;
};

/*
 * A blocking collective operation: calls that are joined by messages. Where not all of its messages
 * are known, there may be several for one operation.
 */
struct fact_collective {
	const char *function, *comm; /* as fact_call.comm; "UCC allreduce", "UCC team 1" */
	/*
	 * MPI's number of its communicator, which its messages carry; one of other processes may
	 * have the same. -1: not known.
	 */
	int context;
	/*
	 * Its number among the blocking collectives of its communicator, from 1 on. All processes
	 * whose calls are numbered count the same; 0: none are, and sequence_reason says why.
	 */
	uint64_t sequence;
	const char *sequence_reason;
	bool contradicted; /* calls have different numbers: they are not of one operation */
	const struct collective_member *members; /* call 0: not of MPI */
	int member_count;
	int ranks; /* member_count; -1: not all members are known */
	/*
	 * "ring", "recursive doubling"...; not of MPI: by its function's name, "knomial"; NULL:
	 * unknown, and reason says why
	 */
	const char *algorithm;
	const char *reason;
	bool several; /* it is unknown since several known ones fit, which are named in reason */
	uint32_t rounds; /* messages that wait for each other, one behind the other; 0: unknown */
	bool rounds_bound; /* at least that many: messages were sent in parts */
	uint64_t messages, bytes; /* as far as both ends, and sizes, are known */
	bool bytes_bound; /* at least so many of both: others may be missing */
	uint64_t most_sent; /* messages of the member that sent most */
};

enum wait_kind {
	WAIT_LATE_SENDER, /* in a receive: the send had not begun */
	WAIT_LATE_RECEIVER, /* in a send that waits for the receive: that had not begun */
	WAIT_LATE_PROGRESS, /* sent and posted, but the peer made no progress of UCX */
	WAIT_AT_BARRIER, /* for the last process to enter */
	WAIT_AT_NXN, /* likewise, in a collective from all to all */
	WAIT_LATE_BROADCAST, /* in a collective from a root: that had not entered */
	WAIT_EARLY_REDUCE, /* of the root, in a collective to it: the last one had not entered */
	WAIT_OUT_OF_RESOURCES, /* UCT had no resource for a transfer */
	WAIT_KINDS
};

/* A wait for the last process to enter, or for the root. */
static inline bool fact_in_collective(enum wait_kind kind)
{
	return kind >= WAIT_AT_BARRIER && kind <= WAIT_EARLY_REDUCE;
}

/* "late_sender", "late_receiver"..., by enum wait_kind. */
extern const char *const wait_kind_names[WAIT_KINDS];

/*
 * A call that had not returned when its process was last seen. One that began before the trace
 * is known only by a look at its thread's stack.
 */
struct fact_open {
	int process;
	const char *function; /* MPI function */
	const struct place *place;
	uint32_t tid;
	const char *op; /* the operation that it waits for: tag_recv... */
	int peer; /* process that it is with, -1: unknown, or any */
	int peer_rank; /* rank of that in MPI_COMM_WORLD, traced or not; -1: unknown, or any */
	int tag; /* of MPI; -1: unknown, any, or of a collective */
	/* these are of an operation of the call itself; else of one that it may wait for */
	bool peer_certain;
	const char *step; /* that the operation waits in, FACT_STEP_...; NULL: unknown, */
	const char *step_reason; /* which has this reason */
	uint64_t bytes; /* of the operation; UINT64_MAX: unknown, as is the next */
	uint64_t moved; /* bytes of it that transports took, with FACT_STEP_DATA */
	const char *comm; /* as in struct fact_call */
	int context; /* MPI's number of the communicator, from tags; -1: unknown */
	/*
	 * Number of the collective operation on its communicator. By "calls": among the
	 * blocking ones, as calls are counted; by "tags": among the others, as MPI counts them. 0:
	 * none, or unknown; of a blocking collective sequence_reason has the reason.
	 */
	uint64_t sequence;
	const char *sequence_by, *sequence_reason;
	uint64_t since, until; /* ns of its host */
	bool bound; /* it began before since, which is when it was seen first */
	bool certain; /* else it may have returned unseen */
};

/* Steps of a send, */
#define FACT_STEP_QUEUED "queued" /* no data has left: no room, or no connection */
#define FACT_STEP_ANNOUNCED "announced" /* its RTS was sent, no answer has come */
#define FACT_STEP_UNRECEIVED "unreceived" /* the peer has it, and no receive is posted there */
#define FACT_STEP_UNACKNOWLEDGED "unacknowledged" /* all data was sent */
/* of both, */
#define FACT_STEP_MATCHED                                                                          \
	"matched" /* send and receive have met, no data is known to have moved                     \
		   */
#define FACT_STEP_DATA "data" /* some has */
/* of a receive. */
#define FACT_STEP_POSTED "posted" /* the process has taken in no message for it */

#define FACT_BY_CALLS "calls"
#define FACT_BY_TAGS "tags"
#define FACT_NOT_FROM_START "a rank was not traced from its start"

/* Where a thread was when its process was looked at last: each process's first thread, others in
 * MPI calls. */
struct fact_thread {
	int process;
	uint32_t tid;
	const char *state; /* "running", "sleeping", "stopped"...; NULL: not known */
	const char *function; /* MPI function that it was in; NULL: none, or not known */
	const struct place *place; /* where that was called */
	bool outside; /* of MPI, for certain */
	const char *reason; /* why that is not known; NULL: it is */
	uint64_t at; /* ns of its host */
};

/* An operation or a message that a process's UCX had under way at that time. */
struct fact_queued {
	int process;
	/*
	 * "receive": posted, no message has come for it; "send": not done; "message": has come, or
	 * was announced, and no receive was posted for it
	 */
	const char *what;
	int peer, peer_rank, tag; /* as in struct fact_open */
	const char *comm; /* "MPI_COMM_WORLD"; "another": its ranks are not known; NULL: no MPI */
	uint64_t context; /* of that communicator, as MPI numbers them within a process */
	uint64_t bytes; /* of sends and of announced messages; UINT64_MAX: not known */
	uint64_t at; /* ns of its host */
};

/* A worker of a process whose queues were not read, or not to the end, at that time. */
struct fact_unread {
	int process;
	const char *reason; /* why; NULL: all were read, but are too many to list */
	uint64_t entries; /* number read and not listed */
	uint64_t at; /* ns of its host */
};

/*
 * A capture with a duty cycle saw its processes only in windows. If a budget was not enough to
 * record everything, the recorded layers change from one window to the next.
 */
struct fact_window {
	int host;
	const char *host_name;
	int capture; /* number of the capture, in the order in which they are read */
	uint64_t from, to; /* ns on its clock; to: of the last record where its end was not told */
	uint64_t until; /* until when the capture lasted */
	/*
	 * With a budget: "uct" (all layers), "ucp", "mpi" or "windows" (all layers, for moments),
	 * and why; NULL: without
	 */
	const char *step, *reason;
	uint64_t paid_ppm; /* highest share of a thread's time in probes before; 0 unknown */
};

/* A process that uses a GPU, and its own number for it. */
struct fact_device_user {
	int host, device; /* number of the GPU on its host */
	int process, ordinal;
};

/* Until when a process was seen, and how it ended. */
struct fact_lifetime {
	int process;
	uint64_t until; /* ns, CLOCK_MONOTONIC of its host: its end, or that of the last capture */
	bool exited; /* it ended; then, if the capture has it: */
	int exit_status; /* -1: it has none, or that is not known */
	uint32_t exit_signal; /* signal that ended it; 0: none did, or not known */
	uint64_t unprobed; /* ns before its libraries had probes: no fact covers that time */
	/* number of blocking collectives of MPI_COMM_WORLD that it has entered; 0: none, or unknown
	 */
	uint64_t entered;
};

/* A GPU of a host. */
struct fact_device {
	int host;
	const char *host_name;
	int number; /* of "gpu0": among those of the host, in order of PCI address */
	const char *pci, *uuid, *model; /* NULL unknown; pci is always known */
	int numa_node; /* -1 unknown */
	const struct fact_device_user *users;
	int user_count;
};

/* Equal memory that GPU libraries allocated for a process. */
struct fact_memory {
	int process;
	const char *kind; /* "pinned", "managed", "gpu"; NULL unknown */
	const char *sort; /* "plain", "pool", "registered", "mapped", "imported" */
	int device; /* number of the GPU as in "gpu0", -1 none or unknown */
	int exporter; /* of imported memory, the process that exported it; else -1 */
	const char *reason; /* why kind or device are unknown */
	const char *function; /* function called to make it: "cudaMalloc", "cuMemAlloc" */
	uint64_t allocations, bytes;
	uint64_t unsized; /* number of allocations of unknown size, in no other number */
	uint64_t live_peak;
};

/* A code location that others refer to; numbered by the output that writes it. */
struct fact_place {
	uint64_t id;
	struct place place;
};

/* Errors of captures made with --count. In other captures each operation has its status. */
struct fact_error {
	int process;
	const char *what; /* FACT_ERROR_... */
	const char *status; /* as UCX calls it: "UCS_ERR_CANCELED" */
	const char *op; /* UCP operation; NULL: none, or not known */
	const char *function; /* MPI function; NULL: outside MPI */
	const char *transport, *device; /* of a transfer; NULL */
	uint64_t start, end;
};

#define FACT_ERROR_ENDPOINT "endpoint" /* it failed: each once */
#define FACT_ERROR_OPERATION "operation" /* it ended with an error; not all of these are seen */
#define FACT_ERROR_TRANSFER "transfer" /* it returned an error other than "no resource" */

/* Sums over equal facts: fragments, and all facts of captures made with --count. */
struct fact_sums {
	uint64_t count;
	uint64_t bytes, bytes_unknown; /* unknown: facts whose bytes are in no other number */
	uint64_t wire_bytes;
	uint64_t least; /* of each at least, but for the last fragment of a message; 0: not known */
	uint64_t retries;
	uint64_t ops, ops_unknown; /* of calls; unknown: made while no operations were recorded */
	uint64_t timed, time; /* ns; how many of them it was seen of, and the sum over those */
	enum fact_precision precision; /* of time */
};

/* ns that calls of a loop in one thread took at most, together: all from start to until. */
static inline uint64_t fact_time_most(const struct fact_call *call, const struct fact_sums *sums)
{
	return sums->precision == TIME_EXACT ? sums->time : call->until - call->start;
}

/* In the order in which outputs list them; each but the sums has a struct of its own. */
enum fact_type {
	FACT_PROCESS, /* before any fact of it */
	FACT_UCX, /* this and the next follow their process, which lists them, too */
	FACT_VARIABLE,
	FACT_CLOCK, /* before all others, one for each host whose captures have it */
	FACT_PLACE, /* made by outputs, before the first fact that refers to it */
	FACT_CALL,
	FACT_OP,
	FACT_TRANSFER,
	FACT_MESSAGE,
	FACT_WAIT,
	FACT_COLLECTIVE,
	FACT_OPEN,
	FACT_THREAD,
	FACT_QUEUED,
	FACT_UNREAD,
	FACT_WINDOW, /* this and the next two after all others */
	FACT_MEMORY,
	FACT_LIFETIME,
	FACT_DEVICE, /* GPUs come last; totals list them, too */
	FACT_DEVICE_USER,
	FACT_CALLS, /* sums of equal rows: struct fact_call and so on with their common members; */
	FACT_OPS, /* its start and end are those of the first and the last */
	FACT_TRANSFERS,
	FACT_ERRORS, /* sums of struct fact_error: counts alone */
	FACT_TYPES
};

/*
 * Receives facts. Calls, operations, transfers and messages arrive as soon as they are complete:
 * an operation may come after the transfers it caused, and none of them come in order of time.
 */
struct fact_sink {
	void *arg;
	/* fact: the struct of its type, valid during the call; sums: NULL for a single fact */
	void (*fact)(void *arg, enum fact_type type, const void *fact,
		     const struct fact_sums *sums);
};

static inline void fact_put(const struct fact_sink *sink, enum fact_type type, const void *fact)
{
	sink->fact(sink->arg, type, fact, NULL);
}

static inline void fact_put_sums(const struct fact_sink *sink, enum fact_type type,
				 const void *fact, const struct fact_sums *sums)
{
	sink->fact(sink->arg, type, fact, sums);
}

struct fact_reason {
	const char *reason;
	uint64_t count;
};

#define FACT_MAX_REASONS 24

/* A reason of dropped records that is no loss of data: they were reports of losses. */
#define FACT_LOSS_NOTICES "notices of losses"

/*
 * How the captures were made, and their cost. A capture that was cut short or is old has less of
 * this.
 */
struct fact_self {
	unsigned int captures, known; /* all, and those with a record of their cost */
	bool levels[LEVELS]; /* --level of some capture, with a budget of some window */
	uint64_t level_ns[LEVELS]; /* how long each layer was recorded, ns */
	uint64_t records, bytes; /* written; sums over the known */
	uint64_t cpu_ns; /* of the tracers, user and system */
	uint64_t memory_peak; /* resident bytes of the largest tracer, 0 = not known */
	unsigned int kernel_known; /* captures that know the following */
	/* ns in BPF programs, estimated from sampled hits; not the traps that lead there */
	uint64_t kernel_ns, hits, sampled_hits;
	/* the estimate is within that of the true value with 95 % probability, as far as samples
	 * stand for the rest; spread_known counts the captures that have it */
	uint64_t kernel_spread;
	unsigned int spread_known;
	char kernel_unknown[64]; /* why a capture lacks it; "": every capture has it */
	unsigned int drained_known; /* captures that say how their records were drained; sums over
				       these: */
	uint64_t threads, rings, ring_bytes;
	uint64_t grown; /* rings that became larger, each time */
	uint64_t drained, drained_ns; /* records, and CPU time of the threads that drained them */
};

enum fact_extent { RECORDED_ALWAYS, RECORDED_PARTLY, RECORDED_NEVER };

/*
 * For how much of the recorded time a layer was recorded too. Values that follow from it are lower
 * bounds if partly, unknown if never. Captures without a level have all layers.
 */
enum fact_extent fact_recorded(const struct fact_self *self, enum level level);

/*
 * Calls of an MPI function without a probe, made from their operations' stacks. Compared: while its
 * probe was in place, operations of calls that it saw, and of those the ones whose stack led
 * elsewhere.
 */
struct fact_derived {
	char function[48]; /* MPI_Send */
	uint64_t calls;
	uint64_t compared, differing;
	uint64_t without; /* calls without an operation, seen meanwhile */
	uint64_t away_ns; /* its probe was away: such calls were not seen then */
};

/* Why a send is unmatched: it found no resources, and no record shows when it left later. */
#define FACT_LEFT_UNSEEN "left unseen"

/* They are not of one operation, although messages join them: no wait in them is known. */
#define FACT_CONTRADICTED "collectives whose calls have different numbers"

#define FACT_MAX_DERIVED 16

/* Transfers of short sends without a probe, made from their operations' results. */
struct fact_short_sends {
	bool known; /* some were seen or derived */
	uint64_t transfers; /* derived */
	uint64_t compared, differing; /* while their probes were in place */
	uint64_t without; /* seen meanwhile, that follow from no operation */
	uint64_t unproven; /* operations whose transfers were neither seen nor derived */
	uint64_t away_ns; /* their probes were away: such transfers were not seen then */
};

/* An interface of a process: over which transport and device it can be reached. */
struct open_device {
	int process;
	const char *transport, *device;
};

/* A library that a process has mapped, once for each of its roles. */
struct library_use {
	int process;
	const char *role; /* "mpi", "mpi_plugin", "ucp", "uct", "uct_module", "ucs", "cuda"... */
	const char *path, *build_id, *version; /* NULL: not known */
};

/* The system of a host. */
struct host_system {
	const char *kernel, *machine; /* "6.1.0-18-amd64", "x86_64"; NULL: not known */
};

/* The number of counted events, and of those recorded in detail. */
struct detail_share {
	uint64_t recorded, of;
};

struct fact_totals {
	/*
	 * loss; thinned: left out on purpose, lost: no room, or not in the file; both in dropped,
	 * too
	 */
	uint64_t produced, stored, thinned, lost;
	/* but for captures made with --count; sends: operations that send messages */
	struct detail_share calls, ops, transfers, sent;
	/* records of calls, operations and transfers that are neither stored nor in a sum */
	uint64_t unsummed;
	/* captures that are cut short or damaged, or lack records or hits, in no sum either */
	uint64_t partial;
	struct fact_reason dropped[FACT_MAX_REASONS];
	/* matching */
	uint64_t sends, receives, matched, ambiguous;
	struct fact_reason unmatched_sends[FACT_MAX_REASONS];
	struct fact_reason unmatched_receives[FACT_MAX_REASONS];
	/* attribution, in payload bytes of data transfers */
	uint64_t data_bytes, to_op_bytes, to_call_bytes, unexplained_bytes;
	struct fact_reason unexplained[FACT_MAX_REASONS];
	/* copies within a process, in no number above; bytes without an operation */
	uint64_t copies, copy_bytes, copy_unexplained_bytes;
	/* of messages whose length is known: bytes of all, and of those without a way (way.h) */
	uint64_t way_bytes, wayless_bytes;
	struct fact_reason wayless[FACT_MAX_REASONS]; /* in bytes */
	/* calls and messages of which it is not known whether they waited */
	struct fact_reason waits_unknown[FACT_MAX_REASONS];
	/* ns that these waited at most, of any kind; of late progress; in collectives */
	struct fact_hidden {
		uint64_t waits, progress, collectives;
	} waits_hidden;
	/*
	 * Collective operations of MPI whose calls have been joined by messages: all calls have the
	 * same number; some have different ones; not all are numbered, by the reason
	 */
	struct fact_joins {
		uint64_t proved, contradicted;
		struct fact_reason unproved[FACT_MAX_REASONS];
	} joins;
	/*
	 * Calls of ucp_mem_unmap() that freed what ucp_mem_map() had allocated, and operations of
	 * which it is unknown whether they had ended by then.
	 */
	uint64_t unmapped, freed_unsure;
	/* what the file itself says: gaps, incomplete capture, reordered records */
	struct fact_reason notes[FACT_MAX_REASONS];
	/* captures in whose processes MPI calls may be missing between two that are here */
	uint64_t calls_missing;
	/* captures whose MPI library was mapped before it was probed: first calls may be missing */
	uint64_t late_mpi;
	struct fact_self self;
	struct fact_derived derived[FACT_MAX_DERIVED]; /* by name; sums over captures */
	int derived_count;
	struct fact_short_sends short_sends; /* sums over captures */
	/* captures, those of them made with --count, and how many entries there are to a timed one
	 */
	uint64_t captures, counted, timed_every;
	/* GPUs by host and number; they live as long as the analysis */
	const struct fact_device *devices;
	int device_count;
	/* devices that processes' UCX was seen to have open, by process; live as long */
	const struct open_device *open_devices;
	int open_device_count;
	/* libraries of processes, by process and path; systems, by number of the host; as long */
	const struct library_use *libraries;
	int library_count;
	const struct host_system *systems;
	int system_count;
	/* bytes of the captures that were skipped as damaged, file_reader_damaged() at the end */
	uint64_t damaged_bytes;
};

/*
 * Adds to a table of FACT_MAX_REASONS rows, whose last one is "other reasons" when all others are
 * taken; reason must outlive the table.
 */
void reason_add(struct fact_reason *reasons, const char *reason, uint64_t count);

#endif
