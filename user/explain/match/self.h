/* SPDX-License-Identifier: BSD-3-Clause */
/* What captures say of how they were made and what that cost. */
#ifndef UCXBPF_MATCH_SELF_H
#define UCXBPF_MATCH_SELF_H

#include <jansson.h>

#include "explain/match/facts.h"

/* Adds one capture's side records. */
void self_add(struct fact_self *self, const json_t *sides);

#endif
