// SPDX-License-Identifier: BSD-3-Clause
/* Cells: which one a transfer belongs to, and what it adds there. */
#include <string.h>

#include "site/judge/exhibits/exhibits.h"

static bool is_fetch(const char *op)
{
	return op && !strncmp(op, "get", 3);
}

struct finding_example cell_example(const struct cell *cell, size_t n)
{
	bool fetched = is_fetch(cell->op);

	return (struct finding_example){
		.op = cell->op,
		.transport = cell->transport,
		.device = cell->device,
		.function = cell->function,
		.process = fetched ? cell->peer : cell->process,
		.peer = fetched ? cell->process : cell->peer,
		.start = cell->examples[n].start,
		.bytes = cell->examples[n].bytes,
	};
}

struct cell cell_of(const struct fact_transfer *transfer, int size_class)
{
	/* what is fetched goes the other way */
	bool fetched = is_fetch(transfer->op);

	return (struct cell){
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
	};
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash << 23 ^ hash >> 41 ^ value) * 0x9e3779b97f4a7c15u;
}

static uint64_t hash_of(const struct cell *cell)
{
	const char *const words[] = { cell->op,       cell->transport, cell->device, cell->protocol,
				      cell->function, cell->src_mem,   cell->dst_mem };
	uint64_t hash = mix((uint32_t)cell->process, (uint32_t)cell->peer);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		hash = mix(hash, (uintptr_t)words[i]);
	return mix(mix(hash, cell->locality), cell->size_class);
}

static bool same(const struct cell *a, const struct cell *b)
{
	return a->process == b->process && a->peer == b->peer && a->op == b->op &&
	       a->transport == b->transport && a->device == b->device &&
	       a->protocol == b->protocol && a->function == b->function &&
	       a->src_mem == b->src_mem && a->dst_mem == b->dst_mem && a->locality == b->locality &&
	       a->size_class == b->size_class;
}

struct cell *cell_at(struct exhibits *exhibits, const struct cell *like)
{
	uint64_t *first = map_insert(&exhibits->index, hash_of(like), 0, NULL);

	for (uint32_t i = *first; i; i = exhibits->next.data[i - 1])
		if (same(&exhibits->cells.data[i - 1], like))
			return &exhibits->cells.data[i - 1];
	vec_push(&exhibits->cells, *like);
	vec_push(&exhibits->next, *first);
	*first = exhibits->cells.len;
	return &exhibits->cells.data[exhibits->cells.len - 1];
}

static bool earlier(const struct cell_example *a, const struct cell_example *b)
{
	return a->start != b->start ? a->start < b->start : a->bytes < b->bytes;
}

static void keep_example(struct cell *cell, struct cell_example own)
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

void cell_join(struct cell *cell, const struct cell *other)
{
	if (!cell->count || other->least < cell->least)
		cell->least = other->least;
	if (other->most > cell->most)
		cell->most = other->most;
	cell->count += other->count;
	cell->bytes += other->bytes;
	for (size_t i = 0; i < other->example_count; i++)
		keep_example(cell, other->examples[i]);
}
