// SPDX-License-Identifier: BSD-3-Clause
/* Stands in for the HSA runtime of AMD's GPUs. */
#define FIRST_ADDRESS 0x7d0000000000

#include "stand_in.h"

DRIVER(hsa_init, (void), done(0))
DRIVER(hsa_amd_memory_pool_allocate, (uint64_t pool, size_t size, uint32_t flags, uint64_t *out),
       make(out, size + !pool + flags))
DRIVER(hsa_amd_memory_pool_free, (uint64_t address), end(address))
