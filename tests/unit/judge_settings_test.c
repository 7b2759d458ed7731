// SPDX-License-Identifier: BSD-3-Clause
/* Rules about the variables of processes: CFG-01. */
#include "base/environment.h"
#include "judge_bed.h"

/* On all ranks. */
static void everywhere(struct bed *bed, const char *name, const char *value)
{
	for (int rank = 0; rank < RANKS; rank++)
		bed_variable(bed, rank, name, value);
}

static void begin(struct bed *bed)
{
	bed_begin(bed, SPEC);
	bed->totals.stored = 10;
	everywhere(bed, NULL, NULL);
}

/* How many findings of CFG-01 there are of a subject with a verdict. */
static int count(const struct bed *bed, const char *subject, enum verdict verdict)
{
	const struct finding *findings;
	size_t length = judge_findings(bed->judge, &findings);
	int found = 0;

	for (size_t i = 0; i < length; i++)
		found += !strcmp(findings[i].rule->id, "CFG-01") &&
			 findings[i].verdict == verdict &&
			 !strcmp(findings[i].subject.text, subject);
	return found;
}

static const struct finding *failure(const struct bed *bed, const char *subject)
{
	const struct finding *findings;
	size_t length = judge_findings(bed->judge, &findings);

	for (size_t i = 0; i < length; i++)
		if (!strcmp(findings[i].rule->id, "CFG-01") &&
		    findings[i].verdict == VERDICT_FAIL &&
		    !strcmp(findings[i].subject.text, subject))
			return &findings[i];
	fail_msg("%s did not fail", subject);
	return NULL;
}

static void expect_well(struct bed *bed)
{
	bed_judge(bed);
	/* the versions and the variables, in one */
	assert_int_equal(count(bed, "n0", VERDICT_PASS), 1);
	assert_int_equal(count(bed, "n1", VERDICT_PASS), 1);
	assert_string_equal(bed_finding(bed, "CFG-01", "n0")->expected,
			    "Open MPI 4.1.4 UCX 1.13.1; the variables of the other nodes, all of "
			    "them known to UCX");
	bed_end(bed);
}

static void the_same_everywhere(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	expect_well(&bed);

	begin(&bed);
	everywhere(&bed, "OMPI_MCA_pml", "ucx");
	everywhere(&bed, "UCX_TLS", "rc,sm");
	expect_well(&bed);
}

/* A device for each rank of a node is what a script does; the other node's ranks have the same. */
static void its_own_for_each_rank(void **state)
{
	static const char *const devices[] = { "mlx5_0:1", "mlx5_1:1" };
	struct bed bed;

	(void)state;
	begin(&bed);
	for (int rank = 0; rank < RANKS; rank++)
		bed_variable(&bed, rank, "UCX_NET_DEVICES", devices[rank % 2]);
	expect_well(&bed);

	begin(&bed);
	for (int rank = 0; rank < RANKS; rank++)
		bed_variable(&bed, rank, "UCX_NET_DEVICES", devices[rank % 2 ^ rank / 2]);
	bed_judge(&bed);
	assert_string_equal(failure(&bed, "n1")->expected, "UCX_NET_DEVICES=mlx5_0:1 | mlx5_1:1");
	assert_string_equal(failure(&bed, "n1")->seen, "UCX_NET_DEVICES=mlx5_1:1 | mlx5_0:1");
	assert_int_equal(count(&bed, "n0", VERDICT_FAIL), 0);
	bed_end(&bed);
}

/* Of 66 ranks per node, the last one has another value on the second. */
static void many_ranks(void **state)
{
	static char values[2 * 66][16];
	struct bed bed;

	(void)state;
	begin(&bed);
	for (int rank = 0; rank < 2 * 66; rank++) {
		char *value = values[rank];
		const struct fact_variable variable = { rank, "UCX_NET_DEVICES", value };
		const struct fact_process process = {
			.index = rank,
			.host = rank / 66,
			.host_id = node_names[rank / 66],
			.host_name = node_names[rank / 66],
			.pid = 100 + rank,
			.mpi = "Open MPI 4.1.4",
			.rank = rank,
			.size = 2 * 66,
			.from_start = true,
			.environment = &variable,
			.environment_count = 1,
		};

		snprintf(value, sizeof(values[rank]), "mlx5_%d:1", rank == 131 ? 99 : rank % 66);
		fact_put(&bed.sink, FACT_PROCESS, &process);
	}
	bed_judge(&bed);
	assert_non_null(strstr(failure(&bed, "n1")->expected, " | mlx5_65:1"));
	assert_non_null(strstr(failure(&bed, "n1")->seen, " | mlx5_99:1"));
	bed_end(&bed);
}

static void of_one_node(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	bed_variable(&bed, 2, "UCX_TLS", "tcp");
	bed_variable(&bed, 3, "UCX_TLS", "tcp");
	bed_judge(&bed);
	assert_string_equal(failure(&bed, "n1")->expected, "UCX_TLS (not set)");
	assert_string_equal(failure(&bed, "n1")->seen, "UCX_TLS=tcp");
	assert_int_equal(count(&bed, "n0", VERDICT_PASS), 1);
	assert_int_equal(judge_status(bed.judge, false), 1);
	bed_end(&bed);

	/* no setting, and an empty one, are not the same */
	begin(&bed);
	bed_variable(&bed, 2, "UCX_TLS", "");
	bed_variable(&bed, 3, "UCX_TLS", "");
	bed_judge(&bed);
	assert_string_equal(failure(&bed, "n1")->seen, "UCX_TLS=");
	bed_end(&bed);
}

/* All that is wrong with a node is one finding. */
static void several_at_once(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	for (int rank = 2; rank < RANKS; rank++) {
		bed.ucx[rank][0].version = "1.14.0";
		bed_variable(&bed, rank, "OMPI_MCA_pml", "ob1");
		bed_variable(&bed, rank, "UCX_NET_DEVICE", "mlx5_0:1");
		bed_variable(&bed, rank, "UCX_TLS", "tcp");
	}
	bed.cut[3] = 2;
	bed_rank(&bed, 3, 1);
	bed_judge(&bed);
	assert_int_equal(count(&bed, "n1", VERDICT_FAIL), 1);
	assert_int_equal(count(&bed, "n1", VERDICT_UNKNOWN), 0);
	assert_string_equal(failure(&bed, "n1")->expected,
			    "Open MPI 4.1.4 UCX 1.13.1; OMPI_MCA_pml (not set); UCX_TLS (not set); "
			    "UCX_NET_DEVICES");
	assert_string_equal(failure(&bed, "n1")->seen,
			    "Open MPI 4.1.4 UCX 1.14.0; OMPI_MCA_pml=ob1; UCX_TLS=tcp; "
			    "UCX_NET_DEVICE: UCX 1.14.0 has no such variable");
	assert_int_equal(count(&bed, "n0", VERDICT_PASS), 1);
	bed_end(&bed);
}

/* Which GPUs a job gets, and where it writes: no setting of the site. */
static void may_differ(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	bed_variable(&bed, 2, "CUDA_VISIBLE_DEVICES", "3");
	bed_variable(&bed, 2, "UCX_LOG_FILE", "/tmp/n1");
	expect_well(&bed);
}

static void classes_apart(void **state)
{
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC "classes: { a: { nodes: n0 }, b: { nodes: n1 } }\n");
	bed.totals.stored = 10;
	everywhere(&bed, NULL, NULL);
	bed_variable(&bed, 2, "UCX_TLS", "tcp");
	bed_variable(&bed, 3, "UCX_TLS", "tcp");
	expect_well(&bed);
}

static void misspelt(void **state)
{
	char expected[32];
	struct bed bed;

	(void)state;
	snprintf(expected, sizeof(expected), "1.15 to 1.%d have it", ucx_names_newest);
	begin(&bed);
	bed_variable(&bed, 1, "UCX_NET_DEVICE", "mlx5_0:1");
	bed_judge(&bed);
	assert_int_equal(count(&bed, "n0", VERDICT_FAIL), 1);
	assert_int_equal(count(&bed, "n1", VERDICT_FAIL), 0);
	assert_string_equal(failure(&bed, "n0")->expected, "UCX_NET_DEVICES");
	assert_string_equal(failure(&bed, "n0")->seen,
			    "UCX_NET_DEVICE: UCX 1.13.1 has no such variable");
	bed_end(&bed);

	/* on all nodes: each of them is wrong */
	begin(&bed);
	everywhere(&bed, "UCX_REG_NONBLOCK_MEM_TYPES", "host");
	bed_judge(&bed);
	assert_int_equal(count(&bed, "n0", VERDICT_FAIL), 1);
	assert_int_equal(count(&bed, "n1", VERDICT_FAIL), 1);
	assert_non_null(strstr(failure(&bed, "n0")->seen, expected));
	bed_end(&bed);
}

static void of_a_release_that_is_newer(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	for (int rank = 0; rank < RANKS; rank++)
		bed.ucx[rank][0].version = "1.99.0";
	everywhere(&bed, "UCX_NEW_THING", "y");
	bed_judge(&bed);
	assert_int_equal(count(&bed, "n0", VERDICT_PASS), 1);
	assert_non_null(strstr(bed_finding(&bed, "CFG-01", "n0")->seen,
			       "its UCX is not of the releases 1.10 to 1."));
	bed_end(&bed);
}

static void not_told(void **state)
{
	struct bed bed;

	(void)state;
	/* captures of before do not tell it of anybody */
	bed_begin(&bed, SPEC);
	bed.totals.stored = 10;
	bed_judge(&bed);
	assert_int_equal(count(&bed, "all captures", VERDICT_SKIP), 1);
	assert_int_equal(judge_status(bed.judge, false), 0);
	bed_end(&bed);

	/* one process's could not be read */
	bed_begin(&bed, SPEC);
	bed.totals.stored = 10;
	for (int rank = 0; rank < 3; rank++)
		bed_variable(&bed, rank, "UCX_TLS", "rc");
	bed_judge(&bed);
	assert_int_equal(count(&bed, "n0", VERDICT_PASS), 1);
	assert_int_equal(count(&bed, "n1", VERDICT_UNKNOWN), 1);
	bed_end(&bed);

	/* more than there was room for */
	begin(&bed);
	bed.cut[3] = 2;
	bed_rank(&bed, 3, 1);
	bed_judge(&bed);
	assert_int_equal(count(&bed, "n1", VERDICT_UNKNOWN), 1);
	bed_end(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_everywhere),
		cmocka_unit_test(its_own_for_each_rank),
		cmocka_unit_test(many_ranks),
		cmocka_unit_test(of_one_node),
		cmocka_unit_test(several_at_once),
		cmocka_unit_test(may_differ),
		cmocka_unit_test(classes_apart),
		cmocka_unit_test(misspelt),
		cmocka_unit_test(of_a_release_that_is_newer),
		cmocka_unit_test(not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
