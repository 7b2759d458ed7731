// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/words/subject.h"

#include <string.h>

#include "site/judge/words/words.h"
#include "site/judge/words/finding.h"

const struct verdict_words verdict_words[VERDICTS] = {
	[VERDICT_PASS] = { "PASS", "pass", "pass" },
	[VERDICT_FAIL] = { "FAIL", "fail", "FAIL" },
	[VERDICT_UNKNOWN] = { "UNKNOWN", "unknown", "UNKN" },
	[VERDICT_SKIP] = { "SKIP", "skip", "skip" },
	[VERDICT_WAIVED] = { "WAIVED", "waived", "waived" },
};

static const char *or_unknown(const char *name)
{
	return name ? name : "?";
}

struct subject subject_plain(enum subject_kind kind, const char *text)
{
	return (struct subject){ .kind = kind, .text = text };
}

struct subject subject_captures(void)
{
	return subject_plain(SUBJECT_CAPTURES, "all captures");
}

struct subject subject_node(const char *node)
{
	return (struct subject){
		.kind = SUBJECT_NODE,
		.node = node,
		.text = node ? node : "unknown node",
	};
}

const char *subject_between(const struct subject *subject)
{
	static const char *const separators[SUBJECT_KINDS] = {
		[SUBJECT_NIC] = ":",  [SUBJECT_RANK] = ":",  [SUBJECT_PID] = ":",
		[SUBJECT_FLOW] = ">", [SUBJECT_PAIR] = "<>",
	};

	return separators[subject->kind] ? separators[subject->kind] : "";
}

const char *subject_first(const struct subject *subject)
{
	return *subject_between(subject) ? or_unknown(subject->node) : subject->text;
}

const char *subject_rest(const struct subject *subject)
{
	if (subject->part)
		return subject->part;
	return *subject_between(subject) ? or_unknown(subject->other) : "";
}

bool subject_is(const struct subject *subject, const char *node)
{
	return (subject->node && !strcmp(subject->node, node)) ||
	       (subject->other && !strcmp(subject->other, node));
}

size_t subject_nodes(const struct subject *subject, const struct words *names,
		     const char *nodes[SUBJECT_NODES])
{
	const char *own[SUBJECT_NODES] = { subject->node, subject->other };
	size_t count = 0;

	for (size_t i = 0; i < SUBJECT_NODES; i++) {
		const char *kept = own[i] ? words_find(names, own[i], strlen(own[i])) : NULL;

		if (kept)
			nodes[count++] = kept;
	}
	return count;
}
