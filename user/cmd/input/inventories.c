// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/input/inventories.h"

#include "base/log.h"
#include "site/inventory/inventory.h"

void inventories_read(struct inventories *inventories, const char *path)
{
	struct inventory *inventory;
	char why[INVENTORY_WHY];

	if (!inventory_read(path, &inventory, why)) {
		vec_push(&inventories->list, inventory);
		return;
	}
	log_error("%s: %s", path, why);
	vec_push(&inventories->unread, path);
}

void inventories_free(struct inventories *inventories)
{
	for (size_t i = 0; i < inventories->list.len; i++)
		inventory_free(inventories->list.data[i]);
	vec_release(&inventories->list);
	vec_release(&inventories->unread);
}
