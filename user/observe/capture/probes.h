/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probes that are in place: one set of links per library file, whoever maps it.
 */
#ifndef UCXBPF_CAPTURE_PROBES_H
#define UCXBPF_CAPTURE_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "observe/capture/hot.h"
#include "observe/capture/kernel.h"
#include "observe/probe/links.h"
#include "observe/probe/plan.h"
#include "observe/process/layout.h"
#include "observe/process/library.h"

/* What became of one library's plan. */
struct probed {
	const struct library *library;
	int slot; /* layout slot its cookies carry */
	unsigned int placed, missing, stepped, refused;
	const char
		*user_threads; /* the runtime that forbids call ends, NULL = none, or not asked */
};

struct probes {
	struct kernel *kernel;
	enum site_layer level;
	bool call_ends; /* MPI calls with their returns; set after probes_init() */
	bool count; /* sums, without arrivals and completions; set after probes_init() */
	struct links links; /* lives of objects */
	struct hot hot;
	VEC(struct probed) libraries;
	struct map functions; /* (file identity, file offset) that are probed, or were tried */
	const struct layout *slots[UB_MAX_LAYOUTS];
};

/* windows: the hot ones come and go, through probes->hot. */
void probes_init(struct probes *probes, struct kernel *kernel, enum link_mechanism mechanism,
		 enum site_layer level, bool windows);

/* Detaches everything. */
void probes_release(struct probes *probes);

/* NULL where the library has no probes yet. */
const struct probed *probes_find(const struct probes *probes, const struct library *library);

/*
 * Places the library's probes, once. ucp: the libucp whose layout holds there, NULL = unknown: no
 * private field is read. Refused probes are counted; < 0: none could be placed.
 */
int probes_attach(struct probes *probes, const struct library *library, const struct library *ucp);

/* Takes the function for a probe; false where it has one already, or was tried. */
bool probes_claim_function(struct probes *probes, dev_t dev, ino_t ino, uint64_t offset);

/* Places one probe at a function learnt at run time, with a layout slot taken from a record. */
int probes_attach_function(struct probes *probes, const struct library *library, int slot,
			   unsigned int row, uint64_t function_offset);

#endif
