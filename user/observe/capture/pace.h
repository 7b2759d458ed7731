/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The budget of programs that count (live sessions). Each thread has an account: its run time earns
 * the budget's share, its traps spend it. While no account is overdrawn all hot probes are in
 * place; else they are removed until all accounts are balanced. So traffic is traced in windows,
 * whose length follows from the cost, and no thread exceeds its share over a second or two.
 */
#ifndef UCXBPF_CAPTURE_PACE_H
#define UCXBPF_CAPTURE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "observe/probe/links.h"

struct capture_session;

/* A thread that has been counted. */
struct pace_account {
	uint32_t tgid, tid;
	uint64_t hits, returns; /* as of the last look */
	double debt; /* ns that it has spent and not earned yet */
	double paid; /* ns since pace_take() */
};

struct pace {
	double budget; /* a share; 0: none */
	bool fixed; /* probes cannot be placed again here once they are removed */
	struct link_cost trap;
	VEC(struct pace_account) accounts;
	struct map by_id; /* (tgid, tid) -> index + 1 in accounts */
	bool open; /* hot probes are in place and count */
	bool away; /* they were removed at some time since pace_take() */
	uint64_t looked; /* ns */
	uint64_t since; /* ns: open since then, or since pace_take() */
	uint64_t watched; /* ns of windows that ended since pace_take() */
	double worst; /* ns: the most that a thread that has ended spent since pace_take() */
};

/* Measures the trap. -errno of links_measure(). */
int pace_open(struct capture_session *capture, double budget);
void pace_release(struct pace *pace);

/* Starts counting. */
void pace_begin(struct capture_session *capture);

/* Looks at the accounts when it is time, and opens or closes the window. */
void pace_step(struct capture_session *capture);

struct pace_report {
	uint64_t watched; /* ns */
	bool away; /* probes were removed for some of the time */
	double paid; /* ns, of the thread that spent most */
};

/* Covers the time since the last call. */
struct pace_report pace_take(struct capture_session *capture);

#endif
