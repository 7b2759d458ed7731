// SPDX-License-Identifier: BSD-3-Clause
/* PERF-05: times are those that the policy names, or those of an earlier sweep (its ways:
 * baseline_ways.c).
 */
#include <math.h>
#include <string.h>

#include "site/judge/rules/rules.h"
#include "site/judge/statistics/times.h"
#include "site/policy/values.h"

/* ---- the policy's reference: LOC.MEM-MEM.SIZE[.DISTANCE][.p50] ---- */

struct reference {
	bool intra;
	int src_mem, dst_mem;
	uint64_t size;
	char distance[64]; /* "": any */
};

static bool read_memories(char *word, struct reference *to)
{
	char *minus = strchr(word, '-');

	if (!minus)
		return false;
	*minus = '\0';
	to->src_mem = plan_name(plan_memory_names, PLAN_MEMORIES, word);
	to->dst_mem = plan_name(plan_memory_names, PLAN_MEMORIES, minus + 1);
	return to->src_mem >= 0 && to->dst_mem >= 0;
}

static bool read_name(const char *name, struct reference *to)
{
	char *copy = strdup(name), *rest = copy, *word = strsep(&rest, ".");
	bool right;

	*to = (struct reference){ .intra = !strcmp(word, "intra") };
	right = to->intra || !strcmp(word, "inter");
	right = right && (word = strsep(&rest, ".")) && read_memories(word, to);
	right = right && (word = strsep(&rest, ".")) && value_size(word, &to->size);
	while (right && (word = strsep(&rest, "."))) {
		if (!strcmp(word, "p50"))
			continue;
		right = !*to->distance;
		snprintf(to->distance, sizeof(to->distance), "%s", word);
	}
	free(copy);
	return right;
}

static bool refers(const struct trial *trial, const struct reference *to,
		   const struct cohort *cohort)
{
	char distance[64];

	distance_name(trial->judge->policy, cohort->distance, distance);
	return cohort->intra == to->intra && (int)cohort->src_mem == to->src_mem &&
	       (int)cohort->dst_mem == to->dst_mem && cohort->size == to->size &&
	       (!*to->distance || !strcmp(to->distance, distance));
}

/* Median of all that it refers to, ns; NAN: nothing. */
static double measured(const struct trial *trial, const struct times *times,
		       const struct reference *to)
{
	struct numbers numbers = { 0 };

	for (size_t i = 0; i < times->cohorts.len; i++) {
		const struct cohort *cohort = &times->cohorts.data[i];

		for (size_t k = 0; refers(trial, to, cohort) && k < cohort->ns[P50].list.len; k++)
			vec_push(&numbers.list, cohort->ns[P50].list.data[k]);
	}
	return median_and_release(&numbers);
}

/* In the reference's unit; NAN: it is none. */
static double in_unit(const char *unit, uint64_t size, double ns)
{
	static const struct {
		const char *name;
		double scale;
		bool rate;
	} units[] = {
		{ "ns", 1, false },      { "us", 1e-3, false }, { "ms", 1e-6, false },
		{ "s", 1e-9, false },    { "Gb/s", 8, true },   { "Mb/s", 8e3, true },
		{ "GB/s", 1, true },     { "MB/s", 1e3, true }, { "Gbit/s", 8, true },
		{ "Mbit/s", 8e3, true },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(units[i].name, unit))
			return units[i].rate ? units[i].scale * size / ns : units[i].scale * ns;
	return NAN;
}

static const char *bounds_text(const struct trial *trial, const struct policy_reference *reference)
{
	const char *lower = isnan(reference->lower)
				    ? ""
				    : say(trial->judge, " %.3g %%", 100 * reference->lower);
	const char *upper = isnan(reference->upper)
				    ? ""
				    : say(trial->judge, " +%.3g %%", 100 * reference->upper);

	return say(trial->judge, "%.6g %s%s%s", reference->value, reference->unit, lower, upper);
}

static void judge_reference(const struct trial *trial, const struct times *times,
			    const struct policy_reference *reference)
{
	struct reference to;
	struct finding *finding;
	double ns, value;
	bool fails;

	if (!read_name(reference->name, &to)) {
		found_why(trial, VERDICT_UNKNOWN, reference->name,
			  "not LOC.MEM-MEM.SIZE[.DISTANCE] (docs/policy.md)");
		return;
	}
	ns = measured(trial, times, &to);
	value = in_unit(reference->unit, to.size, ns);
	if (isnan(ns) || isnan(value)) {
		found_why(trial, isnan(ns) ? VERDICT_SKIP : VERDICT_UNKNOWN, reference->name,
			  isnan(ns) ? "the sweep took no such time"
				    : "its unit is neither one of times nor of rates");
		return;
	}
	fails = value < reference->value * (1 + reference->lower) ||
		value > reference->value * (1 + reference->upper);
	finding = found(trial, fails ? VERDICT_FAIL : VERDICT_PASS, reference->name);
	finding->expected = bounds_text(trial, reference);
	if (fails)
		finding->seen = say(trial->judge, "%.6g %s", value, reference->unit);
}

/* ---- an earlier sweep ---- */

static const struct cohort *same_cohort(const struct times *times, const struct plan *plan,
					const struct policy *policy, const char *name,
					uint64_t size)
{
	for (size_t i = 0; i < times->cohorts.len; i++) {
		char *own;
		bool same;

		if (times->cohorts.data[i].size != size)
			continue;
		own = cohort_name(&times->cohorts.data[i], plan, policy);
		same = !strcmp(own, name);
		free(own);
		if (same)
			return &times->cohorts.data[i];
	}
	return NULL;
}

/* Quicker than before by much is as strange as slower, and more time is less goodput. */
static void judge_drift(const struct trial *trial, const struct cohort *now,
			const struct cohort *before, const char *name)
{
	double lower = trial->setting->number[0], upper = trial->setting->number[1];
	double was = before->median[P50], is = now->median[P50];
	bool fails = was / is < 1 - lower || was / is > 1 + upper;
	struct finding *finding =
		found(trial, fails ? VERDICT_FAIL : VERDICT_PASS,
		      say(trial->judge, "%s.%lu", name, (unsigned long)now->size));

	if (fails && earlier_way_changed(trial, now->intra, now->size)) {
		finding->verdict = VERDICT_SKIP;
		finding->why = "explained by the way that it goes, which is another one";
		return;
	}
	finding->count = now->ns[P50].list.len;
	finding->expected = say(trial->judge, "%s as before; rate -%.3g %% +%.3g %%",
				say_time(trial->judge, was), 100 * lower, 100 * upper);
	if (fails)
		finding->seen = say(trial->judge, "%s, rate %+.0f %%", say_time(trial->judge, is),
				    100 * (was / is - 1));
}

static void judge_earlier(const struct trial *trial, const struct times *times)
{
	const struct judge *judge = trial->judge;
	struct times before;

	if (!judge->earlier || !judge->earlier->sweep.plan)
		return;
	times_make(&before, &judge->earlier->sweep, true);
	for (size_t i = 0; i < times->cohorts.len; i++) {
		const struct cohort *now = &times->cohorts.data[i], *then;
		char *name = cohort_name(now, judge->sweep.plan, judge->policy);

		then = same_cohort(&before, judge->earlier->sweep.plan, judge->policy, name,
				   now->size);
		if (then)
			judge_drift(trial, now, then, name);
		free(name);
	}
	times_release(&before);
}

void rule_baseline(const struct trial *trial)
{
	const struct policy *policy = trial->judge->policy;
	struct times times;
	size_t before;

	before = trial->judge->findings.len;
	judge_earlier_ways(trial);
	if (nothing_told(trial))
		return;
	times_make(&times, &trial->judge->sweep, judges_all(trial));
	for (size_t i = 0; i < policy->references.len; i++)
		judge_reference(trial, &times, &policy->references.data[i]);
	judge_earlier(trial, &times);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP,
			      policy->references.len || trial->judge->earlier
				      ? "the sweep took no time that the baseline has"
				      : "needs a baseline: the policy's reference, or an earlier "
					"sweep (--baseline)");
	times_release(&times);
}
