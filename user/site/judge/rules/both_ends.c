// SPDX-License-Identifier: BSD-3-Clause
/* COV-04: whether both ends of messages are there, and every operation ended. */
#include "base/alloc.h"
#include "site/judge/aggregates/totals.h"
#include "site/judge/rules/rules.h"
#include "site/judge/rules/tally.h"

/*
 * ---- operations that never end ----
 *
 * A rank that waits for one that hangs is not to blame: which of both it is, a sweep's ledgers
 * tell, since a rank that runs writes down that it waits.
 */

#define NS 1e9

/* A job of a sweep in which ranks wait. */
struct held {
	const struct sweep_rank *culprit; /* NULL: no ledger says that any is */
	bool named; /* it has an operation of its own that is open */
	bool waited_for;
};

struct open {
	const struct rule_ctx *ctx;
	const struct sweep *sweep;
	VEC(struct held) jobs;
};

static const char *or_unknown(const char *word)
{
	return word ? word : "?";
}

/* A rank whose round takes too long does nothing more for a while, before it ends. */
static bool only_slow(const struct open *open, const struct sweep_rank *rank, const struct sum *sum)
{
	return sweep_fate(open->sweep, rank) == FATE_STUCK &&
	       sum->least < (open->ctx->settings->cov_04.open + PLAN_GRACE_S) * NS;
}

/* A call that began before the trace was seen for less time than the rule allows. */
static const char *too_short(const struct open *open, const struct sum *sum)
{
	const char *peer = process_subject(open->ctx, sum->peer).text;

	return say(open->ctx->judge,
		   "in %s since before the trace%s%s, seen for %.1f s: attach for at least %g s",
		   or_unknown(sum->words[1]), peer ? ", with " : "", peer ? peer : "",
		   sum->least / NS, open->ctx->settings->cov_04.open);
}

/* Why the rank is not to blame; NULL: no reason known. */
static const char *excuse(struct open *open, const struct sum *sum)
{
	const struct sweep_rank *rank = sweep_rank_of_member(open->sweep, sum->process);
	struct held *held = rank ? &open->jobs.data[rank->job] : NULL;
	const struct node *node = aggregates_node(open->ctx->aggregates, sum->process);
	struct judge *judge = open->ctx->judge;
	enum sweep_fate fate;

	/* its end may be among the lost records */
	if (sum->words[2] && sum->least < open->ctx->settings->cov_04.open * NS)
		return too_short(open, sum);
	if (judge->incomplete || (node && losses_has(&judge->losses, node->name)))
		return "it may have ended: records were lost (COV-01)";
	if (!held)
		return NULL;
	/* its turn may not have come: its peers may have been at work */
	fate = sweep_fate(open->sweep, rank);
	if (fate == FATE_UNKNOWN)
		return "the job was stopped, and none of its ranks had waited for too long: it may "
		       "only be slow (COV-03)";
	if (!held->culprit)
		return NULL;
	if (only_slow(open, rank, sum))
		return "its round exceeded its time limit, and it stopped by itself: it may only be "
		       "slow (COV-03)";
	if (fate == FATE_TAKEN)
		return say(judge, "the job was ended: rank %d of %s %s (COV-03)",
			   held->culprit->rank, held->culprit->node_name, held->culprit->gone);
	if (fate != FATE_WAITED) {
		held->named = held->named || rank == held->culprit;
		return NULL;
	}
	if (sweep_fate(open->sweep, held->culprit) == FATE_STUCK)
		return "it ran, and waited for others, whose round exceeded its time limit (COV-03)";
	held->waited_for = true;
	return say(judge, "it ran, and waited: rank %d of %s does not continue (COV-03)",
		   held->culprit->rank, held->culprit->node_name);
}

static void judge_one(struct open *open, const struct sum *sum, struct subject subject)
{
	const struct rule_ctx *ctx = open->ctx;
	const char *peer = process_subject(ctx, sum->peer).text, *why = excuse(open, sum);
	struct finding *finding = found(ctx, why ? VERDICT_UNKNOWN : VERDICT_FAIL, subject);

	finding->why = why;
	finding->count = sum->count;
	finding->bytes = sum->bytes;
	finding->expected =
		say(ctx->judge, "no operation open for %g s or longer", ctx->settings->cov_04.open);
	finding->seen =
		sum->words[2]
			? say(ctx->judge,
			      "%s in %s%s%s: open for %.1f s and more, since before the trace",
			      or_unknown(sum->words[0]), or_unknown(sum->words[1]),
			      peer ? ", other end " : "", peer ? peer : "", sum->most / NS)
			: say(ctx->judge,
			      "%s in %s%s%s: open for %.1f s, nothing else for the last %.1f s",
			      or_unknown(sum->words[0]), or_unknown(sum->words[1]),
			      peer ? ", other end " : "", peer ? peer : "", sum->most / NS,
			      sum->least / NS);
}

/* It may have been stopped between two operations: only the ranks that wait for it show that. */
static void name_culprit(const struct rule_ctx *ctx, const struct sweep_rank *culprit)
{
	struct finding *finding = found(
		ctx, VERDICT_FAIL, subject_rank(ctx->judge, culprit->node_name, culprit->rank));

	finding->expected = "it continues, since others wait for it";
	finding->seen =
		sweep_silent(culprit) && !sweep_died(culprit)
			? "it did not run when its time limit was reached: it hangs or has died"
			: say(ctx->judge, "it %s", culprit->gone);
}

/* Of COV-04, operations that never ended. */
static void judge_open(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	struct open open = { .ctx = ctx, .sweep = &ctx->judge->sweep };

	for (size_t job = 0; job < open.sweep->jobs.len; job++)
		vec_push(&open.jobs, ((struct held){ .culprit = sweep_culprit(open.sweep, job) }));
	for (size_t i = 0; i < aggregates->sums.list.len; i++) {
		const struct sum *sum = &aggregates->sums.list.data[i];
		struct subject subject = process_subject(ctx, sum->process);

		if (sum->kind == SUM_OPEN && subject.text &&
		    (sum->words[2] || sum->least >= ctx->settings->cov_04.open * NS))
			judge_one(&open, sum, subject);
	}
	for (size_t job = 0; job < open.jobs.len; job++) {
		const struct held *held = &open.jobs.data[job];

		if (held->waited_for && !held->named &&
		    sweep_fate(open.sweep, held->culprit) == FATE_HANGS)
			name_culprit(ctx, held->culprit);
	}
	vec_release(&open.jobs);
}

/* Why a rank that others wait for is not to blame; NULL: no reason known. */
static const char *behind_excuse(const struct rule_ctx *ctx, const struct sum *sum,
				 const char *said)
{
	const struct node *node = aggregates_node(ctx->aggregates, sum->process);
	const struct judge *judge = ctx->judge;

	if (judge->incomplete || (node && losses_has(&judge->losses, node->name)))
		return "those that wait for it may have ended: records were lost (COV-01)";
	if (sum->most < ctx->settings->cov_04.open * NS)
		return say(ctx->judge, "%s: attach for at least %g s", said,
			   ctx->settings->cov_04.open);
	return sum->words[3] || sum->process < 0 ? said : NULL;
}

static void judge_late(const struct rule_ctx *ctx, const struct sum *sum)
{
	const char *said = say(ctx->judge, "%s, in %s for %.1f s%s", or_unknown(sum->words[0]),
			       or_unknown(sum->words[1]), sum->most / NS,
			       sum->words[2] ? " and more, since before the trace" : "");
	const char *why = behind_excuse(ctx, sum, said);
	struct subject subject = process_subject(ctx, sum->process);
	struct finding *finding;

	if (!subject.text)
		subject = subject_captures();
	finding = found(ctx, why ? VERDICT_UNKNOWN : VERDICT_FAIL, subject);
	finding->why = why;
	finding->count = sum->count;
	finding->expected =
		say(ctx->judge, "no call open for %g s or longer", ctx->settings->cov_04.open);
	finding->seen = said;
}

/* The part of COV-04 about ranks that are behind. In a sweep, ledgers show them. */
static void judge_behind(const struct rule_ctx *ctx)
{
	const struct sums *sums = &ctx->aggregates->sums;

	for (size_t i = 0; !ctx->judge->sweep.plan && i < sums->list.len; i++) {
		const struct sum *sum = &sums->list.data[i];

		if (sum->kind == SUM_BEHIND &&
		    (sum->words[2] || sum->most >= ctx->settings->cov_04.open * NS))
			judge_late(ctx, sum);
	}
}

/* ---- both ends of messages ---- */

/* Ranks of a sweep's plan on each node: those with a ledger, and those without a capture. */
struct staff {
	int present, untraced;
};

static struct staff *staff_of(const struct sweep *sweep)
{
	struct staff *staff = xcalloc(sweep->plan->nodes.len, sizeof(*staff));

	for (size_t i = 0; i < sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &sweep->ranks.data[i];

		if (rank->node < 0)
			continue;
		staff[rank->node].present += rank->job < plan_parts(sweep->plan);
		staff[rank->node].untraced += rank->process < 0;
	}
	return staff;
}

/*
 * A sweep's traffic is between its ranks. If all ranks of a node are traced, and some of another
 * node are not, the missing ends are the other node's: traffic of this node with all others is
 * complete.
 */
static void mark_whole(struct judge *judge)
{
	const struct plan *plan = judge->sweep.plan;
	bool missing = judge->losses.list.len;
	struct staff *staff;
	int wanted;

	if (!plan)
		return;
	staff = staff_of(&judge->sweep);
	wanted = plan->ranks * (plan->parts.len ? PLAN_WAVES : 1);
	for (size_t i = 0; i < plan->nodes.len; i++)
		missing = missing || staff[i].untraced;
	for (size_t i = 0; missing && i < judge->aggregates.nodes.len; i++) {
		struct node *node = &judge->aggregates.nodes.data[i];
		int at = plan_node(plan, node->name);

		node->whole = at >= 0 && staff[at].present == wanted && !staff[at].untraced &&
			      !losses_has(&judge->losses, node->name);
	}
	free(staff);
}

static struct cell_answer ask_placed(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	(void)ctx;
	return (struct cell_answer){ FITS, !cell_placed(cell) };
}

void mark_in_part(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	struct tallies tallies = { 0 };

	tallies_measure(ctx, &tallies,
			&(struct cell_rule){ .measure = ask_placed, .group = tally_known });
	for (size_t i = 0; i < tallies.list.len; i++) {
		const struct tally *tally = &tallies.list.data[i];
		struct node *node = tally->worst ? cell_known_node(aggregates, tally->worst) : NULL;

		if (!node || tally_share(tally) <= ctx->settings->cov_04.share)
			continue;
		node->in_part = true;
		node->one_ended = tally->bytes;
		node->moved = tally->all_bytes;
	}
	tallies_release(&tallies);
	mark_whole(ctx->judge);
}

/* A node whose peers are in no capture: its own is not to blame, but proves little. */
static void other_ends(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;

	for (size_t i = 0; i < aggregates->nodes.len; i++) {
		const struct node *node = &aggregates->nodes.data[i];

		if (node->in_part && !node->whole)
			found_why(ctx, VERDICT_UNKNOWN, subject_node(node->name),
				  say(ctx->judge,
				      "%s of %s go to or come from processes in no capture",
				      say_bytes(ctx->judge, node->one_ended),
				      say_bytes(ctx->judge, node->moved)));
	}
}

/* The same, reported for the nodes that have no capture. */
static void untraced_ends(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	const struct sweep *sweep = &ctx->judge->sweep;
	uint64_t one_ended = 0;
	struct staff *staff;

	for (size_t i = 0; i < aggregates->nodes.len; i++)
		if (aggregates->nodes.data[i].in_part && aggregates->nodes.data[i].whole)
			one_ended += aggregates->nodes.data[i].one_ended;
	if (!one_ended)
		return;
	staff = staff_of(sweep);
	for (size_t i = 0; i < sweep->plan->nodes.len; i++)
		if (staff[i].untraced)
			found_why(
				ctx, VERDICT_UNKNOWN, subject_node(sweep->plan->nodes.data[i].name),
				say(ctx->judge,
				    "%d of its ranks are in no capture: %s of other nodes have only "
				    "one end",
				    staff[i].untraced, say_bytes(ctx->judge, one_ended)));
	free(staff);
}

/* ", receives: in flight at end 2, sender not known 1" */
static const char *add_reasons(struct judge *judge, const char *text, const char *what,
			       const struct fact_reason *reasons)
{
	for (int i = 0; i < FACT_MAX_REASONS && reasons[i].count; i++)
		text = say(judge, "%s%s%s %lu", text, i ? ", " : what, reasons[i].reason,
			   (unsigned long)reasons[i].count);
	return text;
}

/*
 * Messages that are under way as a capture begins or ends have one end only: that is no fault of
 * the job.
 */
static void unmatched(const struct rule_ctx *ctx)
{
	const struct fact_totals *totals = &ctx->aggregates->totals;
	struct judge *judge = ctx->judge;
	uint64_t all = totals->sends + totals->receives;
	uint64_t open =
		reasons_sum(totals->unmatched_sends) + reasons_sum(totals->unmatched_receives);
	double share = ctx->settings->cov_04.share;
	bool many = open > share * all;
	struct finding *finding =
		found(ctx, many ? VERDICT_UNKNOWN : VERDICT_PASS, subject_captures());
	const char *text;

	finding->count = open;
	finding->expected = say(
		judge, "a receive for every send, but for %g %% of the ends (share)", 100 * share);
	if (!open)
		return;
	text = say(judge, "%lu of %lu ends of messages have no other end", (unsigned long)open,
		   (unsigned long)all);
	text = add_reasons(judge, text, "; sends: ", totals->unmatched_sends);
	text = add_reasons(judge, text, "; receives: ", totals->unmatched_receives);
	if (many)
		finding->why = text;
	else
		finding->seen = text;
}

void rule_both_ends(const struct rule_ctx *ctx)
{
	const struct fact_totals *totals = &ctx->aggregates->totals;

	if (totals->sends + totals->receives)
		unmatched(ctx);
	else
		found_nothing(ctx, VERDICT_SKIP, "no message was sent");
	other_ends(ctx);
	untraced_ends(ctx);
	judge_open(ctx);
	judge_behind(ctx);
}
