/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests expect of which rule, for scripts/check-rules: a line each, where it asks for them. */
#ifndef UCXBPF_RULE_EXPECTED_H
#define UCXBPF_RULE_EXPECTED_H

#include <stdio.h>
#include <stdlib.h>

#include "site/judge/judge.h"

static inline void rule_expected(const char *rule, enum verdict verdict)
{
	const char *path = getenv("RULES_EXPECTED");
	FILE *out = path ? fopen(path, "ae") : NULL;

	if (!out)
		return;
	fprintf(out, "%s %s\n", rule, verdict_words[verdict].name);
	fclose(out);
}

#endif
