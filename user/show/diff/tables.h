/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables to compare: rows with the same keys and measures. */
#ifndef UCXBPF_DIFF_TABLES_H
#define UCXBPF_DIFF_TABLES_H

#include <stdbool.h>

#include "base/level.h"

#define DIFF_KEYS 5
#define DIFF_MEASURES 2

/* In the order in which they are shown. */
enum diff_section {
	DIFF_ENVIRONMENT,
	DIFF_LIBRARIES,
	DIFF_PATHS,
	DIFF_SWITCHES,
	DIFF_COUNTS,
	DIFF_TIMES,
	DIFF_WAITS,
	DIFF_SECTIONS
};

struct diff_section_info {
	const char *name; /* in JSON */
	const char *title; /* for readers */
};

extern const struct diff_section_info diff_sections[DIFF_SECTIONS];

enum diff_table_id {
	TABLE_VARIABLES,
	TABLE_SYSTEM, /* all else of the environment */
	TABLE_LIBRARIES,
	TABLE_PATHS, /* of data, and of copies */
	TABLE_PROTOCOLS,
	TABLE_COLLECTIVES, /* by the algorithm of their messages */
	TABLE_SWITCHES,
	TABLE_CALLS,
	TABLE_OPS,
	TABLE_CALLERS, /* of UCP, outside MPI */
	TABLE_FAILED, /* operations that ended with an error */
	TABLE_CONTROL, /* transfers of UCX's own */
	TABLE_RETRIES, /* attempts without a resource */
	TABLE_CALL_TIMES,
	TABLE_OP_TIMES,
	TABLE_TRANSFER_TIMES,
	TABLE_WAITS,
	DIFF_TABLES
};

enum diff_unit { UNIT_NONE, UNIT_COUNT, UNIT_BYTES, UNIT_NS };

struct diff_measure {
	const char *name; /* NULL: no more of them */
	enum diff_unit unit;
};

struct diff_table {
	const char *name; /* in JSON */
	enum diff_section section;
	const char *keys[DIFF_KEYS]; /* names of the keys; NULL behind the last one */
	struct diff_measure measures[DIFF_MEASURES];
	enum level level; /* captures need at least this level to have it */
	bool timing; /* timing affects their number */
};

extern const struct diff_table diff_tables[DIFF_TABLES];

/*
 * Whether timing affects how often an MPI function is called, an operation made, a UCT operation.
 */
bool diff_function_polls(const char *function);
bool diff_op_polls(const char *op);
bool diff_transfer_polls(const char *op);

#endif
