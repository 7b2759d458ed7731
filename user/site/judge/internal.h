/* SPDX-License-Identifier: BSD-3-Clause */
/* A judgement: what there is to look at, and what was found. */
#ifndef UCXBPF_JUDGE_INTERNAL_H
#define UCXBPF_JUDGE_INTERNAL_H

#include "site/judge/exhibits/exhibits.h"
#include "site/judge/exhibits/inventory.h"
#include "site/judge/exhibits/losses.h"
#include "site/judge/exhibits/sweep.h"

struct judge {
	struct exhibits exhibits;
	struct node_inventories inventories;
	struct sweep sweep;
	const struct judge *earlier; /* of an earlier sweep, finished; NULL: none was given */
	const struct policy *policy;
	VEC(struct finding) findings;
	VEC(char *) made; /* strings of findings */
	struct losses losses; /* of these nodes nothing may pass */
	bool captures_broken; /* something is missing, who knows of which node */
	bool incomplete; /* records were or may be lost, who knows where: nothing may pass */
};

/* The subject of what is said of everything. */
#define ALL_CAPTURES "all captures"

/* Lives as long as the judge. */
const char *say(struct judge *judge, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "50,670,930 B": exact, for texts that are compared but for their numbers. */
const char *say_bytes(struct judge *judge, uint64_t bytes);

/* "1.23 ms" */
const char *say_time(struct judge *judge, double ns);

#endif
