/* SPDX-License-Identifier: BSD-3-Clause */
/* The subject of a finding: built where the finding is made, and put into words once, there. */
#ifndef UCXBPF_JUDGE_WORDS_SUBJECT_H
#define UCXBPF_JUDGE_WORDS_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>

enum subject_kind {
	SUBJECT_CAPTURES, /* all captures */
	SUBJECT_OTHER, /* no single node either: all pairs, a line of the policy */
	SUBJECT_JOB, /* job 1234 */
	SUBJECT_NODE, /* n0 */
	SUBJECT_NIC, /* n0:mlx5_0 */
	SUBJECT_RANK, /* n0:rank3 */
	SUBJECT_PID, /* n0:pid77 */
	SUBJECT_FLOW, /* n0>n1 */
	SUBJECT_PAIR, /* n0<>n1, both directions */
	SUBJECT_TIMES, /* inter.host-host: times of many nodes */
	SUBJECT_WAY, /* way of inter.host-host.8 */
	SUBJECT_KINDS
};

struct subject {
	enum subject_kind kind;
	const char *node; /* NULL: none, or its name is not known */
	const char *other; /* of SUBJECT_FLOW and SUBJECT_PAIR: the second node */
	const char *part; /* of the node: "mlx5_0", "rank3" */
	const char *text; /* as printed */
};

struct words;

/* Strings must live as long as the judge. Subjects with a text of their own: internal.h. */
struct subject subject_node(const char *node);
struct subject subject_captures(void);

/* Another subject without nodes: SUBJECT_OTHER, SUBJECT_JOB, SUBJECT_TIMES, SUBJECT_WAY. */
struct subject subject_plain(enum subject_kind kind, const char *text);

/* The separator behind the node: ":", ">", "<>", or "" where nothing follows. */
const char *subject_between(const struct subject *subject);

/* The text before the separator, or the whole text without one. */
const char *subject_first(const struct subject *subject);

/* The text behind the separator; "" without one. */
const char *subject_rest(const struct subject *subject);

bool subject_is(const struct subject *subject, const char *node);

/* Writes the nodes of a subject that are among the names, as kept there; returns how many. */
#define SUBJECT_NODES 2
size_t subject_nodes(const struct subject *subject, const struct words *names,
		     const char *nodes[SUBJECT_NODES]);

#endif
