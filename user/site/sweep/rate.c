// SPDX-License-Identifier: BSD-3-Clause
/* How fast the links are, for a time limit where the policy has no nic_rate. */
#include <string.h>

#include "site/inventory/inventory.h"
#include "site/sweep/internal.h"

static bool carries(const struct inventory_nic *nic)
{
	return nic->state && !strcmp(nic->state, "up") && strcmp(nic->name, "lo") != 0;
}

static double fastest(const struct inventory *inventory)
{
	int64_t most = 0;

	for (size_t i = 0; i < inventory->nics.len; i++) {
		const struct inventory_nic *nic = &inventory->nics.data[i];

		if (carries(nic) && nic->rate > most)
			most = nic->rate;
	}
	return (double)most;
}

double sweep_link_rate(const struct sweep *sweep)
{
	double least = 0;

	for (size_t i = 0; i < sweep->agents.list.len; i++) {
		const struct agent *agent = &sweep->agents.list.data[i];
		struct inventory *inventory;
		char why[INVENTORY_WHY];
		double rate;

		if (!agent_did(agent, AGENT_BEFORE))
			continue;
		if (inventory_read(sweep_path(sweep, "nodes/%s/before.json", agent->node),
				   &inventory, why))
			return 0;
		rate = fastest(inventory);
		inventory_free(inventory);
		if (!(rate > 0))
			return 0;
		least = least > 0 && least < rate ? least : rate;
	}
	return least;
}
