// SPDX-License-Identifier: BSD-3-Clause
/* PERF-05: compares times and ways with the policy's reference or an earlier sweep. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "site/judge/rules/rules.h"
#include "site/judge/aggregates/times.h"
#include "site/policy/values.h"

/* ---- ways of data in an earlier sweep ---- */

/* A way counts as taken by that share of a size's bytes, and as not taken below the other one. */
#define TAKEN 0.1
#define NOT_TAKEN 0.01

/* Bytes of messages of one size class that went one way, in both sweeps. */
struct way_taken {
	enum fact_locality locality;
	bool gpus[2]; /* source, destination */
	int size_class;
	uint64_t least; /* bytes of the smallest message */
	const char *transport, *protocol;
	char device[32]; /* without its number: "mlx5_", "eth" */
	uint64_t bytes[2]; /* then, now */
};

typedef VEC(struct way_taken) ways;

static void device_class(const char *device, char to[32])
{
	size_t length;

	snprintf(to, 32, "%.*s", (int)strcspn(device, ":"), device);
	for (length = strlen(to); length && isdigit((unsigned char)to[length - 1]); length--)
		to[length - 1] = '\0';
}

static int same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_place(const struct way_taken *a, const struct way_taken *b)
{
	if (a->locality != b->locality)
		return a->locality < b->locality ? -1 : 1;
	for (int i = 0; i < 2; i++)
		if (a->gpus[i] != b->gpus[i])
			return a->gpus[i] < b->gpus[i] ? -1 : 1;
	return (a->size_class > b->size_class) - (a->size_class < b->size_class);
}

static int by_way(const void *left, const void *right)
{
	const struct way_taken *a = left, *b = right;
	int order = compare_place(a, b);

	order = order ? order : same_text(a->transport, b->transport);
	order = order ? order : strcmp(a->device, b->device);
	return order ? order : same_text(a->protocol, b->protocol);
}

static void add_ways(const struct aggregates *aggregates, int when, ways *list)
{
	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];
		struct way_taken way = {
			.locality = cell->locality,
			.gpus = { is_gpu(cell->src_mem), is_gpu(cell->dst_mem) },
			.size_class = cell->size_class,
			.least = cell->least,
			.transport = cell->transport,
			.protocol = cell->protocol,
		};

		/* the size of a message does not follow from sums of its fragments */
		if (cell->size_class == CELL_UNSIZED || !cell->transport || !cell->device ||
		    !cell->bytes || (!cell_inter(cell) && !cell_intra(cell)))
			continue;
		device_class(cell->device, way.device);
		way.bytes[when] = cell->bytes;
		vec_push(list, way);
	}
}

/* The same way once. */
static void sum_up(ways *list)
{
	size_t kept = 0;

	if (list->len)
		qsort(list->data, list->len, sizeof(*list->data), by_way);
	for (size_t i = 0; i < list->len; i++) {
		struct way_taken *last = list->data + kept - 1;

		if (!kept || by_way(last, &list->data[i])) {
			list->data[kept++] = list->data[i];
			continue;
		}
		for (int when = 0; when < 2; when++)
			last->bytes[when] += list->data[i].bytes[when];
		if (list->data[i].least < last->least)
			last->least = list->data[i].least;
	}
	list->len = kept;
}

static const char *way_text(const struct rule_ctx *ctx, const char *text,
			    const struct way_taken *way)
{
	return say(ctx->judge, "%s%s%s/%s%s%s", text, *text ? ", " : "", way->transport,
		   way->device, way->protocol ? " " : "", way->protocol ? way->protocol : "");
}

static const char *ways_text(const struct rule_ctx *ctx, const struct way_taken *list, size_t count,
			     int when, double all)
{
	const char *text = "";

	for (size_t i = 0; i < count; i++)
		if (list[i].bytes[when] >= TAKEN * all)
			text = way_text(ctx, text, &list[i]);
	return text;
}

/* Other messages, of MPI itself, are few, and go now one way, now another. */
static bool is_planned(const struct rule_ctx *ctx, uint64_t size)
{
	const struct plan *plan = ctx->judge->sweep.plan;

	for (size_t i = 0; i < plan->stages.len; i++)
		for (size_t k = 0; k < plan->stages.data[i].works.len; k++)
			if (plan->stages.data[i].works.data[k].size == size)
				return true;
	return false;
}

static uint64_t least_of(const struct way_taken *list, size_t count)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < count; i++)
		least = list[i].least < least ? list[i].least : least;
	return least;
}

/* Messages that go another way than before: a change of their times has that cause. */
struct changed_ways {
	VEC(struct changed_way {
		bool intra;
		uint64_t size;
	})
	list;
};

/* All ways of messages of one place and size. */
static void judge_place(const struct rule_ctx *ctx, const struct way_taken *list, size_t count,
			struct changed_ways *changes)
{
	const struct way_taken *first = list;
	uint64_t least = least_of(list, count);
	double all[2] = { 0 };
	struct finding *finding;
	bool changed = false;

	for (size_t i = 0; i < count; i++)
		for (int when = 0; when < 2; when++)
			all[when] += list[i].bytes[when];
	if (!(all[0] > 0) || !(all[1] > 0) || !is_planned(ctx, least))
		return;
	for (size_t i = 0; i < count; i++)
		for (int when = 0; when < 2; when++)
			changed = changed || (list[i].bytes[when] >= TAKEN * all[when] &&
					      list[i].bytes[!when] < NOT_TAKEN * all[!when]);
	finding = found(ctx, changed ? VERDICT_FAIL : VERDICT_PASS,
			subject_plain(SUBJECT_WAY,
				      say(ctx->judge, "way of %s.%s-%s.%lu",
					  first->locality == LOCALITY_REMOTE ? "inter" : "intra",
					  first->gpus[0] ? "cuda" : "host",
					  first->gpus[1] ? "cuda" : "host", (unsigned long)least)));
	finding->bytes = (uint64_t)all[1];
	finding->expected =
		say(ctx->judge, "as before: %s", ways_text(ctx, list, count, 0, all[0]));
	if (!changed)
		return;
	finding->seen = ways_text(ctx, list, count, 1, all[1]);
	vec_push(&changes->list,
		 ((struct changed_way){ first->locality != LOCALITY_REMOTE, least }));
}

/*
 * Transfers with one traced end have no locality and are excluded, so that the comparison would be
 * of other ways.
 */
static const char *lacks_something(const struct judge *judge)
{
	const char *node;

	if (judge->incomplete || losses_worst(&judge->losses, &node) == LACK_RECORDS)
		return "records were or may be lost, in this sweep or the earlier one";
	for (size_t i = 0; i < judge->aggregates.nodes.len; i++)
		if (judge->aggregates.nodes.data[i].in_part)
			return "some processes are in no capture, of this sweep or the earlier one (COV-04)";
	return NULL;
}

/* Of PERF-05, ways of data. */
static void judge_earlier_ways(const struct rule_ctx *ctx, struct changed_ways *changes)
{
	const struct judge *judge = ctx->judge;
	const char *lacks;
	size_t length;
	ways list = { 0 };

	if (!judge->earlier || !judge->earlier->aggregates.cells.len || !ctx->aggregates->cells.len)
		return;
	lacks = lacks_something(judge);
	lacks = lacks ? lacks : lacks_something(judge->earlier);
	if (lacks) {
		found_nothing(ctx, VERDICT_UNKNOWN, lacks);
		return;
	}
	add_ways(&judge->earlier->aggregates, 0, &list);
	add_ways(ctx->aggregates, 1, &list);
	sum_up(&list);
	for (size_t i = 0; i < list.len; i += length) {
		for (length = 1; i + length < list.len; length++)
			if (compare_place(&list.data[i], &list.data[i + length]))
				break;
		judge_place(ctx, &list.data[i], length, changes);
	}
	vec_release(&list);
}

static bool earlier_way_changed(const struct changed_ways *changes, const struct cohort *cohort)
{
	for (size_t i = 0; i < changes->list.len; i++)
		if (changes->list.data[i].intra == cohort->intra &&
		    changes->list.data[i].size == cohort->size)
			return true;
	return false;
}

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
	char *copy = xstrdup(name), *rest = copy, *word = strsep(&rest, ".");
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

static bool refers(const struct rule_ctx *ctx, const struct reference *to,
		   const struct cohort *cohort)
{
	char distance[64];

	distance_name(ctx->judge->policy, cohort->distance, distance);
	return cohort->intra == to->intra && (int)cohort->src_mem == to->src_mem &&
	       (int)cohort->dst_mem == to->dst_mem && cohort->size == to->size &&
	       (!*to->distance || !strcmp(to->distance, distance));
}

/* Median of all that it refers to, ns; NAN: nothing. */
static double measured(const struct rule_ctx *ctx, const struct times *times,
		       const struct reference *to)
{
	struct numbers numbers = { 0 };

	for (size_t i = 0; i < times->cohorts.len; i++) {
		const struct cohort *cohort = &times->cohorts.data[i];

		for (size_t k = 0; refers(ctx, to, cohort) && k < cohort->ns[P50].list.len; k++)
			vec_push(&numbers.list, cohort->ns[P50].list.data[k]);
	}
	return median_and_release(&numbers);
}

/* In the reference's unit; NAN: unknown unit. */
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

static const char *bounds_text(const struct rule_ctx *ctx, const struct policy_reference *reference)
{
	const char *lower =
		isnan(reference->lower) ? "" : say(ctx->judge, " %.3g %%", 100 * reference->lower);
	const char *upper =
		isnan(reference->upper) ? "" : say(ctx->judge, " +%.3g %%", 100 * reference->upper);

	return say(ctx->judge, "%.6g %s%s%s", reference->value, reference->unit, lower, upper);
}

static void judge_reference(const struct rule_ctx *ctx, const struct times *times,
			    const struct policy_reference *reference)
{
	struct reference to;
	struct finding *finding;
	double ns, value;
	bool fails;

	if (!read_name(reference->name, &to)) {
		found_why(ctx, VERDICT_UNKNOWN, subject_plain(SUBJECT_TIMES, reference->name),
			  "not LOC.MEM-MEM.SIZE[.DISTANCE] (docs/policy.md)");
		return;
	}
	ns = measured(ctx, times, &to);
	value = in_unit(reference->unit, to.size, ns);
	if (isnan(ns) || isnan(value)) {
		found_why(ctx, isnan(ns) ? VERDICT_SKIP : VERDICT_UNKNOWN,
			  subject_plain(SUBJECT_TIMES, reference->name),
			  isnan(ns) ? "the sweep did not measure that time"
				    : "its unit is neither a unit of time nor of rate");
		return;
	}
	fails = value < reference->value * (1 + reference->lower) ||
		value > reference->value * (1 + reference->upper);
	finding = found(ctx, fails ? VERDICT_FAIL : VERDICT_PASS,
			subject_plain(SUBJECT_TIMES, reference->name));
	finding->expected = bounds_text(ctx, reference);
	if (fails)
		finding->seen = say(ctx->judge, "%.6g %s", value, reference->unit);
}

/* ---- times of an earlier sweep ---- */

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
static void judge_drift(const struct rule_ctx *ctx, const struct cohort *now,
			const struct cohort *before, const char *name,
			const struct changed_ways *changes)
{
	double lower = ctx->settings->perf_05.lower, upper = ctx->settings->perf_05.upper;
	double was = before->median[P50], is = now->median[P50];
	bool fails = was / is < 1 - lower || was / is > 1 + upper;
	struct finding *finding =
		found(ctx, fails ? VERDICT_FAIL : VERDICT_PASS,
		      subject_plain(SUBJECT_TIMES,
				    say(ctx->judge, "%s.%lu", name, (unsigned long)now->size)));

	if (fails && earlier_way_changed(changes, now)) {
		finding->verdict = VERDICT_SKIP;
		finding->why = "explained by its path, which has changed";
		return;
	}
	finding->count = now->ns[P50].list.len;
	finding->expected = say(ctx->judge, "%s as before; rate -%.3g %% +%.3g %%",
				say_time(ctx->judge, was), 100 * lower, 100 * upper);
	if (fails)
		finding->seen = say(ctx->judge, "%s, rate %+.0f %%", say_time(ctx->judge, is),
				    100 * (was / is - 1));
}

static void judge_earlier(const struct rule_ctx *ctx, const struct times *times,
			  const struct changed_ways *changes)
{
	const struct judge *judge = ctx->judge;
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
			judge_drift(ctx, now, then, name, changes);
		free(name);
	}
	times_release(&before);
}

void rule_baseline(const struct rule_ctx *ctx)
{
	const struct policy *policy = ctx->judge->policy;
	struct changed_ways changes = { 0 };
	struct times times;

	judge_earlier_ways(ctx, &changes);
	if (skip_unusable_times(ctx)) {
		vec_release(&changes.list);
		return;
	}
	times_make(&times, &ctx->judge->sweep, judges_all(ctx));
	for (size_t i = 0; i < policy->references.len; i++)
		judge_reference(ctx, &times, &policy->references.data[i]);
	judge_earlier(ctx, &times, &changes);
	if (!found_any(ctx))
		found_nothing(ctx, VERDICT_SKIP,
			      policy->references.len || ctx->judge->earlier
				      ? "the sweep measured no time that the baseline has"
				      : "needs a baseline: the policy's reference, or an earlier "
					"sweep (--baseline)");
	times_release(&times);
	vec_release(&changes.list);
}
