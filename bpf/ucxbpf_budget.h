/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* A part of ucxbpf.h: the groups in which hot probes come and go, and the hits that a task had. */
#ifndef UCXBPF_BUDGET_H
#define UCXBPF_BUDGET_H

enum ub_group {
	UB_GROUP_MPI = 0, /* MPI calls */
	UB_GROUP_UCP = 1, /* operations, arrivals, completions */
	UB_GROUP_UCT = 2, /* transfers */
	UB_GROUP_NAMES = 3, /* lives of objects, memory: always in place */
	UB_GROUPS = 4, /* power of two */
};

static inline unsigned int ub_group(unsigned int kind)
{
	switch (kind) {
	case UB_CALL:
		return UB_GROUP_MPI;
	case UB_OBJ:
	case UB_MEM:
		return UB_GROUP_NAMES;
	case UB_XFER:
		return UB_GROUP_UCT;
	}
	return UB_GROUP_UCP;
}

/*
 * What the program task_hits writes for each task that was ever traced. Counts go up as long as the
 * task lives. Hits count between windows as well, returns only in windows.
 */
struct ub_task_hits {
	__u32 tgid, tid;
	__u64 hits[UB_GROUPS]; /* of entries */
	__u64 returns[UB_GROUPS]; /* of those, seen to return */
};

_Static_assert(sizeof(struct ub_task_hits) == 72, "task hits size");

#endif
