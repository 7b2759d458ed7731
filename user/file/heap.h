/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of struct merge: the run with the earliest record is on top. */
#ifndef UCXBPF_FILE_HEAP_H
#define UCXBPF_FILE_HEAP_H

#include "file/merge.h"

void heap_add(struct merge *merge, struct run run);

/* Restores the order after the top changed, or was replaced by the last run. */
void heap_settle(struct merge *merge);

#endif
