// SPDX-License-Identifier: BSD-3-Clause
#include "explain/facts/columns.h"

#define COLUMN(name, type, fact, member, help, key, single)                                        \
	{                                                                                          \
		name, COLUMN_##type, offsetof(struct fact, member), help, key, single              \
	}
#define ROW(...) COLUMN(__VA_ARGS__, FACT_KEYS, false)
#define ONE(...) COLUMN(__VA_ARGS__, FACT_KEYS, true) /* not in sums of many */
#define KEY(key, ...) COLUMN(__VA_ARGS__, KEY_##key, false)

static const struct fact_column process_columns[] = {
	ROW("id", INT, fact_process, index, "id that other facts refer to"),
	ROW("host", INDEX, fact_process, host, "its host number"),
	ROW("host_name", TEXT, fact_process, host_name, "node name"),
	ROW("boot_id", TEXT, fact_process, host_id, "distinguishes hosts of the same name"),
	ROW("pid", U32, fact_process, pid, "in its own pid namespace if known"),
	ROW("tgid", U32, fact_process, tgid, "as seen by the tracer"),
	ROW("start_time", NS, fact_process, start_time, "ns since boot"),
	ROW("comm", TEXT, fact_process, comm, "command name"),
	ROW("exe", TEXT, fact_process, exe, "program"),
	ROW("job", TEXT, fact_process, job, "of the scheduler or launcher"),
	ROW("batch_job", TEXT, fact_process, batch_job, "the batch system's number of it"),
	ROW("step", TEXT, fact_process, step, "of Slurm's job: a number, or batch"),
	ROW("rank", INDEX, fact_process, rank, "in the job's world"),
	ROW("size", INDEX, fact_process, size, "of the job's world"),
	ROW("mpi", TEXT, fact_process, mpi,
	    "library and version, null without MPI or if undescribed"),
	ROW("gpu_library", BOOL, fact_process, gpu_library, "whether it maps a GPU library"),
	ROW("environment_cut", INDEX, fact_process, environment_cut,
	    "variables left out for lack of space, null: the environment is unknown"),
	ROW("cpus", TEXT, fact_process, cpus,
	    "CPUs that its first thread could run on when it was found, null: unknown"),
	ROW("undescribed", BOOL, fact_process, undescribed,
	    "it ended before its program and libraries could be looked at"),
	ROW("ucx_unknown", BOOL, fact_process, ucx_unknown,
	    "it ended before the last of its libraries could be read: it may have another UCX"),
	ROW("from_start", BOOL, fact_process, from_start,
	    "every worker was seen being created; else joined in mid-run"),
	{ .name = NULL },
};

static const struct fact_column ucx_columns[] = {
	ROW("process", INT, fact_ucx, process, "id of the process"),
	ROW("path", TEXT, fact_ucx, path, "of libucp"),
	ROW("build_id", TEXT, fact_ucx, build_id, "of that file"),
	ROW("version", TEXT, fact_ucx, version, "as reported by the library"),
	ROW("layout", TEXT, fact_ucx, layout, "null: unknown build, private fields were not read"),
	{ .name = NULL },
};

static const struct fact_column variable_columns[] = {
	ROW("process", INT, fact_variable, process, "id of the process"),
	ROW("name", TEXT, fact_variable, name, "of the variable"),
	ROW("value", TEXT, fact_variable, value, "at program start"),
	{ .name = NULL },
};

static const struct fact_column device_columns[] = {
	ROW("host", INDEX, fact_device, host, "number of the host"),
	ROW("host_name", TEXT, fact_device, host_name, "node name"),
	ROW("number", INT, fact_device, number, "n of gpu0, gpu1..."),
	ROW("pci", TEXT, fact_device, pci, "PCI address"),
	ROW("uuid", TEXT, fact_device, uuid, "as reported by the driver"),
	ROW("model", TEXT, fact_device, model, "as reported by the driver"),
	ROW("numa_node", INDEX, fact_device, numa_node, "as reported by the kernel"),
	{ .name = NULL },
};

static const struct fact_column device_user_columns[] = {
	ROW("host", INT, fact_device_user, host, "number of the host"),
	ROW("device", INT, fact_device_user, device, "number of the GPU"),
	ROW("process", INT, fact_device_user, process, "id of the process"),
	ROW("ordinal", INT, fact_device_user, ordinal, "its own number for the GPU"),
	{ .name = NULL },
};

static const struct fact_column clock_columns[] = {
	ROW("host", INT, fact_clock, host, "number of the host"),
	ROW("mono", NS, fact_clock, mono, "ns, its CLOCK_MONOTONIC"),
	ROW("real", NS, fact_clock, real, "ns, its CLOCK_REALTIME at the same time"),
	{ .name = NULL },
};

static const struct fact_column place_columns[] = {
	ROW("id", U64, fact_place, id, "id that other facts refer to"),
	ROW("label", TEXT, fact_place, place.label, "shortest name"),
	ROW("module", TEXT, fact_place, place.module, "file that contains the code"),
	ROW("build_id", TEXT, fact_place, place.build_id, "of that file"),
	ROW("offset", ADDRESS, fact_place, place.offset,
	    "link-time address in the module, null: unknown"),
	ROW("symbol", TEXT, fact_place, place.symbol, "function"),
	ROW("demangled", TEXT, fact_place, place.demangled, "its name in C++, with parameters"),
	ROW("symbol_offset", ID, fact_place, place.symbol_offset,
	    "bytes from the symbol's start, null: unknown"),
	ROW("file", TEXT, fact_place, place.file, "source file"),
	ROW("line", ID32, fact_place, place.line, "line of the call, null: unknown"),
	ROW("address", BITS, fact_place, place.address, "in its process"),
	ROW("library", TEXT, fact_place, place.library,
	    "known library above UCP that contains the code: UCC, ucxx..., null: none"),
	ROW("role", TEXT, fact_place, place.role,
	    "kind of that file: program, mpi, charm..., other, null: unknown"),
	ROW("reason", TEXT, fact_place, place.reason, "why the module is unknown"),
	{ .name = NULL },
};

static const struct fact_column call_columns[] = {
	ONE("id", ID, fact_call, id, "id that operations refer to"),
	KEY(PROCESS, "process", INDEX, fact_call, process, "id of the process"),
	KEY(FUNCTION, "function", TEXT, fact_call, function, "MPI function"),
	ONE("communicator", TEXT, fact_call, comm,
	    "its communicator: MPI_COMM_WORLD or another, null: none or unknown"),
	ONE("context", INDEX, fact_call, context,
	    "of a blocking collective: its communicator's, null: none or unknown"),
	ONE("sequence", ID, fact_call, sequence,
	    "likewise: its number among those of its process on that communicator"),
	KEY(PLACE, "place", PLACE, fact_call, place, "where it was called"),
	ROW("stack", STACK, fact_call, stack, "its call stack"),
	ROW("tid", ID32, fact_call, tid, "thread, of sums: if they are of one loop that polls"),
	ROW("start", TIME, fact_call, start, "ns, CLOCK_MONOTONIC of its host"),
	ROW("end", TIME, fact_call, end, "likewise, null: unknown"),
	ONE("precision", PRECISION, fact_call, end_precision, "of the end"),
	ONE("until", TIME, fact_call, until,
	    "likewise, its thread was elsewhere then: the latest possible end, null: unknown"),
	ONE("open", BOOL, fact_call, open, "it had not returned when last seen, at its end"),
	ONE("ops", SIZE, fact_call, ops, "UCP operations below it, null: none were recorded then"),
	ONE("bytes", SIZE, fact_call, bytes, "payload of those that send, likewise"),
	ONE("seen", TEXT, fact_call, seen, "probe, or derived from its operation"),
	{ .name = NULL },
};

static const struct fact_column op_columns[] = {
	ONE("id", ID, fact_op, id, "id that other facts refer to"),
	ONE("call", ID, fact_op, call, "id of its call, null: outside MPI"),
	KEY(PROCESS, "process", INDEX, fact_op, process, "id of the process"),
	KEY(PEER, "peer", INDEX, fact_op, peer, "id of the process at the other end"),
	KEY(UCP_OP, "op", TEXT, fact_op, op, "UCP operation"),
	KEY(FUNCTION, "function", TEXT, fact_op, function, "MPI function, null: outside MPI"),
	KEY(PLACE, "place", PLACE, fact_op, place,
	    "where the function was called, outside MPI: UCP"),
	ONE("stack", STACK, fact_op, stack, "its call stack, null: it is its call's, or unknown"),
	KEY(PROTOCOL, "protocol", TEXT, fact_op, protocol, "UCP protocol"),
	ONE("tid", ID32, fact_op, tid, "thread"),
	ROW("start", TIME, fact_op, start, "ns, CLOCK_MONOTONIC of its host"),
	ROW("end", TIME, fact_op, end, "likewise, null: unknown"),
	ONE("precision", PRECISION, fact_op, end_precision, "of the end"),
	ONE("tag", BITS, fact_op, tag, "of tag operations"),
	ONE("bytes", SIZE, fact_op, bytes, "payload"),
	ONE("buffer", ADDRESS, fact_op, buffer, "address"),
	KEY(MEMORY, "memory", TEXT, fact_op, memory, "memory of the buffer"),
	KEY(MEMORY_REASON, "memory_reason", TEXT, fact_op, memory_reason, "why memory is unknown"),
	KEY(MEMORY_KNOWN_BY, "memory_known_by", TEXT, fact_op, memory_known_by,
	    "source of that knowledge"),
	ROW("taken_as", TEXT, fact_op, taken_as, "memory type that UCX assumed for the buffer"),
	ONE("status", INT, fact_op, status, "ucs_status_t, below 0 an error"),
	ONE("freed", BOOL, fact_op, freed, "ucp_mem_unmap freed its buffer before it was done"),
	ROW("sends", BOOL, fact_op, sends, "whether it sends payload"),
	{ .name = NULL },
};

static const struct fact_column transfer_columns[] = {
	ROW("caused_by", ID, fact_transfer, caused_by, "id of its operation"),
	KEY(PROCESS, "process", INDEX, fact_transfer, process, "id of the process that started it"),
	KEY(PEER, "peer", INDEX, fact_transfer, peer, "id of the process at the other end"),
	KEY(OP, "op", TEXT, fact_transfer, op, "UCT operation"),
	KEY(TRANSPORT, "transport", TEXT, fact_transfer, transport, "UCX's name"),
	KEY(DEVICE, "device", TEXT, fact_transfer, device, "UCX's name"),
	KEY(LOCALITY, "locality", LOCALITY, fact_transfer, locality, "where the other end is"),
	KEY(KIND, "kind", KIND, fact_transfer, kind, "payload, or UCX's own traffic"),
	KEY(DATA_PATH, "data_path", TEXT, fact_transfer, data_path,
	    "direct, buffered, staged, emulated or control, null: unknown"),
	KEY(INITIATOR, "initiator", TEXT, fact_transfer, initiator,
	    "sender or receiver of the message, origin or target of a put, get or atomic, null: "
	    "unknown"),
	KEY(UCP_OP, "ucp_op", TEXT, fact_transfer, ucp_op, "UCP operation that caused it"),
	KEY(FUNCTION, "function", TEXT, fact_transfer, function, "MPI function, null: outside MPI"),
	KEY(PROTOCOL, "protocol", TEXT, fact_transfer, protocol, "UCP protocol"),
	KEY(PLACE, "place", PLACE, fact_transfer, place,
	    "where MPI was called, outside of it: UCP"),
	KEY(SRC_MEM, "src_mem", TEXT, fact_transfer, src_mem, "source memory"),
	KEY(DST_MEM, "dst_mem", TEXT, fact_transfer, dst_mem, "destination memory"),
	KEY(SRC_REASON, "src_reason", TEXT, fact_transfer, src_reason, "why src_mem is unknown"),
	KEY(DST_REASON, "dst_reason", TEXT, fact_transfer, dst_reason, "why dst_mem is unknown"),
	ROW("unexplained", TEXT, fact_transfer, unexplained,
	    "why the operation of the data is unknown, null: it is known"),
	ROW("tid", ID32, fact_transfer, tid, "thread"),
	ROW("start", TIME, fact_transfer, start, "ns, CLOCK_MONOTONIC of its host"),
	ROW("end", TIME, fact_transfer, end, "likewise, null: unknown"),
	ONE("precision", PRECISION, fact_transfer, end_precision, "of the end"),
	ONE("bytes", SIZE, fact_transfer, bytes, "payload, without UCP's header"),
	ONE("wire_bytes", U64, fact_transfer, wire_bytes, "as passed to UCT"),
	ONE("laddr", ADDRESS, fact_transfer, laddr, "local address"),
	ONE("raddr", ADDRESS, fact_transfer, raddr, "remote address"),
	ROW("fetches", BOOL, fact_transfer, fetches,
	    "whether data moves from peer to process, as for a get"),
	ONE("lanes", TEXT, fact_transfer, lanes,
	    "of an emulated operation's: its endpoint's lanes, or all that its worker has open"),
	ONE("retried", BOOL, fact_transfer, retried,
	    "no resources: nothing was sent, not counted as a transfer"),
	ONE("seen", TEXT, fact_transfer, seen, "probe, or derived from its operation"),
	{ .name = NULL },
};

static const struct fact_column message_columns[] = {
	ROW("send", ID, fact_message, send, "id of the operation that sent it"),
	ROW("recv", ID, fact_message, recv,
	    "id of the operation that received it, null: none, or ambiguous"),
	KEY(SRC, "src", INDEX, fact_message, src, "id of the sending process"),
	KEY(DST, "dst", INDEX, fact_message, dst, "id of the receiving process"),
	KEY(FUNCTION, "function", TEXT, fact_message, function, "MPI function of the send"),
	KEY(UCP_OP, "send_op", TEXT, fact_message, send_op, "UCP operation"),
	ROW("recv_op", TEXT, fact_message, recv_op, "UCP operation"),
	ROW("tag", BITS, fact_message, tag, "UCP tag"),
	ROW("bytes", SIZE, fact_message, bytes, "payload"),
	ROW("send_start", TIME, fact_message, send_start, "ns on the sender's host"),
	ROW("recv_start", TIME, fact_message, recv_start, "ns on the receiver's host"),
	ROW("arrival", TIME, fact_message, arrival, "likewise"),
	KEY(SRC_MEM, "src_mem", TEXT, fact_message, src_mem, "memory of the send buffer"),
	KEY(DST_MEM, "dst_mem", TEXT, fact_message, dst_mem, "memory of the receive buffer"),
	KEY(SRC_REASON, "src_reason", TEXT, fact_message, src_reason, "why src_mem is unknown"),
	KEY(DST_REASON, "dst_reason", TEXT, fact_message, dst_reason, "why dst_mem is unknown"),
	KEY(CHAIN, "chain", TEXT, fact_message, chain,
	    "all memory that its bytes passed through, comma-separated"),
	KEY(VIA, "via", TEXT, fact_message, via, "the transports between these, comma-separated"),
	KEY(CHAIN_REASON, "chain_reason", TEXT, fact_message, chain_reason,
	    "why chain and via are unknown"),
	ONE("copies", U64, fact_message, copies, "copies of it within a process"),
	ONE("copy_bytes", U64, fact_message, copy_bytes, "bytes of these copies"),
	ROW("send_tid", ID32, fact_message, send_tid, "thread that sent"),
	ROW("recv_tid", ID32, fact_message, recv_tid, "thread that received"),
	ROW("library", TEXT, fact_message, library,
	    "library that sent it, if known and not MPI: UCC, Charm++..."),
	ROW("kind", TEXT, fact_message, kind,
	    "the tag's meaning to it: collective, service, eager..."),
	ROW("team", TEXT, fact_message, team, "team of the library that the sender is a rank of"),
	ROW("sender", INDEX, fact_message, sender, "the sender's number in the team"),
	ROW("number", INDEX, fact_message, number, "of the team's collective operation"),
	{ .name = NULL },
};

static const struct fact_column wait_columns[] = {
	ROW("kind", TEXT, fact_wait, kind, "late_sender, late_receiver, late_progress..."),
	ONE("call", ID, fact_wait, call, "id of the call that waits"),
	KEY(PROCESS, "process", INDEX, fact_wait, process, "id of the process"),
	KEY(FUNCTION, "function", TEXT, fact_wait, function, "MPI function that waits"),
	KEY(PLACE, "place", PLACE, fact_wait, place, "where it was called"),
	ONE("tid", ID32, fact_wait, tid, "thread"),
	ROW("start", TIME, fact_wait, start, "ns, CLOCK_MONOTONIC of its host"),
	ROW("end", TIME, fact_wait, end, "likewise"),
	ONE("ns", NS, fact_wait, ns,
	    "ns of it that no earlier wait of the same call and kind has counted: sums are of these"),
	ONE("fresh", NS, fact_wait, fresh, "likewise, of the same call and any kind"),
	ONE("uncertainty", NS, fact_wait, uncertainty, "ns, of the hosts' clocks; 0: one clock"),
	ROW("precision", TEXT, fact_wait, precision, "exact, or clocks: within the uncertainty"),
	KEY(PEER, "culprit", INDEX, fact_wait, culprit, "id of the process that it waits for"),
	ROW("culprit_function", TEXT, fact_wait, culprit_function,
	    "MPI function that ends the wait"),
	ROW("culprit_place", PLACE, fact_wait, culprit_place, "where that was called"),
	ROW("culprit_did", TEXT, fact_wait, culprit_did,
	    "state of the culprit during the wait: computing, communicating, waiting"),
	ROW("root", INDEX, fact_wait, root,
	    "id of the process that caused it, through others that waited themselves"),
	ROW("root_function", TEXT, fact_wait, root_function, "its MPI function"),
	ROW("root_place", PLACE, fact_wait, root_place, "where that was called"),
	ROW("root_did", TEXT, fact_wait, root_did, "its state: computing, communicating"),
	{ .name = NULL },
};

static const struct fact_column collective_columns[] = {
	KEY(FUNCTION, "function", TEXT, fact_collective, function,
	    "MPI function, or of a library above UCP: UCC allreduce"),
	ROW("communicator", TEXT, fact_collective, comm,
	    "MPI_COMM_WORLD, another, or the library's team, null: not known which"),
	ROW("context", INDEX, fact_collective, context,
	    "MPI's number of that, by its messages, null: unknown"),
	ROW("sequence", ID, fact_collective, sequence,
	    "its number among the blocking collectives of its communicator, null: unknown"),
	ROW("sequence_reason", TEXT, fact_collective, sequence_reason,
	    "why that is unknown for some rank at least"),
	ROW("contradicted", BOOL, fact_collective, contradicted,
	    "its calls have different numbers: they are not of one operation"),
	ROW("ranks", INDEX, fact_collective, ranks, "how many take part, null: not known"),
	ROW("algorithm", TEXT, fact_collective, algorithm,
	    "by the pattern of its messages, of a library above UCP by its function, null: unknown"),
	ROW("reason", TEXT, fact_collective, reason, "why the algorithm is unknown"),
	ROW("several", BOOL, fact_collective, several,
	    "it is unknown since several known ones fit, which reason names"),
	ROW("rounds", ID32, fact_collective, rounds,
	    "messages that wait for each other, null: unknown"),
	ROW("rounds_bound", BOOL, fact_collective, rounds_bound,
	    "at least so many rounds: messages were sent in parts"),
	ROW("messages", U64, fact_collective, messages, "of all ranks"),
	ROW("bytes", U64, fact_collective, bytes, "payload of these"),
	ROW("bytes_bound", BOOL, fact_collective, bytes_bound,
	    "at least so many messages and bytes: others may be missing"),
	ROW("most_sent", U64, fact_collective, most_sent, "messages of the rank that sent most"),
	{ .name = NULL },
};

static const struct fact_column open_columns[] = {
	KEY(PROCESS, "process", INDEX, fact_open, process, "id of the process"),
	KEY(FUNCTION, "function", TEXT, fact_open, function, "MPI function that has not returned"),
	KEY(PLACE, "place", PLACE, fact_open, place, "where it was called"),
	ROW("tid", ID32, fact_open, tid, "thread"),
	KEY(UCP_OP, "op", TEXT, fact_open, op, "UCP operation that it waits for"),
	KEY(PEER, "peer", INDEX, fact_open, peer, "id of the process it is with"),
	ROW("peer_rank", INDEX, fact_open, peer_rank, "rank of that, traced or not"),
	ROW("tag", INDEX, fact_open, tag, "of MPI, null: unknown, any or a collective's"),
	ROW("peer_certain", BOOL, fact_open, peer_certain,
	    "these are of the call's own operation, else of one that it may wait for"),
	ROW("step", TEXT, fact_open, step,
	    "protocol step that the operation waits in (docs/waits.md), null: unknown"),
	ROW("step_reason", TEXT, fact_open, step_reason, "why the step is unknown"),
	ROW("bytes", SIZE, fact_open, bytes, "of the operation, null: unknown"),
	ROW("moved_bytes", SIZE, fact_open, moved, "taken by transports, null: unknown"),
	ROW("communicator", TEXT, fact_open, comm,
	    "MPI_COMM_WORLD or another, null: none or unknown"),
	ROW("context", INDEX, fact_open, context, "MPI's number of that communicator"),
	ROW("sequence", ID, fact_open, sequence,
	    "number of its collective operation on that communicator"),
	ROW("sequence_by", TEXT, fact_open, sequence_by,
	    "calls: among those that block, tags: among those that do not"),
	ROW("sequence_reason", TEXT, fact_open, sequence_reason,
	    "why a collective call has no sequence"),
	ROW("since", TIME, fact_open, since, "ns, CLOCK_MONOTONIC of its host"),
	ROW("until", TIME, fact_open, until, "likewise, when it was last seen"),
	ROW("bound", BOOL, fact_open, bound,
	    "it began before since, which is when it was first seen"),
	ROW("certain", BOOL, fact_open, certain, "else it may have returned without a trace"),
	{ .name = NULL },
};

static const struct fact_column thread_columns[] = {
	KEY(PROCESS, "process", INDEX, fact_thread, process, "id of the process"),
	ROW("tid", ID32, fact_thread, tid, "thread"),
	ROW("state", TEXT, fact_thread, state, "running, sleeping, stopped..., null: unknown"),
	KEY(FUNCTION, "function", TEXT, fact_thread, function,
	    "MPI function that it was in, null: none or unknown"),
	KEY(PLACE, "place", PLACE, fact_thread, place, "where that was called"),
	ROW("outside", BOOL, fact_thread, outside, "it was outside of MPI"),
	ROW("reason", TEXT, fact_thread, reason, "why it is not known whether it was in MPI"),
	ROW("at", TIME, fact_thread, at, "ns, CLOCK_MONOTONIC of its host"),
	{ .name = NULL },
};

static const struct fact_column queued_columns[] = {
	KEY(PROCESS, "process", INDEX, fact_queued, process, "id of the process"),
	ROW("what", TEXT, fact_queued, what,
	    "receive: posted, send: not done, message: no receive was posted for it"),
	KEY(PEER, "peer", INDEX, fact_queued, peer, "id of the process it is with"),
	ROW("peer_rank", INDEX, fact_queued, peer_rank, "rank of that, traced or not"),
	ROW("tag", INDEX, fact_queued, tag, "of MPI, null: unknown, any or a collective's"),
	ROW("communicator", TEXT, fact_queued, comm, "MPI_COMM_WORLD or another"),
	ROW("context", U64, fact_queued, context, "of the communicator, MPI's number of it"),
	ROW("bytes", SIZE, fact_queued, bytes, "of a send or an announced message"),
	ROW("at", TIME, fact_queued, at, "ns, CLOCK_MONOTONIC of its host"),
	{ .name = NULL },
};

static const struct fact_column unread_columns[] = {
	KEY(PROCESS, "process", INDEX, fact_unread, process, "id of the process"),
	ROW("reason", TEXT, fact_unread, reason, "why not all were read, null: too many to list"),
	ROW("entries", U64, fact_unread, entries, "entries that were read and are not listed"),
	ROW("at", TIME, fact_unread, at, "ns, CLOCK_MONOTONIC of its host"),
	{ .name = NULL },
};

static const struct fact_column window_columns[] = {
	ROW("host", INDEX, fact_window, host, "number of the host"),
	ROW("host_name", TEXT, fact_window, host_name, "node name"),
	ROW("capture", INT, fact_window, capture, "number of the capture"),
	ROW("from", NS, fact_window, from, "ns, start of recording"),
	ROW("to", NS, fact_window, to, "ns, end of recording"),
	ROW("until", NS, fact_window, until, "end of the capture"),
	ROW("step", TEXT, fact_window, step,
	    "with a budget, the recorded step: uct, ucp, mpi, windows"),
	ROW("reason", TEXT, fact_window, reason, "and why"),
	ROW("paid_ppm", U64, fact_window, paid_ppm, "what a thread paid before"),
	{ .name = NULL },
};

static const struct fact_column memory_columns[] = {
	KEY(PROCESS, "process", INDEX, fact_memory, process, "id of the process"),
	ROW("kind", TEXT, fact_memory, kind, "gpu, managed or pinned"),
	ROW("sort", TEXT, fact_memory, sort, "kind of allocation"),
	ROW("device", INDEX, fact_memory, device, "the process's number of the GPU"),
	ROW("exporter", INDEX, fact_memory, exporter, "for imported memory, the exporting process"),
	ROW("reason", TEXT, fact_memory, reason, "why kind or device is unknown"),
	ROW("function", TEXT, fact_memory, function, "that allocated it"),
	ROW("allocations", U64, fact_memory, allocations, "successful calls"),
	ROW("bytes", U64, fact_memory, bytes, "of all of known size"),
	ROW("unsized", U64, fact_memory, unsized, "of unknown size"),
	ROW("live_peak", U64, fact_memory, live_peak, "most bytes allocated at once"),
	{ .name = NULL },
};

static const struct fact_column lifetime_columns[] = {
	KEY(PROCESS, "process", INT, fact_lifetime, process, "id of the process"),
	ROW("until", NS, fact_lifetime, until, "ns of its host, when it was last seen"),
	ROW("exited", BOOL, fact_lifetime, exited, "whether it ended then; else the capture did"),
	ROW("exit_status", INDEX, fact_lifetime, exit_status, "null: none or unknown"),
	ROW("exit_signal", ID32, fact_lifetime, exit_signal,
	    "signal that ended it, null: none or unknown"),
	ROW("unprobed", NS, fact_lifetime, unprobed,
	    "ns before its libraries had probes: no record covers that time"),
	ROW("entered", ID, fact_lifetime, entered,
	    "blocking collectives of MPI_COMM_WORLD that it has entered, null: none or unknown"),
	{ .name = NULL },
};

static const struct fact_column error_columns[] = {
	KEY(PROCESS, "process", INT, fact_error, process, "id of the process"),
	ROW("what", TEXT, fact_error, what, "endpoint, operation or transfer: what failed"),
	ROW("status", TEXT, fact_error, status, "UCX's name of the error"),
	KEY(UCP_OP, "op", TEXT, fact_error, op, "UCP operation, null: none or unknown"),
	KEY(FUNCTION, "function", TEXT, fact_error, function, "MPI function, null: outside MPI"),
	KEY(TRANSPORT, "transport", TEXT, fact_error, transport, "of a transfer"),
	KEY(DEVICE, "device", TEXT, fact_error, device, "of a transfer"),
	ROW("start", NS, fact_error, start, "ns of its host, the first"),
	ROW("end", NS, fact_error, end, "ns of its host, when it was counted last"),
	{ .name = NULL },
};

static const struct fact_column error_sums[] = {
	ROW("count", U64, fact_sums, count, "how many"),
	{ .name = NULL },
};

static const struct fact_column call_sums[] = {
	ROW("count", U64, fact_sums, count, "how many"),
	ROW("ops", U64, fact_sums, ops, "UCP operations"),
	ROW("ops_unknown", U64, fact_sums, ops_unknown,
	    "calls made while no operations were recorded"),
	ROW("bytes", U64, fact_sums, bytes, "payload"),
	ROW("bytes_unknown", U64, fact_sums, bytes_unknown,
	    "facts of unknown size, in no other sum"),
	ROW("timed", U64, fact_sums, timed, "facts of known duration"),
	ROW("time", NS, fact_sums, time, "ns, sum over these"),
	ROW("precision", PRECISION, fact_sums, precision, "of time"),
	{ .name = NULL },
};

static const struct fact_column op_sums[] = {
	ROW("count", U64, fact_sums, count, "how many"),
	ROW("bytes", U64, fact_sums, bytes, "payload"),
	ROW("bytes_unknown", U64, fact_sums, bytes_unknown,
	    "facts of unknown size, in no other sum"),
	ROW("timed", U64, fact_sums, timed, "facts of known duration"),
	ROW("time", NS, fact_sums, time, "ns, sum over these"),
	ROW("precision", PRECISION, fact_sums, precision, "of time"),
	{ .name = NULL },
};

static const struct fact_column transfer_sums[] = {
	ROW("count", U64, fact_sums, count, "how many"),
	ROW("bytes", U64, fact_sums, bytes, "payload"),
	ROW("bytes_unknown", U64, fact_sums, bytes_unknown,
	    "facts of unknown size, in no other sum"),
	ROW("wire_bytes", U64, fact_sums, wire_bytes, "as passed to UCT"),
	ROW("least", ID, fact_sums, least,
	    "least payload of each but the last fragment of a message, null: unknown"),
	ROW("retries", U64, fact_sums, retries, "attempts without resources"),
	ROW("timed", U64, fact_sums, timed, "facts of known duration"),
	ROW("time", NS, fact_sums, time, "ns, sum over these"),
	ROW("precision", PRECISION, fact_sums, precision, "of time"),
	{ .name = NULL },
};

const char *const fact_key_names[FACT_KEYS] = {
	[KEY_PROCESS] = "process",
	[KEY_PEER] = "peer",
	[KEY_SRC] = "src",
	[KEY_DST] = "dst",
	[KEY_FUNCTION] = "function",
	[KEY_PLACE] = "place",
	[KEY_UCP_OP] = "ucp_op",
	[KEY_OP] = "op",
	[KEY_PROTOCOL] = "protocol",
	[KEY_TRANSPORT] = "transport",
	[KEY_DEVICE] = "device",
	[KEY_SRC_MEM] = "src_mem",
	[KEY_DST_MEM] = "dst_mem",
	[KEY_SRC_REASON] = "src_reason",
	[KEY_DST_REASON] = "dst_reason",
	[KEY_MEMORY] = "memory",
	[KEY_MEMORY_REASON] = "memory_reason",
	[KEY_MEMORY_KNOWN_BY] = "memory_known_by",
	[KEY_CHAIN] = "chain",
	[KEY_VIA] = "via",
	[KEY_CHAIN_REASON] = "chain_reason",
	[KEY_LOCALITY] = "locality",
	[KEY_KIND] = "kind",
	[KEY_DATA_PATH] = "data_path",
	[KEY_INITIATOR] = "initiator",
};

const struct fact_info fact_infos[FACT_TYPES] = {
	[FACT_PROCESS] = { "process", "a traced process; precedes its facts", process_columns,
			   NULL },
	[FACT_UCX] = { "ucx", "a UCX library of a process", ucx_columns, NULL },
	[FACT_VARIABLE] = { "environment", "a variable of a process that selects its transports",
			    variable_columns, NULL },
	[FACT_CLOCK] = { "clock", "one reading of both clocks of a host", clock_columns, NULL },
	[FACT_PLACE] = { "place", "a code location; precedes the facts that refer to it",
			 place_columns, NULL },
	[FACT_CALL] = { "call", "an MPI call", call_columns, NULL },
	[FACT_OP] = { "op", "a UCP operation", op_columns, NULL },
	[FACT_TRANSFER] = { "transfer", "a UCT operation", transfer_columns, NULL },
	[FACT_MESSAGE] = { "message", "a send matched to its receive", message_columns, NULL },
	[FACT_WAIT] = { "wait", "time in which an MPI call waits for another process", wait_columns,
			NULL },
	[FACT_COLLECTIVE] = { "collective", "a collective operation, by its messages",
			      collective_columns, NULL },
	[FACT_OPEN] = { "open", "an MPI call that had not returned when last seen", open_columns,
			NULL },
	[FACT_THREAD] = { "thread", "where a thread was at its last inspection", thread_columns,
			  NULL },
	[FACT_QUEUED] = { "queued", "operations that a process's UCX had under way at that time",
			  queued_columns, NULL },
	[FACT_UNREAD] = { "unread", "queues of a process's UCX that were not read to their end",
			  unread_columns, NULL },
	[FACT_WINDOW] = { "window", "a recording window of a capture with a duty cycle",
			  window_columns, NULL },
	[FACT_MEMORY] = { "memory", "memory allocated by a GPU library", memory_columns, NULL },
	[FACT_LIFETIME] = { "lifetime", "when a process was last seen, and how it ended",
			    lifetime_columns, NULL },
	[FACT_DEVICE] = { "device", "a GPU of a host", device_columns, NULL },
	[FACT_DEVICE_USER] = { "device_user", "a process that uses a GPU", device_user_columns,
			       NULL },
	[FACT_CALLS] = { "calls",
			 "the sum of similar calls; start and end of the first and the last",
			 call_columns, call_sums },
	[FACT_OPS] = { "ops", "the sum of similar operations", op_columns, op_sums },
	[FACT_TRANSFERS] = { "transfers", "the sum of similar transfers: fragments, counts",
			     transfer_columns, transfer_sums },
	[FACT_ERRORS] = { "errors", "the sum of similar errors, of captures made with --count",
			  error_columns, error_sums },
};

const char *const *column_words(enum column_type type)
{
	switch (type) {
	case COLUMN_PRECISION:
		return fact_precision_names + 1;
	case COLUMN_LOCALITY:
		return fact_locality_names;
	case COLUMN_KIND:
		return fact_kind_names;
	default:
		return NULL;
	}
}

static struct column_value integer(int64_t value, bool null)
{
	return (struct column_value){ .number = (uint64_t)value, .null = null };
}

static struct column_value word(const char *const *words, unsigned int value, bool null)
{
	return (struct column_value){ .text = words[value], .null = null };
}

struct column_value column_value(const struct fact_column *column, const void *fact)
{
	const void *at = (const char *)fact + column->offset;
	uint64_t number;

	switch (column->type) {
	case COLUMN_TEXT:
		return (struct column_value){ .text = *(const char *const *)at,
					      .null = !*(const char *const *)at };
	case COLUMN_PLACE:
	case COLUMN_STACK:
		return (struct column_value){ .pointer = *(const void *const *)at,
					      .null = !*(const void *const *)at };
	case COLUMN_INT:
		return integer(*(const int *)at, false);
	case COLUMN_INDEX:
		return integer(*(const int *)at, *(const int *)at < 0);
	case COLUMN_U32:
		return integer(*(const uint32_t *)at, false);
	case COLUMN_ID32:
		return integer(*(const uint32_t *)at, !*(const uint32_t *)at);
	case COLUMN_BOOL:
		return integer(*(const bool *)at, false);
	case COLUMN_PRECISION:
		number = *(const enum fact_precision *)at;
		return word(fact_precision_names, number, number == TIME_UNKNOWN);
	case COLUMN_LOCALITY:
		return word(fact_locality_names, *(const enum fact_locality *)at, false);
	case COLUMN_KIND:
		return word(fact_kind_names, *(const enum fact_kind *)at, false);
	case COLUMN_U64:
	case COLUMN_BITS:
	case COLUMN_ID:
	case COLUMN_TIME:
	case COLUMN_NS:
	case COLUMN_ADDRESS:
	case COLUMN_SIZE:
	case COLUMN_TYPES:
		break;
	}
	number = *(const uint64_t *)at;
	return (struct column_value){
		.number = number,
		.null = (number == UINT64_MAX && column->type == COLUMN_SIZE) ||
			(!number && (column->type == COLUMN_ID || column->type == COLUMN_TIME ||
				     column->type == COLUMN_ADDRESS)),
	};
}
