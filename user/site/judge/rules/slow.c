// SPDX-License-Identifier: BSD-3-Clause
/*
 * PERF-01, PERF-02: nodes that are slower than others of their class, and pairs of nodes that are
 * slower than their nodes are with others; and the confirmation of both.
 */
#include <math.h>

#include "base/alloc.h"
#include "site/judge/rules/rules.h"
#include "site/judge/statistics/outliers.h"

/* Messages that are compared with each other alone: p2p, of this size, between such memory. */
struct metric {
	enum plan_memory src_mem, dst_mem;
	uint64_t size;
};

struct slow_metrics {
	VEC(struct metric) list;
};

/* Rates of pairs for one metric: messages a ns, both directions and all lanes together. */
struct slow_values {
	const struct metric *metric;
	struct outlier_limits limits; /* of nodes: PERF-01's settings */
	struct outliers first; /* of the stage of times; its nodes are judged */
	struct outliers again; /* of the stage of confirmation; values alone */
};

/* The result for a node or a pair by one metric. */
struct slowness {
	bool known, slow, confirmed, refuted;
	double share, off; /* of the median of those like it; spreads below that */
	size_t rounds, again; /* of the stage of times; of the confirmation */
	const struct metric *metric;
};

/* ---- metrics and findings ---- */

static bool is_metric(const struct metric *metric, const struct plan_work *work)
{
	return work->op == PLAN_P2P && work->src_mem == metric->src_mem &&
	       work->dst_mem == metric->dst_mem && work->size == metric->size;
}

/*
 * The smallest and the largest size of the stage of times, for latency and goodput. The caller
 * releases the list.
 */
static void metrics_find(const struct plan *plan, struct slow_metrics *metrics)
{
	const struct plan_stage *stage = plan_stage(plan, STAGE_TIME);

	for (int src = 0; src < PLAN_MEMORIES; src++)
		for (int dst = 0; dst < PLAN_MEMORIES; dst++) {
			uint64_t least = UINT64_MAX, most = 0;

			for (size_t i = 0; stage && i < stage->works.len; i++) {
				const struct plan_work *work = &stage->works.data[i];

				if (!is_metric(&(struct metric){ src, dst, work->size }, work))
					continue;
				least = work->size < least ? work->size : least;
				most = work->size > most ? work->size : most;
			}
			if (most)
				vec_push(&metrics->list, ((struct metric){ src, dst, most }));
			if (least < most)
				vec_push(&metrics->list, ((struct metric){ src, dst, least }));
		}
}

/* Whether a transfer is of the metric and has a usable time. */
static bool metric_times(const struct rule_ctx *ctx, const struct metric *metric,
			 const struct sweep_transfer *transfer)
{
	return times_usable(ctx, transfer) &&
	       is_metric(metric, sweep_work(&ctx->judge->sweep, transfer));
}

/* Whether the rule requires a slow node or pair to be slow again in the stage of confirmation. */
static bool slow_wants_confirmed(const struct rule_ctx *ctx)
{
	return policy_wants(ctx->judge->policy, ctx->rule, "confirm");
}

static const char *metric_text(const struct rule_ctx *ctx, const struct metric *metric)
{
	return say(ctx->judge, "%s-%s %lu B", plan_memory_names[metric->src_mem],
		   plan_memory_names[metric->dst_mem], (unsigned long)metric->size);
}

/* FAIL if slow and not refuted, else PASS. */
static struct finding *slow_say(const struct rule_ctx *ctx, struct subject subject,
				const struct slowness *slowness)
{
	const struct catalogue_rule *nodes = &catalogue[RULE_PERF_01];
	bool fails = slowness->slow && !slowness->refuted;
	struct finding *finding = found(ctx, fails ? VERDICT_FAIL : VERDICT_PASS, subject);
	const char *more = "";

	finding->expected =
		say(ctx->judge, "at least %.2f of the median", 1 - ctx->settings->perf_01.floor);
	finding->count = slowness->rounds;
	if (!fails)
		return finding;
	if (slowness->confirmed) {
		more = say(ctx->judge, ", confirmed in %zu more", slowness->again);
		if (ctx->setting->severity == ctx->rule->severity && ctx->rule == nodes)
			finding->severity = SEVERITY_CRITICAL;
	} else if (slow_wants_confirmed(ctx)) {
		more = ", not confirmed yet";
	}
	finding->seen = say(ctx->judge, "%.2f of the median of %s, %.0f MAD, in %zu rounds%s",
			    slowness->share, metric_text(ctx, slowness->metric), slowness->off,
			    slowness->rounds, more);
	return finding;
}

/* ---- values of pairs, both directions and all lanes together ---- */

static int group_of(const struct plan *plan, int a, int b)
{
	int one = plan->nodes.data[a].class, other = plan->nodes.data[b].class;
	int low = one < other ? one : other, high = one < other ? other : one;

	return ((plan_distance(plan, a, b) + 1) * (int)plan->classes.len + low) *
		       (int)plan->classes.len +
	       high;
}

struct sum_of_pair {
	double ns;
	uint32_t count;
};

struct sums_of_pairs {
	VEC(struct sum_of_pair) list;
	struct map index; /* (pair, round) -> 1 + position */
};

static void add_transfer(struct sums_of_pairs *sums, const struct sweep_transfer *transfer)
{
	uint64_t low = transfer->src < transfer->dst ? transfer->src : transfer->dst;
	uint64_t high = transfer->src < transfer->dst ? transfer->dst : transfer->src;
	uint64_t *at = map_insert(&sums->index, low << 32 | high, transfer->round, NULL);

	if (!*at) {
		vec_add(&sums->list);
		*at = sums->list.len;
	}
	sums->list.data[*at - 1].ns += transfer->p50;
	sums->list.data[*at - 1].count++;
}

/* A pair of which some transfer is missing has no value. */
static void make_values(const struct rule_ctx *ctx, enum plan_stage_kind stage,
			const struct metric *metric, struct outliers *outliers)
{
	const struct sweep *sweep = &ctx->judge->sweep;
	const struct plan *plan = sweep->plan;
	struct sums_of_pairs sums = { 0 };
	struct map_slot *slot;

	for (size_t i = 0; i < sweep->transfers.len; i++) {
		const struct sweep_transfer *transfer = &sweep->transfers.data[i];

		if (transfer->stage == stage && transfer->dst >= 0 &&
		    metric_times(ctx, metric, transfer))
			add_transfer(&sums, transfer);
	}
	for (size_t pos = 0; (slot = map_next(&sums.index, &pos));) {
		const struct sum_of_pair *sum = &sums.list.data[slot->value - 1];
		int a = slot->a >> 32, b = (uint32_t)slot->a;

		if (sum->count == 2 * (uint32_t)plan_lanes(plan, a, b))
			vec_push(&outliers->values,
				 ((struct outlier_value){ .a = a,
							  .b = b,
							  .group = group_of(plan, a, b),
							  .round = slot->b,
							  .value = sum->count / sum->ns }));
	}
	vec_release(&sums.list);
	map_release(&sums.index);
}

/* The caller releases them. */
static void slow_values_make(struct slow_values *values, const struct rule_ctx *ctx,
			     const struct metric *metric)
{
	const struct plan *plan = ctx->judge->sweep.plan;
	const struct rule_settings *settings = ctx->settings;

	/* of a node in one round alone, every third sweep would have a false alarm */
	*values = (struct slow_values){
		.metric = metric,
		.limits = { settings->perf_01.mad, settings->perf_01.floor, JUDGE_LEAST_ROUNDS },
	};
	for (size_t i = 0; i < plan->nodes.len; i++)
		vec_push(&values->first.nodes,
			 ((struct outlier_node){ .class = plan->nodes.data[i].class }));
	make_values(ctx, STAGE_TIME, metric, &values->first);
	make_values(ctx, STAGE_CONFIRM, metric, &values->again);
	outliers_nodes(&values->first, &values->limits);
}

static void slow_values_release(struct slow_values *values)
{
	outliers_release(&values->first);
	outliers_release(&values->again);
}

/* ---- the stage of confirmation ---- */

/* The median of similar pairs without suspects in the stage of times. */
static double usual_value(const struct outliers *first, int group)
{
	struct numbers numbers = { 0 };

	for (size_t i = 0; i < first->values.len; i++) {
		const struct outlier_value *value = &first->values.data[i];

		if (value->group == group && !first->nodes.data[value->a].slow &&
		    !first->nodes.data[value->b].slow)
			vec_push(&numbers.list, value->value);
	}
	return median_and_release(&numbers);
}

/*
 * Sets the result of the confirmation: the subject's rates as shares of the usual ones, by the
 * measure that found it slow.
 */
static void conclude(double median, size_t rounds, double scale,
		     const struct outlier_limits *limits, struct slowness *slowness)
{
	slowness->again = rounds;
	if (slowness->again >= limits->rounds) {
		slowness->confirmed = -log(median) / scale > limits->mad;
		slowness->refuted = !slowness->confirmed;
	}
}

/*
 * Sets again and, if these are enough rounds, confirmed or refuted. As slow again, with other
 * partners; of few, but for the worst, as the pair may be to blame.
 */
static void slow_confirm_node(const struct slow_values *values, int node, struct slowness *slowness)
{
	const struct outlier_node *suspect = &values->first.nodes.data[node];
	struct outliers own = { 0 };

	for (size_t i = 0; i < values->again.values.len; i++) {
		struct outlier_value value = values->again.values.data[i];
		double usual = usual_value(&values->first, value.group);

		value.ratio = value.value / usual;
		if ((value.a == node || value.b == node) && !isnan(usual))
			vec_push(&own.values, value);
	}
	for (size_t i = 0; i < values->first.nodes.len; i++)
		vec_push(&own.nodes, ((struct outlier_node){ .class = 0 }));
	outliers_scores(&own);
	conclude(own.nodes.data[node].score, own.nodes.data[node].rounds,
		 log(suspect->center / suspect->score) / suspect->off, &values->limits, slowness);
	outliers_release(&own);
}

/*
 * A node's rate with others than its partner in a slow pair: in the confirmation or, if it met none
 * there, in the first stage.
 */
static double share_again(const struct slow_values *values, int node, int partner)
{
	const struct outlier_node *then = &values->first.nodes.data[node];
	struct numbers ratios = { 0 };
	double share;

	for (size_t i = 0; i < values->again.values.len; i++) {
		const struct outlier_value *value = &values->again.values.data[i];
		double usual;

		if ((value->a != node && value->b != node) || value->a == partner ||
		    value->b == partner)
			continue;
		usual = usual_value(&values->first, value->group);
		if (!isnan(usual))
			vec_push(&ratios.list, value->value / usual);
	}
	share = median_and_release(&ratios);
	if (isnan(share))
		share = then->score / then->center;
	return isnan(share) ? 1 : share;
}

static bool is_pair(const struct outlier_value *value, const struct outlier_pair *pair)
{
	return (value->a == pair->a && value->b == pair->b) ||
	       (value->a == pair->b && value->b == pair->a);
}

/* As slow again, and not for what its nodes reach with others. */
static void slow_confirm_pair(const struct slow_values *values, const struct outlier_pair *pair,
			      struct slowness *slowness)
{
	double nodes =
		share_again(values, pair->a, pair->b) * share_again(values, pair->b, pair->a);
	struct numbers ratios = { 0 };
	size_t rounds;

	for (size_t i = 0; i < values->again.values.len; i++) {
		const struct outlier_value *value = &values->again.values.data[i];
		double usual = usual_value(&values->first, value->group);

		if (is_pair(value, pair) && !isnan(usual))
			vec_push(&ratios.list, value->value / usual / nodes);
	}
	rounds = ratios.list.len;
	conclude(median_and_release(&ratios), rounds, log(pair->center / pair->score) / pair->off,
		 &values->limits, slowness);
}

/* ---- PERF-01: nodes ---- */

/* Metrics in which it is slow come first, the worst of them in front. */
static void keep_worst(struct slowness *worst, const struct slowness *own)
{
	bool real = own->slow && !own->refuted, worse = worst->slow && !worst->refuted;

	if (!worst->known || real > worse || (real == worse && own->off > worst->off))
		*worst = *own;
}

static void nodes_judge_metric(const struct rule_ctx *ctx, const struct metric *metric,
			       struct slowness *worst)
{
	struct slow_values values;

	slow_values_make(&values, ctx, metric);
	for (size_t i = 0; i < values.first.nodes.len; i++) {
		const struct outlier_node *node = &values.first.nodes.data[i];
		struct slowness own = {
			.known = true,
			.slow = node->slow,
			.share = node->score / node->center,
			.off = node->off,
			.rounds = node->rounds,
			.metric = metric,
		};

		if (node->rounds < values.limits.rounds || isnan(node->center))
			continue;
		if (own.slow && slow_wants_confirmed(ctx))
			slow_confirm_node(&values, i, &own);
		keep_worst(&worst[i], &own);
	}
	slow_values_release(&values);
}

/* A node of the class without times is in doubt; if no node has times, the plan is too small. */
static void say_nodes(const struct rule_ctx *ctx, const struct slowness *worst)
{
	const struct plan *plan = ctx->judge->sweep.plan;
	size_t known = 0;

	for (size_t i = 0; i < plan->nodes.len; i++)
		known += worst[i].known;
	if (!known)
		return;
	for (size_t i = 0; i < plan->nodes.len; i++) {
		const char *name = plan->nodes.data[i].name;

		if (worst[i].known)
			slow_say(ctx, subject_node(name), &worst[i]);
		else if (!times_unusable(ctx, i))
			found_why(ctx, VERDICT_UNKNOWN, subject_node(name),
				  "times of fewer than three rounds");
	}
}

void rule_slow_nodes(const struct rule_ctx *ctx)
{
	const struct plan *plan = ctx->judge->sweep.plan;
	struct slow_metrics metrics = { 0 };
	struct slowness *worst = xcalloc(plan->nodes.len, sizeof(*worst));

	metrics_find(plan, &metrics);
	for (size_t i = 0; i < metrics.list.len; i++)
		nodes_judge_metric(ctx, &metrics.list.data[i], worst);
	say_nodes(ctx, worst);
	vec_release(&metrics.list);
	free(worst);
}

/* ---- PERF-02: pairs ---- */

#define ONE_WAY 2 /* times as long as the other direction: this one is the slow one */

/* Median of what messages from one to the other take; NAN: none was timed. */
static double one_way(const struct rule_ctx *ctx, const struct metric *metric, int src, int dst)
{
	const struct sweep *sweep = &ctx->judge->sweep;
	struct numbers numbers = { 0 };

	for (size_t i = 0; i < sweep->transfers.len; i++) {
		const struct sweep_transfer *transfer = &sweep->transfers.data[i];

		if (transfer->stage == STAGE_TIME && transfer->src == src && transfer->dst == dst &&
		    metric_times(ctx, metric, transfer))
			vec_push(&numbers.list, transfer->p50);
	}
	return median_and_release(&numbers);
}

/* NULL: both ways are as slow. */
static const char *slow_way(const struct rule_ctx *ctx, const struct metric *metric, int a, int b)
{
	const struct plan *plan = ctx->judge->sweep.plan;
	double forth = one_way(ctx, metric, a, b), back = one_way(ctx, metric, b, a);
	const char *one = plan->nodes.data[forth > back ? a : b].name;
	const char *other = plan->nodes.data[forth > back ? b : a].name;
	double times = forth > back ? forth / back : back / forth;

	return times >= ONE_WAY ? say(ctx->judge, "%s>%s takes %.1f times as long as %s>%s", one,
				      other, times, other, one)
				: NULL;
}

static void judge_pair(const struct rule_ctx *ctx, const struct slow_values *values,
		       const struct outlier_pair *pair)
{
	const struct plan *plan = ctx->judge->sweep.plan;
	struct slowness slowness = {
		.known = true,
		.slow = true,
		.share = pair->score / pair->center,
		.off = pair->off,
		.rounds = pair->rounds,
		.metric = values->metric,
	};

	if (slow_wants_confirmed(ctx))
		slow_confirm_pair(values, pair, &slowness);
	if (slowness.refuted)
		return;
	slow_say(ctx,
		 subject_pair(ctx->judge, plan->nodes.data[pair->a].name,
			      plan->nodes.data[pair->b].name),
		 &slowness)
		->cause = slow_way(ctx, values->metric, pair->a, pair->b);
}

/* Returns the number of pairs that can be judged by the metric. */
static size_t pairs_judge_metric(const struct rule_ctx *ctx, const struct metric *metric)
{
	struct outlier_limits limits;
	struct slow_values values;
	size_t judged;

	slow_values_make(&values, ctx, metric);
	limits = values.limits;
	limits.rounds = ctx->settings->perf_02.repeats;
	outliers_pairs(&values.first, &limits);
	judged = values.first.pairs.len;
	for (size_t i = 0; i < judged; i++)
		if (values.first.pairs.data[i].slow)
			judge_pair(ctx, &values, &values.first.pairs.data[i]);
	slow_values_release(&values);
	return judged;
}

/* Pairs in order get one finding: there are very many of them. */
void rule_slow_pairs(const struct rule_ctx *ctx)
{
	struct slow_metrics metrics = { 0 };
	size_t judged = 0;

	metrics_find(ctx->judge->sweep.plan, &metrics);
	for (size_t i = 0; i < metrics.list.len; i++)
		judged += pairs_judge_metric(ctx, &metrics.list.data[i]);
	vec_release(&metrics.list);
	if (judged && !found_any(ctx))
		found(ctx, VERDICT_PASS, subject_plain(SUBJECT_OTHER, "all pairs"))->count = judged;
}
