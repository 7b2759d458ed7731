/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input files of a judge, of any kind, recognised by their content: captures (matched with each
 * other), inventories, evidence, the plan and ledgers of a sweep, and the policy. Defects are
 * printed here, a line each.
 */
#ifndef UCXBPF_CMD_INPUT_GATHER_H
#define UCXBPF_CMD_INPUT_GATHER_H

#include <stdbool.h>

#include "base/vec.h"
#include "cmd/input/captures.h"
#include "site/judge/judge.h"

struct analysis;
struct inventory;
struct plan;
struct policy;

struct inventories {
	VEC(struct inventory *) list;
	unread unread;
};

/*
 * The node of a file of a sweep, by its path: nodes/NODE/FILE.ucxb, .json; ledger/NODE.RANK.ndjson.
 * For files that could not be read. NULL: no such path; else the caller frees it.
 */
char *unread_node(const char *path);

struct ledgers {
	VEC(const char *) paths; /* the caller's strings */
	struct plan *plan; /* NULL: none was given */
	unread unread;
};

/*
 * Takes at most one plan, or a plan and its extension, which then replaces it. False (printed): not
 * a plan, or a second one.
 */
bool ledgers_plan(struct ledgers *ledgers, const char *path);

/* After judge_free(). */
void ledgers_free(struct ledgers *ledgers);

/* NULL path: the defaults. NULL: every error is printed, "FILE:LINE: what". */
struct policy *policy_of(const char *path);

struct gathered {
	struct judge *judge; /* fed; NULL: see gather() */
	const struct fact_totals *totals; /* for judge_finish(); NULL: the judge has them */
	bool broken; /* a file could not be read, or is damaged */
	/* what the judge's facts live in */
	struct captures captures;
	struct inventories inventories;
	struct ledgers ledgers; /* and their plan */
	VEC(const char *) evidence;
	struct analysis *analysis;
	struct fact_totals sums;
};

/*
 * command: for the progress line. learn: keep sizes apart for judge_learn(). Returns 0; -EINVAL:
 * files do not go together (the same capture twice, ledgers without their plan); -ENODATA: no
 * usable file; -EIO: any other error. All are printed. The policy must outlive *gathered.
 */
int gather(struct gathered *gathered, const struct policy *policy, const char *const *paths,
	   size_t count, const char *command, bool learn);
void gathered_release(struct gathered *gathered);

/* Whether the file is a sweep's plan; if not, prints why. */
bool gather_is_plan(const char *path);

/* Whether the file is an input of a judge, so that a result must not replace it. */
bool gather_has(const char *path);

#endif
