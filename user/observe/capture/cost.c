// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/cost.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/vec.h"
#include "observe/process/proc.h"

#define MS 1000000ull
#define SAMPLE (20 * MS)
#define EVERY (1000 * MS)
#define EVERY_AT_FIRST (100 * MS) /* so that a short trace has an estimate too */
/* With this much, samples are taken at the longer interval EVERY. */
#define ENOUGH_HITS 2000
#define ENOUGH_SAMPLES 6
/* Below these nothing is estimated. */
#define FEWEST_HITS 500
#define FEWEST_SAMPLES 3

/* ---- from samples to all hits: a ratio estimate, each sample a cluster of hits ---- */

/* Student's t for 95 %, two-sided, by degrees of freedom. */
static double quantile(unsigned int freedom)
{
	static const double table[] = { 12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26 };
	const unsigned int known = ARRAY_SIZE(table);

	return freedom <= known ? table[freedom - 1] : freedom < 30 ? 2.2 : 2.0;
}

void cost_sampled(struct cost_samples *samples, uint64_t time, uint64_t hits)
{
	if (!hits)
		return;
	samples->count++;
	samples->hits += hits;
	samples->time += time;
	samples->time_time += (double)time * time;
	samples->time_hits += (double)time * hits;
	samples->hits_hits += (double)hits * hits;
}

const char *cost_estimate(const struct cost_samples *samples, uint64_t hits, uint64_t *ns,
			  uint64_t *spread)
{
	double n = samples->count, mean, squares;

	*ns = *spread = 0;
	if (!hits)
		return NULL;
	if (samples->count < FEWEST_SAMPLES || samples->hits < FEWEST_HITS)
		return "too few hits were measured";
	mean = samples->time / samples->hits;
	squares = samples->time_time - 2 * mean * samples->time_hits +
		  mean * mean * samples->hits_hits;
	*ns = (uint64_t)(mean * hits);
	*spread = (uint64_t)(quantile(samples->count - 1) * sqrt(fmax(squares, 0) * n / (n - 1)) /
			     samples->hits * hits);
	return NULL;
}

/* ---- samples ---- */

void cost_init(struct cost *cost, struct kernel *kernel, const struct cells *cells)
{
	*cost = (struct cost){ .kernel = kernel, .cells = cells, .sampling = -1 };
}

static uint64_t hits_now(const struct cost *cost)
{
	struct ub_stats stats;

	if (kernel_stats(cost->kernel, &stats))
		return cost->hits_before;
	return stats.hits + cells_count(cost->cells);
}

static void begin(struct cost *cost, uint64_t now)
{
	cost->sampling = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (cost->sampling < 0) {
		log_debug("cannot measure our programs: %s", strerror(-cost->sampling));
		cost->sampling = -1;
		cost->refused = true;
		return;
	}
	cost->until = now + SAMPLE;
	cost->time_before = kernel_run_time(cost->kernel);
	cost->hits_before = hits_now(cost);
}

void cost_end(struct cost *cost)
{
	if (cost->sampling < 0)
		return;
	cost_sampled(&cost->samples, kernel_run_time(cost->kernel) - cost->time_before,
		     hits_now(cost) - cost->hits_before);
	close(cost->sampling);
	cost->sampling = -1;
}

static bool knows_enough(const struct cost_samples *samples)
{
	return samples->hits >= ENOUGH_HITS && samples->count >= ENOUGH_SAMPLES;
}

void cost_step(struct cost *cost, bool recording, bool settled)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (cost->sampling >= 0 && now >= cost->until && settled) {
		cost_end(cost);
		cost->next = now + (knows_enough(&cost->samples) ? EVERY : EVERY_AT_FIRST);
	} else if (cost->sampling < 0 && !cost->refused && now >= cost->next && recording) {
		begin(cost, now);
	}
}

static uint64_t kib(const char *label)
{
	long value = proc_status_number(getpid(), label);

	return value > 0 ? (uint64_t)value << 10 : 0;
}

struct cost_report cost_report(const struct cost *cost, uint64_t hits)
{
	struct cost_report report = {
		.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.memory = kib("VmRSS:"),
		.memory_peak = kib("VmHWM:"),
		.hits = hits,
		.sampled_hits = cost->samples.hits,
		.samples = cost->samples.count,
	};

	report.kernel_unknown =
		cost_estimate(&cost->samples, hits, &report.kernel_ns, &report.kernel_spread);
	if (cost->refused)
		report.kernel_unknown = "the kernel measures it with CAP_SYS_ADMIN only";
	return report;
}
