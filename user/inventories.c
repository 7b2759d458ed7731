// SPDX-License-Identifier: BSD-3-Clause
#include "inventories.h"

#include "base/log.h"
#include "inventory/inventory.h"

void inventories_read(struct inventories *inventories, const char *path)
{
	struct inventory *inventory;
	char why[INVENTORY_WHY];

	if (!inventory_read(path, &inventory, why)) {
		vec_push(&inventories->list, inventory);
		return;
	}
	log_error("%s: %s", path, why);
	inventories->broken = true;
}

void inventories_free(struct inventories *inventories)
{
	for (size_t i = 0; i < inventories->list.len; i++)
		inventory_free(inventories->list.data[i]);
	vec_release(&inventories->list);
}
