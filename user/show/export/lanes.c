// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/lanes.h"

#include <stdlib.h>
#include <string.h>

void lanes_release(struct lanes *lanes)
{
	free(lanes->least);
	*lanes = (struct lanes){ 0 };
}

void lanes_clear(struct lanes *lanes)
{
	if (lanes->room)
		memset(lanes->least, 0, 2 * lanes->room * sizeof(*lanes->least));
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Node n has the children 2n and 2n + 1; the root is 1, the leaves begin at room. */
static void update(struct lanes *lanes, size_t lane, uint64_t end)
{
	size_t node = lanes->room + lane;

	lanes->least[node] = end;
	while (node /= 2)
		lanes->least[node] = lesser(lanes->least[2 * node], lanes->least[2 * node + 1]);
}

static void grow(struct lanes *lanes)
{
	struct lanes larger = { .room = lanes->room ? 2 * lanes->room : 1 };

	larger.least = calloc(2 * larger.room, sizeof(*larger.least));
	if (!larger.least)
		abort();
	for (size_t i = 0; i < lanes->room; i++)
		update(&larger, i, lanes->least[lanes->room + i]);
	free(lanes->least);
	*lanes = larger;
}

size_t lanes_take(struct lanes *lanes, uint64_t start, uint64_t end)
{
	size_t node = 1;

	if (!lanes->room || lanes->least[1] > start)
		grow(lanes);
	while (node < lanes->room)
		node = 2 * node + (lanes->least[2 * node] > start);
	update(lanes, node - lanes->room, end > start ? end : start);
	return node - lanes->room;
}
