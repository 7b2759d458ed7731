// SPDX-License-Identifier: BSD-3-Clause
/* Messages, as facts: at once, or, where their way is of interest, when all of it is known. */
#include <stdlib.h>

#include "explain/match/emit.h"

/* Once told, it is gone. */
struct waiting {
	struct message message; /* holds its ways */
};

static void fill_memory(struct emitter *emitter, const struct way *way, const char **name,
			const char **reason)
{
	if (way)
		*name = decoder_memory_name(emitter->decoder, way->memory.kind, way->memory.device);
	*reason = way ? way->memory.reason : "no operation's buffer is known";
}

static void fill_way(struct emitter *emitter, struct fact_message *fact, const struct way *send,
		     const struct way *recv)
{
	struct chain chain;

	fill_memory(emitter, send, &fact->src_mem, &fact->src_reason);
	fill_memory(emitter, recv, &fact->dst_mem, &fact->dst_reason);
	chain = chain_of(&emitter->decoder->strings, send, recv, fact->src_mem, fact->dst_mem,
			 fact->bytes);
	fact->chain = chain.nodes;
	fact->via = chain.hops;
	fact->chain_reason = chain.reason;
	fact->copies = (send ? send->copies.count : 0) + (recv ? recv->copies.count : 0);
	fact->copy_bytes = (send ? send->copies.bytes : 0) + (recv ? recv->copies.bytes : 0);
}

static void tell(struct emitter *emitter, const struct message *message)
{
	struct fact_message fact = {
		.src = message->src->index,
		.dst = message->dst->index,
		.send = message->send,
		.recv = message->recv,
		.send_tid = message->send_tid,
		.recv_tid = message->recv_tid,
		.function = message->function,
		.send_op = message->send_op,
		.recv_op = message->recv_op,
		.tag = message->tag,
		.bytes = message->bytes,
		.send_start = message->send_start,
		.recv_start = message->recv_start,
		.arrival = message->arrival,
	};

	if (message->src_way || message->dst_way)
		fill_way(emitter, &fact, message->src_way, message->dst_way);
	emit_count(emitter);
	if (emitter->sink->message)
		emitter->sink->message(emitter->sink->arg, &fact);
}

static bool is_over(const struct way *way)
{
	return !way || way->over;
}

static void attach(struct way *way, struct waiting *waiting)
{
	if (way)
		way->waiting = waiting;
}

static void tell_if_over(struct emitter *emitter, struct waiting *waiting)
{
	struct way *send = waiting->message.src_way, *recv = waiting->message.dst_way;

	if (!is_over(send) || !is_over(recv))
		return;
	tell(emitter, &waiting->message);
	attach(send, NULL);
	attach(recv, NULL);
	way_drop(send);
	way_drop(recv);
	free(waiting);
}

void emit_message(struct emitter *emitter, const struct message *message)
{
	struct waiting *waiting;

	if (is_over(message->src_way) && is_over(message->dst_way))
		return tell(emitter, message);
	waiting = malloc(sizeof(*waiting));
	if (!waiting)
		abort();
	waiting->message = *message;
	attach(way_hold(message->src_way), waiting);
	attach(way_hold(message->dst_way), waiting);
}

void emit_way_over(struct emitter *emitter, struct way *way)
{
	way->over = true;
	if (way->waiting)
		tell_if_over(emitter, way->waiting);
}
