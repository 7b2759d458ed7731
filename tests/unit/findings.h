/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of a judge that is done, as tests of rules look them up and expect them. */
#ifndef UCXBPF_TESTS_FINDINGS_H
#define UCXBPF_TESTS_FINDINGS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "site/judge/internal.h"
#include "site/judge/judge.h"

#define SPEC "spec: ucxbpf-policy-v1\n"

/* In the order of the catalogue, then by subject. */
static inline size_t judge_findings(const struct judge *judge, const struct finding **findings)
{
	assert_int_equal(judge->phase, JUDGE_FINISHED);
	*findings = judge->findings.data;
	return judge->findings.len;
}

/* The rule's finding about a subject, or its first one if that is NULL; the test fails without one.
 */
static inline const struct finding *finding_of(const struct judge *judge, const char *rule,
					       const char *subject)
{
	const struct finding *findings;
	size_t count = judge_findings(judge, &findings);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(findings[i].rule->id, rule) &&
		    (!subject || !strcmp(findings[i].subject.text, subject)))
			return &findings[i];
	fail_msg("%s says nothing of %s", rule, subject ? subject : "anything");
	return NULL;
}

/* Notes in $RULES_EXPECTED, if scripts/check-rules sets it, that a test expects this verdict. */
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
