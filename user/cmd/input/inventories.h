/* SPDX-License-Identifier: BSD-3-Clause */
/* Inventories that a command was given; what is wrong with one is said here. */
#ifndef UCXBPF_CMD_INPUT_INVENTORIES_H
#define UCXBPF_CMD_INPUT_INVENTORIES_H

#include "base/vec.h"
#include "cmd/input/unread.h"

struct inventory;

struct inventories {
	VEC(struct inventory *) list;
	unread unread;
};

/* Adds the file's inventory, or its path to those unread, which is said then. */
void inventories_read(struct inventories *inventories, const char *path);
void inventories_free(struct inventories *inventories);

#endif
