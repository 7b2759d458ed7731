// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

#include "file/encode.h"

static struct context context_of(const struct ub_hdr *h, uint32_t keyed)
{
	struct context c = {
		.tgid = h->tgid,
		.tid = h->tid,
		.cpu = h->cpu,
		.site = h->site,
		.kind = h->kind,
		.layout = h->layout,
		.flags = h->flags,
		.frames = (h->seq ? FRAME_SEQ : 0) | (h->call ? FRAME_CALL : 0) |
			  (h->op ? FRAME_OP : 0) | (h->rx ? FRAME_RX : 0),
	};

	if (keyed >> h->kind & 1)
		memcpy(&c.key, h + 1, sizeof(c.key));
	return c;
}

/* Word by word: a comparison of 28 bytes is a call into the C library. */
static bool same_context(const struct context *a, const struct context *b)
{
	uint64_t x[3], y[3];

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (a->frames ^ b->frames));
}

_Static_assert(offsetof(struct context, frames) == 24, "three words before the frames");

static uint32_t find_context(struct grouping *g, const struct context *c, uint32_t mask)
{
	uint64_t w[4];
	uint32_t slot;

	memcpy(w, c, sizeof(w));
	slot = (uint32_t)context_hash(w[0], w[1], w[2], w[3]) & mask;
	while (g->slots[slot]) {
		if (same_context(&g->found[g->slots[slot] - 1], c))
			return g->slots[slot] - 1;
		slot = (slot + 1) & mask;
	}
	g->found[g->n] = *c;
	g->slots[slot] = ++g->n;
	return g->n - 1;
}

static void find_contexts(struct grouping *g, const uint8_t *at, uint32_t n)
{
	uint32_t i, last = 0, size = context_slots(n);

	g->n = 0;
	memset(g->slots, 0, size * sizeof(g->slots[0]));
	memset(g->successor, 0, n * sizeof(g->successor[0]));
	for (i = 0; i < n; i++) {
		const struct ub_hdr *h = (const struct ub_hdr *)at;
		struct context c = context_of(h, g->keyed);
		uint32_t number = g->successor[last];

		if (number >= g->n || !same_context(&g->found[number], &c))
			number = find_context(g, &c, size - 1);
		g->found[number].count++;
		g->of_record[i] = number;
		g->successor[last] = number;
		last = number;
		at += ub_kind_size(h->kind);
	}
}

/* Sorts the contexts by kind, else as they appeared; renumber[old] = new. */
static void sort_contexts(struct grouping *g, uint32_t *renumber)
{
	uint32_t start[UB_KIND_MAX + 1] = { 0 };
	uint32_t i, place = 0;

	for (i = 0; i < g->n; i++)
		start[g->found[i].kind + 1]++;
	for (i = 1; i < UB_KIND_MAX; i++)
		start[i] += start[i - 1];
	for (i = 0; i < g->n; i++) {
		renumber[i] = start[g->found[i].kind]++;
		g->contexts[renumber[i]] = g->found[i];
	}
	for (i = 0; i < g->n; i++) {
		g->next[i] = place;
		place += g->contexts[i].count;
	}
}

void group_records(struct grouping *g, const void *records, uint32_t n, uint32_t keyed)
{
	uint32_t *renumber = g->slots;
	uint32_t i, last = 0;

	g->keyed = keyed;
	find_contexts(g, records, n);
	sort_contexts(g, renumber);
	memset(g->successor, 0, g->n * sizeof(g->successor[0]));
	for (i = 0; i < n; i++) {
		uint32_t number = renumber[g->of_record[i]];

		g->of_record[i] = number;
		g->successor_misses[i] = g->successor[last] == number ? 0 : number + 1;
		g->successor[last] = number;
		last = number;
	}
}
