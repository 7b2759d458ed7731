/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that could not be read: of which node something is missing then. */
#ifndef UCXBPF_CMD_INPUT_UNREAD_H
#define UCXBPF_CMD_INPUT_UNREAD_H

#include <stdbool.h>

#include "base/vec.h"

struct judge;

typedef VEC(const char *) unread; /* paths, the caller's strings */

/*
 * The node that a sweep has such a file of, by where it lies: nodes/NODE/FILE.ucxb, .json;
 * ledger/NODE.RANK.ndjson. NULL: it is no such place; else the caller's.
 */
char *unread_node(const char *path);

/* Tells the judge what is missing. */
void unread_tell(struct judge *judge, const unread *paths);

#endif
