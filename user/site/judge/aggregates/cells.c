// SPDX-License-Identifier: BSD-3-Clause
/* Finds the cell of a transfer, and adds the transfer to it. */
#include "site/judge/aggregates/aggregates.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory_name.h"
#include "base/order.h"
#include "base/transport.h"

bool is_network(const char *transport)
{
	return transport_named(transport)->network;
}

bool is_gpu(const char *memory)
{
	return memory_name_read(memory).kind == MEMORY_GPU;
}

/* ---- lines between sizes: the sizes in policies and rules, and powers of two ---- */

/*
 * Powers of two between them are limits as well, so that evidence can be judged by most other
 * policies.
 */
#define LEAST_SIZE 1024u
#define MOST_SIZE (16u << 20)

static int by_size(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

void aggregates_line(struct aggregates *aggregates, uint64_t bytes)
{
	for (size_t i = 0; i < aggregates->sizes.len; i++)
		if (aggregates->sizes.data[i] == bytes)
			return;
	vec_push(&aggregates->sizes, bytes);
	qsort(aggregates->sizes.data, aggregates->sizes.len, sizeof(bytes), by_size);
}

void aggregates_draw_lines(struct aggregates *aggregates)
{
	const struct policy *policy = aggregates->policy;

	for (uint64_t size = LEAST_SIZE; size <= MOST_SIZE; size *= 2)
		aggregates_line(aggregates, size);
	for (size_t i = 0; i < policy->expect.len; i++) {
		aggregates_line(aggregates, policy->expect.data[i].from);
		aggregates_line(aggregates, policy->expect.data[i].to);
	}
	for (size_t i = 0; i < CATALOGUE_RULES; i++)
		for (size_t k = 0; k < CATALOGUE_PARAMS; k++)
			if (catalogue[i].params[k].type == PARAM_SIZE)
				aggregates_line(aggregates,
						policy_size(policy, &catalogue[i].params[k]));
}

uint64_t aggregates_class_from(const struct aggregates *aggregates, int class)
{
	return class ? aggregates->sizes.data[class - 1] : 0;
}

/* How many of the lines are at or below it. */
int aggregates_size_class(const struct aggregates *aggregates, uint64_t bytes)
{
	return (int)search_count(aggregates->sizes.len, at, aggregates->sizes.data[at] <= bytes);
}

bool cell_at_least(const struct aggregates *aggregates, const struct traffic_cell *cell,
		   uint64_t bytes)
{
	if (cell->size_class == CELL_UNSIZED)
		return cell->least >= bytes;
	return cell->size_class >= aggregates_size_class(aggregates, bytes);
}

bool cell_below(const struct aggregates *aggregates, const struct traffic_cell *cell,
		uint64_t bytes)
{
	if (cell->size_class == CELL_UNSIZED)
		return false;
	return cell->size_class < aggregates_size_class(aggregates, bytes);
}

/* ---- cells ---- */

int cell_owner(const struct traffic_cell *cell)
{
	return cell->fetches ? cell->peer : cell->process;
}

int cell_other(const struct traffic_cell *cell)
{
	return cell->fetches ? cell->process : cell->peer;
}

struct finding_example cell_example(const struct traffic_cell *cell, size_t n)
{
	return (struct finding_example){
		.op = cell->op,
		.transport = cell->transport,
		.device = cell->device,
		.function = cell->function,
		.process = cell_owner(cell),
		.peer = cell_other(cell),
		.start = cell->examples[n].start,
		.bytes = cell->examples[n].bytes,
	};
}

/* An empty cell for such a transfer of a message of that size class. */
static struct traffic_cell cell_of(const struct fact_transfer *transfer, int size_class)
{
	/* fetched data goes the other way */
	bool fetched = transfer->fetches;

	return (struct traffic_cell){
		.process = fetched ? transfer->peer : transfer->process,
		.peer = fetched ? transfer->process : transfer->peer,
		.op = transfer->op,
		.transport = transfer->transport,
		.device = transfer->device,
		.protocol = transfer->protocol,
		.function = transfer->function,
		.src_mem = transfer->src_mem,
		.dst_mem = transfer->dst_mem,
		.locality = transfer->locality,
		.size_class = size_class,
		.fetches = fetched,
	};
}

/* The cell of that key, while facts come in; a new one if there is none. */
static struct traffic_cell *cell_at(struct aggregates *aggregates, const struct traffic_cell *like)
{
	size_t n = rowset_add(&aggregates->index,
			      ROWSET_ROWS(&aggregates->cells, offsetof(struct traffic_cell, count)),
			      like);

	if (n == aggregates->cells.len)
		vec_push(&aggregates->cells, *like);
	return &aggregates->cells.data[n];
}

static bool earlier(const struct cell_example *a, const struct cell_example *b)
{
	return a->start != b->start ? a->start < b->start : a->bytes < b->bytes;
}

static void keep_example(struct traffic_cell *cell, struct cell_example own)
{
	size_t at = cell->example_count;

	while (at && earlier(&own, &cell->examples[at - 1]))
		at--;
	if (at == CELL_EXAMPLES)
		return;
	if (cell->example_count < CELL_EXAMPLES)
		cell->example_count++;
	memmove(&cell->examples[at + 1], &cell->examples[at],
		(cell->example_count - at - 1) * sizeof(own));
	cell->examples[at] = own;
}

void cell_lanes(struct traffic_cell *cell, const char *lanes)
{
	if (lanes && (!cell->lanes || strcmp(lanes, cell->lanes) < 0))
		cell->lanes = lanes;
}

void cell_join(struct traffic_cell *cell, const struct traffic_cell *other)
{
	if (!cell->count || other->least < cell->least)
		cell->least = other->least;
	if (other->most > cell->most)
		cell->most = other->most;
	cell->count += other->count;
	cell->bytes += other->bytes;
	for (size_t i = 0; i < other->example_count; i++)
		keep_example(cell, other->examples[i]);
	cell_lanes(cell, other->lanes);
}

/* ---- transfers whose operation has not come yet ---- */

#define RECENT_OPS (1 << 16)
#define MAX_WAITING (1 << 18)

void waiting_init(struct waiting_transfers *waiting)
{
	waiting->recent = xcalloc(RECENT_OPS, sizeof(*waiting->recent));
}

void waiting_release(struct waiting_transfers *waiting)
{
	free(waiting->recent);
	vec_release(&waiting->list);
	map_release(&waiting->by_op);
}

static void count(struct aggregates *aggregates, const struct waiting_transfer *waiting,
		  uint64_t op_bytes)
{
	const struct fact_transfer *transfer = &waiting->transfer;
	uint64_t message = op_bytes > transfer->bytes ? op_bytes : transfer->bytes;
	struct traffic_cell like = cell_of(transfer, aggregates_size_class(aggregates, message));
	const struct traffic_cell one = {
		.count = waiting->count,
		.bytes = waiting->bytes,
		.least = message,
		.most = message,
		.examples = { { transfer->start, transfer->bytes } },
		.example_count = 1,
		.lanes = transfer->lanes,
	};

	if (transfer->kind == KIND_DATA && !transfer->retried)
		cell_join(cell_at(aggregates, &like), &one);
}

/* No operation is known behind them, which could tell the sizes of the messages. */
static void count_sums(struct aggregates *aggregates, const struct waiting_transfer *sums)
{
	struct traffic_cell like = cell_of(&sums->transfer, CELL_UNSIZED);
	const struct traffic_cell all = {
		.count = sums->count,
		.bytes = sums->bytes,
		.least = sums->least,
		.most = UINT64_MAX,
		.lanes = sums->transfer.lanes,
	};

	if (sums->transfer.kind == KIND_DATA)
		cell_join(cell_at(aggregates, &like), &all);
}

static void count_chain(struct aggregates *aggregates, uint64_t first, uint64_t op_bytes)
{
	const struct waiting_transfers *waiting = &aggregates->waiting;

	for (uint32_t i = first; i; i = waiting->list.data[i - 1].next)
		count(aggregates, &waiting->list.data[i - 1], op_bytes);
}

void waiting_give_up(struct aggregates *aggregates)
{
	struct waiting_transfers *waiting = &aggregates->waiting;
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&waiting->by_op, &pos)))
		count_chain(aggregates, slot->value, 0);
	map_release(&waiting->by_op);
	waiting->list.len = 0;
}

static void wait_for_op(struct aggregates *aggregates, const struct waiting_transfer *transfer)
{
	struct waiting_transfers *waiting = &aggregates->waiting;
	uint64_t *first;

	if (waiting->list.len == MAX_WAITING)
		waiting_give_up(aggregates);
	first = map_insert(&waiting->by_op, transfer->transfer.caused_by, 0, NULL);
	vec_push(&waiting->list, *transfer);
	waiting->list.data[waiting->list.len - 1].next = *first;
	*first = waiting->list.len;
}

void waiting_settle(struct aggregates *aggregates, uint64_t op, uint64_t bytes)
{
	struct waiting_transfers *waiting = &aggregates->waiting;
	uint64_t *first = map_find(&waiting->by_op, op, 0);

	waiting->recent[op % RECENT_OPS] = (struct recent_op){ op, bytes };
	if (!first)
		return;
	count_chain(aggregates, *first, bytes);
	map_remove(&waiting->by_op, op, 0);
	if (!waiting->by_op.used)
		waiting->list.len = 0;
}

void waiting_take(struct aggregates *aggregates, const struct waiting_transfer *transfer)
{
	uint64_t op = transfer->transfer.caused_by;
	const struct recent_op *recent = &aggregates->waiting.recent[op % RECENT_OPS];

	if (!op && transfer->sums)
		count_sums(aggregates, transfer);
	else if (!op)
		count(aggregates, transfer, 0);
	else if (recent->id == op)
		count(aggregates, transfer, recent->bytes);
	else
		wait_for_op(aggregates, transfer);
}
