/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The budget (`--budget`). The cost of probes to each traced thread is measured every 100 ms, and
 * groups of probes are placed and removed to keep the highest cost below the budget.
 *
 * A thread's cost is its traps, times the cost of a trap on this machine, plus its time in our
 * programs. Each change ends a window and begins another one, so that records of different steps
 * stay separate (windows.h).
 */
#ifndef UCXBPF_CAPTURE_BUDGET_H
#define UCXBPF_CAPTURE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "observe/capture/governor.h"
#include "observe/probe/links.h"

struct capture_session;

struct budget {
	bool on;
	bool fixed; /* probes cannot be removed here: the first step stays */
	struct governor governor;
	uint64_t interval; /* ns between two readings of the cost */
	struct link_cost trap;
	double program[UB_GROUPS]; /* ns that a hit spends in our programs */
	VEC(struct ub_task_hits) threads; /* as of the last look */
	struct map by_id; /* (tgid, tid) -> index + 1 in threads */
	uint64_t looked, next; /* ns: the last look, the next one */
	uint64_t lost; /* records that had found no room by then */
	uint32_t tgid, tid; /* thread with the highest cost in the last interval */
	double share; /* that share */
	double fixed_cost; /* ns: cost of a window whatever its length */
	uint64_t placing; /* ns that placing all groups took */
};

/* Measures the trap. share: above 0 and below 1; 0: no budget. -errno of links_measure(). */
int budget_open(struct capture_session *capture, double share);
void budget_release(struct budget *budget);

/*
 * To be called before the first window of running processes: they are traced, but not recorded yet.
 */
void budget_sound(struct capture_session *capture);

/* The first window begins. */
void budget_begin(struct capture_session *capture);

/* When budget_step() has its next work, side_now() ns; UINT64_MAX: never. */
uint64_t budget_next(const struct budget *budget);

/* Measures and decides. */
void budget_step(struct capture_session *capture);

/* windows.c calls these around each window of the step "windows". */
void budget_window_opens(struct capture_session *capture);
void budget_window_closed(struct capture_session *capture);

#endif
