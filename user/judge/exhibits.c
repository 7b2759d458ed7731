// SPDX-License-Identifier: BSD-3-Clause
#include "judge/exhibits.h"

#include <string.h>

#include "judge/exhibits_ports.h"

/* Powers of two between them are lines, so that most policies can judge what others gathered. */
#define LEAST_SIZE 1024u
#define MOST_SIZE (16u << 20)

static int by_size(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

void exhibits_line(struct exhibits *exhibits, uint64_t bytes)
{
	for (size_t i = 0; i < exhibits->sizes.len; i++)
		if (exhibits->sizes.data[i] == bytes)
			return;
	vec_push(&exhibits->sizes, bytes);
	qsort(exhibits->sizes.data, exhibits->sizes.len, sizeof(bytes), by_size);
}

void exhibits_init(struct exhibits *exhibits, const struct policy *policy)
{
	size_t room = 0;

	*exhibits = (struct exhibits){ .policy = policy };
	watch_init(&exhibits->watch, &exhibits->sums, &exhibits->words);
	exhibits->recent = vec_grow(NULL, &room, RECENT_OPS, sizeof(*exhibits->recent));
	memset(exhibits->recent, 0, RECENT_OPS * sizeof(*exhibits->recent));
	for (uint64_t size = LEAST_SIZE; size <= MOST_SIZE; size *= 2)
		exhibits_line(exhibits, size);
	for (size_t i = 0; i < policy->expect.len; i++) {
		exhibits_line(exhibits, policy->expect.data[i].from);
		exhibits_line(exhibits, policy->expect.data[i].to);
	}
	for (size_t i = 0; i < CATALOGUE_RULES; i++)
		for (size_t k = 0; k < CATALOGUE_PARAMS; k++)
			if (catalogue[i].params[k].type == PARAM_SIZE)
				exhibits_line(exhibits, policy->rules[i].number[k]);
}

void exhibits_release(struct exhibits *exhibits)
{
	for (size_t i = 0; i < exhibits->members.len; i++) {
		vec_release(&exhibits->members.data[i].ucx);
		vec_release(&exhibits->members.data[i].environment);
	}
	traced_release(&exhibits->traced);
	vec_release(&exhibits->members);
	vec_release(&exhibits->nodes);
	vec_release(&exhibits->cells);
	vec_release(&exhibits->next);
	vec_release(&exhibits->sizes);
	map_release(&exhibits->index);
	map_release(&exhibits->by_id);
	map_release(&exhibits->waiting_for);
	vec_release(&exhibits->waiting);
	vec_release(&exhibits->captures);
	watch_release(&exhibits->watch);
	sums_release(&exhibits->sums);
	words_release(&exhibits->words);
	free(exhibits->recent);
}

uint64_t exhibits_class_from(const struct exhibits *exhibits, int class)
{
	return class ? exhibits->sizes.data[class - 1] : 0;
}

/* How many of the lines are at or below it. */
int exhibits_size_class(const struct exhibits *exhibits, uint64_t bytes)
{
	size_t from = 0, to = exhibits->sizes.len;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (exhibits->sizes.data[middle] <= bytes)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

bool cell_at_least(const struct exhibits *exhibits, const struct cell *cell, uint64_t bytes)
{
	return cell->size_class >= exhibits_size_class(exhibits, bytes);
}

struct node *exhibits_node(const struct exhibits *exhibits, int process)
{
	const struct member *member;

	if (process < 0 || (size_t)process >= exhibits->members.len)
		return NULL;
	member = &exhibits->members.data[process];
	if (!member->known || member->fact.host < 0)
		return NULL;
	return &exhibits->nodes.data[member->fact.host];
}

/* ids are kept words: they lie at one place each, and no process at a host's */
struct member *exhibits_member(struct exhibits *exhibits, const char *id)
{
	uint64_t *at = map_insert(&exhibits->by_id, (uintptr_t)id, 0, NULL);

	if (!*at) {
		vec_add(&exhibits->members)->id = id;
		*at = exhibits->members.len;
	}
	return &exhibits->members.data[*at - 1];
}

static void name_node(struct exhibits *exhibits, const struct fact_process *fact)
{
	struct node *node = &exhibits->nodes.data[fact->host];

	node->name = fact->host_name ? fact->host_name : fact->host_id;
	node->id = fact->host_id;
	node->class = policy_class_of(exhibits->policy, node->name);
}

void exhibits_place(struct exhibits *exhibits, struct fact_process *fact)
{
	uint64_t *at = map_insert(&exhibits->by_id, (uintptr_t)fact->host_id,
				  (uintptr_t)fact->host_name, NULL);

	fact->host = -1;
	if (!fact->host_id)
		return;
	fact->host = *at ? *at - 1 : exhibits->nodes.len;
	if (*at)
		return;
	vec_add(&exhibits->nodes);
	*at = exhibits->nodes.len;
	name_node(exhibits, fact);
}

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
	name_node(exhibits, fact);
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

static void add_transfers(struct exhibits *exhibits, const struct fact_transfer *transfer,
			  uint64_t count, uint64_t bytes, uint64_t message)
{
	struct cell like = cell_of(exhibits, transfer, message);
	const struct cell one = {
		.count = count,
		.bytes = bytes,
		.least = message,
		.most = message,
		.examples = { { transfer->start, transfer->bytes } },
		.example_count = 1,
	};

	if (transfer->kind == KIND_DATA && !transfer->retried)
		cell_join(cell_at(exhibits, &like), &one);
}

static void add_whole(struct exhibits *exhibits, const struct waiting *waiting, uint64_t op_bytes)
{
	uint64_t own = waiting->transfer.bytes;

	add_transfers(exhibits, &waiting->transfer, waiting->count, waiting->bytes,
		      op_bytes > own ? op_bytes : own);
}

void exhibits_give_up_waiting(struct exhibits *exhibits)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&exhibits->waiting_for, &pos)))
		for (uint32_t i = slot->value; i; i = exhibits->waiting.data[i - 1].next)
			add_whole(exhibits, &exhibits->waiting.data[i - 1], 0);
	map_release(&exhibits->waiting_for);
	exhibits->waiting.len = 0;
}

static void wait_for_op(struct exhibits *exhibits, const struct waiting *waiting)
{
	uint64_t *first;

	if (exhibits->waiting.len == MAX_WAITING)
		exhibits_give_up_waiting(exhibits);
	first = map_insert(&exhibits->waiting_for, waiting->transfer.caused_by, 0, NULL);
	vec_push(&exhibits->waiting, *waiting);
	exhibits->waiting.data[exhibits->waiting.len - 1].next = *first;
	*first = exhibits->waiting.len;
}

static void settle(struct exhibits *exhibits, uint64_t op, uint64_t bytes)
{
	uint64_t *first = map_find(&exhibits->waiting_for, op, 0);

	if (!first)
		return;
	for (uint32_t i = *first; i; i = exhibits->waiting.data[i - 1].next)
		add_whole(exhibits, &exhibits->waiting.data[i - 1], bytes);
	map_remove(&exhibits->waiting_for, op, 0);
	if (!exhibits->waiting_for.used)
		exhibits->waiting.len = 0;
}

/* A transfer may be a part of its message, which is what sizes are about. */
static void take(struct exhibits *exhibits, const struct waiting *waiting)
{
	uint64_t op = waiting->transfer.caused_by;

	if (!op)
		add_whole(exhibits, waiting, 0);
	else if (exhibits->recent[op % RECENT_OPS].id == op)
		add_whole(exhibits, waiting, exhibits->recent[op % RECENT_OPS].bytes);
	else
		wait_for_op(exhibits, waiting);
}

static void feed_transfer(void *arg, const struct fact_transfer *transfer)
{
	struct waiting waiting = { .transfer = *transfer, .count = 1 };

	ports_add(arg, transfer, 1, transfer->wire_bytes);
	if (transfer->bytes == UINT64_MAX)
		waiting.transfer.bytes = 0;
	waiting.bytes = waiting.transfer.bytes;
	watch_transfer(&((struct exhibits *)arg)->watch, transfer, 1, waiting.bytes);
	take(arg, &waiting);
}

/* Fragments of one message, or all that --count put into one row. */
static void feed_transfers(void *arg, const struct fact_transfer *transfer,
			   const struct fact_sums *sums)
{
	struct waiting waiting = {
		.transfer = *transfer,
		.count = sums->count,
		.bytes = sums->bytes,
	};

	ports_add(arg, transfer, sums->count, sums->wire_bytes);
	waiting.transfer.bytes = sums->count ? sums->bytes / sums->count : 0;
	watch_transfer(&((struct exhibits *)arg)->watch, transfer, sums->count, sums->bytes);
	take(arg, &waiting);
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
	if (!op->id)
		return;
	exhibits->recent[op->id % RECENT_OPS].id = op->id;
	exhibits->recent[op->id % RECENT_OPS].bytes = bytes;
	settle(exhibits, op->id, bytes);
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

	watch_lifetime(&exhibits->watch, lifetime);
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
