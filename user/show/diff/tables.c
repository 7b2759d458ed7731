// SPDX-License-Identifier: BSD-3-Clause
#include "show/diff/tables.h"

#include <stddef.h>
#include <string.h>

#include "base/vec.h"

const struct diff_section_info diff_sections[DIFF_SECTIONS] = {
	[DIFF_ENVIRONMENT] = { "environment", "environment" },
	[DIFF_LIBRARIES] = { "libraries", "libraries" },
	[DIFF_PATHS] = { "paths", "paths and protocols" },
	[DIFF_SWITCHES] = { "switch_points", "switch points" },
	[DIFF_COUNTS] = { "counts", "counts and bytes" },
	[DIFF_TIMES] = { "times", "times" },
	[DIFF_WAITS] = { "waits", "waits" },
};

#define TIME                                                                                       \
	{                                                                                          \
		{                                                                                  \
			"time_ns", UNIT_NS                                                         \
		}                                                                                  \
	}
#define AMOUNT(of)                                                                                 \
	{                                                                                          \
		{ of, UNIT_COUNT },                                                                \
		{                                                                                  \
			"bytes", UNIT_BYTES                                                        \
		}                                                                                  \
	}

const struct diff_table diff_tables[DIFF_TABLES] = {
	[TABLE_VARIABLES] = { "variables", DIFF_ENVIRONMENT, { "name" }, .level = LEVEL_MPI },
	[TABLE_SYSTEM] = { "system", DIFF_ENVIRONMENT, { "name" }, .level = LEVEL_MPI },
	[TABLE_LIBRARIES] = { "libraries",
			      DIFF_LIBRARIES,
			      { "library", "property" },
			      .level = LEVEL_MPI },
	[TABLE_PATHS] = { "paths",
			  DIFF_PATHS,
			  { "transport", "device", "op", "locality", "kind" },
			  AMOUNT("transfers"),
			  LEVEL_UCT },
	[TABLE_PROTOCOLS] = { "protocols",
			      DIFF_PATHS,
			      { "op", "locality", "protocol" },
			      AMOUNT("operations"),
			      LEVEL_UCT },
	[TABLE_COLLECTIVES] = { "collectives",
				DIFF_PATHS,
				{ "function", "members", "size", "algorithm" },
				{ { "operations", UNIT_COUNT } },
				LEVEL_UCT },
	[TABLE_SWITCHES] = { "switch_points",
			     DIFF_SWITCHES,
			     { "op", "locality", "memory", "function", "at" },
			     .level = LEVEL_UCT },
	[TABLE_CALLS] = { "calls",
			  DIFF_COUNTS,
			  { "function" },
			  { { "calls", UNIT_COUNT } },
			  LEVEL_MPI },
	[TABLE_OPS] = { "operations", DIFF_COUNTS, { "op" }, AMOUNT("operations"), LEVEL_UCP },
	[TABLE_CALLERS] = { "callers",
			    DIFF_COUNTS,
			    { "caller", "function", "op" },
			    AMOUNT("operations"),
			    LEVEL_UCP },
	[TABLE_FAILED] = { "failed",
			   DIFF_COUNTS,
			   { "op", "status" },
			   { { "operations", UNIT_COUNT } },
			   LEVEL_UCP },
	[TABLE_CONTROL] = { "control",
			    DIFF_COUNTS,
			    { "transport", "op" },
			    { { "transfers", UNIT_COUNT } },
			    LEVEL_UCT,
			    .timing = true },
	[TABLE_RETRIES] = { "retries",
			    DIFF_COUNTS,
			    { "transport", "op" },
			    { { "attempts", UNIT_COUNT } },
			    LEVEL_UCT,
			    .timing = true },
	[TABLE_CALL_TIMES] = { "call_times", DIFF_TIMES, { "function" }, TIME, LEVEL_MPI },
	[TABLE_OP_TIMES] = { "operation_times",
			     DIFF_TIMES,
			     { "op", "locality", "size" },
			     TIME,
			     LEVEL_UCP },
	[TABLE_TRANSFER_TIMES] = { "transfer_times",
				   DIFF_TIMES,
				   { "transport", "op", "locality", "size" },
				   TIME,
				   LEVEL_UCT },
	[TABLE_WAITS] = { "waits",
			  DIFF_WAITS,
			  { "kind", "function" },
			  { { "waits", UNIT_COUNT }, { "time_ns", UNIT_NS } },
			  LEVEL_UCT },
};

static bool begins_with(const char *name, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; name && i < count; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* They look whether something has happened, or take what has. */
static const char *const polling_functions[] = {
	"MPI_Test",    "MPI_Iprobe",   "MPI_Improbe",  "MPI_Request_get_status",
	"MPI_Waitany", "MPI_Waitsome", "MPI_Win_test", "MPI_Parrived",
};

/* MPI libraries spin on atomics where a program takes a lock. */
static const char *const polling_ops[] = { "tag_probe", "atomic" };

bool diff_function_polls(const char *function)
{
	return begins_with(function, polling_functions, ARRAY_SIZE(polling_functions));
}

bool diff_op_polls(const char *op)
{
	return begins_with(op, polling_ops, ARRAY_SIZE(polling_ops));
}

bool diff_transfer_polls(const char *op)
{
	return begins_with(op, &polling_ops[1], 1);
}
