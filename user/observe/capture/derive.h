/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI calls without probes. Functions that make one operation a call are derived from the stacks of
 * their operations (bpf/caller.bpf.h), once that was compared with what their probes see, call by
 * call. From then on their probes return now and then to compare again. A function whose operations
 * and calls once disagreed keeps its probe for good; so does one that was seen to make no
 * operation, since such a call shows on no stack.
 */
#ifndef UCXBPF_CAPTURE_DERIVE_H
#define UCXBPF_CAPTURE_DERIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "observe/capture/callers.h"

struct capture_session;

enum derive_state {
	DERIVE_NOT, /* a group of probes that it needs is not in place */
	DERIVE_RESTING, /* until removing probes pays; operations do not look for calls */
	DERIVE_CHECKING,
	DERIVE_AWAY,
};

struct derive {
	bool on;
	enum derive_state state;
	struct callers callers;
	uint64_t since; /* side_now() ns, of the state */
	uint64_t placed; /* likewise: the groups of probes that it needs are in place */
	uint64_t patience; /* ns of a check until probes go */
	uint64_t period; /* ns until the next one */
	uint64_t rest; /* ns of rest; longer after checks spoilt by operations of unknown code */
	bool wanted; /* functions were hot once: from then on rows of MPI libraries are read */
	uint64_t enough, hot; /* calls compared, and calls a second, before a probe goes */
	uint32_t check; /* number of the last one */
	/* Functions by ub_site.derivable, one bit each; proved: away before this check. */
	uint32_t away, kept, proved;
	uint64_t unknown; /* operations from code that was not known, by then */
	bool spoilt_now; /* the last check, by such operations */
	uint64_t learnt; /* where short sends go, so often by then */
	size_t libraries; /* that had probes by then */
	unsigned int learning; /* checks on end in which that was learnt */
	struct map processes; /* tgids seen */
	bool newcomer; /* a process was new in this check: its lane for short sends is not known */
	uint64_t strays; /* short transfers that follow from no operation, as of the last look */
	uint64_t shorts_from; /* ns: short sends keep their probes until then, */
	uint64_t shorts_rest; /* so long since the last stray, */
	uint64_t shorts_quiet; /* and so long since the last new process */
	struct ub_derived counts[UB_DERIVABLES]; /* now */
	struct ub_derived before[UB_DERIVABLES]; /* as the state began */
	struct ub_derived spoilt[UB_DERIVABLES]; /* of dropped comparisons; not in counts */
	uint64_t away_ns[UB_DERIVABLES];
};

/* To be called after the kernel was opened with derive. -errno of callers_init(). */
int derive_init(struct capture_session *capture);
void derive_release(struct derive *derive);

/* Records of running processes start: some of these are inside calls. */
void derive_begin(struct capture_session *capture);

/* Enters the next state when that is due. */
void derive_step(struct capture_session *capture);

/* Groups of probes were placed or removed. */
void derive_placed(struct capture_session *capture);

/*
 * Whether tracing may soon cost less without losing anything: groups of probes were placed so
 * recently that none of them has been removed again yet.
 */
bool derive_may_gain(const struct derive *derive);

/* A process's code mappings have changed. */
void derive_process(struct capture_session *capture, pid_t tgid);

/* Recording has ended: writes the last sums. */
void derive_end(struct capture_session *capture);

#endif
