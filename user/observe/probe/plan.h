/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which probes a library gets, and at which instruction. Made from the ELF file alone, by the
 * process that parses it (reader.h).
 */
#ifndef UCXBPF_PROBE_PLAN_H
#define UCXBPF_PROBE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "observe/probe/sites.h"
#include "observe/process/library.h"

enum place_class {
	PLACE_NOP5, /* optimised to a call by recent kernels: cheapest */
	PLACE_EMULATED, /* push, nop, call, jmp, jcc: one trap */
	PLACE_STEPPED, /* single-stepped: expensive, never on a hot site (site_may_step()) */
	PLACE_REFUSED, /* no instruction start could be proved */
};

struct placement {
	uint32_t delta; /* bytes after the function's first instruction */
	uint8_t sp_words; /* 8-byte words that %rsp has moved by since then */
	enum place_class class;
};

struct planned_probe {
	unsigned int row;
	bool needs_return;
	bool at_exit; /* stands at an instruction that returns, not at the function's beginning */
	uint64_t function; /* file offset of the function */
	uint64_t offset; /* file offset of the probe */
	uint8_t sp_words;
	enum place_class class;
};

struct probe_plan {
	/* set by the caller */
	bool call_ends; /* MPI calls with their returns, where that is cheap */
	bool sparse; /* functions that can do without a probe (UB_UNPROBED) get none */
	VEC(struct planned_probe) probes;
	VEC(unsigned int) left_out; /* rows that would be single-stepped and are hot */
	VEC(unsigned int) missing; /* rows that this kind of library could have but lacks */
};

/*
 * Plans all layers of a level. A function gets one probe, however many names it has; a GPU driver's
 * function also gets one for each of its exits (place_body()).
 */
int plan_library(struct probe_plan *plan, const struct library *library, enum level level);

/*
 * Plans one probe at a function found at run time (a completion callback). -EINVAL: refused;
 * -ENOTSUP: left out, as above.
 */
int plan_function(struct planned_probe *probe, const struct library *library, unsigned int row,
		  uint64_t function_offset);

void plan_release(struct probe_plan *plan);

#endif
