// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/columns.h"

#define COLUMN(name, type, fact, member, help, key, single)                                        \
	{                                                                                          \
		name, COLUMN_##type, offsetof(struct fact, member), help, key, single              \
	}
#define ROW(...) COLUMN(__VA_ARGS__, FACT_KEYS, false)
#define ONE(...) COLUMN(__VA_ARGS__, FACT_KEYS, true) /* not in sums of many */
#define KEY(key, ...) COLUMN(__VA_ARGS__, KEY_##key, false)

static const struct fact_column process_columns[] = {
	ROW("id", INT, fact_process, index, "number that all others refer to"),
	ROW("host", INDEX, fact_process, host, "number of its host"),
	ROW("host_name", TEXT, fact_process, host_name, "node name"),
	ROW("boot_id", TEXT, fact_process, host_id, "tells machines of one name apart"),
	ROW("pid", U32, fact_process, pid, "in its own pid namespace where that is known"),
	ROW("tgid", U32, fact_process, tgid, "as the tracer saw it"),
	ROW("start_time", NS, fact_process, start_time, "ns since boot"),
	ROW("comm", TEXT, fact_process, comm, "command name"),
	ROW("exe", TEXT, fact_process, exe, "program"),
	ROW("job", TEXT, fact_process, job, "of the scheduler or launcher"),
	ROW("rank", INDEX, fact_process, rank, "in the job's world"),
	ROW("size", INDEX, fact_process, size, "of the job's world"),
	ROW("mpi", TEXT, fact_process, mpi, "library and version, null without MPI"),
	ROW("gpu_library", BOOL, fact_process, gpu_library, "it maps a GPU library"),
	ROW("environment_cut", INDEX, fact_process, environment_cut,
	    "variables that were left out for want of room, null: the environment is not known"),
	ROW("cpus", TEXT, fact_process, cpus,
	    "that its first thread might run on when it was found, null: not known"),
	ROW("from_start", BOOL, fact_process, from_start,
	    "every worker was seen being created; else joined in mid-run"),
	{ .name = NULL },
};

static const struct fact_column ucx_columns[] = {
	ROW("process", INT, fact_ucx, process, "id of the process"),
	ROW("path", TEXT, fact_ucx, path, "of libucp"),
	ROW("build_id", TEXT, fact_ucx, build_id, "of that file"),
	ROW("version", TEXT, fact_ucx, version, "as it says itself"),
	ROW("layout", TEXT, fact_ucx, layout, "null: private fields were not read"),
	{ .name = NULL },
};

static const struct fact_column variable_columns[] = {
	ROW("process", INT, fact_variable, process, "id of the process"),
	ROW("name", TEXT, fact_variable, name, "of the variable"),
	ROW("value", TEXT, fact_variable, value, "when the program was started"),
	{ .name = NULL },
};

static const struct fact_column device_columns[] = {
	ROW("host", INDEX, fact_device, host, "number of the host"),
	ROW("host_name", TEXT, fact_device, host_name, "node name"),
	ROW("number", INT, fact_device, number, "that of gpu0, gpu1..."),
	ROW("pci", TEXT, fact_device, pci, "PCI address"),
	ROW("uuid", TEXT, fact_device, uuid, "as the driver tells"),
	ROW("model", TEXT, fact_device, model, "likewise"),
	ROW("numa_node", INDEX, fact_device, numa_node, "as the kernel tells"),
	{ .name = NULL },
};

static const struct fact_column device_user_columns[] = {
	ROW("host", INT, fact_device_user, host, "number of the host"),
	ROW("device", INT, fact_device_user, device, "number of the GPU"),
	ROW("process", INT, fact_device_user, process, "id of the process"),
	ROW("ordinal", INT, fact_device_user, ordinal, "its own number of the GPU"),
	{ .name = NULL },
};

static const struct fact_column clock_columns[] = {
	ROW("host", INT, fact_clock, host, "number of the host"),
	ROW("mono", NS, fact_clock, mono, "ns of its CLOCK_MONOTONIC when"),
	ROW("real", NS, fact_clock, real, "its CLOCK_REALTIME showed this"),
	{ .name = NULL },
};

static const struct fact_column place_columns[] = {
	ROW("id", U64, fact_place, id, "number that others refer to"),
	ROW("label", TEXT, fact_place, place.label, "shortest name of it"),
	ROW("module", TEXT, fact_place, place.module, "file that the code lies in"),
	ROW("build_id", TEXT, fact_place, place.build_id, "of that file"),
	ROW("offset", BITS, fact_place, place.offset, "link-time address in the module"),
	ROW("symbol", TEXT, fact_place, place.symbol, "function"),
	ROW("symbol_offset", U64, fact_place, place.symbol_offset, "bytes from the symbol's start"),
	ROW("file", TEXT, fact_place, place.file, "source file"),
	ROW("line", INT, fact_place, place.line, "of the call; 0: not known"),
	ROW("address", BITS, fact_place, place.address, "in its process"),
	ROW("reason", TEXT, fact_place, place.reason, "why the module is not known"),
	{ .name = NULL },
};

static const struct fact_column call_columns[] = {
	ONE("id", ID, fact_call, id, "number that operations refer to"),
	KEY(PROCESS, "process", INDEX, fact_call, process, "id of the process"),
	KEY(FUNCTION, "function", TEXT, fact_call, function, "MPI function"),
	ONE("communicator", TEXT, fact_call, comm,
	    "its communicator: MPI_COMM_WORLD or another, null: none, or not known which"),
	KEY(PLACE, "place", PLACE, fact_call, place, "where it was called"),
	ROW("stack", STACK, fact_call, stack, "how that was reached"),
	ONE("tid", ID32, fact_call, tid, "thread"),
	ROW("start", TIME, fact_call, start, "ns, CLOCK_MONOTONIC of its host"),
	ROW("end", TIME, fact_call, end, "likewise, null: not known"),
	ONE("precision", PRECISION, fact_call, end_precision, "of the end"),
	ONE("ops", U32, fact_call, ops, "UCP operations below it"),
	ONE("bytes", SIZE, fact_call, bytes, "of those that send"),
	{ .name = NULL },
};

static const struct fact_column op_columns[] = {
	ONE("id", ID, fact_op, id, "number that others refer to"),
	ONE("call", ID, fact_op, call, "id of its call, null: outside MPI"),
	KEY(PROCESS, "process", INDEX, fact_op, process, "id of the process"),
	KEY(PEER, "peer", INDEX, fact_op, peer, "id of the process at the other end"),
	KEY(UCP_OP, "op", TEXT, fact_op, op, "UCP operation"),
	KEY(FUNCTION, "function", TEXT, fact_op, function, "MPI function, null: outside MPI"),
	KEY(PLACE, "place", PLACE, fact_op, place, "where that was called"),
	KEY(PROTOCOL, "protocol", TEXT, fact_op, protocol, "UCP protocol"),
	ONE("tid", ID32, fact_op, tid, "thread"),
	ROW("start", TIME, fact_op, start, "ns, CLOCK_MONOTONIC of its host"),
	ROW("end", TIME, fact_op, end, "likewise, null: not known"),
	ONE("precision", PRECISION, fact_op, end_precision, "of the end"),
	ONE("tag", BITS, fact_op, tag, "of tag operations"),
	ONE("bytes", SIZE, fact_op, bytes, "payload"),
	ONE("buffer", ADDRESS, fact_op, buffer, "address"),
	KEY(MEMORY, "memory", TEXT, fact_op, memory, "what the buffer is of"),
	KEY(MEMORY_REASON, "memory_reason", TEXT, fact_op, memory_reason, "why that is not known"),
	KEY(MEMORY_KNOWN_BY, "memory_known_by", TEXT, fact_op, memory_known_by, "how it is known"),
	ROW("taken_as", TEXT, fact_op, taken_as, "memory type that UCX took the buffer for"),
	ONE("status", INT, fact_op, status, "ucs_status_t, below 0 an error"),
	ROW("sends", BOOL, fact_op, sends, "it carries payload away from its process"),
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
	KEY(UCP_OP, "ucp_op", TEXT, fact_transfer, ucp_op, "UCP operation that caused it"),
	KEY(FUNCTION, "function", TEXT, fact_transfer, function, "MPI function, null: outside MPI"),
	KEY(PROTOCOL, "protocol", TEXT, fact_transfer, protocol, "UCP protocol"),
	KEY(PLACE, "place", PLACE, fact_transfer, place, "where MPI was called"),
	KEY(SRC_MEM, "src_mem", TEXT, fact_transfer, src_mem, "memory that the data comes from"),
	KEY(DST_MEM, "dst_mem", TEXT, fact_transfer, dst_mem, "memory that it goes to"),
	KEY(SRC_REASON, "src_reason", TEXT, fact_transfer, src_reason, "why src_mem is not known"),
	KEY(DST_REASON, "dst_reason", TEXT, fact_transfer, dst_reason, "why dst_mem is not known"),
	ROW("unexplained", TEXT, fact_transfer, unexplained,
	    "why data has no operation, null: it has"),
	ROW("tid", ID32, fact_transfer, tid, "thread"),
	ROW("start", TIME, fact_transfer, start, "ns, CLOCK_MONOTONIC of its host"),
	ROW("end", TIME, fact_transfer, end, "likewise, null: not known"),
	ONE("precision", PRECISION, fact_transfer, end_precision, "of the end"),
	ONE("bytes", SIZE, fact_transfer, bytes, "payload, without UCP's header"),
	ONE("wire_bytes", U64, fact_transfer, wire_bytes, "as UCT was given them"),
	ONE("laddr", ADDRESS, fact_transfer, laddr, "local address"),
	ONE("raddr", ADDRESS, fact_transfer, raddr, "remote address"),
	ROW("fetches", BOOL, fact_transfer, fetches,
	    "data moves from peer to process, as of a get"),
	ONE("retried", BOOL, fact_transfer, retried,
	    "found no resource: nothing was sent, not counted as a transfer"),
	{ .name = NULL },
};

static const struct fact_column message_columns[] = {
	ROW("send", ID, fact_message, send, "id of the operation that sent it"),
	ROW("recv", ID, fact_message, recv,
	    "id of the one that received it, null: none, or one of several alike"),
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
	KEY(SRC_MEM, "src_mem", TEXT, fact_message, src_mem,
	    "memory of the buffer that it was sent from"),
	KEY(DST_MEM, "dst_mem", TEXT, fact_message, dst_mem, "memory that it was received into"),
	KEY(SRC_REASON, "src_reason", TEXT, fact_message, src_reason, "why src_mem is not known"),
	KEY(DST_REASON, "dst_reason", TEXT, fact_message, dst_reason, "why dst_mem is not known"),
	KEY(CHAIN, "chain", TEXT, fact_message, chain,
	    "all memory that its bytes were in, with commas"),
	KEY(VIA, "via", TEXT, fact_message, via, "the transports between, likewise"),
	KEY(CHAIN_REASON, "chain_reason", TEXT, fact_message, chain_reason,
	    "why these are not known"),
	ONE("copies", U64, fact_message, copies, "transfers that copied it within a process"),
	ONE("copy_bytes", U64, fact_message, copy_bytes, "and their bytes"),
	ROW("send_tid", ID32, fact_message, send_tid, "thread that sent"),
	ROW("recv_tid", ID32, fact_message, recv_tid, "thread that received"),
	{ .name = NULL },
};

static const struct fact_column window_columns[] = {
	ROW("host", INDEX, fact_window, host, "number of the host"),
	ROW("host_name", TEXT, fact_window, host_name, "node name"),
	ROW("capture", INT, fact_window, capture, "number of the capture"),
	ROW("from", NS, fact_window, from, "ns, from when it recorded"),
	ROW("to", NS, fact_window, to, "and until when"),
	ROW("until", NS, fact_window, until, "end of the capture"),
	ROW("step", TEXT, fact_window, step,
	    "with a budget, the recorded step: uct, ucp, mpi, windows"),
	ROW("reason", TEXT, fact_window, reason, "and why"),
	ROW("paid_ppm", INT, fact_window, paid_ppm, "what a thread paid before"),
	{ .name = NULL },
};

static const struct fact_column memory_columns[] = {
	KEY(PROCESS, "process", INDEX, fact_memory, process, "id of the process"),
	ROW("kind", TEXT, fact_memory, kind, "gpu, managed or pinned"),
	ROW("sort", TEXT, fact_memory, sort, "how it was made"),
	ROW("device", INDEX, fact_memory, device, "the process's number of the GPU"),
	ROW("exporter", INDEX, fact_memory, exporter, "of imported memory, whose number that is"),
	ROW("reason", TEXT, fact_memory, reason, "why kind or device are not known"),
	ROW("function", TEXT, fact_memory, function, "that was called to make it"),
	ROW("allocations", U64, fact_memory, allocations, "successful calls"),
	ROW("bytes", U64, fact_memory, bytes, "of all of known size"),
	ROW("unsized", U64, fact_memory, unsized, "of unknown size"),
	ROW("live_peak", U64, fact_memory, live_peak, "most bytes at once"),
	{ .name = NULL },
};

static const struct fact_column lifetime_columns[] = {
	KEY(PROCESS, "process", INT, fact_lifetime, process, "id of the process"),
	ROW("until", NS, fact_lifetime, until, "ns of its host: when it was seen last"),
	ROW("exited", BOOL, fact_lifetime, exited, "that was its end; else the capture's"),
	ROW("exit_status", INDEX, fact_lifetime, exit_status, "null: it has none, or not known"),
	ROW("exit_signal", ID32, fact_lifetime, exit_signal,
	    "that ended it, null: none did, or not known"),
	{ .name = NULL },
};

static const struct fact_column call_sums[] = {
	ROW("count", U64, fact_sums, count, "how many"),
	ROW("ops", U64, fact_sums, ops, "UCP operations"),
	ROW("bytes", U64, fact_sums, bytes, "payload"),
	ROW("bytes_unknown", U64, fact_sums, bytes_unknown,
	    "those of unknown length: in no other sum"),
	ROW("timed", U64, fact_sums, timed, "those of known duration"),
	ROW("time", NS, fact_sums, time, "ns, over these"),
	ROW("precision", PRECISION, fact_sums, precision, "of time"),
	{ .name = NULL },
};

static const struct fact_column op_sums[] = {
	ROW("count", U64, fact_sums, count, "how many"),
	ROW("bytes", U64, fact_sums, bytes, "payload"),
	ROW("bytes_unknown", U64, fact_sums, bytes_unknown,
	    "those of unknown length: in no other sum"),
	ROW("timed", U64, fact_sums, timed, "those of known duration"),
	ROW("time", NS, fact_sums, time, "ns, over these"),
	ROW("precision", PRECISION, fact_sums, precision, "of time"),
	{ .name = NULL },
};

static const struct fact_column transfer_sums[] = {
	ROW("count", U64, fact_sums, count, "how many"),
	ROW("bytes", U64, fact_sums, bytes, "payload"),
	ROW("bytes_unknown", U64, fact_sums, bytes_unknown,
	    "those of unknown length: in no other sum"),
	ROW("wire_bytes", U64, fact_sums, wire_bytes, "as UCT was given them"),
	ROW("least", U64, fact_sums, least,
	    "payload of each at least, but for the last fragment of a message; 0: not known"),
	ROW("retries", U64, fact_sums, retries, "attempts that found no resource"),
	ROW("timed", U64, fact_sums, timed, "those of known duration"),
	ROW("time", NS, fact_sums, time, "ns, over these"),
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
};

const struct fact_info fact_infos[FACT_TYPES] = {
	[FACT_PROCESS] = { "process", "a traced process; before all that it did", process_columns,
			   NULL },
	[FACT_UCX] = { "ucx", "a UCX library of a process", ucx_columns, NULL },
	[FACT_VARIABLE] = { "environment",
			    "a variable of a process that says how its messages travel",
			    variable_columns, NULL },
	[FACT_CLOCK] = { "clock", "what the two clocks of a host showed at one moment",
			 clock_columns, NULL },
	[FACT_PLACE] = { "place", "a place in a program's code; before what refers to it",
			 place_columns, NULL },
	[FACT_CALL] = { "call", "an MPI call", call_columns, NULL },
	[FACT_OP] = { "op", "a UCP operation", op_columns, NULL },
	[FACT_TRANSFER] = { "transfer", "a UCT operation", transfer_columns, NULL },
	[FACT_MESSAGE] = { "message", "a send matched to its receive", message_columns, NULL },
	[FACT_WINDOW] = { "window", "a time in which a capture with a duty cycle recorded",
			  window_columns, NULL },
	[FACT_MEMORY] = { "memory", "memory that GPU libraries made", memory_columns, NULL },
	[FACT_LIFETIME] = { "lifetime", "until when a process was seen, and how it ended",
			    lifetime_columns, NULL },
	[FACT_DEVICE] = { "device", "a GPU of a host", device_columns, NULL },
	[FACT_DEVICE_USER] = { "device_user", "a process that uses a GPU", device_user_columns,
			       NULL },
	[FACT_CALLS] = { "calls", "the sum of alike calls; start, end: of the first and the last",
			 call_columns, call_sums },
	[FACT_OPS] = { "ops", "the sum of alike operations", op_columns, op_sums },
	[FACT_TRANSFERS] = { "transfers", "the sum of alike transfers: fragments, counts",
			     transfer_columns, transfer_sums },
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

uint64_t column_word(const struct fact_column *column, const void *fact)
{
	const void *at = (const char *)fact + column->offset;

	switch (column->type) {
	case COLUMN_INT:
	case COLUMN_INDEX:
		return (uint64_t)(int64_t) * (const int *)at;
	case COLUMN_LOCALITY:
		return *(const enum fact_locality *)at;
	case COLUMN_KIND:
		return *(const enum fact_kind *)at;
	case COLUMN_TEXT:
		return (uintptr_t) * (const char *const *)at;
	case COLUMN_PLACE:
		return (uintptr_t) * (const struct place *const *)at;
	default:
		return column_value(column, fact).number;
	}
}
