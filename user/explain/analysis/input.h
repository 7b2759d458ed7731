/* SPDX-License-Identifier: BSD-3-Clause */
/* One capture while it is analysed, and the order in which several are read. */
#ifndef UCXBPF_ANALYSIS_INPUT_H
#define UCXBPF_ANALYSIS_INPUT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/vec.h"
#include "explain/analysis/internal.h"
#include "explain/decode/decode.h"

/*
 * The host of a capture, when it was made, and its processes; borrows its side records. Two
 * captures of the same process at the same time would count its records twice.
 */
struct extent {
	const char *host;
	json_int_t from, to;
	const json_t *sides;
};

struct extent extent_of(const json_t *sides);

/* Whether two captures have a process in common at some time. */
bool extents_overlap(const struct extent *a, const struct extent *b);

/*
 * When records were lost: by threads' reports, by gaps in the numbers of each CPU and, if the
 * tracer was killed, by gaps in a thread's frame numbers.
 */
struct gap {
	uint64_t from, until; /* the lost records began in between, ns */
	uint32_t tgid; /* the process that made them; 0: any process may have */
};

struct gaps {
	VEC(struct gap) all; /* by from */
	size_t next;
	uint64_t first; /* until then records before a CPU's first one are missing; 0: none are */
	uint64_t last; /* from then on records after a CPU's last one are; UINT64_MAX: none are */
};

struct input {
	struct record_source source;
	struct capture capture;
	struct gaps gaps;
	bool holes; /* records are missing that no thread reports */
	const struct ub_hdr *head;
	uint64_t mono, real; /* both clocks read at one time; 0: not recorded */
	int64_t to_real; /* added to its monotonic clock: only to read several hosts in step */
	const char *host; /* boot id, for the order */
	const char *host_name; /* NULL: not recorded */
	uint64_t started;
	struct extent extent; /* captures that it may not share processes with */
	size_t place; /* among all, once sorted */
	uint64_t stored, last; /* number of records read, and ts of the last one */
	size_t window; /* index in capture.windows of the first one not begun */
	uint64_t slice_edge; /* the last capture_slice_edge() that was passed, ns */
};

typedef VEC(struct input *) inputs;

/* Takes the source over. */
struct input *input_new(const struct record_source *source);
void input_free(struct input *input);

/*
 * Whether a capture may lack calls at times that are not known. Damage is known once the whole
 * input was read.
 */
bool input_lacks_calls(const struct capture *capture);

/* Sorts them into an order that does not depend on the order of files on the command line. */
void inputs_sort(inputs *inputs);

/* Moves to the first record; finds the gaps where records are missing. 0 or -errno. */
int input_open(struct input *input);

/*
 * Sorts those with records left, the one whose next record comes first in front, by the hosts' wall
 * clocks: all of them once they are open, then each time after the front one went on.
 */
void inputs_queue(inputs *queue, const inputs *all);
void inputs_requeue(inputs *queue);

#endif
