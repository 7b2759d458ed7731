/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict as one JSON value, docs/check.schema.json. */
#ifndef UCXBPF_JUDGE_DOCUMENT_H
#define UCXBPF_JUDGE_DOCUMENT_H

#include <jansson.h>

#include "judge/judge.h"

/* The caller's. */
json_t *judge_document(const struct judge *judge, const struct judge_output *how);

#endif
