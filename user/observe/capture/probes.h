/* SPDX-License-Identifier: BSD-3-Clause */
/* The probes in place: one set of links per library file, for all processes that map it. */
#ifndef UCXBPF_CAPTURE_PROBES_H
#define UCXBPF_CAPTURE_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "observe/capture/kernel.h"
#include "observe/capture/rewrites.h"
#include "observe/probe/links.h"
#include "observe/probe/plan.h"
#include "observe/process/layout.h"
#include "observe/process/library.h"

/*
 * Hot probes, in groups (enum ub_group) that are placed and removed: all at once with windows, one
 * by one with a budget. Probes on lives of objects stay, so that names stay right. Plans and their
 * files are kept open: the process that mapped a file may have ended by the next window.
 */

#define HOT_ALL ((1u << UB_GROUPS) - 1)

/*
 * Sets of probes that are placed and removed together: a group's, but MPI functions that make one
 * operation per call (ub_site.derivable) have a set each, since their calls can be derived.
 */
#define HOT_SETS (UB_GROUPS + UB_DERIVABLES)

struct hot_file {
	int fd;
	uint64_t file; /* of its links */
	pid_t pid; /* likewise, as in struct links */
	VEC(struct link_probe) probes[HOT_SETS];
	size_t refused[HOT_SETS]; /* most refusals of each set at a time; *refused counts them once
				   */
};

struct hot {
	struct links links[HOT_SETS];
	bool comes_back; /* plans are kept */
	uint64_t file; /* number for the next hot_add(), for hot_forget() */
	pid_t pid; /* whose hits the next hot_add() is for; 0: those of all processes */
	unsigned int placed; /* groups, one bit each; probes added to other groups wait */
	unsigned int away; /* by ub_site.derivable, one bit each: not placed with their group */
	VEC(struct hot_file) files;
};

/* All groups are in place. */
void hot_init(struct hot *hot, enum link_mechanism mechanism, const struct link_programs *programs,
	      bool comes_back);

/* Detaches everything and waits until the kernel has let go. */
void hot_release(struct hot *hot);

/*
 * As links_attach(), up to the first group that fails. It attaches nothing for a group that is not
 * in place, and counts nothing refused.
 */
int hot_add(struct hot *hot, const char *path, const struct link_probe *probes, size_t n,
	    size_t *refused);

/* Removes the probes of the files in the map, without waiting for the kernel. */
void hot_forget(struct hot *hot, const struct map *files);

/*
 * Sets the groups in place; others are removed without waiting for the kernel. A group that cannot
 * be placed in some file is removed from all, so that hot->placed is what records: < 0, -errno as
 * links_attach() of the last such file. *refused: probes that the kernel has not refused before.
 * Only with comes_back may any come.
 */
int hot_place(struct hot *hot, unsigned int groups, size_t *refused);

/*
 * Sets the functions whose probes are left out while operations are in place, one bit each by
 * ub_site.derivable. < 0: some cannot be placed, and are left out as well.
 */
int hot_leave_out(struct hot *hot, unsigned int away, size_t *refused);

/* As links_settle(), of all groups: the longest. */
uint64_t hot_settle(struct hot *hot);

/* As links_drop_call_returns(), also in later windows. */
void hot_drop_call_returns(struct hot *hot);

/* The outcome of placing one library's plan. */
struct probed {
	const struct library *library;
	int slot; /* layout slot its cookies carry */
	uint64_t since; /* CLOCK_MONOTONIC ns: when they were in place */
	unsigned int placed, missing, stepped, refused;
	const char *lacks_error; /* a function by which errors are counted; NULL: it has all */
	const char
		*user_threads; /* the runtime that forbids call ends, NULL = none, or not asked */
};

struct probes {
	struct kernel *kernel;
	enum level level;
	bool call_ends; /* MPI calls with their returns; set after probes_init() */
	bool sparse; /* as struct probe_plan has it; set after probes_init() */
	bool count; /* sums, without arrivals and completions; set after probes_init() */
	bool everyone; /* processes are not chosen; set after probes_init() */
	struct links links; /* lives of objects */
	struct hot hot;
	struct rewrites rewrites;
	VEC(struct probed) libraries;
	/*
	 * (file identity, file offset) that are probed, or were tried: 0 for all processes, else a
	 * number for those of single processes
	 */
	struct map functions;
	struct map learnt; /* (tgid, that number) */
	struct map barred; /* (tgid, file identity): see probes_rewritten() */
	uint64_t last_function;
	struct map ended; /* keys of links of processes that have ended */
	bool by_process; /* the kernel limits links to processes */
	const struct layout *slots[UB_MAX_LAYOUTS];
	VEC(struct ub_wrappers) wrappers; /* by number, from 1; none twice */
};

/* windows: the hot ones are placed and removed, through probes->hot. */
void probes_init(struct probes *probes, struct kernel *kernel, enum link_mechanism mechanism,
		 enum level level, bool windows);

/* Detaches everything. */
void probes_release(struct probes *probes);

/* NULL where the library has no probes yet. */
const struct probed *probes_find(const struct probes *probes, const struct library *library);

/*
 * Whether the file, which that process maps, may have probes. Where processes are not chosen, not
 * one of a file system that a user has mounted (-EPERM), or that is not known (-errno): its server
 * could hold up the node.
 */
int probes_allow(const struct probes *probes, const struct remote_file *file, pid_t tgid);

/*
 * Places the library's probes, once. ucp: the libucp whose layout holds there, NULL = unknown: no
 * private field is read. Refused probes are counted; < 0: none could be placed.
 */
int probes_attach(struct probes *probes, const struct library *library, const struct library *ucp);

/* Removes the probes of libraries whose keys are in the map, without waiting for the kernel. */
void probes_forget(struct probes *probes, const struct map *keys);

/*
 * The same of files that were rewritten, and waits: the kernel would go on to use the instructions
 * that an old probe replaced. Also of libraries that had their layout from one of them, whose keys
 * are added to the map. Processes with a probe at a function learnt in one of these lose all probes
 * of that kind, and are added to the other map. They get no new ones in the rewritten file: a page
 * of theirs may still have the old instructions, and the kernel would run the new ones.
 */
void probes_rewritten(struct probes *probes, struct map *keys, struct map *processes);

/*
 * Reserves the function for a probe in one process, or in all: tgid 0, and where the kernel cannot
 * do that. False if that has one already, or was tried.
 */
bool probes_claim_function(struct probes *probes, pid_t tgid, dev_t dev, ino_t ino,
			   uint64_t offset);

/*
 * Places one probe at a function learnt from a process, in that alone or in all (tgid 0), with a
 * layout slot taken from a record.
 */
int probes_attach_function(struct probes *probes, pid_t tgid, const struct library *library,
			   int slot, unsigned int row, uint64_t function_offset);

/*
 * The probes at functions learnt from the process go with the next probes_forget_ended(), which
 * does not wait for the kernel unless it still removes those of the last one.
 */
void probes_forget_process(struct probes *probes, pid_t tgid);
void probes_forget_ended(struct probes *probes);

#endif
