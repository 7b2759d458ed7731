// SPDX-License-Identifier: BSD-3-Clause
/* One fault and its consequences are one finding. */
#include <string.h>
#include <xxhash.h>

#include "site/judge/outcome/outcome.h"

/* What separates the two nodes of a pair, and a node from its rank or device. */
#define SEPARATORS ">:<"

/* The n-th node of a subject, of two at most: its length; 0: there is none. */
static size_t node_of(const char *subject, int n, const char **node)
{
	const char *first_end = subject + strcspn(subject, SEPARATORS);

	*node = n ? first_end + strspn(first_end, "<>") : subject;
	return n && *node == first_end ? 0 : strcspn(*node, SEPARATORS);
}

static uint64_t hash_of(const char *subject, int n)
{
	const char *node;
	size_t length = node_of(subject, n, &node);

	return length ? XXH3_64bits(node, length) : 0;
}

/* Nodes that a failure of a path has to do with -> 1 + its position. */
static void find_wrong_paths(const struct judge *judge, struct map *wrong)
{
	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *path = &judge->findings.data[i];

		if (path->verdict != VERDICT_FAIL || strncmp(path->rule->id, "PATH", 4))
			continue;
		for (int n = 0; n < 2; n++) {
			uint64_t *at = map_insert(wrong, hash_of(path->subject, n), 0, NULL);

			*at = *at ? *at : 1 + i;
		}
	}
	map_remove(wrong, 0, 0);
}

static const struct finding *explanation(const struct judge *judge, const struct map *wrong,
					 const char *subject)
{
	for (int n = 0; n < 2; n++) {
		const uint64_t *at = map_find(wrong, hash_of(subject, n), 0);

		if (at)
			return &judge->findings.data[*at - 1];
	}
	return NULL;
}

/* What goes the wrong way is slow: that is one fault, and the way is its cause. */
void judge_explain(struct judge *judge)
{
	struct map wrong = { 0 };

	find_wrong_paths(judge, &wrong);
	for (size_t i = 0; i < judge->findings.len; i++) {
		struct finding *finding = &judge->findings.data[i];
		const struct finding *path;

		if (finding->verdict != VERDICT_FAIL || strncmp(finding->rule->id, "PERF", 4))
			continue;
		path = explanation(judge, &wrong, finding->subject);
		if (!path)
			continue;
		finding->verdict = VERDICT_SKIP;
		finding->seen = NULL;
		finding->why = say(judge, "explained by %s of %s", path->rule->id, path->subject);
	}
	map_release(&wrong);
}
