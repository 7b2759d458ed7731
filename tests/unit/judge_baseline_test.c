// SPDX-License-Identifier: BSD-3-Clause
/* PERF-05: times and ways against those of a policy, or of an earlier sweep. */
#include "sweep_times.h"

#define REFERENCE                                                                                  \
	SIX "reference: { inter.host-host.4M: [%s, -0.05, null, Gb/s], "                           \
	    "inter.host-host.8.p50: [2, null, %s, us] }\n"

static void references(void **state)
{
	static const struct {
		const char *rate, *upper;
		enum verdict rated, timed;
	} cases[] = { { "90", "0.1", VERDICT_PASS, VERDICT_PASS },
		      { "95", "0.1", VERDICT_FAIL, VERDICT_PASS },
		      { "94", "0", VERDICT_PASS, VERDICT_PASS } };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct sweep_bed bed;
		char policy[400];

		snprintf(policy, sizeof(policy), REFERENCE, cases[i].rate, cases[i].upper);
		run(&bed, policy, all_alike);
		sweep_expect(&bed, "PERF-05", "inter.host-host.4M", cases[i].rated, NULL);
		sweep_expect(&bed, "PERF-05", "inter.host-host.8.p50", cases[i].timed, NULL);
		sweep_end(&bed);
	}
}

static void wrong_references(void **state)
{
	struct sweep_bed bed;

	(void)state;
	run(&bed,
	    SIX
	    "reference: { here.host-host.4M: [1, null, null, Gb/s], "
	    "inter.host-host.3: [1, null, null, us], inter.host-host.8: [1, null, null, kg] }\n",
	    all_alike);
	sweep_expect(&bed, "PERF-05", "here.host-host.4M", VERDICT_UNKNOWN, "not LOC.MEM");
	sweep_expect(&bed, "PERF-05", "inter.host-host.3", VERDICT_SKIP,
		     "did not measure that time");
	sweep_expect(&bed, "PERF-05", "inter.host-host.8", VERDICT_UNKNOWN, "unit");
	sweep_end(&bed);
}

static uint64_t slower(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
		       const struct plan_step *step)
{
	(void)stage;
	(void)round;
	return usual(plan, step) * (step->work->size == LARGE ? 1.1 : 1.02);
}

static void earlier_sweep(void **state)
{
	struct sweep_bed bed, earlier;

	(void)state;
	run(&earlier, SIX, all_alike);
	sweep_begin(&bed, SIX, &often);
	judge_baseline(bed.judge, earlier.judge);
	bed.time_of = slower;
	sweep_run(&bed, false);
	sweep_expect(&bed, "PERF-05", "inter.host-host.4194304", VERDICT_FAIL, "rate -9 %");
	sweep_expect(&bed, "PERF-05", "inter.host-host.8", VERDICT_PASS, NULL);
	sweep_end(&bed);
	sweep_end(&earlier);
}

/* A message of 64 KiB between nodes, as a capture would show it. */
static void moved(struct sweep_bed *bed, const char *transport, const char *device,
		  const char *protocol, int times)
{
	for (int rank = 0; rank < bed->ranks; rank++)
		sweep_process(bed, rank);
	for (int i = 0; i < times; i++)
		fact_put(&bed->sink, FACT_TRANSFER,
			 &(struct fact_transfer){ .process = 0,
						  .peer = 2 + i % 10,
						  .op = "am_zcopy",
						  .transport = transport,
						  .device = device,
						  .protocol = protocol,
						  .locality = LOCALITY_REMOTE,
						  .kind = KIND_DATA,
						  .function = "MPI_Isend",
						  .src_mem = "host",
						  .dst_mem = "host",
						  .bytes = 65536 });
}

/* The same as sums, as of --count. */
static void sums_moved(struct sweep_bed *bed, const char *transport, const char *device)
{
	const struct fact_transfer fact = {
		.process = 0,
		.peer = 2,
		.op = "am_zcopy",
		.transport = transport,
		.device = device,
		.locality = LOCALITY_REMOTE,
		.kind = KIND_DATA,
		.src_mem = "host",
		.dst_mem = "host",
	};
	const struct fact_sums sums = { .count = 100, .bytes = 6553600, .least = 65536 };

	for (int rank = 0; rank < bed->ranks; rank++)
		sweep_process(bed, rank);
	fact_put_sums(&bed->sink, FACT_TRANSFERS, &fact, &sums);
}

static uint64_t slower_64k(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
			   const struct plan_step *step)
{
	(void)stage;
	(void)round;
	return usual(plan, step) * (step->work->size == 65536 ? 1.3 : 1);
}

/* As before but for another device of its kind and a rare way; then by another way each. */
static void earlier_ways(void **state)
{
	static const struct {
		const char *transport, *device, *protocol;
		enum verdict verdict;
	} cases[] = {
		{ "rc_mlx5", "mlx5_1:1", "rndv/get", VERDICT_PASS },
		{ "rc_mlx5", "mlx5_0:1", "eager/multi", VERDICT_FAIL },
		{ "tcp", "eth0", "rndv/get", VERDICT_FAIL },
		{ "rc_mlx5", "bnxt_re0:1", "rndv/get", VERDICT_FAIL },
	};
	const char *way = "way of inter.host-host.65536", *time = "inter.host-host.65536";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sweep_bed bed, earlier;
		bool same = cases[i].verdict == VERDICT_PASS;

		sweep_begin(&earlier, SIX, &often);
		earlier.time_of = all_alike;
		moved(&earlier, "rc_mlx5", "mlx5_0:1", "rndv/get", 100);
		sweep_run(&earlier, false);
		sweep_begin(&bed, SIX, &often);
		bed.time_of = slower_64k;
		judge_baseline(bed.judge, earlier.judge);
		moved(&bed, cases[i].transport, cases[i].device, cases[i].protocol, 100);
		/* one in twenty is no other way */
		moved(&bed, "ud_mlx5", "mlx5_0:1", "eager/multi", 5);
		sweep_run(&bed, false);
		sweep_expect(&bed, "PERF-05", way, cases[i].verdict,
			     same ? NULL : cases[i].protocol);
		/* the change of ways is the reason for the change of times */
		sweep_expect(&bed, "PERF-05", time, same ? VERDICT_FAIL : VERDICT_SKIP,
			     same ? "rate -23 %" : "explained by its path");
		sweep_end(&bed);
		sweep_end(&earlier);
	}
}

/* Fragments of 64 KiB of which only sums are known are of messages of any size. */
static void earlier_ways_of_sums(void **state)
{
	const struct finding *findings;
	struct sweep_bed bed, earlier;
	size_t count;

	(void)state;
	sweep_begin(&earlier, SIX, &often);
	earlier.time_of = all_alike;
	sums_moved(&earlier, "rc_mlx5", "mlx5_0:1");
	sweep_run(&earlier, false);
	sweep_begin(&bed, SIX, &often);
	bed.time_of = all_alike;
	judge_baseline(bed.judge, earlier.judge);
	sums_moved(&bed, "tcp", "eth0");
	sweep_run(&bed, false);
	count = judge_findings(bed.judge, &findings);
	for (size_t i = 0; i < count; i++)
		if (!strncmp(findings[i].subject.text, "way of ", 7))
			fail_msg("%s: %s", findings[i].subject.text,
				 verdict_words[findings[i].verdict].name);
	sweep_end(&bed);
	sweep_end(&earlier);
}

/* A way that is not there any more, or was not, may be what a node lost. */
static void earlier_ways_lost(void **state)
{
	(void)state;
	for (int now = 0; now < 2; now++) {
		const struct judge_loss loss = { .node = "n0", .records = 3 };
		struct sweep_bed bed, earlier;

		sweep_begin(&earlier, SIX, &often);
		earlier.time_of = all_alike;
		moved(&earlier, "rc_mlx5", "mlx5_0:1", "rndv/get", 100);
		if (!now)
			judge_loss(earlier.judge, &loss);
		sweep_run(&earlier, false);
		sweep_begin(&bed, SIX, &often);
		bed.time_of = all_alike;
		judge_baseline(bed.judge, earlier.judge);
		moved(&bed, "tcp", "eth0", "rndv/get", 100);
		if (now)
			judge_loss(bed.judge, &loss);
		sweep_run(&bed, false);
		sweep_expect(&bed, "PERF-05", "all captures", VERDICT_UNKNOWN,
			     "records were or may be lost, in this sweep or the earlier one");
		sweep_end(&bed);
		sweep_end(&earlier);
	}
}

/* To a process in no capture, as of a node that was not traced: who knows which way it took. */
static void elsewhere(struct sweep_bed *bed)
{
	fact_put(&bed->sink, FACT_TRANSFER,
		 &(struct fact_transfer){ .process = 0,
					  .peer = -1,
					  .transport = "tcp",
					  .device = "eth0",
					  .kind = KIND_DATA,
					  .bytes = 65536 });
}

/* The way of one that is traced now alone would be a new one; of the other one nothing is told. */
static void earlier_ways_untraced(void **state)
{
	(void)state;
	for (int now = 0; now < 2; now++) {
		struct sweep_bed bed, earlier;

		sweep_begin(&earlier, SIX, &often);
		earlier.time_of = all_alike;
		moved(&earlier, "rc_mlx5", "mlx5_0:1", "rndv/get", 10);
		if (!now)
			elsewhere(&earlier);
		sweep_run(&earlier, false);
		sweep_begin(&bed, SIX, &often);
		bed.time_of = all_alike;
		judge_baseline(bed.judge, earlier.judge);
		moved(&bed, "rc_mlx5", "mlx5_0:1", "rndv/get", 10);
		moved(&bed, "tcp", "eth0", "rndv/get", now ? 0 : 10);
		if (now)
			elsewhere(&bed);
		sweep_run(&bed, false);
		sweep_expect(&bed, "PERF-05", "all captures", VERDICT_UNKNOWN,
			     "some processes are in no capture, of this sweep or the earlier one");
		sweep_end(&bed);
		sweep_end(&earlier);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(references),
		cmocka_unit_test(wrong_references),
		cmocka_unit_test(earlier_sweep),
		cmocka_unit_test(earlier_ways),
		cmocka_unit_test(earlier_ways_of_sums),
		cmocka_unit_test(earlier_ways_lost),
		cmocka_unit_test(earlier_ways_untraced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
