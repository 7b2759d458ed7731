/* SPDX-License-Identifier: BSD-3-Clause */
/* A finding: the verdict of a rule about a subject. */
#ifndef UCXBPF_JUDGE_WORDS_FINDING_H
#define UCXBPF_JUDGE_WORDS_FINDING_H

#include <stdint.h>

#include "site/judge/words/subject.h"
#include "site/policy/policy.h"

enum verdict {
	VERDICT_PASS,
	VERDICT_FAIL,
	VERDICT_UNKNOWN, /* the evidence is incomplete */
	VERDICT_SKIP, /* there is nothing the rule is about */
	VERDICT_WAIVED,
	VERDICTS
};

struct verdict_words {
	const char *name; /* "PASS" */
	const char *word; /* "pass", of JSON and metrics */
	const char *mark; /* "pass", "UNKN": six columns, of text */
};

extern const struct verdict_words verdict_words[VERDICTS];

#define FINDING_EXAMPLES 3

/* One of a finding's transfers. */
struct finding_example {
	const char *op, *transport, *device, *function;
	int process, peer;
	uint64_t start; /* ns, CLOCK_MONOTONIC of the process's host */
	uint64_t bytes;
};

struct finding {
	const struct catalogue_rule *rule;
	enum verdict verdict;
	enum severity severity;
	struct subject subject;
	uint64_t count, bytes; /* of transfers or messages concerned */
	double share; /* of all that the rule looks at there, by bytes; NAN: not of bytes */
	const char *expected, *seen;
	const char *why; /* UNKNOWN, SKIP, WAIVED: the reason; else NULL */
	const char
		*cause; /* found in the evidence; NULL: only the rule's likely causes are known */
	struct finding_example examples[FINDING_EXAMPLES];
	size_t example_count;
};

#define JUDGE_LEAST_ROUNDS 3 /* that it takes to tell a slow node, and to confirm that it is */

#endif
