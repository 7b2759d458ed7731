/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes in place: planned addresses of one file joined to loaded BPF programs. Links belong to
 * file descriptors, so that the end of this process, however it comes, removes its probes.
 */
#ifndef UCXBPF_PROBE_LINKS_H
#define UCXBPF_PROBE_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "ucxbpf.h"

/* From the oldest to the best. */
enum link_mechanism {
	LINK_NONE,
	LINK_PERF, /* one perf event per probe and end: Linux 5.15; detaching takes 0.1 s each */
	LINK_MULTI, /* one link for many probes, entries and returns apart: about 6.6 */
	LINK_SESSION, /* one link for both ends of many probes: about 6.13 */
};

/* "perf", "multi", "session", "none" */
const char *link_mechanism_name(enum link_mechanism mechanism);

/*
 * The best mechanism that works here, found by loading an empty program and probing a function of
 * our own executable. -EPERM, -EACCES: not allowed; -EINVAL, -ENOENT, ...: no uprobes at all, then
 * *best is LINK_NONE.
 */
int links_detect(enum link_mechanism *best);

/* The cost of a hit on this machine, ns, with an empty program. */
struct link_cost {
	double entry;
	double at_return; /* added where the return is probed as well */
};

/*
 * Measured on a function of our own, in some milliseconds: the median of several rounds, so that a
 * preemption does no harm. -errno as of links_detect().
 */
int links_measure(enum link_mechanism mechanism, struct link_cost *cost);

/*
 * The expected_attach_type a program must be loaded with. session: it handles both ends of a span
 * (LINK_SESSION only).
 */
int links_attach_type(enum link_mechanism mechanism, bool session);

/*
 * Loaded programs by record kind (enum ub_kind), -1 = none. A probe with needs_return uses
 * session_fd under LINK_SESSION, else the pair of span_entry_fd and return_fd; a probe with at_exit
 * uses exit_fd; others use entry_fd.
 */
struct link_programs {
	int entry_fd[UB_KIND_MAX];
	int exit_fd[UB_KIND_MAX];
	int span_entry_fd[UB_KIND_MAX];
	int session_fd[UB_KIND_MAX];
	int return_fd[UB_KIND_MAX];
};

struct link_probe {
	uint64_t offset; /* in the file */
	uint64_t cookie;
	unsigned int kind; /* enum ub_kind */
	bool needs_return;
	bool at_exit; /* at an instruction that returns */
};

struct link_of_file {
	int fd;
	uint64_t file;
};

typedef VEC(struct link_of_file) links_of_files;

struct links {
	enum link_mechanism mechanism;
	const struct link_programs *programs; /* the caller's */
	uint64_t file; /* the file of later links, for links_forget() */
	pid_t pid; /* whose hits later links are for; 0: those of all processes */
	links_of_files all;
	links_of_files call_returns; /* separate from their entries: not with session links */
	struct link_closing *closing; /* links that the keeper still closes; NULL: none */
};

/* Whether struct links' pid has an effect: else links are for all processes. */
bool links_know_processes(enum link_mechanism mechanism);

void links_init(struct links *links, enum link_mechanism mechanism,
		const struct link_programs *programs);

/*
 * Attaches n probes of the file at path. A probe that the kernel refuses is left out, counted in
 * *refused and logged; the others stay. < 0 when nothing can be attached at any offset (-EPERM,
 * -EMFILE, -ENOMEM, -ENOENT, -EBADF: no program of that kind); links attached so far stay until
 * links_release().
 */
int links_attach(struct links *links, const char *path, const struct link_probe *probes, size_t n,
		 size_t *refused);

/*
 * Removes the return probes of MPI calls, which no program can skip for one process if they have
 * links of their own; their entry probes stay. Returns how many links that were.
 */
size_t links_drop_call_returns(struct links *links);

/*
 * Detaches everything without waiting: probes are gone after some milliseconds, threads go on
 * waiting for the kernel, which waits for tasks inside them. *links may be attached to again.
 */
void links_detach(struct links *links);

/* As links_detach(), for the files in the map. */
void links_forget(struct links *links, const struct map *files);

/*
 * Waits until the kernel has released what links_detach() detached. Returns the ns since then; 0:
 * nothing was detached.
 */
uint64_t links_settle(struct links *links);

/* Detaches everything and waits; *links may be initialised again. */
void links_release(struct links *links);

#endif
