/* SPDX-License-Identifier: BSD-3-Clause */
/* Inventories of the nodes of judge_bed.h, for tests of rules. */
#ifndef UCXBPF_JUDGE_NODES_H
#define UCXBPF_JUDGE_NODES_H

#include "site/inventory/internal.h"
#include "judge_bed.h"

#define MAX_SNAPSHOTS 16

struct snapshots {
	struct inventory *list[MAX_SNAPSHOTS];
	size_t count;
};

/* Of node n<i>, whose boot id is its name; when: on its clock. */
static inline struct inventory *snapshot(struct snapshots *snapshots, int node, int64_t when)
{
	struct inventory *inventory = inventory_new();
	char name[16];

	snprintf(name, sizeof(name), "n%d", node);
	inventory->host = strdup(name);
	inventory->boot_id = strdup(name);
	inventory->mono_ns = inventory->real_ns = when;
	assert_true(snapshots->count < MAX_SNAPSHOTS);
	snapshots->list[snapshots->count++] = inventory;
	return inventory;
}

/* A port that is up, at 100 Gb/s and PCIe x16 gen4; valid until the next. */
static inline struct inventory_nic *add_nic(struct inventory *inventory, const char *name)
{
	struct inventory_nic *nic = inventory_add_nic(inventory);

	nic->name = strdup(name);
	nic->kind = strdup("verbs");
	nic->state = strdup("up");
	nic->rate = 100000000000;
	nic->pci.width = nic->pci.max_width = 16;
	nic->pci.speed = nic->pci.max_speed = 16000;
	return nic;
}

static inline void set_text(char **text, const char *value)
{
	free(*text);
	*text = value ? strdup(value) : NULL;
}

/* Hands all over and judges. */
static inline void snapshots_judge(struct snapshots *snapshots, struct bed *bed)
{
	for (size_t i = 0; i < snapshots->count; i++)
		judge_inventory(bed->judge, snapshots->list[i]);
	bed_judge(bed);
}

static inline void snapshots_end(struct snapshots *snapshots, struct bed *bed)
{
	for (size_t i = 0; i < snapshots->count; i++)
		inventory_free(snapshots->list[i]);
	bed_end(bed);
}

#endif
