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

/* Two bits for each kind, since programs ask at each hit: UB_GROUP_UCP but for those named here. */
#define UB_GROUP_IS(kind, group) ((__u32)(UB_GROUP_UCP ^ (group)) << (kind)*2)
#define UB_GROUP_TABLE                                                                             \
	(0x55555555u * UB_GROUP_UCP ^ UB_GROUP_IS(UB_CALL, UB_GROUP_MPI) ^                         \
	 UB_GROUP_IS(UB_XFER, UB_GROUP_UCT) ^ UB_GROUP_IS(UB_OBJ, UB_GROUP_NAMES) ^                \
	 UB_GROUP_IS(UB_MEM, UB_GROUP_NAMES))

static inline unsigned int ub_group(unsigned int kind)
{
	return UB_GROUP_TABLE >> (kind & (UB_KINDS - 1)) * 2 & (UB_GROUPS - 1);
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
