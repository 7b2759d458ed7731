/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan and the ledgers that a command was given; what is wrong with one is said here. */
#ifndef UCXBPF_LEDGERS_H
#define UCXBPF_LEDGERS_H

#include <stdbool.h>

#include "base/vec.h"

struct judge;
struct plan;

struct ledgers {
	VEC(const char *) paths; /* the caller's strings */
	struct plan *plan; /* NULL: none was given */
	VEC(char *) found; /* paths of ledgers_folder() */
	bool broken; /* something could not be read */
};

/*
 * At most one, or one and another that extends it, which is then the one. False, and said: it is
 * none, or a second one.
 */
bool ledgers_plan(struct ledgers *ledgers, const char *path);

/* Those of a sweep's folder: plan.json, ledger/. False, and said: there is no plan. */
bool ledgers_folder(struct ledgers *ledgers, const char *folder);

/* Feeds plan and ledgers. */
void ledgers_feed(struct ledgers *ledgers, struct judge *judge);

void ledgers_feed_baseline(struct ledgers *ledgers, struct judge *judge);

/* After judge_free(). */
void ledgers_free(struct ledgers *ledgers);

#endif
