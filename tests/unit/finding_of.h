/* SPDX-License-Identifier: BSD-3-Clause */
/* One finding of a judge that is done. Behind <cmocka.h>. */
#ifndef UCXBPF_FINDING_OF_H
#define UCXBPF_FINDING_OF_H

#include <string.h>

#include "site/judge/judge.h"

/* What a rule says of a subject; NULL subject: the first thing it says. */
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

#endif
