// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/top/nics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "site/inventory/inventory.h"

#define WORD 4 /* bytes: the unit of port_xmit_data and port_rcv_data */

/* NAN: not known, or the counter was reset. */
static double rate(const struct inventory_nic *before, const struct inventory_nic *now,
		   const char *name, double unit, double seconds)
{
	const int64_t from = before ? inventory_counter(before, name) : INVENTORY_UNKNOWN;
	const int64_t to = inventory_counter(now, name);

	if (from == INVENTORY_UNKNOWN || to == INVENTORY_UNKNOWN || to < from || seconds <= 0)
		return NAN;
	return (double)(to - from) * unit / seconds;
}

static struct top_nic port_of(const struct inventory_nic *before, const struct inventory_nic *now,
			      double seconds, const struct live *live)
{
	const bool verbs = now->kind && !strcmp(now->kind, "verbs");

	return (struct top_nic){
		.name = now->name,
		.state = now->state,
		.rate = now->rate > 0 ? now->rate / 8.0 : NAN,
		.in = verbs ? rate(before, now, "port_rcv_data", WORD, seconds)
			    : rate(before, now, "rx_bytes", 1, seconds),
		.out = verbs ? rate(before, now, "port_xmit_data", WORD, seconds)
			     : rate(before, now, "tx_bytes", 1, seconds),
		.traced = top_traced(live, now->name),
		.numa = (int)now->pci.numa,
	};
}

static uint64_t read_at(const struct inventory *inventory)
{
	return (uint64_t)inventory->mono_ns;
}

void node_nics_read(struct node_nics *node, const struct live *live)
{
	struct inventory *now = inventory_collect_nics("");
	double seconds = node->last ? (read_at(now) - read_at(node->last)) / 1e9 : 0;

	node->nics.all.len = 0;
	for (size_t i = 0; i < now->nics.len; i++) {
		const struct inventory_nic *nic = &now->nics.data[i];
		const struct inventory_nic *before =
			node->last && nic->name ? inventory_nic(node->last, nic->name) : NULL;

		if (nic->name)
			vec_push(&node->nics.all, port_of(before, nic, seconds, live));
	}
	inventory_free(node->last);
	node->last = now;
}

void node_nics_release(struct node_nics *node)
{
	inventory_free(node->last);
	node->last = NULL;
	vec_release(&node->nics.all);
}
