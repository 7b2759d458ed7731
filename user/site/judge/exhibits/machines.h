/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which nodes of a sweep are one machine, and which run more ranks than they have cores: what such
 * nodes take their time for is each other, not a network.
 */
#ifndef UCXBPF_JUDGE_EXHIBITS_MACHINES_H
#define UCXBPF_JUDGE_EXHIBITS_MACHINES_H

#include "site/judge/exhibits/inventory.h"
#include "site/judge/exhibits/sweep.h"

/*
 * All inventories are in: sets sweep->untold. Machines are told apart by the boot id of their
 * kernel; a node without an inventory is taken for a machine of its own.
 */
void machines_find(struct sweep *sweep, const struct node_inventories *inventories);

#endif
