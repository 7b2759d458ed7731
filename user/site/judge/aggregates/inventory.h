/* SPDX-License-Identifier: BSD-3-Clause */
/* Inventories as rules use them: by node, the first and the last one of each. */
#ifndef UCXBPF_JUDGE_AGGREGATES_INVENTORY_H
#define UCXBPF_JUDGE_AGGREGATES_INVENTORY_H

#include "base/map.h"
#include "base/vec.h"
#include "site/inventory/inventory.h"
#include "site/policy/policy.h"

struct inventory_window {
	const struct inventory *first, *last;
};

struct node_inventory {
	const char *name, *boot_id;
	const struct policy_class *class; /* NULL: the policy names none */
	/* by CLOCK_MONOTONIC; the same one where there is but one */
	const struct inventory *first, *last;
	VEC(const struct inventory *) all; /* likewise, once they are in order */
	/*
	 * What its counters are read between: first and last, or several times, one behind the
	 * other, where the node was not the job's in between.
	 */
	VEC(struct inventory_window) windows;
	bool merged; /* two of them would be one: an inventory from in between is missing */
};

struct node_inventories {
	VEC(struct node_inventory) list;
	struct map index; /* hashes of boot id and name -> 1 + position */
	VEC(struct inventory *) kept; /* read from evidence; freed with the rest */
};

void inventories_release(struct node_inventories *nodes);

/* A snapshot more. */
void inventories_add(struct node_inventories *nodes, const struct policy *policy,
		     const struct inventory *inventory);

/* All are in: sorts them, so that the order in which they came does not matter. */
void inventories_order(struct node_inventories *nodes);

/*
 * After that, of a job in parts: only the times between two inventories in which a capture of the
 * node began are windows. Adds when such began.
 */
void inventories_in_parts(struct node_inventories *nodes);
void inventories_traced(struct node_inventories *nodes, const char *boot_id, const char *name,
			uint64_t start);

/* The inventories of a traced node; NULL: it has none. */
const struct node_inventory *inventories_find(const struct node_inventories *nodes,
					      const char *boot_id, const char *name);

/* ---- which NICs of a node are near which GPU ---- */

enum nearness {
	NEAR_UNKNOWN, /* the inventory does not show where one of them is */
	NEAR_NEAREST, /* no other NIC is nearer, or the class's map says this one */
	NEAR_FARTHER,
	NEAR_OTHER_SOCKET, /* farther, and of another NUMA node */
};

/*
 * How near a NIC is to a buffer's memory ("gpu0": among NVIDIA's GPUs, else all, by PCI address).
 * device: UCX's name.
 */
enum nearness nearness_of(const struct node_inventory *node, const char *memory,
			  const char *device);

/*
 * Likewise for memory near the cores its process may run on, where Linux puts it by default.
 * NEAR_UNKNOWN also if these are on several NUMA nodes, or the NIC has no NUMA node.
 */
enum nearness nearness_of_cores(const struct node_inventory *node, const char *cpus,
				const char *device);

/*
 * The NUMA node of a buffer's memory; if the inventory does not show it, of the NIC that the
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
