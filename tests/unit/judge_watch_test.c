// SPDX-License-Identifier: BSD-3-Clause
/* Rules about operations: open ones, memory, fragments; and FAB-01. */
#include "judge_bed.h"

#define SECOND 1000000000ull
#define GPU_RANK 0

static void begin(struct bed *bed, const char *policy)
{
	bed_begin(bed, policy);
	bed->totals.stored = 10;
	bed->totals.sends = bed->totals.receives = 1000;
}

static void gpu_process(struct bed *bed, int rank)
{
	const struct fact_process process = {
		.index = rank,
		.host = rank / 2,
		.host_id = node_names[rank / 2],
		.host_name = node_names[rank / 2],
		.rank = rank,
		.size = RANKS,
		.environment_cut = -1,
		.gpu_library = true,
	};

	fact_put(&bed->sink, FACT_PROCESS, &process);
}

/* ---- COV-04 ---- */

static void call(struct bed *bed, uint64_t id, const char *function, uint64_t start)
{
	fact_put(&bed->sink, FACT_CALL,
		 &(struct fact_call){ .id = id, .function = function, .tid = 7, .start = start });
}

static void open_op(struct bed *bed, uint64_t call, uint64_t start)
{
	fact_put(&bed->sink, FACT_OP,
		 &(struct fact_op){ .id = 1000 + call,
				    .call = call,
				    .peer = 1,
				    .op = "tag_recv",
				    .function = "MPI_Recv",
				    .tid = 7,
				    .start = start,
				    .bytes = 8 });
}

static void until(struct bed *bed, uint64_t when)
{
	fact_put(&bed->sink, FACT_LIFETIME, &(struct fact_lifetime){ .process = 0, .until = when });
}

static void a_call_that_never_returns(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	call(&bed, 1, "MPI_Recv", 3 * SECOND);
	open_op(&bed, 1, 3 * SECOND + 10);
	until(&bed, 10 * SECOND);
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", "n0:rank0", VERDICT_FAIL);
	assert_string_equal(
		bed_finding(&bed, "COV-04", "n0:rank0")->seen,
		"tag_recv in MPI_Recv, other end n0:rank1: open for 7.0 s, nothing else "
		"for the last 7.0 s");
	assert_int_equal(judge_status(bed.judge, false), 2);
	bed_end(&bed);
}

static void waiting_for_what_was_begun_before(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	call(&bed, 1, "MPI_Irecv", SECOND);
	open_op(&bed, 1, SECOND);
	call(&bed, 2, "MPI_Waitall", 2 * SECOND);
	until(&bed, 10 * SECOND);
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", "n0:rank0", VERDICT_FAIL);
	bed_end(&bed);
}

static void begun_before(struct bed *bed, uint64_t seen, bool certain)
{
	fact_put(&bed->sink, FACT_OPEN,
		 &(struct fact_open){ .function = "MPI_Recv",
				      .tid = 7,
				      .op = "tag_recv",
				      .peer = 1,
				      .peer_certain = true,
				      .peer_rank = 1,
				      .tag = 7,
				      .since = 3 * SECOND,
				      .until = 3 * SECOND + seen,
				      .bound = true,
				      .certain = certain });
}

/* It has no other fact, and is older than it was seen. */
static void a_call_that_began_before_the_trace(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	begun_before(&bed, 6 * SECOND, true);
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", "n0:rank0", VERDICT_FAIL);
	assert_string_equal(bed_finding(&bed, "COV-04", "n0:rank0")->seen,
			    "tag_recv in MPI_Recv, other end n0:rank1: open for 6.0 s and more, "
			    "since before the trace");
	bed_end(&bed);

	begin(&bed, SPEC);
	begun_before(&bed, 2 * SECOND, true);
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", "n0:rank0", VERDICT_UNKNOWN);
	assert_string_equal(bed_finding(&bed, "COV-04", "n0:rank0")->why,
			    "in MPI_Recv since before the trace, with n0:rank1, seen for 2.0 s: "
			    "attach for at least 5 s");
	bed_end(&bed);

	begin(&bed, SPEC);
	begun_before(&bed, 6 * SECOND, false);
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", NULL, VERDICT_PASS);
	bed_end(&bed);
}

/* Each of these may be as it should be. */
static void open_and_well(void **state)
{
	struct bed bed;

	(void)state;
	/* the capture ends before long */
	begin(&bed, SPEC);
	call(&bed, 1, "MPI_Recv", 3 * SECOND);
	open_op(&bed, 1, 3 * SECOND);
	until(&bed, 7 * SECOND);
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", NULL, VERDICT_PASS);
	bed_end(&bed);

	/* it computes: nothing waits for what was begun */
	begin(&bed, SPEC);
	call(&bed, 1, "MPI_Irecv", SECOND);
	open_op(&bed, 1, SECOND);
	until(&bed, 10 * SECOND);
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", NULL, VERDICT_PASS);
	bed_end(&bed);

	/* other calls came behind it: its end was not seen, but it had one */
	begin(&bed, SPEC);
	call(&bed, 1, "MPI_Recv", SECOND);
	open_op(&bed, 1, SECOND);
	call(&bed, 2, "MPI_Barrier", 2 * SECOND);
	until(&bed, 10 * SECOND);
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", NULL, VERDICT_PASS);
	bed_end(&bed);

	/* longer than this site has ever waited */
	begin(&bed, SPEC "rules: { COV-04: { open: 60 } }\n");
	call(&bed, 1, "MPI_Recv", SECOND);
	open_op(&bed, 1, SECOND);
	until(&bed, 10 * SECOND);
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", NULL, VERDICT_PASS);
	bed_end(&bed);
}

/* What was not seen to end may have ended where nobody looked. */
static void open_as_far_as_was_seen(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed.totals.dropped[0] = (struct fact_reason){ "ring full", 3 };
	call(&bed, 1, "MPI_Recv", SECOND);
	open_op(&bed, 1, SECOND);
	until(&bed, 10 * SECOND);
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", "n0:rank0", VERDICT_UNKNOWN);
	bed_end(&bed);

	/* only of that node */
	for (int lost = 0; lost < 2; lost++) {
		begin(&bed, SPEC);
		bed.totals.dropped[0] = (struct fact_reason){ "ring full", 3 };
		judge_loss(bed.judge,
			   &(struct judge_loss){ .node = lost ? "n0" : "n1", .records = 3 });
		call(&bed, 1, "MPI_Recv", SECOND);
		open_op(&bed, 1, SECOND);
		until(&bed, 10 * SECOND);
		bed_judge(&bed);
		bed_expect(&bed, "COV-04", "n0:rank0", lost ? VERDICT_UNKNOWN : VERDICT_FAIL);
		bed_end(&bed);
	}

	begin(&bed, SPEC);
	call(&bed, 1, "MPI_Recv", SECOND);
	open_op(&bed, 1, SECOND);
	until(&bed, 10 * SECOND);
	fact_put(&bed.sink, FACT_WINDOW, &(struct fact_window){ .from = 0, .to = SECOND + 10 });
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", NULL, VERDICT_PASS);
	bed_end(&bed);
}

/* ---- PATH-10, PROTO-03 ---- */

static void op(struct bed *bed, uint64_t call, const char *memory, const char *taken_as)
{
	fact_put(&bed->sink, FACT_OP,
		 &(struct fact_op){ .id = ++bed->ops,
				    .call = call,
				    .process = GPU_RANK,
				    .op = "tag_send",
				    .function = "MPI_Allreduce",
				    .memory = memory,
				    .memory_known_by = "allocation",
				    .taken_as = taken_as,
				    .start = SECOND,
				    .end = SECOND + 1,
				    .bytes = 4096 });
}

static void memory_type(void **state)
{
	static const struct {
		const char *memory, *taken_as;
		enum verdict verdict;
	} cases[] = {
		{ "gpu0", "cuda", VERDICT_PASS },
		{ "gpu0", "cuda-managed", VERDICT_PASS },
		{ "host", "host", VERDICT_PASS },
		{ "pinned", "host", VERDICT_PASS },
		{ "managed", "cuda", VERDICT_PASS },
		{ "gpu0", "host", VERDICT_FAIL },
		{ "managed", "host", VERDICT_FAIL },
		{ "host", "cuda", VERDICT_FAIL },
		{ "pinned", "cuda-managed", VERDICT_FAIL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bed bed;

		begin(&bed, SPEC);
		gpu_process(&bed, GPU_RANK);
		op(&bed, 1, cases[i].memory, cases[i].taken_as);
		bed_judge(&bed);
		bed_expect(&bed, "PATH-10", "n0", cases[i].verdict);
		bed_end(&bed);
	}
}

static void memory_type_not_told(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	gpu_process(&bed, GPU_RANK);
	op(&bed, 1, "gpu0", NULL);
	op(&bed, 1, NULL, "cuda");
	bed_judge(&bed);
	bed_expect(&bed, "PATH-10", NULL, VERDICT_SKIP);
	bed_end(&bed);
}

static void collectives(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	gpu_process(&bed, GPU_RANK);
	op(&bed, 1, "gpu0", NULL);
	op(&bed, 2, "host", NULL); /* of a buffer on the host, as far as is known */
	bed_judge(&bed);
	bed_expect(&bed, "PROTO-03", "n0", VERDICT_PASS);
	bed_end(&bed);

	begin(&bed, SPEC);
	gpu_process(&bed, GPU_RANK);
	op(&bed, 1, "gpu0", NULL);
	op(&bed, 1, "host", NULL);
	op(&bed, 2, "gpu0", NULL);
	bed_judge(&bed);
	bed_expect(&bed, "PROTO-03", "n0", VERDICT_FAIL);
	assert_int_equal(bed_finding(&bed, "PROTO-03", "n0")->bytes, 4096);
	assert_true(bed_finding(&bed, "PROTO-03", "n0")->share > 0.33 &&
		    bed_finding(&bed, "PROTO-03", "n0")->share < 0.34);
	bed_end(&bed);

	begin(&bed, SPEC "rules: { PROTO-03: { share: 0.5 } }\n");
	gpu_process(&bed, GPU_RANK);
	op(&bed, 1, "gpu0", NULL);
	op(&bed, 1, "host", NULL);
	bed_judge(&bed);
	bed_expect(&bed, "PROTO-03", "n0", VERDICT_PASS);
	bed_end(&bed);

	begin(&bed, SPEC);
	gpu_process(&bed, GPU_RANK);
	op(&bed, 1, "host", NULL);
	bed_judge(&bed);
	bed_expect(&bed, "PROTO-03", NULL, VERDICT_SKIP);
	bed_end(&bed);
}

/* ---- PROTO-04 ---- */

static void freed(struct bed *bed, int process, const char *op, int count)
{
	const struct place place = { .label = "main.c:7" };

	for (int i = 0; i < count; i++)
		fact_put(&bed->sink, FACT_OP,
			 &(struct fact_op){ .id = ++bed->ops,
					    .process = process,
					    .op = op,
					    .place = &place,
					    .start = SECOND,
					    .end = SECOND + 1,
					    .bytes = 4096,
					    .freed = process > 0 });
}

/* A finding of each process whose memory was freed too early, and of no other one. */
static void freed_too_early(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	freed(&bed, 0, "tag_recv", 3);
	bed_judge(&bed);
	bed_expect(&bed, "PROTO-04", NULL, VERDICT_SKIP);
	bed_end(&bed);

	begin(&bed, SPEC);
	bed.totals.unmapped = 2;
	bed_judge(&bed);
	bed_expect(&bed, "PROTO-04", NULL, VERDICT_PASS);
	assert_int_equal(bed_finding(&bed, "PROTO-04", NULL)->count, 2);
	bed_end(&bed);

	begin(&bed, SPEC);
	bed.totals.unmapped = 2;
	bed.totals.freed_unsure = 1;
	bed_judge(&bed);
	bed_expect(&bed, "PROTO-04", NULL, VERDICT_UNKNOWN);
	bed_end(&bed);

	begin(&bed, SPEC);
	bed.totals.unmapped = 2;
	freed(&bed, 0, "tag_recv", 3);
	freed(&bed, 1, "get", 1);
	freed(&bed, 1, "put", 2);
	bed_judge(&bed);
	bed_expect(&bed, "PROTO-04", "n0:rank1", VERDICT_FAIL);
	assert_int_equal(bed_finding(&bed, "PROTO-04", "n0:rank1")->count, 3);
	assert_int_equal(bed_finding(&bed, "PROTO-04", "n0:rank1")->bytes, 3 * 4096);
	assert_string_equal(bed_finding(&bed, "PROTO-04", "n0:rank1")->seen, "put at main.c:7");
	bed_end(&bed);
}

/* ---- RAIL-03 ---- */

static void fragments(struct bed *bed, uint64_t op, const char *device, int count)
{
	for (int i = 0; i < count; i++)
		fact_put(&bed->sink, FACT_TRANSFER,
			 &(struct fact_transfer){
				 .caused_by = op,
				 .peer = 2,
				 .op = "put_zcopy",
				 .transport = "rc_mlx5",
				 .device = device,
				 .locality = LOCALITY_REMOTE,
				 .kind = KIND_DATA,
				 .bytes = 1 << 20,
			 });
}

static void rails(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	fragments(&bed, 1, "mlx5_0:1", 2);
	fragments(&bed, 1, "mlx5_1:1", 2);
	fragments(&bed, 2, "mlx5_0:1", 1); /* one device: no rails */
	bed_judge(&bed);
	bed_expect(&bed, "RAIL-03", "n0", VERDICT_PASS);
	bed_end(&bed);

	/* multi-rail MPC: four fragments on three rails are as slow as on two */
	begin(&bed, SPEC);
	fragments(&bed, 1, "mlx5_2:1", 1);
	fragments(&bed, 1, "mlx5_0:1", 2);
	fragments(&bed, 1, "mlx5_1:1", 1);
	bed_judge(&bed);
	bed_expect(&bed, "RAIL-03", "n0", VERDICT_FAIL);
	assert_string_equal(bed_finding(&bed, "RAIL-03", "n0")->seen,
			    "max/mean 1.50: fragments over mlx5_0:1 2, mlx5_1:1 1, mlx5_2:1 1");
	bed_end(&bed);

	begin(&bed, SPEC);
	fragments(&bed, 1, "mlx5_0:1", 1);
	bed_judge(&bed);
	bed_expect(&bed, "RAIL-03", NULL, VERDICT_SKIP);
	bed_end(&bed);
}

/* Eight with one fragment each and one with two are 2 of 10 on one of nine. */
static void many_rails(void **state)
{
	static char devices[9][64];
	const struct finding *finding;
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	for (int i = 0; i < 9; i++) {
		char *device = devices[i];

		snprintf(device, sizeof(devices[i]), "a_device_with_a_rather_long_name_mlx5_%d:1",
			 i);
		fragments(&bed, 1, device, i == 8 ? 2 : 1);
	}
	bed_judge(&bed);
	bed_expect(&bed, "RAIL-03", "n0", VERDICT_FAIL);
	finding = bed_finding(&bed, "RAIL-03", "n0");
	assert_ptr_equal(strstr(finding->seen, "max/mean 1.80: "), finding->seen);
	assert_non_null(strstr(finding->seen, ", a_device_with_a_rather_long_name_mlx5_8:1 2"));
	bed_end(&bed);
}

/* ---- FAB-01 ---- */

#define LEVEL SPEC "expect: [ { loc: inter, sl: 1 } ]\n"

static void levels(void **state)
{
	static const struct {
		const char *name, *value;
		enum verdict verdict;
	} cases[] = {
		{ "UCX_IB_SL", "1", VERDICT_PASS },       { "UCX_IB_SL", "0", VERDICT_FAIL },
		{ "UCX_RC_MLX5_SL", "1", VERDICT_PASS },  { "UCX_DC_SL", "1", VERDICT_UNKNOWN },
		{ "UCX_IB_SL", "auto", VERDICT_UNKNOWN }, { NULL, NULL, VERDICT_UNKNOWN },
		{ "MPI_UCX_RC_SL", "2", VERDICT_FAIL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bed bed;

		begin(&bed, LEVEL);
		bed_variable(&bed, 0, cases[i].name, cases[i].value);
		bed_move(&bed, &(struct moved){ 0, 2, "rc_mlx5", "mlx5_0:1", .bytes = 8 });
		bed_judge(&bed);
		bed_expect(&bed, "FAB-01", "n0", cases[i].verdict);
		bed_end(&bed);
	}
}

#define LEVEL_OF_LARGE SPEC "expect: [ { loc: inter, size: [64K, inf], sl: 1 } ]\n"

/* Sums are of messages that the line may be about. */
static void levels_of_sums(void **state)
{
	static const struct {
		const char *value;
		enum verdict verdict;
	} cases[] = {
		{ "1", VERDICT_PASS },
		{ "0", VERDICT_UNKNOWN },
		{ "auto", VERDICT_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bed bed;

		begin(&bed, LEVEL_OF_LARGE);
		bed_variable(&bed, 0, "UCX_IB_SL", cases[i].value);
		bed_move(&bed, &(struct moved){ 0, 2, "rc_mlx5", "mlx5_0:1", .bytes = 1 << 20,
						.sums = true });
		bed_judge(&bed);
		bed_expect(&bed, "FAB-01", "n0", cases[i].verdict);
		bed_end(&bed);
	}
}

static void nearer_names_count_first(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, LEVEL);
	bed_variable(&bed, 0, "UCX_IB_SL", "3");
	bed_variable(&bed, 0, "UCX_RC_SL", "1");
	bed_move(&bed, &(struct moved){ 0, 2, "rc_verbs", "mlx5_0:1", .bytes = 8 });
	bed_judge(&bed);
	bed_expect(&bed, "FAB-01", "n0", VERDICT_PASS);
	bed_end(&bed);

	begin(&bed, LEVEL);
	bed_move(&bed, &(struct moved){ 0, 2, "tcp", "eth0", .bytes = 8 });
	bed_judge(&bed);
	bed_expect(&bed, "FAB-01", NULL, VERDICT_SKIP);
	bed_end(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_never_returns),
		cmocka_unit_test(waiting_for_what_was_begun_before),
		cmocka_unit_test(a_call_that_began_before_the_trace),
		cmocka_unit_test(open_and_well),
		cmocka_unit_test(open_as_far_as_was_seen),
		cmocka_unit_test(memory_type),
		cmocka_unit_test(memory_type_not_told),
		cmocka_unit_test(freed_too_early),
		cmocka_unit_test(collectives),
		cmocka_unit_test(rails),
		cmocka_unit_test(many_rails),
		cmocka_unit_test(levels),
		cmocka_unit_test(levels_of_sums),
		cmocka_unit_test(nearer_names_count_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
