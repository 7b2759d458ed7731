/* SPDX-License-Identifier: BSD-3-Clause */
/* Which NICs of a node are near which GPU, by its inventory. */
#ifndef UCXBPF_JUDGE_EXHIBITS_TOPOLOGY_H
#define UCXBPF_JUDGE_EXHIBITS_TOPOLOGY_H

#include "site/judge/exhibits/inventory.h"

enum nearness {
	NEAR_UNKNOWN, /* the inventory does not tell where one of them is */
	NEAR_NEAREST, /* no other NIC is nearer, or the class's map says this one */
	NEAR_FARTHER,
	NEAR_OTHER_SOCKET, /* farther, and of another NUMA node */
};

/* Of a buffer's memory ("gpu0": among NVIDIA's GPUs, else all, by PCI address) and UCX's device. */
enum nearness nearness_of(const struct node_inventory *node, const char *memory,
			  const char *device);

/*
 * Likewise of memory that is near the cores its process may run on, where Linux puts it unless told
 * otherwise. Unknown, too: these are of several NUMA nodes, or the NIC is of none.
 */
enum nearness nearness_of_cores(const struct node_inventory *node, const char *cpus,
				const char *device);

/*
 * The NUMA node of a buffer's memory; where the inventory does not tell, of the NIC that the
 * class's map gives the GPU. -1: not known.
 */
int64_t gpu_numa(const struct node_inventory *node, const char *memory);

/*
 * A NIC that messages could take, like one of UCX's name: those of its class, else the node's of
 * its kind that are up and on PCI. The n-th, from 0; NULL: no more.
 */
const struct inventory_nic *candidate(const struct node_inventory *node, const char *like,
				      size_t n);

/* Whether both are one device, or functions of one. False where either place is not known. */
bool same_adapter(const struct inventory_nic *a, const struct inventory_nic *b);

/* Whether a NIC's name is that of a policy, which may leave the first port out. */
bool nic_is_named(const char *nic, const char *policy);

#endif
