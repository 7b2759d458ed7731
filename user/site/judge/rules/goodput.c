// SPDX-License-Identifier: BSD-3-Clause
/* PERF-03, PERF-04: goodput compared with the rate of the links. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "site/judge/rules/rules.h"
#include "site/judge/aggregates/times.h"

#define LARGE (1 << 20) /* below that, latency counts more than the link */

/* ---- rates ---- */

static const struct inventory_nic *nic_named(const struct inventory *inventory, const char *name)
{
	for (size_t i = 0; i < inventory->nics.len; i++)
		if (inventory->nics.data[i].name && !strcmp(inventory->nics.data[i].name, name))
			return &inventory->nics.data[i];
	return NULL;
}

/* The slowest of the NICs that the class names. */
static double rate_of_inventory(const struct judge *judge, const char *name,
				const struct policy_class *class)
{
	double least = 0;

	for (size_t i = 0; i < judge->inventories.list.len; i++) {
		const struct node_inventory *node = &judge->inventories.list.data[i];

		if (!node->name || strcmp(node->name, name))
			continue;
		for (size_t k = 0; k < class->nics.len; k++) {
			const struct inventory_nic *nic =
				nic_named(node->last, class->nics.data[k]);

			if (nic && nic->rate > 0 && (!(least > 0) || nic->rate < least))
				least = nic->rate;
		}
	}
	return least;
}

/* bit/s of all rails that a message uses, by node; 0: not known. */
static double *node_rates(const struct rule_ctx *ctx)
{
	const struct plan *plan = ctx->judge->sweep.plan;
	double *rates = xcalloc(plan->nodes.len, sizeof(*rates));

	for (size_t i = 0; i < plan->nodes.len; i++) {
		const char *name = plan->nodes.data[i].name;
		const struct policy_class *class = policy_class_of(ctx->judge->policy, name);

		if (!class)
			continue;
		rates[i] = class->nic_rate > 0 ? class->nic_rate
					       : rate_of_inventory(ctx->judge, name, class);
		rates[i] *= class->rails ? class->rails : 1;
	}
	return rates;
}

/* ---- PERF-03 ---- */

enum { SENT, RECEIVED, WAYS };

/* A node's shares of its and its partner's link rate, each way, and its Gb/s by memory. */
struct reached {
	struct numbers shares[WAYS], rates[PLAN_MEMORIES];
};

static uint64_t largest(const struct plan *plan)
{
	const struct plan_stage *stage = plan_stage(plan, STAGE_TIME);
	uint64_t most = 0;

	for (size_t i = 0; stage && i < stage->works.len; i++)
		if (stage->works.data[i].op == PLAN_P2P && stage->works.data[i].size > most)
			most = stage->works.data[i].size;
	return most;
}

static void add_reached(const struct sweep *sweep, const struct sweep_transfer *transfer,
			const double *rates, struct reached *reached)
{
	const struct plan_work *work = sweep_work(sweep, transfer);
	double rate = 8e9 * work->size / transfer->p50;
	double nominal = fmin(rates[transfer->src], rates[transfer->dst]);
	const int ends[] = { transfer->src, transfer->dst };

	for (int i = 0; i < WAYS; i++) {
		if (nominal > 0)
			vec_push(&reached[ends[i]].shares[i].list, rate / nominal);
		if (work->src_mem == work->dst_mem)
			vec_push(&reached[ends[i]].rates[work->src_mem].list, rate);
	}
}

static double share_of(const struct numbers *shares)
{
	return shares->list.len ? upper_median_of(shares->list.data, shares->list.len) : INFINITY;
}

/*
 * Judges each direction by itself: for example, only one of them is slow where a NIC reads from
 * GPUs.
 */
static void judge_share(const struct rule_ctx *ctx, const char *node, struct reached *reached,
			double nominal)
{
	double sent = share_of(&reached->shares[SENT]);
	double received = share_of(&reached->shares[RECEIVED]);
	double least = ctx->settings->perf_03.share, share = fmin(sent, received);
	bool fails = share < least;
	struct finding *finding;

	if (isinf(share))
		return;
	finding = found(ctx, fails ? VERDICT_FAIL : VERDICT_PASS, subject_node(node));
	finding->count = reached->shares[SENT].list.len + reached->shares[RECEIVED].list.len;
	finding->expected = say(ctx->judge, "at least %.2f of %.4g Gb/s", least, nominal / 1e9);
	if (fails)
		finding->seen = say(ctx->judge, "%.2f of it %s", share,
				    sent >= least       ? "received"
				    : received >= least ? "sent"
							: "both ways");
}

static void judge_gpu(const struct rule_ctx *ctx, const char *node, struct reached *reached)
{
	double least = ctx->settings->perf_03.gpu_over_host;
	double host =
		median_of(reached->rates[PLAN_HOST].list.data, reached->rates[PLAN_HOST].list.len);
	double gpu =
		median_of(reached->rates[PLAN_CUDA].list.data, reached->rates[PLAN_CUDA].list.len);
	struct finding *finding;

	if (isnan(host) || isnan(gpu) || gpu >= least * host)
		return;
	finding = found(ctx, VERDICT_FAIL, subject_node(node));
	finding->count = reached->rates[PLAN_CUDA].list.len;
	finding->expected = say(ctx->judge, "from GPU memory at least %.2f of the host's", least);
	finding->seen =
		say(ctx->judge, "%.4g Gb/s, from host memory %.4g Gb/s", gpu / 1e9, host / 1e9);
}

static void release_reached(struct reached *reached, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (int k = 0; k < WAYS; k++)
			vec_release(&reached[i].shares[k].list);
		for (int k = 0; k < PLAN_MEMORIES; k++)
			vec_release(&reached[i].rates[k].list);
	}
	free(reached);
}

void rule_goodput(const struct rule_ctx *ctx)
{
	const struct sweep *sweep = &ctx->judge->sweep;
	const struct plan *plan = sweep->plan;
	struct reached *reached;
	uint64_t size = largest(plan);
	double *rates = node_rates(ctx);

	reached = xcalloc(plan->nodes.len, sizeof(*reached));
	for (size_t i = 0; size >= LARGE && i < sweep->transfers.len; i++) {
		const struct sweep_transfer *transfer = &sweep->transfers.data[i];

		if (transfer->stage == STAGE_TIME && transfer->op == PLAN_P2P &&
		    transfer->dst >= 0 && times_usable(ctx, transfer) &&
		    sweep_work(sweep, transfer)->size == size)
			add_reached(sweep, transfer, rates, reached);
	}
	for (size_t i = 0; i < plan->nodes.len; i++) {
		judge_share(ctx, plan->nodes.data[i].name, &reached[i], rates[i]);
		judge_gpu(ctx, plan->nodes.data[i].name, &reached[i]);
	}
	if (!found_any(ctx))
		found_nothing(
			ctx, VERDICT_SKIP,
			size < LARGE
				? "the plan has no message of 1 MiB"
				: "no NIC's rate is known: nic_rate of a class, or an inventory");
	release_reached(reached, plan->nodes.len);
	free(rates);
}

/* ---- PERF-04 ---- */

/*
 * The time that the busiest link needs for an alltoall: the bytes that cross it divided by its
 * rate. A node's link carries what its ranks send to other nodes, a switch's uplink what the nodes
 * below it send to all others. NAN: a node's rate is unknown.
 */
static double least_seconds(const struct plan *plan, const double *rates, uint64_t size)
{
	double nodes = plan->nodes.len, ranks = plan->ranks, most = 0;
	double *below = xcalloc(plan->switches.len + 1, sizeof(*below));
	bool known = true;

	for (size_t i = 0; i < plan->nodes.len; i++) {
		double bits = 8 * ranks * ranks * (nodes - 1) * size;

		known = known && rates[i] > 0;
		most = fmax(most, bits / rates[i]);
		for (int at = plan->nodes.data[i].leaf; at >= 0;
		     at = plan->switches.data[at].parent)
			below[at]++;
	}
	for (size_t i = 0; i < plan->switches.len; i++) {
		double bits = 8 * ranks * ranks * below[i] * (nodes - below[i]) * size;

		if (plan->switches.data[i].uplink > 0)
			most = fmax(most, bits / plan->switches.data[i].uplink);
	}
	free(below);
	return known ? most : NAN;
}

static const struct plan_work *largest_alltoall(const struct plan *plan)
{
	const struct plan_stage *stage = plan_stage(plan, STAGE_COLLECTIVE);
	const struct plan_work *largest = NULL;

	for (size_t i = 0; stage && i < stage->works.len; i++) {
		const struct plan_work *work = &stage->works.data[i];

		if (work->op == PLAN_ALLTOALL && (!largest || work->size >= largest->size))
			largest = work;
	}
	return largest;
}

static double alltoall_seconds(const struct sweep *sweep, const struct plan_work *work,
			       size_t *count)
{
	struct numbers numbers = { 0 };

	for (size_t i = 0; i < sweep->transfers.len; i++)
		if (sweep->transfers.data[i].stage == STAGE_COLLECTIVE &&
		    sweep_work(sweep, &sweep->transfers.data[i]) == work)
			vec_push(&numbers.list, sweep->transfers.data[i].p50 * 1e-9);
	*count = numbers.list.len;
	return median_and_release(&numbers);
}

void rule_alltoall(const struct rule_ctx *ctx)
{
	const struct sweep *sweep = &ctx->judge->sweep;
	const struct plan_work *work = largest_alltoall(sweep->plan);
	double *rates, expected, seen;
	struct finding *finding;
	size_t count;
	bool fails;

	/* all nodes wait for the slowest, so one with unusable times is enough */
	for (size_t i = 0; work && i < sweep->plan->nodes.len; i++)
		if (times_unusable(ctx, i)) {
			found_nothing(ctx, VERDICT_SKIP, times_unusable(ctx, i));
			return;
		}
	rates = node_rates(ctx);
	expected = work ? least_seconds(sweep->plan, rates, work->size) : NAN;
	seen = work ? alltoall_seconds(sweep, work, &count) : NAN;
	free(rates);
	if (isnan(expected) || isnan(seen) || !(expected > 0)) {
		found_nothing(ctx, VERDICT_SKIP,
			      isnan(seen) ? "no alltoall was made (sweep plan --collective)"
					  : "some node's rate is not known: nic_rate of its class, "
					    "or an inventory");
		return;
	}
	fails = expected / seen < ctx->settings->perf_04.share;
	finding = found(ctx, fails ? VERDICT_FAIL : VERDICT_PASS,
			subject_plain(SUBJECT_OTHER, "all nodes"));
	finding->count = count;
	finding->expected = say(ctx->judge, "at least %.2f of what links allow: %.4g ms",
				ctx->settings->perf_04.share, expected * 1e3);
	if (fails)
		finding->seen = say(ctx->judge, "%.2f: alltoall of %lu B takes %.4g ms",
				    expected / seen, (unsigned long)work->size, seen * 1e3);
}
