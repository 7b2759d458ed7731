/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that has a place in time, as timelines are written: by process, layer and thread, in order of
 * start. Facts come in the order in which they became known; they are sorted in bounded memory.
 * What many facts have in common is kept once, as their shape.
 */
#ifndef UCXBPF_EXPORT_SPANS_H
#define UCXBPF_EXPORT_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/rowset.h"
#include "base/vec.h"
#include "explain/match/facts.h"
#include "show/export/export.h"

struct sorter;
struct traffic;
struct worlds;

enum span_layer { LAYER_MPI, LAYER_UCP, LAYER_UCT, LAYERS };

extern const char *const span_layer_names[LAYERS]; /* "MPI", "UCP", "UCT" */

/* In the order in which those of one start come. */
enum span_what {
	SPAN_SEND, /* an end of a message */
	SPAN_RECEIVE,
	SPAN_FACT, /* a call, an operation, a transfer or fragments */
	SPAN_SUMS, /* of a capture made with --count: start and end of the first and the last */
};

/* Members as in the facts; NULL and -1 where they are not known or there are none. */
struct span_shape {
	int process, peer;
	uint8_t layer; /* enum span_layer */
	uint8_t precision; /* of the end */
	uint8_t locality, kind;
	bool retried, fetches;
	bool message; /* of the end of one */
	int status;
	const char *name; /* the MPI function, or the UCP or UCT operation */
	const char *function, *ucp_op, *protocol, *transport, *device, *comm;
	const char *src_mem, *dst_mem, *src_reason, *dst_reason;
	const char *memory, *memory_reason, *unexplained;
	const char *chain, *via, *chain_reason;
	const struct place *place; /* of calls */
	const struct stack *stack;
};

struct span {
	uint64_t group; /* process + 1, layer and thread: see span_process() and so on */
	uint64_t start, end; /* end 0: not known; of a message's end: bytes of its copies */
	uint64_t id; /* of a call or operation; of a message's end, its operation's; or 0 */
	uint64_t cause; /* id of what caused it, 0: none known; of a message's end, its number */
	uint64_t bytes; /* UINT64_MAX unknown */
	uint64_t detail; /* of a call, its operations; of an operation or message its tag; of a
			    transfer bytes on the wire */
	uint64_t time; /* of fragments, the sum of their times; of a message's end, its arrival */
	uint32_t count; /* of fragments; of a message's end: its copies */
	uint32_t shape; /* for spans_shape() */
	uint32_t number; /* of SPAN_SUMS, for spans_sums(); of a message's end, that of its
			    channel: messages of one tag between two threads */
	uint8_t what; /* enum span_what */
};

static inline int span_process(const struct span *span)
{
	return (int)(span->group >> 40) - 1;
}

static inline enum span_layer span_layer(const struct span *span)
{
	return (enum span_layer)(span->group >> 32 & 0xff);
}

/* 0: not known, or none. */
static inline uint32_t span_tid(const struct span *span)
{
	return (uint32_t)span->group;
}

/* When something began first and ended last, ns on its clock; last 0: nothing did. */
struct spans_host {
	const char *name; /* NULL: no process was seen on it */
	uint64_t first, last;
};

struct spans {
	enum span_layer message_layer;
	struct traffic *traffic; /* told of transfers as well; NULL */
	struct worlds *worlds; /* told of calls and messages as well; NULL */
	struct sorter *sorter;
	int err; /* the first one, -errno */
	VEC(struct span_shape) shapes;
	struct rowset shape_index;
	VEC(struct fact_sums) sums;
	struct map stack_texts; /* struct stack * -> char *, ours */
	VEC(struct fact_process) processes; /* by index */
	VEC(struct fact_clock) clocks;
	VEC(struct fact_window) windows;
	VEC(struct fact_memory) memory;
	VEC(struct spans_host) hosts; /* by number */
	struct map channels; /* (tag, both threads) -> number + 1 */
	uint64_t messages; /* the number of the last one */
	uint64_t facts, summed; /* of the spans: SPAN_FACT, SPAN_SUMS */
};

/*
 * message_layer: the one that the ends of messages are in. LAYER_UCP: they are where their
 * operations begin. LAYER_MPI: a receive is where the message had arrived and was wanted, so after
 * its send.
 */
void spans_init(struct spans *spans, enum span_layer message_layer);
void spans_release(struct spans *spans);

struct fact_sink spans_sink(struct spans *spans);

/* After the last fact. Returns 0 or -errno of this or of earlier, with a sentence in why. */
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

/* Of the process, or -1. */
int spans_host_of(const struct spans *spans, int process);

/* NULL: no capture tells it. */
const struct fact_clock *spans_clock(const struct spans *spans, int host);

/*
 * Hosts beside each other on one timeline, that of CLOCK_REALTIME: as well as their wall clocks
 * agree, no better.
 */
struct placing_host {
	int64_t to_real; /* add to its times for those of CLOCK_REALTIME */
	bool made_up; /* no capture tells its offset: it was put at the beginning */
};

struct placing {
	VEC(struct placing_host) hosts; /* by number */
	uint64_t begin, end; /* CLOCK_REALTIME of the first and the last thing; 0: nothing */
};

/* After spans_finish(). */
void placing_make(struct placing *placing, const struct spans *spans);
void placing_release(struct placing *placing);

/* What to_real is of a host, 0 for none. */
int64_t placing_to_real(const struct placing *placing, int host);

/* Puts spans that overlap into lanes in which none do. A zeroed struct lanes has none. */
struct lanes {
	uint64_t *least; /* a tree: the least end below each node, leaves behind room - 1 others */
	size_t room; /* leaves, a power of two or 0 */
};

void lanes_release(struct lanes *lanes);

/* All lanes are free again. */
void lanes_clear(struct lanes *lanes);

/* The first lane that is free at start. Spans must come in order of their starts. */
size_t lanes_take(struct lanes *lanes, uint64_t start, uint64_t end);

#endif
