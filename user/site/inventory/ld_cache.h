/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_INVENTORY_LD_CACHE_H
#define UCXBPF_INVENTORY_LD_CACHE_H

#include "site/inventory/ldso.h"

/* Fills cache and entries; leaves them empty where there is none that is understood. */
void ld_cache_read(struct ldso *ld);

#endif
