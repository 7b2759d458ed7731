// SPDX-License-Identifier: BSD-3-Clause
#include "capture/cost.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "target/proc_file.h"

#define MS 1000000ull
#define SAMPLE (20 * MS)
#define EVERY (1000 * MS)
#define EVERY_AT_FIRST (100 * MS) /* a short trace is to know it, too */
#define ENOUGH_HITS 2000

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
	cost->time += kernel_run_time(cost->kernel) - cost->time_before;
	cost->hits += hits_now(cost) - cost->hits_before;
	close(cost->sampling);
	cost->sampling = -1;
}

void cost_step(struct cost *cost)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (cost->sampling >= 0 && now >= cost->until) {
		cost_end(cost);
		cost->next = now + (cost->hits < ENOUGH_HITS ? EVERY_AT_FIRST : EVERY);
	} else if (cost->sampling < 0 && !cost->refused && now >= cost->next) {
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
	return (struct cost_report){
		.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.memory = kib("VmRSS:"),
		.memory_peak = kib("VmHWM:"),
		.kernel_known = cost->hits || (!cost->refused && !hits),
		.kernel_ns = cost->hits ? (uint64_t)((double)cost->time / cost->hits * hits) : 0,
		.hits = hits,
		.sampled_hits = cost->hits,
	};
}
