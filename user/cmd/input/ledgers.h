/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan and the ledgers that a command was given; what is wrong with one is said here. */
#ifndef UCXBPF_CMD_INPUT_LEDGERS_H
#define UCXBPF_CMD_INPUT_LEDGERS_H

#include <stdbool.h>

#include "base/vec.h"
#include "cmd/input/unread.h"

struct judge;
struct plan;

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

/* Feeds plan and ledgers. */
void ledgers_feed(struct ledgers *ledgers, struct judge *judge);

/* After judge_free(). */
void ledgers_free(struct ledgers *ledgers);

#endif
