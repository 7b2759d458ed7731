/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_INVENTORY_PRIVATE_H
#define UCXBPF_INVENTORY_PRIVATE_H

#include "site/inventory/inventory.h"
#include "site/inventory/shape.h"

extern const struct shape inventory_shape[];

/* Of which nothing is known. */
struct inventory *inventory_new(void);

/* A new one of which nothing is known, valid until the next. */
struct inventory_nic *inventory_add_nic(struct inventory *inventory);
struct inventory_gpu *inventory_add_gpu(struct inventory *inventory);

/* To its list "ucx" or "mpi". */
struct inventory_library *inventory_add_library(struct inventory *inventory, const char *list);

/* A network interface; NULL: there is none of that name. */
struct inventory_nic *inventory_find_net(struct inventory *inventory, const char *name);

#endif
