/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion functions without a symbol. Records carry their addresses, and each gets a probe.
 * Earlier completions are missed, and their operations end as "unknown".
 */
#ifndef UCXBPF_CAPTURE_COMPLETIONS_H
#define UCXBPF_CAPTURE_COMPLETIONS_H

#include "base/map.h"
#include "base/vec.h"
#include "observe/capture/probes.h"

struct learnt {
	pid_t tgid;
	uint64_t address;
	enum ub_comp_what what;
	uint8_t slot;
};

struct completions {
	struct map seen; /* (tgid, address) */
	struct map counts; /* tgid: how many of these */
	struct map shared; /* library's key: how many of its functions have a probe for all */
	VEC(struct learnt) pending;
};

void completions_release(struct completions *completions);

/* Examines one record; cheap, called for every one. */
void completions_record(struct completions *completions, const struct ub_hdr *record);

/* A process has ended or runs a new program: forgets its addresses and removes their probes. */
void completions_forget(struct completions *completions, struct probes *probes, pid_t tgid);

/* A process has lost the probes at its functions, which get new ones when they are seen again. */
void completions_learn_again(struct completions *completions, pid_t tgid);

/*
 * Removes the probes of processes that have ended, and probes the functions seen since the last
 * call. What is left at the deadline waits for the next call.
 */
void completions_apply(struct completions *completions, struct probes *probes,
		       const struct library_set *libraries, uint64_t deadline);

#endif
