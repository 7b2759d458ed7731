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
 * The node that a sweep has a file of that could not be read, by where it lies:
 * nodes/NODE/FILE.ucxb, .json; ledger/NODE.RANK.ndjson. NULL: it is no such place; else the
 * caller's.
 */
char *unread_node(const char *path);

struct ledgers {
	VEC(const char *) paths; /* the caller's strings */
	struct plan *plan; /* NULL: none was given */
	unread unread;
};

/*
 * At most one, or one and another that extends it, which is then the one. False, and said: it is
 * none, or a second one.
 */
bool ledgers_plan(struct ledgers *ledgers, const char *path);

/* After judge_free(). */
void ledgers_free(struct ledgers *ledgers);

/* NULL path: the defaults. NULL: every error is printed, "FILE:LINE: what". */
struct policy *policy_of(const char *path);

struct gathered {
	struct judge *judge; /* fed; NULL: see gather() */
	const struct fact_totals *totals; /* for judge_finish(); NULL: the judge has them */
	bool broken; /* something could not be read, or is damaged */
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

/* Whether a result must not take this file's place, since it is something to be judged. */
bool gather_has(const char *path);

#endif
