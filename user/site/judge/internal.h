/* SPDX-License-Identifier: BSD-3-Clause */
/* A judgement: its input and its findings. */
#ifndef UCXBPF_JUDGE_INTERNAL_H
#define UCXBPF_JUDGE_INTERNAL_H

#include "site/judge/aggregates/aggregates.h"
#include "site/judge/aggregates/inventory.h"
#include "site/judge/aggregates/totals.h"
#include "site/judge/aggregates/sweep.h"
#include "site/judge/words/finding.h"
#include "site/judge/words/words.h"

/* A judge goes through these in order; judge.h names the functions of each. */
enum judge_phase {
	JUDGE_EMPTY, /* the sizes that its cells distinguish may still be added */
	JUDGE_FED, /* input has come, and more may come */
	JUDGE_WRITTEN, /* as evidence: it has no findings */
	JUDGE_FINISHED, /* its findings are there */
};

/* A file that is not whole, or cannot be read. */
struct lacking_file {
	const char *node; /* NULL: not known */
	const char *file, *why;
};

struct judge {
	enum judge_phase phase;
	struct aggregates aggregates;
	struct node_inventories inventories;
	struct sweep sweep;
	const struct judge *earlier; /* of an earlier sweep, finished; NULL: none was given */
	const struct policy *policy;
	VEC(struct finding) findings; /* finished: in the order of the catalogue, then by subject */
	VEC(char *) made; /* strings of findings */
	struct losses losses; /* of these nodes nothing may pass */
	/* files that losses count or captures_broken stands for, as far as their names are known */
	VEC(struct lacking_file) files;
	struct words names; /* of nodes, each once: of captures, then of inventories alone */
	bool captures_broken; /* something is missing, of an unknown node */
	bool incomplete; /* records were or may be lost on an unknown node: no rule may pass */
};

/* Input comes: asserts that it still may. */
void input_begins(struct judge *judge);

/* Lives as long as the judge. */
const char *say(struct judge *judge, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "50,670,930 B": exact, for texts that are compared but for their numbers. */
const char *say_bytes(struct judge *judge, uint64_t bytes);

/* "1.23 ms" */
const char *say_time(struct judge *judge, double ns);

/* ---- subjects with a text that the judge keeps; the names must live as long ---- */

struct subject subject_nic(struct judge *judge, const char *node, const char *nic);
struct subject subject_rank(struct judge *judge, const char *node, int rank);
struct subject subject_pid(struct judge *judge, const char *node, unsigned int pid);
struct subject subject_flow(struct judge *judge, const char *from, const char *to);
struct subject subject_pair(struct judge *judge, const char *one, const char *other);

/* ---- what findings say together ---- */

/* Rules with a verdict other than SKIP. */
size_t rules_judged(const struct judge *judge);

/* Transfers that rules considered. */
uint64_t transfers_judged(const struct judge *judge);

#endif
