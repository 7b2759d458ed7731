/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of transfers by node or pair of nodes, and the share of wrong ones. */
#ifndef UCXBPF_JUDGE_RULES_TALLY_H
#define UCXBPF_JUDGE_RULES_TALLY_H

#include "site/judge/rules/rules.h"

/* The sums of one subject: all transfers, and the wrong ones. */
struct tally {
	struct subject subject;
	const struct node *node, *other; /* key: the node, or both of a pair */
	uint64_t count, bytes; /* of the wrong ones */
	uint64_t all_count, all_bytes;
	uint64_t unknown; /* bytes of all whose transport is not known */
	/* beside these, what may fit the rule: that depends on sizes of messages, not known here */
	struct {
		uint64_t count, bytes; /* wrong ones among them */
		uint64_t all_count, all_bytes;
		uint64_t unknown;
	} maybe;
	bool spared; /* no FAIL: certain faults are allowed unless a possible one is a fault, too */
	bool critical; /* a FAIL is, whatever the severity of the rule */
	const struct traffic_cell *worst; /* the wrong cell of most bytes */
	const char *seen; /* in its place, where that says too little */
	const char *undecided; /* why some of the others may be wrong; NULL: they are right */
	struct finding_example examples[FINDING_EXAMPLES];
	size_t example_count;
};

struct tallies {
	VEC(struct tally) list;
	struct map index; /* (node, other) -> 1 + position */
};

void tallies_release(struct tallies *tallies);

/* The tally of a pair of nodes; the subject is named once. */
struct tally *tally_pair(const struct rule_ctx *ctx, struct tallies *tallies,
			 const struct node *from, const struct node *to);

/* The tally of the node whose end is known. */
struct tally *tally_known(const struct rule_ctx *ctx, struct tallies *tallies,
			  const struct traffic_cell *cell);

/* The tally of the node that a cell is within, else of the pair. */
struct tally *tally_cell(const struct rule_ctx *ctx, struct tallies *tallies,
			 const struct traffic_cell *cell);

/* The same, if there is one; NULL: none. */
struct tally *tallies_find(const struct rule_ctx *ctx, const struct tallies *tallies,
			   const struct traffic_cell *cell);

/* The tally of the node that the bytes leave. */
struct tally *tally_source(const struct rule_ctx *ctx, struct tallies *tallies,
			   const struct traffic_cell *cell);

/* The tally of the node whose device the cell is of. */
struct tally *tally_owner(const struct rule_ctx *ctx, struct tallies *tallies,
			  const struct traffic_cell *cell);

void tally_examples(struct tally *tally, const struct traffic_cell *cell);

/* Whether a rule is about the transfers of a cell, and whether they are wrong. */
struct cell_answer {
	enum fits about;
	bool wrong;
};

typedef struct cell_answer measure_fn(const struct rule_ctx *ctx, const struct traffic_cell *cell);
typedef struct tally *group_fn(const struct rule_ctx *ctx, struct tallies *tallies,
			       const struct traffic_cell *cell);

/*
 * A rule about cells: it measures each cell, sums them up by group, compares each group with a
 * limit and phrases its finding.
 */
struct cell_rule {
	measure_fn *measure;
	group_fn *group;
	double allowed; /* share that may be wrong */
	const char *expected;
	/* these may be NULL: */
	void (*adjust)(const struct rule_ctx *ctx, struct tally *tally); /* before it is compared */
	/* the first wrong cell; without it, cell_text() of the wrong cell of most bytes */
	const char *(*phrase)(const struct rule_ctx *ctx, const struct traffic_cell *cell);
	/* why a cell that is not wrong may be wrong nevertheless; NULL: it is right */
	const char *(*undecided)(const struct rule_ctx *ctx, const struct traffic_cell *cell);
};

void cells_judge(const struct rule_ctx *ctx, const struct cell_rule *rule);

/* Its first half: fills the tallies, which the caller releases. */
void tallies_measure(const struct rule_ctx *ctx, struct tallies *tallies,
		     const struct cell_rule *rule);

/* The share of wrong bytes, or of wrong transfers where none has bytes. */
double tally_share(const struct tally *tally);

/*
 * A finding per tally: FAIL where more than that share is wrong, whatever sizes messages of unknown
 * size have. UNKNOWN where the verdict depends on these sizes, where more has no known transport
 * than COV-05 allows, or where some cells are undecided. Else PASS. Releases the tallies.
 */
void tallies_judge(const struct rule_ctx *ctx, struct tallies *tallies, double allowed,
		   const char *expected);

/* Why a verdict is unknown that depends on messages of these bytes, whose sizes are not known. */
const char *why_unsized(const struct rule_ctx *ctx, uint64_t bytes);

#endif
