/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares captures with a policy: facts go in, findings come out, one per rule and subject.
 * Missing evidence never passes: the verdict is UNKNOWN, with the reason.
 */
#ifndef UCXBPF_JUDGE_JUDGE_H
#define UCXBPF_JUDGE_JUDGE_H

#include <stdio.h>

#include "base/vec.h"
#include "explain/facts/facts.h"
#include "site/judge/words/finding.h"
#include "site/policy/policy.h"

struct judge;

/*
 * A judge takes input until judge_finish(), then it gives findings; a call in another order is a
 * fault of the program and aborts it. The policy must outlive the judge.
 */
struct judge *judge_new(const struct policy *policy);
void judge_free(struct judge *judge);

/* The sink to feed; strings of the facts must live until judge_free(). */
struct fact_sink judge_sink(struct judge *judge);

struct inventory;

/*
 * A snapshot of a node; any number of them, in any order, of any nodes. It must live until
 * judge_free().
 */
void judge_inventory(struct judge *judge, const struct inventory *inventory);

/*
 * The facts include a capture of this host that began then, ns of its CLOCK_MONOTONIC: evidence
 * distinguishes captures by that. The strings must live until judge_free().
 */
void judge_capture(struct judge *judge, const char *host_id, const char *host_name, uint64_t start);

struct plan;
struct ledger_entry;

/*
 * The plan of a sweep, which must live until judge_free(); before its ledgers. These come file by
 * file, each from its first line on: an entry need not live on.
 */
void judge_plan(struct judge *judge, const struct plan *plan);
void judge_ledger(struct judge *judge, const struct ledger_entry *entry);

/*
 * Another judge, of an earlier sweep: its times and ways are the baseline. It is finished, and must
 * outlive this one.
 */
void judge_baseline(struct judge *judge, const struct judge *earlier);

/* Input is incomplete and no node can be named: nothing passes. */
void judge_captures_broken(struct judge *judge);

/* Likewise for one node, a call per capture: no rule about it or its pairs passes. */
struct judge_loss {
	const char *node; /* NULL: as above, where it has files, hits, windows or spans */
	uint64_t records; /* that found no room while they were traced */
	uint64_t missing; /* that did, and are not in the file */
	uint64_t hits; /* of probes, of which no record could be made */
	uint64_t bytes; /* of a file, that could not be read */
	uint64_t files; /* that are cut short, damaged or cannot be read */
	uint64_t thinned; /* records left out on purpose: in sums, without detail */
	uint64_t windows; /* of a budget, with fewer layers */
	uint64_t spans; /* windows with all layers, of a capture that did not record all the time:
			   rules about them may pass */
};
void judge_loss(struct judge *judge, const struct judge_loss *loss);

/*
 * Names one of the files that judge_loss() counts, and why it does: "the end of the capture was cut
 * off". Texts are copied. node NULL: not known.
 */
void judge_file(struct judge *judge, const char *node, const char *file, const char *why);

/* All facts are in. today: days since 1970, for waivers. */
void judge_finish(struct judge *judge, const struct fact_totals *totals, int64_t today);

struct judge_summary {
	size_t verdicts[VERDICTS];
	size_t critical, warning; /* of the failures */
	size_t unknown; /* without those of severity info */
	size_t info; /* of that severity, and fail or unknown: leave the exit status as it is */
	size_t nodes, failed_nodes; /* the latter without those of severity info alone */
};

/* After judge_finish(); nodes: of captures or with an inventory. */
struct judge_summary judge_summary(const struct judge *judge);

/* Two nodes of a sweep, by name. */
struct judge_pair {
	const char *one, *other;
};

/*
 * Nodes that PERF-01 and pairs that PERF-02 found slow in a sweep whose plan does not confirm it,
 * and nodes that PERF-01 found in order. None is suspected where the policy does not want it
 * confirmed. The names are the judge's.
 */
struct judge_suspects {
	VEC(const char *) slow, sound;
	VEC(struct judge_pair) pairs;
};

void judge_suspects(const struct judge *judge, struct judge_suspects *suspects);
void judge_suspects_release(struct judge_suspects *suspects);

/* Exit status of site validation: 0 pass, 1 warnings only, 2 critical, 3 evidence incomplete. */
int judge_status(const struct judge *judge, bool warn_ok);

struct judge_output {
	bool warn_ok; /* as for judge_status() */
	bool verbose; /* text: passed and skipped ones, causes and examples, too */
	bool colour; /* text */
	int width; /* text: columns of the terminal; 0: a line is as long as it is */
	const char *
		beside; /* html: the report's page to link to as page_beside() allows; NULL: none */
};

/* Each returns 0 or -errno of a failed write. */
int judge_text(const struct judge *judge, const struct judge_output *how, FILE *out);
/* docs/check.schema.json: "ucxbpf.check/1" */
int judge_json(const struct judge *judge, const struct judge_output *how, FILE *out);
/* For the page (page_verdict(), user/show/page/page.h): the same, what rules say once, and lines as
 * the text has them
 */
int judge_page_data(const struct judge *judge, const struct judge_output *how, FILE *out);
int judge_junit(const struct judge *judge, const struct judge_output *how, FILE *out);
/* OpenMetrics, and the older form that a node exporter's textfile collector reads. */
int judge_openmetrics(const struct judge *judge, const struct judge_output *how, FILE *out);
int judge_textfile(const struct judge *judge, const struct judge_output *how, FILE *out);

/*
 * Writes a policy from the facts: how messages travelled, as lines of 'expect' marked as learnt.
 * Lines that hard rules refuse become comments. judge_learn_sizes() comes before the first fact,
 * judge_learn() after judge_finish(). -EBADMSG: records were lost; -ENOTSUP: the
 * captures left out transfers; -ENODATA: nothing moved; else 0 or -errno of a failed write.
 */
void judge_learn_sizes(struct judge *judge);
int judge_learn(const struct judge *judge, FILE *out);

#endif
