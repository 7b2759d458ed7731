/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of all records that a tracer writes about a process. */
#ifndef TESTS_TRUST_GRAPHS_CHECKS_H
#define TESTS_TRUST_GRAPHS_CHECKS_H

#include <jansson.h>
#include <stdint.h>

#include "base/vec.h"
#include "observe/process/frames.h"
#include "observe/process/process.h"
#include "observe/process/ucx_memory.h"

/* Records of the graph that begins. */
void checks_begin(void);

void check_record(const json_t *record);
void check_process(const struct os_process *process);
void check_memory(const struct ucx_memory *memory);
void check_frames(const frame_list *frames);

struct checks_counts {
	uint64_t records, reasons; /* written; of these, with a reason instead of a content */
};

extern struct checks_counts checks_counts;

/* Objects of the records so far, in the unchanged process. */
struct known_object {
	uint64_t at;
	enum { WORKERS, IFACES, UCT_EPS, EPS, OBJECT_KINDS } kind;
};

extern VEC(struct known_object) known_objects;

#endif
