// SPDX-License-Identifier: BSD-3-Clause
/* PERF-01, PERF-02: nodes and pairs that are slower than those that are like them. */
#include <math.h>
#include <string.h>

#include "judge/outliers.h"
#include "judge/rules.h"

#define LEAST_ROUNDS JUDGE_LEAST_ROUNDS /* a false alarm in every third sweep, were it one */

/* Of all sizes, the ends tell latency and goodput. */
struct metric {
	enum plan_memory src_mem, dst_mem;
	uint64_t size;
};

struct metrics {
	VEC(struct metric) list;
};

/* What is said of a subject; metrics that it is slow in count before others, worse before less so.
 */
struct worst {
	bool known, slow, confirmed, refuted;
	double share, off;
	size_t rounds, again; /* rounds of the confirmation */
	const struct metric *metric;
};

static bool is_metric(const struct metric *metric, const struct plan_work *work)
{
	return work->op == PLAN_P2P && work->src_mem == metric->src_mem &&
	       work->dst_mem == metric->dst_mem && work->size == metric->size;
}

static void find_metrics(const struct plan_stage *stage, struct metrics *metrics)
{
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

static const char *metric_text(const struct trial *trial, const struct metric *metric)
{
	return say(trial->judge, "%s-%s %lu B", plan_memory_names[metric->src_mem],
		   plan_memory_names[metric->dst_mem], (unsigned long)metric->size);
}

/* ---- values of pairs: both directions and all lanes together ---- */

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

/* A pair of which some transfer is missing has no value. */
static void make_values(const struct sweep *sweep, enum plan_stage_kind stage,
			const struct metric *metric, struct outliers *outliers)
{
	const struct plan *plan = sweep->plan;
	struct map index = { 0 };
	VEC(struct sum_of_pair) sums = { 0 };
	struct map_slot *slot;

	for (size_t i = 0; i < sweep->transfers.len; i++) {
		const struct sweep_transfer *transfer = &sweep->transfers.data[i];
		uint64_t low, high, *at;

		if (transfer->stage != stage || transfer->dst < 0 || !(transfer->p50 > 0) ||
		    !is_metric(metric, sweep_work(sweep, transfer)))
			continue;
		low = transfer->src < transfer->dst ? transfer->src : transfer->dst;
		high = transfer->src < transfer->dst ? transfer->dst : transfer->src;
		at = map_insert(&index, low << 32 | high, transfer->round, NULL);
		if (!*at) {
			vec_add(&sums);
			*at = sums.len;
		}
		sums.data[*at - 1].ns += transfer->p50;
		sums.data[*at - 1].count++;
	}
	for (size_t pos = 0; (slot = map_next(&index, &pos));) {
		const struct sum_of_pair *sum = &sums.data[slot->value - 1];
		int a = slot->a >> 32, b = (uint32_t)slot->a;

		if (sum->count == 2 * (uint32_t)plan_lanes(plan, a, b))
			vec_push(&outliers->values,
				 ((struct outlier_value){ .a = a,
							  .b = b,
							  .group = group_of(plan, a, b),
							  .round = slot->b,
							  .value = sum->count / sum->ns }));
	}
	vec_release(&sums);
	map_release(&index);
}

static void make_nodes(const struct plan *plan, struct outliers *outliers)
{
	for (size_t i = 0; i < plan->nodes.len; i++)
		vec_push(&outliers->nodes,
			 ((struct outlier_node){ .class = plan->nodes.data[i].class }));
}

static struct outlier_limits limits_of(const struct trial *trial, size_t rounds)
{
	const struct policy_rule *rule =
		policy_rule(trial->judge->policy, catalogue_find("PERF-01"));

	return (struct outlier_limits){ rule->number[0], rule->number[1], rounds };
}

/* ---- confirmation ---- */

/* What pairs like that reached in the stage of times, without suspects. */
static double usual_value(const struct outliers *outliers, int group)
{
	struct numbers numbers = { 0 };
	double median;

	for (size_t i = 0; i < outliers->values.len; i++) {
		const struct outlier_value *value = &outliers->values.data[i];

		if (value->group == group && !outliers->nodes.data[value->a].slow &&
		    !outliers->nodes.data[value->b].slow)
			vec_push(&numbers.list, value->value);
	}
	median = median_of(numbers.list.data, numbers.list.len);
	vec_release(&numbers.list);
	return median;
}

/* As slow again, with other partners: by the same measure. */
static void confirm(const struct outliers *outliers, const struct outliers *again, int suspect,
		    const struct outlier_limits *limits, struct worst *worst)
{
	const struct outlier_node *node = &outliers->nodes.data[suspect];
	double scale = (node->center - node->score) / node->off / node->center, median;
	struct numbers ratios = { 0 };

	for (size_t i = 0; i < again->values.len; i++) {
		const struct outlier_value *value = &again->values.data[i];
		double usual;

		if (value->a != suspect && value->b != suspect)
			continue;
		usual = usual_value(outliers, value->group);
		if (!isnan(usual))
			vec_push(&ratios.list, value->value / usual);
	}
	median = median_of(ratios.list.data, ratios.list.len);
	worst->again = ratios.list.len;
	if (worst->again >= limits->rounds) {
		worst->confirmed = (1 - median) / scale > limits->mad;
		worst->refuted = !worst->confirmed;
	}
	vec_release(&ratios.list);
}

/* ---- PERF-01 ---- */

static void keep_worst(struct worst *worst, const struct worst *own)
{
	bool real = own->slow && !own->refuted, worse = worst->slow && !worst->refuted;

	if (!worst->known || real > worse || (real == worse && own->off > worst->off))
		*worst = *own;
}

static void judge_metric(const struct trial *trial, const struct metric *metric,
			 struct worst *worst)
{
	const struct outlier_limits limits = limits_of(trial, LEAST_ROUNDS);
	const struct sweep *sweep = &trial->judge->sweep;
	struct outliers outliers = { 0 }, again = { 0 };

	make_nodes(sweep->plan, &outliers);
	make_values(sweep, STAGE_TIME, metric, &outliers);
	make_values(sweep, STAGE_CONFIRM, metric, &again);
	outliers_nodes(&outliers, &limits);
	for (size_t i = 0; i < outliers.nodes.len; i++) {
		const struct outlier_node *node = &outliers.nodes.data[i];
		struct worst own = {
			.known = true,
			.slow = node->slow,
			.share = node->score / node->center,
			.off = node->off,
			.rounds = node->rounds,
			.metric = metric,
		};

		if (node->rounds < LEAST_ROUNDS || isnan(node->center))
			continue;
		if (own.slow && trial->setting->number[2])
			confirm(&outliers, &again, i, &limits, &own);
		keep_worst(&worst[i], &own);
	}
	outliers_release(&outliers);
	outliers_release(&again);
}

static void say_slow(const struct trial *trial, const char *subject, const struct worst *worst)
{
	bool fails = worst->slow && !worst->refuted;
	struct finding *finding = found(trial, fails ? VERDICT_FAIL : VERDICT_PASS, subject);
	const char *more = "";

	finding->expected =
		say(trial->judge, "at least %.2f of the median", 1 - limits_of(trial, 1).floor);
	finding->count = worst->rounds;
	if (!fails)
		return;
	if (worst->confirmed) {
		more = say(trial->judge, ", confirmed in %zu more", worst->again);
		if (trial->setting->severity == trial->rule->severity)
			finding->severity = SEVERITY_CRITICAL;
	} else if (trial->setting->number[2] && trial->rule == catalogue_find("PERF-01")) {
		more = ", not confirmed yet";
	}
	finding->seen = say(trial->judge, "%.2f of the median of %s, %.0f MAD, in %zu rounds%s",
			    worst->share, metric_text(trial, worst->metric), worst->off,
			    worst->rounds, more);
}

/* A node of the class that has no times is in doubt; where none has, the plan is too small. */
static void say_nodes(const struct trial *trial, const struct worst *worst)
{
	const struct plan *plan = trial->judge->sweep.plan;
	size_t known = 0;

	for (size_t i = 0; i < plan->nodes.len; i++)
		known += worst[i].known;
	if (!known) {
		found_nothing(trial, VERDICT_SKIP,
			      "it takes three nodes of a class that met others in three rounds");
		return;
	}
	for (size_t i = 0; i < plan->nodes.len; i++) {
		const char *name = plan->nodes.data[i].name;

		if (worst[i].known)
			say_slow(trial, name, &worst[i]);
		else
			found_why(trial, VERDICT_UNKNOWN, name, "times of fewer than three rounds");
	}
}

void rule_slow_nodes(const struct trial *trial)
{
	const struct plan *plan = trial->judge->sweep.plan;
	struct worst *worst = calloc(plan->nodes.len, sizeof(*worst));
	struct metrics metrics = { 0 };

	find_metrics(plan_stage(plan, STAGE_TIME), &metrics);
	for (size_t i = 0; i < metrics.list.len; i++)
		judge_metric(trial, &metrics.list.data[i], worst);
	say_nodes(trial, worst);
	vec_release(&metrics.list);
	free(worst);
}

/* ---- PERF-02 ---- */

static size_t judge_pairs(const struct trial *trial, const struct metric *metric)
{
	struct outlier_limits limits = limits_of(trial, LEAST_ROUNDS);
	const struct sweep *sweep = &trial->judge->sweep;
	const struct plan *plan = sweep->plan;
	struct outliers outliers = { 0 };
	size_t judged;

	make_nodes(plan, &outliers);
	make_values(sweep, STAGE_TIME, metric, &outliers);
	outliers_nodes(&outliers, &limits);
	limits.rounds = trial->setting->number[0];
	outliers_pairs(&outliers, &limits);
	judged = outliers.pairs.len;
	for (size_t i = 0; i < judged; i++) {
		const struct outlier_pair *pair = &outliers.pairs.data[i];
		const struct worst worst = {
			.known = true,
			.slow = true,
			.share = pair->score / pair->center,
			.off = pair->off,
			.rounds = pair->rounds,
			.metric = metric,
		};

		if (pair->slow)
			say_slow(trial,
				 say(trial->judge, "%s<>%s", plan->nodes.data[pair->a].name,
				     plan->nodes.data[pair->b].name),
				 &worst);
	}
	outliers_release(&outliers);
	return judged;
}

/* Of pairs in order one finding says it: there are very many of them. */
void rule_slow_pairs(const struct trial *trial)
{
	size_t before = trial->judge->findings.len, judged = 0;
	struct metrics metrics = { 0 };

	find_metrics(plan_stage(trial->judge->sweep.plan, STAGE_TIME), &metrics);
	for (size_t i = 0; i < metrics.list.len; i++)
		judged += judge_pairs(trial, &metrics.list.data[i]);
	vec_release(&metrics.list);
	if (!judged)
		found_nothing(trial, VERDICT_SKIP,
			      "no three pairs met often enough (variant all-pairs:3)");
	else if (before == trial->judge->findings.len)
		found(trial, VERDICT_PASS, "all pairs")->count = judged;
}
