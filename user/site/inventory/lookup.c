// SPDX-License-Identifier: BSD-3-Clause
#include "site/inventory/inventory.h"

#include <string.h>

static bool is_named(const char *nic, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(nic, name, length) && (!nic[length] || !strcmp(nic + length, ":1"));
}

const struct inventory_nic *inventory_nic(const struct inventory *inventory, const char *name)
{
	for (size_t i = 0; i < inventory->nics.len; i++)
		if (is_named(inventory->nics.data[i].name, name))
			return &inventory->nics.data[i];
	return NULL;
}

int64_t inventory_tcp_counter(const struct inventory *inventory, const char *name)
{
	for (size_t i = 0; i < inventory->tcp.len; i++)
		if (!strcmp(inventory->tcp.data[i].name, name))
			return inventory->tcp.data[i].value;
	return INVENTORY_UNKNOWN;
}

int64_t inventory_counter(const struct inventory_nic *nic, const char *name)
{
	for (size_t i = 0; i < nic->counters.len; i++)
		if (!strcmp(nic->counters.data[i].name, name))
			return nic->counters.data[i].value;
	return INVENTORY_UNKNOWN;
}

const char *inventory_variable(const struct inventory *inventory, const char *name)
{
	for (size_t i = inventory->variables.len; i-- > 0;)
		if (!strcmp(inventory->variables.data[i].name, name))
			return inventory->variables.data[i].value;
	return NULL;
}

const char *inventory_why(const struct inventory *inventory, const char *what)
{
	for (size_t i = 0; i < inventory->unknown.len; i++)
		if (!strcmp(inventory->unknown.data[i].what, what))
			return inventory->unknown.data[i].why;
	return NULL;
}

int inventory_pcie_gen(int64_t speed)
{
	static const int64_t speeds[] = { 2500, 5000, 8000, 16000, 32000, 64000 };

	for (int i = 0; i < (int)(sizeof(speeds) / sizeof(*speeds)); i++)
		if (speeds[i] == speed)
			return i + 1;
	return 0;
}
