// SPDX-License-Identifier: BSD-3-Clause
/* Over which devices the fragments of an operation go, and how unevenly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/judge/exhibits/cells.h"
#include "site/judge/exhibits/watch.h"

#define MOST_FRAGMENTS 16 /* that are told one by one */

static int by_device(const void *left, const void *right)
{
	const struct watched_rail *a = left, *b = right;

	return strcmp(a->device, b->device);
}

/* "eth0 3, eth1 2", or the devices alone. */
static const char *pattern(struct watch *watch, const struct watched_op *op, uint64_t fragments)
{
	char text[WATCH_RAILS * 64];
	size_t used = 0;

	for (size_t i = 0; i < op->count && used < sizeof(text); i++) {
		used += snprintf(text + used, sizeof(text) - used, "%s%.40s", i ? ", " : "",
				 op->rails[i].device);
		if (fragments <= MOST_FRAGMENTS && used < sizeof(text))
			used += snprintf(text + used, sizeof(text) - used, " %u",
					 (unsigned int)op->rails[i].fragments);
	}
	return words_keep(watch->words, text);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The first and the last fragment may be small: uneven is what is so by number and by bytes. */
static void end_op(struct watch *watch, struct watched_op *op)
{
	uint64_t fragments = 0, bytes = 0, most = 0, most_bytes = 0;
	double over;

	for (size_t i = 0; i < op->count; i++) {
		fragments += op->rails[i].fragments;
		bytes += op->rails[i].bytes;
		most = larger(most, op->rails[i].fragments);
		most_bytes = larger(most_bytes, op->rails[i].bytes);
	}
	if (op->count > 1 && bytes) {
		over = fmin((double)most / fragments, (double)most_bytes / bytes) * op->count;
		qsort(op->rails, op->count, sizeof(*op->rails), by_device);
		sums_add(watch->sums, &(struct sum){
					      .kind = SUM_SPREAD,
					      .process = op->process,
					      .peer = -1,
					      .words = { pattern(watch, op, fragments) },
					      .count = 1,
					      .bytes = bytes,
					      .extra = bytes * over,
					      .least = fragments,
					      .most = fragments,
				      });
	}
	*op = (struct watched_op){ 0 };
}

static struct watched_rail *rail_of(struct watched_op *op, const char *device)
{
	for (size_t i = 0; i < op->count; i++)
		if (!strcmp(op->rails[i].device, device))
			return &op->rails[i];
	if (op->count == WATCH_RAILS)
		return NULL;
	op->rails[op->count].device = device;
	return &op->rails[op->count++];
}

void watch_fragment(struct watch *watch, const struct fact_transfer *transfer, uint64_t count,
		    uint64_t bytes)
{
	struct watched_rail *rail;
	struct watched_op *op;

	if (!transfer->caused_by || !transfer->device || !is_network(transfer->transport) ||
	    transfer->kind != KIND_DATA || transfer->retried)
		return;
	if (!watch->ops)
		watch->ops = calloc(WATCH_ROOM, sizeof(*watch->ops));
	op = &watch->ops[transfer->caused_by % WATCH_ROOM];
	if (op->id != transfer->caused_by)
		end_op(watch, op);
	op->id = transfer->caused_by;
	op->process = transfer->process;
	rail = rail_of(op, transfer->device);
	if (!rail)
		return;
	rail->fragments += count;
	rail->bytes += bytes;
}

void watch_fragments_end(struct watch *watch)
{
	for (size_t i = 0; watch->ops && i < WATCH_ROOM; i++)
		end_op(watch, &watch->ops[i]);
}
