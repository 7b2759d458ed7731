/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings that are equal but for their subjects, as one line. */
#ifndef UCXBPF_JUDGE_VERDICT_LINES_H
#define UCXBPF_JUDGE_VERDICT_LINES_H

#include "site/judge/internal.h"

struct line {
	VEC(const struct finding *) findings;
	const struct finding *finding; /* of them, the one of most bytes */
	char *subject; /* all of them: "n[0-3]" */
	size_t subjects, judged; /* how many, and how many the rule judged */
	uint64_t count, bytes; /* over all of them */
	bool differs; /* findings differ in their numbers: the shown one is an example */
};

struct lines {
	VEC(struct line) list; /* the worst first, then in the catalogue's order */
};

/* verbose: also findings that passed or were skipped, and all subjects by name. */
void lines_make(struct lines *lines, const struct judge *judge, bool verbose);
void lines_release(struct lines *lines);

/* The first word of a line: "FAIL C", "WARN", "INFO", "UNKN"... */
const char *finding_mark(const struct finding *finding);

/*
 * n0, n1, n2 -> "n[0-2]"; n0:mlx5_0, n1:mlx5_0 -> "n[0-1]:mlx5_0"; all pairs of some nodes ->
 * "n[0-3]>n[0-3]". Subjects that do not fold follow after a comma; beyond most of them (0: any
 * number) the rest is counted. The caller frees it.
 */
char *subjects_fold(const struct subject *const *subjects, size_t count, size_t most);

#endif
