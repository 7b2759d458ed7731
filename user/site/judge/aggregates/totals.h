/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of fact_totals that judging uses, by name, and sums of them. */
#ifndef UCXBPF_JUDGE_AGGREGATES_TOTALS_H
#define UCXBPF_JUDGE_AGGREGATES_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "explain/facts/facts.h"
#include "site/judge/words/words.h"
#include "site/judge/words/subject.h"

#define TOTALS_NUMBERS 18
#define TOTALS_LISTS 5

struct totals_member {
	const char *name;
	size_t offset; /* of a uint64_t, or of an array of FACT_MAX_REASONS reasons */
};

extern const struct totals_member totals_numbers[TOTALS_NUMBERS];
extern const struct totals_member totals_lists[TOTALS_LISTS];

/* The member of that name; NULL: no such member. */
uint64_t *totals_number(struct fact_totals *totals, const char *name);
struct fact_reason *totals_list(struct fact_totals *totals, const char *name);

/* Adds a reason, which must outlive the list; if the list is full, it joins the last one. */
void totals_reason(struct fact_reason *list, const char *reason, uint64_t count);

/* Reasons by their frequency, then by name. */
void totals_order(struct fact_totals *totals);

/* Sum of a list's counts. */
uint64_t reasons_sum(const struct fact_reason *reasons);

/*
 * ---- missing evidence by node ----
 *
 * If records are missing, no rule about that node passes. If captures recorded everything, but only
 * in windows of time, rules judge these windows.
 */

enum loss_kind {
	LOSS_RECORDS, /* that found no room while they were traced */
	LOSS_MISSING, /* records that did, and are not in the file */
	LOSS_HITS, /* of probes: an unknown number of records */
	LOSS_BYTES, /* of a file, that could not be read */
	LOSS_FILES, /* that are cut short, damaged or cannot be read */
	LOSS_THINNED, /* records that were left out on purpose: in sums, without detail */
	LOSS_WINDOWS, /* of a budget, with fewer layers */
	LOSS_SPANS, /* windows with all layers: between them nothing, or less, was recorded */
	LOSS_NARROW, /* windows with fewer layers, of captures that have none with all layers */
	LOSS_KINDS
};

extern const char *const loss_names[LOSS_KINDS]; /* part of evidence (docs/evidence.md) */

struct node_loss {
	const char *node; /* kept by the losses */
	uint64_t counts[LOSS_KINDS];
};

struct losses {
	struct words names;
	VEC(struct node_loss) list; /* by name once losses_order() */
};

void losses_release(struct losses *losses);
void losses_add(struct losses *losses, const char *node, enum loss_kind kind, uint64_t count);
void losses_order(struct losses *losses);

/* Sum over all nodes. */
uint64_t losses_sum(const struct losses *losses, enum loss_kind kind);

/* Whether something of that node is missing. */
bool losses_has(const struct losses *losses, const char *node);

enum lack {
	LACK_NOTHING,
	LACK_TIMES, /* some spans were recorded completely, and can be judged */
	LACK_RECORDS
};

/*
 * The worst lack of a subject's nodes, and *node that has it; NULL for LACK_NOTHING. After
 * losses_order().
 */
enum lack losses_in(const struct losses *losses, const struct subject *subject, const char **node);

/* Likewise of all nodes. */
enum lack losses_worst(const struct losses *losses, const char **node);

#endif
