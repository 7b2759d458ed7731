/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All facts with a time, in the form of timelines: by process, layer and thread, in order of start.
 * Facts arrive in no order and are sorted in bounded memory. Members that many facts share are kept
 * once, as their shape.
 */
#ifndef UCXBPF_EXPORT_SPANS_H
#define UCXBPF_EXPORT_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "base/level.h"
#include "base/map.h"
#include "base/rowset.h"
#include "base/vec.h"
#include "explain/clocks/clocks.h"
#include "explain/facts/facts.h"
#include "show/export/export.h"

struct sorter;
struct traffic;
struct worlds;

/* In the order of spans that start at the same time. */
enum span_what {
	SPAN_SEND, /* one end of a message */
	SPAN_RECEIVE,
	SPAN_FACT, /* a call, an operation, a transfer or fragments */
	SPAN_SUMS, /* from --count: start and end of the first and the last */
};

/* Members as in the facts; NULL and -1: unknown or none. */
struct span_shape {
	int process, peer;
	int context; /* of a collective call */
	uint8_t layer; /* enum level */
	uint8_t precision; /* of the end */
	uint8_t locality, kind;
	bool retried, fetches, derived;
	bool message; /* it is one end of a message */
	int status;
	const char *name; /* the MPI function, or the UCP or UCT operation */
	const char *function, *ucp_op, *protocol, *transport, *device, *data_path, *initiator,
		*comm;
	const char *src_mem, *dst_mem, *src_reason, *dst_reason;
	const char *memory, *memory_reason, *unexplained;
	const char *chain, *via, *chain_reason;
	const char *caller; /* of UCP outside MPI; NULL: not known, as of MPI's own code */
	const struct place *place; /* of calls */
	const struct stack *stack;
};

struct span {
	uint64_t group; /* process + 1, layer and thread: see span_process() and so on */
	uint64_t start, end; /* end 0: unknown; message end: bytes of its copies */
	uint64_t id; /* call or operation; message end: its operation; or 0 */
	uint64_t cause; /* id of its cause, 0: unknown; message end: number of the message */
	uint64_t bytes; /* UINT64_MAX unknown */
	uint64_t detail; /* call: its operations; operation or message: its tag; transfer: bytes on
			    the wire */
	uint64_t time; /* fragments: sum of their times; message end: its arrival */
	uint32_t count; /* fragments: their number; message end: its copies */
	uint32_t shape; /* for spans_shape() */
	uint32_t number; /* SPAN_SUMS: for spans_sums(); call: its sequence; message end: its
			    channel, which is the messages of one tag between two threads */
	uint8_t what; /* enum span_what */
};

static inline int span_process(const struct span *span)
{
	return (int)(span->group >> 40) - 1;
}

static inline enum level span_layer(const struct span *span)
{
	return (enum level)(span->group >> 32 & 0xff);
}

/* 0: unknown or none. */
static inline uint32_t span_tid(const struct span *span)
{
	return (uint32_t)span->group;
}

/* First start and last end, ns on the host's clock; last 0: no facts. */
struct spans_host {
	const char *name; /* NULL: no process of it is known */
	uint64_t first, last;
};

/* The first and last time that a process was seen, ns on its host's clock; first 0: never. */
struct spans_life {
	uint64_t first, last;
	bool summed; /* some of its calls are known by their sums alone */
};

struct spans {
	enum level message_layer;
	struct traffic *traffic; /* also receives transfers; or NULL */
	struct worlds *worlds; /* also receives calls, operations and messages; or NULL */
	struct sorter *sorter;
	int err; /* the first one, -errno */
	VEC(struct span_shape) shapes;
	struct rowset shape_index;
	VEC(struct fact_sums) sums;
	struct map stack_texts; /* struct stack * -> char *, owned */
	VEC(struct fact_process) processes; /* by index */
	VEC(struct fact_clock) clocks;
	struct clocks between; /* hosts, by their messages */
	VEC(struct fact_window) windows;
	VEC(struct fact_memory) memory;
	VEC(struct spans_host) hosts; /* by number */
	VEC(struct spans_life) lives; /* by process; for spans_life() */
	struct map channels; /* (tag, both threads) -> number + 1 */
	uint64_t messages; /* number of the last message */
	uint64_t facts, summed; /* how many spans are SPAN_FACT and SPAN_SUMS */
};

/*
 * message_layer: the layer of messages' ends. LEVEL_UCP: they are where their operations start.
 * LEVEL_MPI: a receive is placed when the message had arrived and was posted, so after its send.
 */
void spans_init(struct spans *spans, enum level message_layer);
void spans_release(struct spans *spans);

struct fact_sink spans_sink(struct spans *spans);

/* Call after the last fact. Returns 0 or -errno, also of earlier errors, with a message in why. */
int spans_finish(struct spans *spans, char why[EXPORT_WHY]);

/* Returns 1, 0 at the end, or -errno. */
int spans_next(struct spans *spans, const struct span **span);

static inline const struct span_shape *spans_shape(const struct spans *spans,
						   const struct span *span)
{
	return &spans->shapes.data[span->shape];
}

static inline const struct fact_sums *spans_sums(const struct spans *spans, const struct span *span)
{
	return &spans->sums.data[span->number];
}

/* NULL: not known. */
const struct fact_process *spans_process(const struct spans *spans, int index);

/* The host of a process, or -1. */
int spans_host_of(const struct spans *spans, int process);

/* All 0: never seen. */
struct spans_life spans_life(const struct spans *spans, int process);

/* NULL: no capture has it. */
const struct fact_clock *spans_clock(const struct spans *spans, int host);

/* Distributes overlapping spans over lanes without overlaps. A zeroed struct lanes is empty. */
struct lanes {
	uint64_t *least; /* tree: the least end below each node, room - 1 inner nodes before the
			    leaves */
	size_t room; /* number of leaves, a power of two or 0 */
};

void lanes_release(struct lanes *lanes);

/* Marks all lanes as free. */
void lanes_clear(struct lanes *lanes);

/* The first lane that is free at start. Call in order of start. */
size_t lanes_take(struct lanes *lanes, uint64_t start, uint64_t end);

#endif
