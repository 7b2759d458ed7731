/* SPDX-License-Identifier: BSD-3-Clause */
/* What went over each NIC of each node. */
#ifndef UCXBPF_JUDGE_EXHIBITS_NICS_H
#define UCXBPF_JUDGE_EXHIBITS_NICS_H

#include "site/judge/internal.h"

/* A transfer counts at the device of the process that starts it. */
struct nic_traffic {
	const char *node, *device;
	uint64_t sent, fetched; /* bytes that left by it, and that a get brought in */
	uint64_t transfers;
};

struct nics {
	VEC(struct nic_traffic) list; /* by node, then by device */
};

/* NICs that a node's class names are there, with 0 at least. */
void nics_make(struct nics *nics, const struct judge *judge);
void nics_release(struct nics *nics);

#endif
