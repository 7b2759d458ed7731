/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the capture's bytes to named things: which process a record is of, what its site is called,
 * what a pointer in it stood for at that time. Side records are read before the first wire record,
 * wire records are fed in time order per capture. Nothing here knows what a message is.
 *
 * Layers, each calling only those before it: am.c, sites.c and devices.c; processes.c; places.c and
 * memory.c; objects.c; cells.c, underway.c; decode.c, which hands each record to the others.
 */
#ifndef UCXBPF_DECODE_DECODE_H
#define UCXBPF_DECODE_DECODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/level.h"
#include "base/map.h"
#include "base/place.h"
#include "base/rowset.h"
#include "base/strings.h"
#include "base/transport.h"
#include "base/vec.h"
#include "explain/decode/am.h"
#include "explain/memory/evidence.h"
#include "explain/memory/memory.h"
#include "ucxbpf.h"

enum object_kind { OBJECT_WORKER, OBJECT_IFACE, OBJECT_EP, OBJECT_UCT_EP };

/* The object behind a pointer of a process. Never freed or changed in identity before the end. */
struct object {
	enum object_kind kind;
	struct process *process;
	uint64_t address;
	uint64_t parent; /* worker of an iface or ep, iface of a uct_ep */
	uint64_t uuid; /* worker: own; ep: the peer worker's; 0 = unknown */
	uint64_t local_id, remote_id; /* of an ep */
	const char *transport, *device; /* of an iface */
	const struct transport *tl; /* of an iface: the transport's row; never NULL */
	struct {
		uint64_t base;
		uint32_t slots, stride; /* slots: a power of two, 0 = not known */
	} fifo; /* of an iface that receives through shared memory */
	uint32_t peer_pid; /* of a uct_ep, in the peer's pid namespace; 0 = unknown */
	VEC(uint64_t) lanes; /* of an ep: its uct_eps */
	/* some: not proved to be all; untold: in older files */
	enum { LANES_UNTOLD, LANES_SOME, LANES_ALL } lanes_are;
	uint64_t lanes_at; /* time of the record that has them */
	uint64_t from; /* time of the record that told of it */
	bool born; /* that record is of its creation */
	struct object *later; /* next one at the same address, told by a later side record */
	struct object *latest; /* of the first of those: the last one */
	struct object *peer; /* of an ep: the peer's worker, once found */
	struct process *peer_process; /* of an ep: where only the process is known */
	struct link *link; /* of an ep: owned by the match stage; NULL */
	const char *lane_names; /* of an ep: cached decoder_lanes(); NULL: none yet */
	size_t lane_names_of; /* number of interfaces of its process when lane_names was made */
};

struct ucx_library {
	const char *path, *build_id, *version, *layout;
};

/* A library that has a part in communication, in one of its roles. */
struct told_library {
	/* key; kept, so that equal texts are equal pointers */
	const char *role; /* of library_role_names */
	const char *path, *build_id; /* NULL: not known */
	const char *version; /* NULL: not known */
};

/* The state of a thread at one look. */
struct thread_look {
	uint64_t ts;
	const char *state; /* "running", "sleeping", "stopped"...; NULL: not known */
	const char *function; /* MPI function; NULL: none, or not known */
	uint64_t address, frame; /* where that returns to, 0 unknown; its caller's stack pointer */
	const struct place *place; /* of the call; NULL: the capture does not tell */
	bool outside; /* of MPI, for certain */
	const char *reason; /* why it is not known whether; NULL: it is */
};

struct thread_looks {
	uint32_t tid;
	/* that told where it was, if any did; the same one where there was but one */
	struct thread_look first, last;
};

enum queued_what { QUEUED_RECEIVE, QUEUED_SEND, QUEUED_MESSAGE };

/* An operation or a message that a worker had under way at the last look at it. */
struct queued {
	enum queued_what what;
	uint64_t ts, worker;
	uint64_t request; /* of a receive or send; of a message announced to it: the sender's */
	uint64_t tag, mask; /* mask: of a receive, else all bits */
	uint64_t bytes; /* of a send, and of a message that was announced; UINT64_MAX: not told */
	uint64_t ep; /* address of a send's endpoint */
	/* of a send: */
	bool followed; /* the following is known */
	uint64_t id; /* under which the peer answers it; 0: it need not answer */
	uint64_t moved; /* bytes that transports took; UINT64_MAX: not known */
	bool copied; /* transports copy at once: the rest of the bytes has not left */
	bool offloaded; /* a receive that a NIC matches */
};

/* The last look at a worker did not read its queues to their end. */
struct unread_queues {
	uint64_t ts, worker;
	const char *reason; /* NULL: it did, and listed all but cut entries */
	uint64_t cut; /* entries that found no room */
};

struct variable {
	const char *name, *value;
};

struct address_range {
	uint64_t from, to;
};

#define USER_UNKNOWN UINT32_MAX

/* One traced process: (boot id, pid namespace, pid, start time). */
struct process {
	int id; /* position in decoder.processes */
	int index; /* number in reports; -1: nothing to show of it yet */
	int host;
	uint32_t tgid, ns_pid;
	uint32_t uid; /* real user id; USER_UNKNOWN */
	uint64_t start_time, seen; /* seen: first side record's time */
	const char *comm, *exe, *mpi, *job, *batch_job, *step, *pid_ns;
	int rank, size;
	VEC(struct variable) environment; /* by name */
	int environment_cut; /* variables that are not there; -1: the environment is not known */
	const char *cpus; /* that its main thread may run on; NULL: not known */
	bool described; /* by a record; else nothing below that it would tell is known */
	bool libraries_unread; /* it ended before the last of them could be read */
	bool calls_unprobed; /* functions of its MPI library have no probe */
	bool from_start, exited;
	uint64_t exited_at;
	/* ns in which libraries other than of a GPU had no probes yet, and the end of that */
	uint64_t unprobed, probed_at;
	uint32_t exit_told; /* struct ub_task's other, UB_EXIT_TOLD is set; 0: not known how */
	bool gpu_library; /* it has mapped one, at some time */
	bool maps_peers; /* it has an interface over which peers' memory can be mapped */
	VEC(struct ucx_library) ucx;
	VEC(struct told_library) libraries; /* in the order in which they were told, each once */
	struct rowset libraries_by_key;
	VEC(struct address_range) mpi_text; /* where the MPI library's own code lies */
	uint64_t comm_world; /* its handle of MPI_COMM_WORLD; 0: unknown */
	bool mpi_calls_ucc; /* operations of UCC may be part of MPI calls */
	bool mpich; /* whose handles have 32 bits */
	bool open_mpi;
	uint64_t blind_until; /* records of it, or of its peers, before this time may be missing */
	uint64_t missing_until; /* records of its own before this time may be missing */
	const struct capture *told_by; /* the first capture that told of it; NULL: none did */
	uint64_t lost_until; /* records up to then were lost; 0: none, or all of that is done */
	uint64_t objects_lost_until; /* lives of its objects may have ended unseen, */
	uint32_t object_losses; /* in so many losses */
	uint64_t memory_lost_until; /* what GPU libraries did before is not known */
	const struct capture *memory_by; /* that its memory was last told by; NULL: none */
	struct memory_evidence evidence; /* device numbers in it: positions in decoder.gpus */
	VEC(int) ucx_devices; /* UCX's number of a device -> position in decoder.gpus, -1: no GPU */
	VEC(int) ordinals; /* its own number of a GPU -> position in decoder.gpus, -1: not known */
	VEC(struct thread_looks) threads; /* in the order in which they were looked at */
	VEC(struct queued) queued; /* of the last looks at its workers; */
	VEC(struct unread_queues) unread; /* likewise: queued lacks some */
	uint64_t queues_read; /* when the last of these looks was, ns; 0: there was none */
	bool ending; /* in decoder.ending */
	bool broken_off; /* at the end of all captures: one of its host breaks off */
	VEC(struct object *) workers, ifaces; /* its own, of all times */
	struct process *next, *last; /* with the same tgid on its host; last: of the first alone */
};

/* When a capture with a duty cycle had its probes in place; to 0: not told, the tracer was killed.
 */
struct window {
	uint64_t from, to;
	const char *step, *reason; /* with a budget: its step and the reason; NULL: no budget */
	int level; /* that was recorded, -1: not told */
	uint64_t paid_ppm;
};

/* From a time on detail was recorded in these slices alone (UB_SLICES in ucxbpf.h). */
struct detail_change {
	uint64_t ts, slices;
};

/* A process that an earlier capture knew: its records may be missing up to a time. */
struct rejoined {
	struct process *process;
	uint64_t until;
};

/* Classes of sites, by name and symbol, for the tables of later stages. */
enum op_kind {
	OP_OTHER,
	OP_TAG_SEND,
	OP_TAG_RECV,
	OP_TAG_MSG_RECV,
	OP_TAG_PROBE,
	OP_AM_SEND,
	OP_AM_RECV_DATA,
	OP_STREAM_SEND,
	OP_STREAM_RECV,
	OP_PUT,
	OP_GET,
	OP_ATOMIC,
	OP_FLUSH,
	OP_CANCEL,
	OP_KINDS
};

enum xfer_verb { VERB_OTHER, VERB_AM, VERB_PUT, VERB_GET, VERB_ATOMIC, VERB_TAG, VERB_FLUSH };
enum xfer_mode { MODE_NONE, MODE_SHORT, MODE_BCOPY, MODE_ZCOPY };

struct site_info {
	const char *name;
	uint8_t kind; /* enum ub_kind */
	uint8_t what; /* enum ub_obj_what, ub_comp_what or ub_mem_what */
	uint8_t am_id;
	uint8_t op; /* enum op_kind */
	uint8_t verb; /* enum xfer_verb */
	uint8_t mode; /* enum xfer_mode */
	bool to_peer; /* an operation whose object is the ucp_ep to its peer */
	bool one_op; /* a call that makes one operation, or none */
};

/* A file that code runs in. */
struct code_module {
	const char *path, *build_id;
	enum file_sort sort;
};

/* Sums kept by the kernel (--count), and their description. */
struct count_cell {
	uint32_t id;
	struct process *process; /* NULL: of whatever found no cell of its own */
	uint64_t first, last; /* times: of the first entry, and when the sums were written last */
	const struct site_info *call, *op, *xfer; /* NULL: none */
	uint8_t am_id, size_class, flags; /* flags: enum ub_cell_flags */
	uint8_t status; /* see struct ub_cell */
	uint64_t obj, uct_ep, iface_address, ucp_ep;
	uint32_t ep_number; /* of the capture's uct_eps; 0 = none */
	uint64_t count, bytes, headers, refused, timed, time;
	const struct object *iface; /* what the addresses stood for; NULL: not known */
	struct object *ep;
};

/* One capture file: a host as it was seen over one session. */
#define RECENT_PROCESSES 256 /* that are found without the map */

struct capture {
	int host;
	VEC(struct site_info) sites;
	VEC(struct object *) side_objects; /* in time order */
	size_t side_next; /* first one not yet in force */
	struct map tgids; /* tgid -> struct process * that has it now */
	struct process *recent[RECENT_PROCESSES]; /* of these, by tgid; NULL */
	uint64_t started; /* time of the first side record */
	uint64_t ended; /* time of its last one; 0: it has none */
	VEC(struct window) windows; /* none: without a duty cycle */
	VEC(struct detail_change) details; /* in time order; before the first one: in all */
	VEC(struct rejoined) rejoined;
	int level; /* also of windows without a step; -1: unknown, taken as all layers */
	bool attached; /* mode "attach" */
	bool counted; /* made with --count */
	bool lost_objects; /* some record of an object's life found no room */
	bool lost_memory; /* some record of memory found no room */
	bool looked; /* it has looks at processes' memory */
	uint32_t timed_every; /* one entry in so many was timed */
	VEC(struct count_cell) cells; /* in time order once decoder_ready() */
	struct map cell_ids; /* id -> index + 1, until they are sorted */
	size_t cell_next; /* first one whose time has not come */
	VEC(const char *) notes;
	const char *mpi_library; /* the last one reported */
	uint64_t late_mpi; /* MPI libraries that were mapped before they were probed */
	VEC(struct code_module) modules; /* by the id that side records use */
	struct map symbols; /* (link-time address, module) -> struct place * */
	bool knows_places; /* it says where code lies: old ones do not */
};

struct host {
	const char *id, *name;
	const char *kernel, *machine; /* its release, and its processors; NULL: not told */
	int gpus, gpu; /* how many it has, and one of them: position in decoder.gpus */
	bool gpus_listed; /* by its driver: it has no others */
};

struct gpu {
	int host;
	int number; /* among those of its host, in order of PCI address */
	const char *pci, *uuid, *model; /* NULL: not told; pci is always */
	int numa_node; /* -1: not told */
};

struct decoder {
	struct strings strings;
	VEC(struct host) hosts;
	VEC(struct gpu) gpus;
	struct map gpu_numbers; /* (pci, host) -> position in gpus + 1 */
	struct map gpu_libraries; /* (interned path, process) that is one */
	uint64_t now; /* time of the last event */
	VEC(struct process *) processes;
	VEC(struct process *) shown; /* processes with an index, by index */
	VEC(struct process *) ending; /* see decoder_end() */
	struct map by_tgid; /* (tgid, host) -> first process that has or had it */
	struct map by_start; /* (tgid and host, start time) -> process */
	struct map by_ns_pid; /* (ns_pid, host and uid) -> the shown process that has it, 0: several
			       */
	VEC(struct object *) objects;
	/* (address, process, kind and losses) -> object in force, 0: none; private to objects.c */
	struct map by_address;
	struct map later; /* likewise, without losses -> first of the objects of side records */
	struct map uuids; /* worker uuid -> worker */
	struct map lanes; /* (uct_ep, process and losses) -> ep; private to objects.c */
	uint64_t peers_learnt; /* how often the match stage has found an endpoint's peer */
	struct map names; /* (pointer, process) -> string */
	struct map queue_looks; /* (worker, process) -> time of the last look */
	struct map ranks; /* (job, size and rank) -> id + 1 of the first such process */
	VEC(struct place *) places;
	struct map stacks; /* (id, process) -> struct stack_parts * */
	struct map addresses; /* (address, process) -> struct place * */
	struct map teams; /* (struct caller_library *, its number) -> name, see struct identity */
	struct memory memory; /* of all processes, by process.id */
	VEC(const char *) gpu_names; /* by number, NULL: not asked for yet */
	struct map functions; /* name -> struct mpi_function * */
};

struct event {
	struct capture *capture;
	struct process *process;
	const struct site_info *site;
	const struct ub_hdr *h;
};

void decoder_init(struct decoder *decoder);
void decoder_release(struct decoder *decoder);

/* Reads all side records of one capture. Captures must be added in a canonical order. */
void decoder_add_capture(struct decoder *decoder, struct capture *capture, const json_t *sides);

/* After the last capture: joins endpoints to peers by ids that both sides know; numbers processes.
 */
void decoder_ready(struct decoder *decoder);

/*
 * Makes workers known before the time of their record: of several captures, one may be read before
 * the peer's worker is made. Before decoder_ready().
 */
void decoder_foresee(struct decoder *decoder, struct capture *capture, const struct ub_hdr *h);

void capture_release(struct capture *capture);

/* Whether a layer was recorded at that time; between windows: in the one before. */
bool capture_records(const struct capture *capture, enum level level, uint64_t at);

/*
 * Begins a cut through a process, until decoder_ended(): its open frames are over, or their end is
 * unseen.
 */
void decoder_end(struct decoder *decoder, struct process *process);
void decoder_ended(struct decoder *decoder);

/*
 * The first time after the given one at which detail of a capture begins again after slices
 * without, or may have changed: nothing can be matched across it. UINT64_MAX: none.
 */
uint64_t capture_slice_edge(const struct capture *capture, uint64_t after);

/*
 * Finds a record's process and site, and applies its news of objects, names and tasks. Returns
 * false for a record of an unknown kind.
 */
bool decoder_event(struct decoder *decoder, struct capture *capture, const struct ub_hdr *h,
		   struct event *event);

/* The object at an address of a process at a time; NULL: not known. */
struct object *decoder_object(struct decoder *decoder, const struct process *process,
			      enum object_kind kind, uint64_t address, uint64_t ts);

/* As decoder_object() for a ucp_ep in use; one that nothing told of is made, its peer unknown. */
struct object *decoder_ep(struct decoder *decoder, struct process *process, uint64_t address,
			  uint64_t ts);

/* The ucp_ep that a uct_ep is a lane of; 0: not known. Learnt from side records and from below. */
uint64_t decoder_lane_ep(const struct decoder *decoder, const struct process *process,
			 uint64_t uct_ep);
void decoder_learn_lane(struct decoder *decoder, const struct process *process, uint64_t uct_ep,
			uint64_t ep);
/* As fact_transfer.lanes, sorted; interned. */
const char *decoder_lanes(struct decoder *decoder, struct object *ep);

/* The first role of one of the process's libraries; NULL: it has none. path: NULL: none. */
const char *decoder_role(const struct process *process, const char *path);

/* Whether the file is the process's program. path: as above. */
bool decoder_is_program(const struct process *process, const char *path);

/* Whether code at an address is the MPI library's: calls from there are its own, not the user's. */
bool decoder_in_mpi(const struct process *process, uint64_t address);

/*
 * Of a communicator that was passed to the process's MPI: "MPI_COMM_WORLD" or "another"; NULL: no
 * communicator, or the process's MPI_COMM_WORLD is unknown.
 */
const char *decoder_comm(const struct process *process, uint64_t passed);
/* Its handle, as far as MPI reads it; 0: no communicator. */
uint64_t decoder_comm_handle(const struct process *process, uint64_t passed);

/* Fields in the tag of an operation that MPI makes, as far as its mask covers them. */
struct mpi_tag {
	uint64_t context; /* of the communicator, */
	uint64_t whole; /* or of all that it is a part of, as the ranks of a node (MPICH), */
	bool world; /* which is MPI_COMM_WORLD: context 0, and 1 for collectives of MPICH */
	bool of_world; /* or what MPICH makes of it for collectives: the ranks of a node, and others
			*/
	int source; /* rank of the sender in the communicator; -1: any */
	int tag; /* MPI's; -1: any, or of a collective of Open MPI */
	bool collective; /* the library's own, for a collective */
	/* of a non-blocking collective: its number on its communicator; 0: unknown */
	uint64_t number;
};

/*
 * Which processes may send a tag to one worker, according to the library that made the tag. A rank
 * in a communicator, or a connection, is one process as long as it exists. Its number may be used
 * again later by another process.
 */
enum tag_senders { TAG_OF_ANY, TAG_OF_ONE_AT_A_TIME, TAG_OF_ONE };

/* caller: the code that called UCP to send it; NULL: unknown. */
enum tag_senders decoder_tag_senders(const struct process *process, const struct place *caller,
				     uint64_t tag);

/* mask: of a receive; UINT64_MAX of a send. */
struct mpi_tag decoder_tag(const struct process *process, uint64_t tag, uint64_t mask);

/*
 * Which library other than MPI called UCP, and the meaning of a tag, or of an active message's id,
 * to it. Members are NULL, numbers -1: it gives none, or who called is not known.
 */
struct identity {
	const char *library; /* place.library */
	const char *kind; /* "collective", "service", "eager"; static */
	const char *team; /* "UCC team 1"; "UCC team 1, scope 1.2": a part of it; interned */
	int sender; /* its number in the team */
	int number; /* of the team's collective operation; it comes back to 0 some time */
};

/* caller: where UCP was called, NULL: not known; op: its name, such as "tag_send". */
struct identity decoder_identity(struct decoder *decoder, const struct place *caller,
				 const char *op, uint64_t tag);

/*
 * Whether code that calls UCP is not a part of an MPI call that seems to go on. A call that has
 * returned looks like that for as long as nothing overwrites its return address, which may lie in
 * an unused part of a later frame. MPI calls UCP neither by way of the program nor of libraries
 * that are made for programs. (An operation that a program makes from a callback of MPI's is one of
 * its own as well.)
 */
bool decoder_beyond_mpi(const struct process *process, const struct place *caller);

/* A collective operation by the function that makes its messages, such as UCC's. */
struct named_collective {
	const char *function; /* "UCC allreduce"; NULL: the name does not tell */
	const char *algorithm; /* as the library calls it: "knomial", "ring"; NULL: not known */
	bool sized; /* it has a size for each rank: alltoallv and its like */
};

struct named_collective decoder_collective(struct decoder *decoder, const struct place *caller);

/* The process with that rank in the same job; NULL: not traced, or not known. */
const struct process *decoder_of_rank(const struct decoder *decoder, const struct process *process,
				      int rank);

/* The looks at a thread; NULL: none. */
const struct thread_looks *process_thread(const struct process *process, uint32_t tid);

/*
 * The place in code that an address of the event's process returns to; NULL: the capture does not
 * say such things at all. Lives as long as the decoder, one per address and process.
 */
const struct place *decoder_place(struct decoder *decoder, const struct event *event,
				  uint64_t address);

/* The stack of a UB_CALL_STACK record; its end names missing parts. */
const struct stack *decoder_stack(struct decoder *decoder, const struct event *event, uint64_t id);

/* Where the program made that call, behind a Fortran binding; NULL: the stack ends before. */
const struct place *decoder_call_site(const struct stack *stack);

/*
 * Records of a capture are missing up to a time, ns: none of its processes' memory is known then.
 */
void decoder_memory_hole(struct decoder *decoder, const struct capture *capture, uint64_t until);

/*
 * What lies at an address of a process at the time of the last event, as far as a capture tells. A
 * device is numbered as in reports.
 */
void decoder_memory(const struct decoder *decoder, const struct capture *capture,
		    const struct process *process, uint64_t address, struct memory_answer *answer);

/* The memory type that UCX took an operation's buffer for, by its request; static, NULL: not told.
 */
const char *decoder_memory_taken_as(const struct event *event);

/*
 * Takes the memory type from the operation's request, if it is unknown so far or lacks the GPU.
 */
void decoder_memory_told(const struct decoder *decoder, const struct event *event,
			 struct memory_answer *answer);

/*
 * A process's own number of a GPU: its position in decoder.gpus, -1 not known; and its number in
 * reports. Which of a host's GPUs a process counts as its own third is for the process to choose
 * (CUDA_VISIBLE_DEVICES): -1, for the reason below, unless a record has it. Without records of a
 * host's GPUs they have the process's own numbers.
 */
#define NUMBER_NOT_TOLD "which GPU the process's own number is, is not known"

int decoder_ordinal_gpu(const struct decoder *decoder, const struct process *process, int ordinal);
int decoder_gpu_number(const struct decoder *decoder, const struct process *process, int ordinal);

/* "gpu0", "host"...; "gpu": which one is not known; NULL: unknown. Interned. */
const char *decoder_memory_name(struct decoder *decoder, enum memory_kind kind, int device);

/* Name behind a ucp_proto_t pointer; NULL: not known. */
const char *decoder_name(const struct decoder *decoder, const struct process *process,
			 uint64_t key);

/* The MPI function of that name, which must be interned: each name is parsed once. */
const struct mpi_function *decoder_function(struct decoder *decoder, const char *function);

/* After the last record: what the addresses of all remaining cells stand for. */
void decoder_cells(struct decoder *decoder, struct capture *capture);

/* Records of the process, or of its peers, before that time may be missing. */
void process_blind(struct process *process, uint64_t until);
/* Records of its own, too. */
void process_missing(struct process *process, uint64_t until);
/* Whether records were lost up to the event, so that objects known before prove nothing now. */
bool process_forgets(const struct event *event);

/*
 * Where a process has one worker, whoever talks to the process talks to that worker. NULL: there
 * are several, or none is known.
 */
struct object *process_only_worker(const struct process *process);

/*
 * Finds the peer of an endpoint: object.peer, object.peer_process. Returns false if not known.
 * *traced is false where the peer's uuid is known and no traced process has it.
 */
bool decoder_peer(struct decoder *decoder, struct object *ep, bool *traced);

#define BIT(kind) (1u << (kind))
#define RNDV_RECEIVES (BIT(OP_TAG_RECV) | BIT(OP_TAG_MSG_RECV) | BIT(OP_AM_RECV_DATA))
#define RNDV_SENDS (BIT(OP_TAG_SEND) | BIT(OP_AM_SEND))

/* Kinds of operations, as BIT()s, that can make such a transfer; 0: it is made for none. */
unsigned int transfer_makers(const struct site_info *site, uint8_t am_id);

/* Whether its transfers stay within memory mapped by its process. NULL: unknown, false. */
static inline bool iface_copies(const struct object *iface)
{
	return iface && iface->tl->copies;
}

/*
 * Whether the operation that transfers of a cell were seen to be nested in can have made them. What
 * is left of its frame on the stack may look as if it went on: then it was over, and UCX progressed
 * something else.
 */
bool cell_nested(const struct count_cell *cell);

#endif
