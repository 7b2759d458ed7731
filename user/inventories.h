/* SPDX-License-Identifier: BSD-3-Clause */
/* Inventories that a command was given; what is wrong with one is said here. */
#ifndef UCXBPF_INVENTORIES_H
#define UCXBPF_INVENTORIES_H

#include <stdbool.h>

#include "base/vec.h"

struct inventory;

struct inventories {
	VEC(struct inventory *) list;
	bool broken; /* some could not be read */
};

void inventories_read(struct inventories *inventories, const char *path);
void inventories_free(struct inventories *inventories);

#endif
