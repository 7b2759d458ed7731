// SPDX-License-Identifier: BSD-3-Clause
/* Facts as they come from an analysis, each to those who sum it up. */
#include <string.h>

#include "site/judge/exhibits/exhibits.h"
#include "site/judge/exhibits/ports.h"

static void feed_process(void *arg, const struct fact_process *fact)
{
	struct exhibits *exhibits = arg;
	struct member *member;

	if (fact->index < 0)
		return;
	while (exhibits->members.len <= (size_t)fact->index)
		vec_add(&exhibits->members);
	traced_process(&exhibits->traced, fact, exhibits_id(exhibits, fact));
	member = &exhibits->members.data[fact->index];
	member->fact = *fact;
	member->fact.ucx = NULL;
	member->fact.environment = NULL;
	member->known = true;
	watch_process(&exhibits->watch, fact);
	member->ucx.len = member->environment.len = 0;
	for (int i = 0; i < fact->ucx_count; i++)
		vec_push(&member->ucx, fact->ucx[i]);
	for (int i = 0; i < fact->environment_count; i++)
		vec_push(&member->environment, fact->environment[i]);
	if (fact->host < 0)
		return;
	while (exhibits->nodes.len <= (size_t)fact->host)
		vec_add(&exhibits->nodes);
	exhibits_name_node(exhibits, fact);
}

static struct member *member_at(struct exhibits *exhibits, int process)
{
	if (process < 0 || (size_t)process >= exhibits->members.len)
		return NULL;
	return &exhibits->members.data[process];
}

static const char *const moving[] = { "Send",     "Recv",      "send",  "recv",   "Allreduce",
				      "Alltoall", "Allgather", "Bcast", "Reduce", "Gather",
				      "Scatter",  "Barrier",   "Put",   "Get",    NULL };

static bool moves_data(const char *function)
{
	for (int i = 0; function && moving[i]; i++)
		if (strstr(function, moving[i]))
			return true;
	return false;
}

static void add_calls(struct exhibits *exhibits, const struct fact_call *call, uint64_t count)
{
	struct member *member = member_at(exhibits, call->process);

	if (member && moves_data(call->function))
		member->data_calls += count;
}

static void feed_call(void *arg, const struct fact_call *call)
{
	struct exhibits *exhibits = arg;

	add_calls(exhibits, call, 1);
	traced_call(&exhibits->traced, call);
	watch_call(&exhibits->watch, call);
}

static void feed_calls(void *arg, const struct fact_call *call, const struct fact_sums *sums)
{
	add_calls(arg, call, sums->count);
}

static void feed_ops(void *arg, const struct fact_op *op, const struct fact_sums *sums)
{
	struct exhibits *exhibits = arg;
	struct member *member = member_at(exhibits, op->process);

	traced_sums(&exhibits->traced, op);
	if (member)
		member->ops += sums->count;
}

static void feed_transfer(void *arg, const struct fact_transfer *transfer)
{
	struct waiting_transfer waiting = { .transfer = *transfer, .count = 1 };

	ports_add(arg, transfer, 1, transfer->wire_bytes);
	if (transfer->bytes == UINT64_MAX)
		waiting.transfer.bytes = 0;
	waiting.bytes = waiting.transfer.bytes;
	watch_transfer(&((struct exhibits *)arg)->watch, transfer, 1, waiting.bytes);
	waiting_take(arg, &waiting);
}

/* Fragments of one message, or all that --count put into one row. */
static void feed_transfers(void *arg, const struct fact_transfer *transfer,
			   const struct fact_sums *sums)
{
	struct waiting_transfer waiting = {
		.transfer = *transfer,
		.count = sums->count,
		.bytes = sums->bytes,
		.least = sums->least,
		.sums = true,
	};

	ports_add(arg, transfer, sums->count, sums->wire_bytes);
	waiting.transfer.bytes = sums->count ? sums->bytes / sums->count : 0;
	watch_transfer(&((struct exhibits *)arg)->watch, transfer, sums->count, sums->bytes);
	waiting_take(arg, &waiting);
}

static void feed_op(void *arg, const struct fact_op *op)
{
	struct exhibits *exhibits = arg;
	struct member *member = member_at(exhibits, op->process);
	uint64_t bytes = op->bytes == UINT64_MAX ? 0 : op->bytes;

	traced_op(&exhibits->traced, op);
	if (member)
		member->ops++;
	watch_op(&exhibits->watch, op);
	if (op->id)
		waiting_settle(exhibits, op->id, bytes);
}

static void feed_message(void *arg, const struct fact_message *message)
{
	struct exhibits *exhibits = arg;
	uint64_t bytes = message->bytes == UINT64_MAX ? 0 : message->bytes;
	const struct sum one = {
		.kind = SUM_WAY,
		.process = message->src,
		.peer = message->dst,
		.words = { message->src_mem, message->dst_mem, message->chain, message->via,
			   message->chain_reason },
		.size_class = exhibits_size_class(exhibits, bytes),
		.count = 1,
		.bytes = bytes,
		.least = bytes,
		.most = bytes,
	};

	traced_message(&exhibits->traced, message);
	/* where no process has a GPU library, nothing is told of ways */
	if (message->chain || message->chain_reason)
		sums_add(&exhibits->sums, &one);
}

static void feed_lifetime(void *arg, const struct fact_lifetime *lifetime)
{
	struct exhibits *exhibits = arg;
	struct member *member = member_at(exhibits, lifetime->process);

	watch_lifetime(&exhibits->watch, lifetime);
	if (!member || !lifetime->exited)
		return;
	member->exit_signal = lifetime->exit_signal;
	member->ended_at = lifetime->until;
}

static void feed_window(void *arg, const struct fact_window *window)
{
	struct exhibits *exhibits = arg;

	exhibits->watch.windows = true;
	ports_add_window(arg, window);
}

struct fact_sink exhibits_sink(struct exhibits *exhibits)
{
	return (struct fact_sink){
		.arg = exhibits,
		.process = feed_process,
		.call = feed_call,
		.calls = feed_calls,
		.op = feed_op,
		.ops = feed_ops,
		.transfer = feed_transfer,
		.transfers = feed_transfers,
		.message = feed_message,
		.lifetime = feed_lifetime,
		.window = feed_window,
	};
}
