/* SPDX-License-Identifier: BSD-3-Clause */
/* A live view on paper and on a screen. */
#ifndef UCXBPF_SHOW_TOP_TOP_H
#define UCXBPF_SHOW_TOP_TOP_H

#include <stdio.h>

#include "live/live.h"

#define TOP_SCHEMA "ucxbpf.top/1"

/* The interval as one JSON object on one line (docs/top.schema.json). 0 or -errno of a write. */
int top_json(const struct live *live, FILE *out);

#endif
