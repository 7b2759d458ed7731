// SPDX-License-Identifier: BSD-3-Clause
/* The state of a judge, its input, and the parts of findings. */
#include "site/judge/judge.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/units.h"
#include "site/judge/aggregates/sweep.h"
#include "site/judge/words/words.h"
#include "site/judge/internal.h"

struct judge *judge_new(const struct policy *policy)
{
	struct judge *judge = xcalloc(1, sizeof(*judge));

	judge->policy = policy;
	aggregates_init(&judge->aggregates, policy);
	return judge;
}

void judge_free(struct judge *judge)
{
	if (!judge)
		return;
	aggregates_release(&judge->aggregates);
	inventories_release(&judge->inventories);
	sweep_release(&judge->sweep);
	losses_release(&judge->losses);
	words_release(&judge->names);
	vec_release(&judge->findings);
	vec_release(&judge->files);
	for (size_t i = 0; i < judge->made.len; i++)
		free(judge->made.data[i]);
	vec_release(&judge->made);
	free(judge);
}

void input_begins(struct judge *judge)
{
	assert(judge->phase <= JUDGE_FED);
	judge->phase = JUDGE_FED;
}

struct fact_sink judge_sink(struct judge *judge)
{
	input_begins(judge);
	return aggregates_sink(&judge->aggregates);
}

void judge_plan(struct judge *judge, const struct plan *plan)
{
	input_begins(judge);
	assert(!judge->sweep.ranks.len);
	sweep_plan(&judge->sweep, plan);
}

void judge_ledger(struct judge *judge, const struct ledger_entry *entry)
{
	input_begins(judge);
	assert(judge->sweep.plan);
	sweep_entry(&judge->sweep, entry);
}

void judge_baseline(struct judge *judge, const struct judge *earlier)
{
	assert(earlier->phase == JUDGE_FINISHED);
	input_begins(judge);
	judge->earlier = earlier;
}

void judge_inventory(struct judge *judge, const struct inventory *inventory)
{
	input_begins(judge);
	inventories_add(&judge->inventories, judge->policy, inventory);
}

void judge_capture(struct judge *judge, const char *host_id, const char *host_name, uint64_t start)
{
	const struct aggregated_capture capture = { host_id, host_name, start };

	input_begins(judge);
	vec_push(&judge->aggregates.captures, capture);
}

void judge_captures_broken(struct judge *judge)
{
	input_begins(judge);
	judge->captures_broken = true;
}

void judge_loss(struct judge *judge, const struct judge_loss *loss)
{
	input_begins(judge);
	if (!loss->node) {
		judge->captures_broken = judge->captures_broken || loss->files || loss->hits ||
					 loss->windows || loss->spans;
		return;
	}
	losses_add(&judge->losses, loss->node, LOSS_RECORDS, loss->records);
	losses_add(&judge->losses, loss->node, LOSS_MISSING, loss->missing);
	losses_add(&judge->losses, loss->node, LOSS_HITS, loss->hits);
	losses_add(&judge->losses, loss->node, LOSS_BYTES, loss->bytes);
	losses_add(&judge->losses, loss->node, LOSS_FILES, loss->files);
	losses_add(&judge->losses, loss->node, LOSS_THINNED, loss->thinned);
	losses_add(&judge->losses, loss->node, LOSS_WINDOWS, loss->windows);
	losses_add(&judge->losses, loss->node, LOSS_SPANS, loss->spans);
	/* windows with all layers in another job's capture do not count for this one */
	if (!loss->spans)
		losses_add(&judge->losses, loss->node, LOSS_NARROW, loss->windows);
}

void judge_file(struct judge *judge, const char *node, const char *file, const char *why)
{
	input_begins(judge);
	vec_push(&judge->files,
		 ((struct lacking_file){ node ? say(judge, "%s", node) : NULL,
					 say(judge, "%s", file), say(judge, "%s", why) }));
}

/* ---- parts of findings: texts that live as long as the judge, and subjects with one ---- */

const char *say(struct judge *judge, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	vec_push(&judge->made, text);
	return text;
}

const char *say_bytes(struct judge *judge, uint64_t bytes)
{
	char text[40];

	unit_bytes(text, sizeof(text), bytes, true);
	return say(judge, "%s", text);
}

const char *say_time(struct judge *judge, double ns)
{
	char text[32];

	unit_time(text, sizeof(text), (uint64_t)ns, false);
	return say(judge, "%s", text);
}

/* ---- subjects ---- */

static const char *or_unknown(const char *name)
{
	return name ? name : "?";
}

static struct subject subject_part(struct judge *judge, enum subject_kind kind, const char *node,
				   const char *part)
{
	return (struct subject){
		.kind = kind,
		.node = node,
		.part = part,
		.text = say(judge, "%s:%s", or_unknown(node), part),
	};
}

struct subject subject_nic(struct judge *judge, const char *node, const char *nic)
{
	return subject_part(judge, SUBJECT_NIC, node, nic);
}

struct subject subject_rank(struct judge *judge, const char *node, int rank)
{
	return subject_part(judge, SUBJECT_RANK, node, say(judge, "rank%d", rank));
}

struct subject subject_pid(struct judge *judge, const char *node, unsigned int pid)
{
	return subject_part(judge, SUBJECT_PID, node, say(judge, "pid%u", pid));
}

static struct subject subject_both(struct judge *judge, enum subject_kind kind, const char *node,
				   const char *other)
{
	struct subject subject = { .kind = kind, .node = node, .other = other };

	subject.text = say(judge, "%s%s%s", or_unknown(node), subject_between(&subject),
			   or_unknown(other));
	return subject;
}

struct subject subject_flow(struct judge *judge, const char *from, const char *to)
{
	return subject_both(judge, SUBJECT_FLOW, from, to);
}

struct subject subject_pair(struct judge *judge, const char *one, const char *other)
{
	return subject_both(judge, SUBJECT_PAIR, one, other);
}
