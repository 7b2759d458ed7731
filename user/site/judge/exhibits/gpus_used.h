/* SPDX-License-Identifier: BSD-3-Clause */
/* How many different GPUs the messages of each node came from and went to. */
#ifndef UCXBPF_JUDGE_EXHIBITS_GPUS_USED_H
#define UCXBPF_JUDGE_EXHIBITS_GPUS_USED_H

#include "site/judge/exhibits/exhibits.h"

struct gpus_used {
	struct map seen; /* node and its GPU */
	struct map counts; /* node -> how many */
	struct map vague; /* nodes of which it is not known of some */
};

void gpus_used_init(struct gpus_used *used, const struct exhibits *exhibits);
void gpus_used_release(struct gpus_used *used);

/* -1: not known. */
int gpus_used_by(const struct gpus_used *used, const struct node *node);

#endif
