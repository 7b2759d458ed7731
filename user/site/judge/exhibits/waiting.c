// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/waiting.h"

#include <string.h>

#include "site/judge/exhibits/exhibits.h"

#define RECENT_OPS (1 << 16)
#define MAX_WAITING (1 << 18)

void waiting_init(struct waiting *waiting)
{
	size_t room = 0;

	waiting->recent = vec_grow(NULL, &room, RECENT_OPS, sizeof(*waiting->recent));
	memset(waiting->recent, 0, RECENT_OPS * sizeof(*waiting->recent));
}

void waiting_release(struct waiting *waiting)
{
	free(waiting->recent);
	vec_release(&waiting->list);
	map_release(&waiting->by_op);
}

static void count(struct exhibits *exhibits, const struct waiting_transfer *waiting,
		  uint64_t op_bytes)
{
	const struct fact_transfer *transfer = &waiting->transfer;
	uint64_t message = op_bytes > transfer->bytes ? op_bytes : transfer->bytes;
	struct cell like = cell_of(transfer, exhibits_size_class(exhibits, message));
	const struct cell one = {
		.count = waiting->count,
		.bytes = waiting->bytes,
		.least = message,
		.most = message,
		.examples = { { transfer->start, transfer->bytes } },
		.example_count = 1,
	};

	if (transfer->kind == KIND_DATA && !transfer->retried)
		cell_join(cell_at(exhibits, &like), &one);
}

/* No operation is known behind them, which could tell the sizes of the messages. */
static void count_sums(struct exhibits *exhibits, const struct waiting_transfer *sums)
{
	struct cell like = cell_of(&sums->transfer, CELL_UNSIZED);
	const struct cell all = {
		.count = sums->count,
		.bytes = sums->bytes,
		.least = sums->least,
		.most = UINT64_MAX,
	};

	if (sums->transfer.kind == KIND_DATA)
		cell_join(cell_at(exhibits, &like), &all);
}

static void count_chain(struct exhibits *exhibits, uint64_t first, uint64_t op_bytes)
{
	const struct waiting *waiting = &exhibits->waiting;

	for (uint32_t i = first; i; i = waiting->list.data[i - 1].next)
		count(exhibits, &waiting->list.data[i - 1], op_bytes);
}

void waiting_give_up(struct exhibits *exhibits)
{
	struct waiting *waiting = &exhibits->waiting;
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&waiting->by_op, &pos)))
		count_chain(exhibits, slot->value, 0);
	map_release(&waiting->by_op);
	waiting->list.len = 0;
}

static void wait_for_op(struct exhibits *exhibits, const struct waiting_transfer *transfer)
{
	struct waiting *waiting = &exhibits->waiting;
	uint64_t *first;

	if (waiting->list.len == MAX_WAITING)
		waiting_give_up(exhibits);
	first = map_insert(&waiting->by_op, transfer->transfer.caused_by, 0, NULL);
	vec_push(&waiting->list, *transfer);
	waiting->list.data[waiting->list.len - 1].next = *first;
	*first = waiting->list.len;
}

void waiting_settle(struct exhibits *exhibits, uint64_t op, uint64_t bytes)
{
	struct waiting *waiting = &exhibits->waiting;
	uint64_t *first = map_find(&waiting->by_op, op, 0);

	waiting->recent[op % RECENT_OPS] = (struct recent_op){ op, bytes };
	if (!first)
		return;
	count_chain(exhibits, *first, bytes);
	map_remove(&waiting->by_op, op, 0);
	if (!waiting->by_op.used)
		waiting->list.len = 0;
}

void waiting_take(struct exhibits *exhibits, const struct waiting_transfer *transfer)
{
	uint64_t op = transfer->transfer.caused_by;
	const struct recent_op *recent = &exhibits->waiting.recent[op % RECENT_OPS];

	if (!op && transfer->sums)
		count_sums(exhibits, transfer);
	else if (!op)
		count(exhibits, transfer, 0);
	else if (recent->id == op)
		count(exhibits, transfer, recent->bytes);
	else
		wait_for_op(exhibits, transfer);
}
