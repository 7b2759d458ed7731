/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion functions that no symbol names: their addresses pass by in records, and each gets a
 * probe. Completions before that are not seen, and their operations end as "unknown".
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
	VEC(struct learnt) pending;
};

void completions_release(struct completions *completions);

/* Looks at one record; cheap, called for every one. */
void completions_record(struct completions *completions, const struct ub_hdr *record);

/* A process has a new program: what was seen of it no longer holds. */
void completions_forget(struct completions *completions, pid_t tgid);

/* Places probes at what was seen since the last call. */
void completions_apply(struct completions *completions, struct probes *probes);

#endif
