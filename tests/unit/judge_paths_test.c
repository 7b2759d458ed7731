// SPDX-License-Identifier: BSD-3-Clause
/* Each rule of paths and rails: what passes it, what fails it, on which subject. */
#include "judge_nodes.h"

#define KIB 1024u
#define MIB (1024 * KIB)

struct path_case {
	const char *rule, *policy;
	struct moved moved[4];
	const char *subject; /* NULL: the first */
	enum verdict verdict;
};

#define TCP_OK SPEC "expect: [ { loc: inter, tl: [tcp] } ]\n"
#define IPC                                                                                        \
	SPEC "expect:\n  - { loc: intra, mem: cuda-cuda, size: [64K, inf], tl: [cuda_ipc], min_share: 0.9 }\n"
#define RAILS SPEC "classes: { a: { nodes: 'n[0-1]', nics: [e0, e1], rails: 2 } }\n"

static const struct path_case cases[] = {
	/* PATH-01: the first line that fits, by size and memory */
	{ "PATH-01", SPEC, { { 0, 1, .bytes = 8 } }, "all captures", VERDICT_SKIP },
	{ "PATH-01",
	  IPC,
	  { { 0, 1, "cuda_ipc", "cuda", "get_zcopy", NULL, "gpu0", "gpu1", .bytes = 64 * KIB,
	      .count = 10 },
	    { 0, 1, "cma", "memory", NULL, NULL, "gpu0", "gpu1", .bytes = 64 * KIB, .count = 1 } },
	  "n0",
	  VERDICT_PASS },
	{ "PATH-01",
	  IPC,
	  { { 0, 1, "cuda_ipc", "cuda", "get_zcopy", NULL, "gpu0", "gpu1", .bytes = 64 * KIB,
	      .count = 10 },
	    { 0, 1, "cma", "memory", NULL, NULL, "gpu0", "gpu1", .bytes = 64 * KIB, .count = 2 } },
	  "n0",
	  VERDICT_FAIL },
	{ "PATH-01",
	  IPC,
	  { { 0, 1, "cma", "memory", NULL, NULL, "gpu0", "gpu1", .bytes = 64 * KIB - 1,
	      .count = 1 } },
	  NULL,
	  VERDICT_SKIP },
	{ "PATH-01",
	  SPEC "expect: [ { loc: inter, tl: [rc_*], forbid: [rc_verbs] } ]\n",
	  { { 0, 2, "rc_mlx5", "mlx5_0:1", .bytes = 8 } },
	  "n0>n1",
	  VERDICT_PASS },
	{ "PATH-01",
	  SPEC "expect: [ { loc: inter, tl: [rc_*], forbid: [rc_verbs] } ]\n",
	  { { 0, 2, "none", .bytes = 8 } },
	  "n0>n1",
	  VERDICT_UNKNOWN },
	{ "PATH-01",
	  SPEC "expect: [ { loc: inter, tl: [rc_*], forbid: [rc_verbs] } ]\n",
	  { { 0, 2, "rc_mlx5", "mlx5_0:1", .bytes = 99 }, { 0, 2, "none", .bytes = 1 } },
	  "n0>n1",
	  VERDICT_PASS },
	{ "PATH-01",
	  SPEC "expect: [ { loc: inter, tl: [rc_*], forbid: [rc_verbs] } ]\n",
	  { { 0, 2, "rc_verbs", "mlx5_0:1", .bytes = 8 } },
	  "n0>n1",
	  VERDICT_FAIL },
	{ "PATH-01",
	  SPEC "expect: [ { loc: intra, forbid: [net] } ]\n",
	  { { 2, 3, "tcp", "lo", .bytes = 8 } },
	  "n1",
	  VERDICT_FAIL },
	{ "PATH-01",
	  SPEC "expect: [ { tl: [gdr_copy+sysv] } ]\n",
	  { { 0, 1, "sysv", .bytes = 8 }, { 0, 1, "gdr_copy", .bytes = 8 } },
	  "n0",
	  VERDICT_PASS },
	{ "PATH-01",
	  SPEC "expect: [ { proto: [\"rndv*\"], size: [1M, inf] } ]\n",
	  { { 0, 2, "rc_mlx5", "mlx5_0:1", "am_bcopy", "eager/multi", .bytes = 2 * MIB } },
	  "n0>n1",
	  VERDICT_FAIL },
	{ "PATH-01",
	  SPEC "expect: [ { nic: nearest } ]\n",
	  { { 0, 1, .bytes = 8 } },
	  "line 2",
	  VERDICT_SKIP },

	{ "PATH-02", SPEC, { { 0, 2, "rc_mlx5", "mlx5_0:1", .bytes = 8 } }, "n0>n1", VERDICT_PASS },
	{ "PATH-02",
	  SPEC,
	  { { 0, 2, "tcp", "eth0", .bytes = MIB, .count = 2 } },
	  "n0>n1",
	  VERDICT_FAIL },
	/* wire-up alone is no data path */
	{ "PATH-02",
	  SPEC,
	  { { 0, 2, "tcp", "eth0", .bytes = 100, .count = 2 } },
	  "n0>n1",
	  VERDICT_PASS },
	{ "PATH-02",
	  TCP_OK,
	  { { 0, 2, "tcp", "eth0", .bytes = MIB, .count = 2 } },
	  "n0>n1",
	  VERDICT_PASS },
	{ "PATH-02",
	  TCP_OK "rules: { PATH-02: { management: [eth0] } }\n",
	  { { 0, 2, "tcp", "eth0", .bytes = 8 } },
	  "n0>n1",
	  VERDICT_FAIL },

	{ "PATH-03", SPEC, { { 0, 1, .bytes = 8 } }, "n0", VERDICT_PASS },
	{ "PATH-03",
	  SPEC,
	  { { 0, 1, .bytes = 97 }, { 0, 1, "none", .bytes = 3 } },
	  "n0",
	  VERDICT_UNKNOWN },
	{ "PATH-03",
	  SPEC,
	  { { 0, 1, .bytes = 8 }, { 2, 3, "rc_mlx5", "mlx5_0:1", .bytes = 8 } },
	  "n1",
	  VERDICT_FAIL },
	{ "PATH-03",
	  SPEC,
	  { { 0, 2, "rc_mlx5", "mlx5_0:1", .bytes = 8 } },
	  "all captures",
	  VERDICT_SKIP },

	{ "PATH-04",
	  SPEC,
	  { { 0, 1, "cuda_ipc", "cuda", "get_zcopy", NULL, "gpu0", "gpu1", .bytes = MIB,
	      .count = 1 } },
	  "n0",
	  VERDICT_PASS },
	{ "PATH-04",
	  SPEC,
	  { { 0, 1, "cma", "memory", NULL, NULL, "gpu0", "gpu1", .bytes = MIB, .count = 1 } },
	  "n0",
	  VERDICT_FAIL },
	{ "PATH-04",
	  SPEC,
	  { { 0, 1, "cma", .src_mem = "gpu0", .bytes = MIB } },
	  NULL,
	  VERDICT_SKIP },

	{ "PATH-05",
	  SPEC,
	  { { 0, 1, "cma", "memory", "get_zcopy", .bytes = MIB } },
	  "n0",
	  VERDICT_PASS },
	{ "PATH-05",
	  SPEC,
	  { { 0, 1, "sysv", "memory", "am_bcopy", .bytes = MIB } },
	  "n0",
	  VERDICT_FAIL },
	{ "PATH-05",
	  SPEC,
	  { { 0, 1, "sysv", "memory", "am_bcopy", .bytes = 8 } },
	  NULL,
	  VERDICT_SKIP },

	{ "PATH-06",
	  SPEC,
	  { { 0, 1, "gdr_copy", "cuda", "put_short", .dst_mem = "gpu0", .bytes = 8 } },
	  "n0",
	  VERDICT_PASS },
	{ "PATH-06",
	  SPEC,
	  { { 0, 1, "cuda_copy", "cuda", "put_short", .dst_mem = "gpu0", .bytes = 8 } },
	  "n0",
	  VERDICT_FAIL },
	{ "PATH-06",
	  SPEC,
	  { { 0, 1, "cuda_copy", "cuda", "put_short", .dst_mem = "gpu0", .bytes = 8 * KIB } },
	  NULL,
	  VERDICT_SKIP },

	{ "PATH-07",
	  SPEC,
	  { { 0, 2, "rc_mlx5", "mlx5_0:1", "get_zcopy", NULL, "gpu0", "gpu1", .bytes = MIB,
	      .count = 1 } },
	  "n0>n1",
	  VERDICT_PASS },
	{ "PATH-07",
	  SPEC,
	  { { 0, 2, "cuda_copy", "cuda", "get_zcopy", NULL, "gpu0", "host", .bytes = MIB,
	      .count = 1 } },
	  "n0>n1",
	  VERDICT_FAIL },

	{ "PATH-08", SPEC, { { 0, 2, "rc_mlx5", "mlx5_0:1", .bytes = 8 } }, "n0>n1", VERDICT_PASS },
	{ "PATH-08",
	  SPEC,
	  { { 0, 2, "rc_verbs", "mlx5_0:1", .bytes = 8 } },
	  "n0>n1",
	  VERDICT_FAIL },

	{ "PATH-09",
	  SPEC,
	  { { 0, 2, "rc_mlx5", "mlx5_0:1", .bytes = 8 } },
	  "n0:rank0",
	  VERDICT_PASS },
	{ "PATH-09",
	  SPEC "rules: { PATH-09: { endpoints: 1 } }\n",
	  { { 0, 2, "rc_mlx5", "m", .bytes = 8 }, { 0, 3, "rc_mlx5", "m", .bytes = 8 } },
	  "n0:rank0",
	  VERDICT_FAIL },

	/* within a node shared memory is always there; tcp between nodes may be all there is */
	{ "PATH-13",
	  SPEC,
	  { { 0, 1, "tcp", "lo", "am_bcopy", "get/am/bcopy", .bytes = 8 } },
	  "n0",
	  VERDICT_FAIL },
	{ "PATH-13",
	  SPEC,
	  { { 0, 1, "posix", "memory", "put_short", "put/offload/short", .bytes = 8 },
	    { 0, 1, "posix", "memory", "am_short", "amo/post/sw", .bytes = 8 } },
	  "n0",
	  VERDICT_FAIL },
	{ "PATH-13",
	  SPEC,
	  { { 0, 1, "posix", "memory", "get_bcopy", "get/bcopy", .bytes = 8 },
	    { 0, 1, "posix", "memory", "am_bcopy", "eager/bcopy", .bytes = 8 } },
	  "n0",
	  VERDICT_PASS },
	{ "PATH-13",
	  SPEC,
	  { { 0, 2, "ud_verbs", "mlx5_0:1", "am_bcopy", "put/am/bcopy", .bytes = 8 } },
	  "n0>n1",
	  VERDICT_FAIL },
	{ "PATH-13",
	  SPEC,
	  { { 0, 2, "tcp", "eth0", "am_bcopy", "put/am/bcopy", .bytes = 8 } },
	  "n0>n1",
	  VERDICT_UNKNOWN },
	{ "PATH-13",
	  SPEC,
	  { { 0, 2, "none", NULL, "am_bcopy", "put/am/bcopy", .bytes = 8 } },
	  "n0>n1",
	  VERDICT_UNKNOWN },
	{ "PATH-13",
	  SPEC,
	  { { 0, 2, "srd", "efa_0:1", "am_bcopy", "amo/fetch/sw", .bytes = 8 } },
	  "n0>n1",
	  VERDICT_UNKNOWN },
	{ "PATH-13",
	  SPEC,
	  { { 0, 2, "rc_mlx5", "mlx5_0:1", "am_zcopy", "am/zcopy", .bytes = 8 } },
	  NULL,
	  VERDICT_SKIP },

	{ "PATH-12",
	  SPEC,
	  { { 0, 2, "rc_mlx5", "m", .bytes = 8 }, { 3, 1, "rc_mlx5", "m", .bytes = 8 } },
	  "n0<>n1",
	  VERDICT_PASS },
	{ "PATH-12",
	  SPEC,
	  { { 0, 2, "rc_mlx5", "m", .bytes = 8 }, { 2, 0, "tcp", "eth0", .bytes = 8 } },
	  "n0<>n1",
	  VERDICT_FAIL },
	{ "PATH-12", SPEC, { { 0, 2, "rc_mlx5", "m", .bytes = 8 } }, NULL, VERDICT_SKIP },
	/* what is not known is no other way, and proves none */
	{ "PATH-12",
	  SPEC,
	  { { 0, 2, "tcp", "e0", .bytes = 99 },
	    { 0, 2, "none", .bytes = 1 },
	    { 2, 0, "tcp", "e0", .bytes = 8 } },
	  "n0<>n1",
	  VERDICT_PASS },
	{ "PATH-12",
	  SPEC,
	  { { 0, 2, "tcp", "e0", .bytes = 9 },
	    { 0, 2, "none", .bytes = 1 },
	    { 2, 0, "tcp", "e0", .bytes = 8 } },
	  "n0<>n1",
	  VERDICT_UNKNOWN },
	{ "PATH-12",
	  SPEC,
	  { { 0, 2, "tcp", "e0", .bytes = 8 }, { 2, 0, "none", .bytes = 8 } },
	  "n0<>n1",
	  VERDICT_UNKNOWN },
	{ "PATH-12",
	  SPEC,
	  { { 0, 2, "tcp", "e0", .bytes = MIB },
	    { 0, 2, "tcp", "e1", .bytes = MIB },
	    { 2, 0, "tcp", "e0", .bytes = MIB } },
	  "n0<>n1",
	  VERDICT_FAIL },
	/* other processes, smaller messages, other memory: nothing that has to be alike */
	{ "PATH-12",
	  SPEC,
	  { { 0, 2, "tcp", "e0", .bytes = MIB },
	    { 1, 2, "tcp", "e1", .bytes = MIB },
	    { 2, 0, "tcp", "e0", .bytes = MIB } },
	  "n0<>n1",
	  VERDICT_PASS },
	{ "PATH-12",
	  SPEC,
	  { { 0, 2, "tcp", "e0", .bytes = MIB },
	    { 0, 2, "tcp", "e1", .bytes = MIB },
	    { 2, 0, "tcp", "e0", .bytes = MIB - 1 } },
	  "n0<>n1",
	  VERDICT_PASS },
	{ "PATH-12",
	  SPEC,
	  { { 0, 2, "tcp", "e0", .src_mem = "gpu0", .bytes = MIB },
	    { 0, 2, "tcp", "e1", .src_mem = "gpu0", .bytes = MIB },
	    { 2, 0, "tcp", "e0", .bytes = MIB } },
	  "n0<>n1",
	  VERDICT_PASS },

	{ "RAIL-01",
	  RAILS,
	  { { 0, 2, "tcp", "e0", .bytes = MIB }, { 1, 3, "tcp", "e1", .bytes = MIB } },
	  "n0",
	  VERDICT_PASS },
	{ "RAIL-01", RAILS, { { 0, 2, "tcp", "e0", .bytes = MIB } }, "n0", VERDICT_FAIL },
	{ "RAIL-01", RAILS, { { 0, 2, "tcp", "e0", .bytes = 8 } }, NULL, VERDICT_SKIP },
	{ "RAIL-02",
	  RAILS,
	  { { 0, 2, "tcp", "e0", .bytes = 100 << 10 }, { 0, 2, "tcp", "e1", .bytes = 109 << 10 } },
	  "n0",
	  VERDICT_PASS },
	{ "RAIL-02",
	  RAILS,
	  { { 0, 2, "tcp", "e0", .bytes = 100 << 10 }, { 0, 2, "tcp", "e1", .bytes = 300 << 10 } },
	  "n0",
	  VERDICT_FAIL },
	/* sums may be of large messages, and of small ones */
	{ "RAIL-01",
	  RAILS,
	  { { 0, 2, "tcp", "e0", .bytes = MIB },
	    { 0, 2, "tcp", "e1", .bytes = MIB, .sums = true } },
	  "n0",
	  VERDICT_UNKNOWN },
	{ "RAIL-01",
	  RAILS,
	  { { 0, 2, "tcp", "e0", .bytes = MIB },
	    { 0, 2, "tcp", "e0", .bytes = MIB, .sums = true } },
	  "n0",
	  VERDICT_FAIL },
	{ "RAIL-02",
	  RAILS,
	  { { 0, 2, "tcp", "e0", .bytes = MIB },
	    { 0, 2, "tcp", "e1", .bytes = MIB, .sums = true } },
	  "n0",
	  VERDICT_UNKNOWN },
	{ "RAIL-02",
	  RAILS,
	  { { 0, 2, "tcp", "e0", .bytes = MIB },
	    { 0, 2, "tcp", "e1", .bytes = MIB },
	    { 0, 2, "tcp", "e1", .bytes = MIB, .sums = true } },
	  "n0",
	  VERDICT_UNKNOWN },
	{ "RAIL-02", RAILS, { { 0, 2, "tcp", "e0", .bytes = 32 } }, NULL, VERDICT_SKIP },
	{ "RAIL-02", SPEC, { { 0, 2, "tcp", "e0", .bytes = MIB } }, NULL, VERDICT_SKIP },
};

static void paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct path_case *c = &cases[i];
		struct bed bed;

		bed_begin(&bed, c->policy);
		for (int k = 0; k < 4 && c->moved[k].bytes; k++)
			bed_move(&bed, &c->moved[k]);
		bed_judge(&bed);
		bed_expect(&bed, c->rule, c->subject, c->verdict);
		bed_end(&bed);
	}
}

/* Two cases at least of every rule that is judged from captures: one passes, one fails. */
static void both_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < CATALOGUE_RULES; i++) {
		bool pass = false, fail = false, any = false;

		for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
			if (strcmp(cases[k].rule, catalogue[i].id))
				continue;
			any = true;
			pass = pass || cases[k].verdict == VERDICT_PASS;
			fail = fail || cases[k].verdict == VERDICT_FAIL;
		}
		if (any && (!pass || !fail))
			fail_msg("%s: no case for both verdicts", catalogue[i].id);
	}
}

static void numbers_of_a_failure(void **state)
{
	const struct finding *finding;
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	bed_move(&bed, &(struct moved){ 0, 1, "posix", .bytes = 300, .count = 3 });
	bed_move(&bed, &(struct moved){ 0, 1, "tcp", "lo", .bytes = 20, .count = 5 });
	bed_judge(&bed);
	finding = bed_finding(&bed, "PATH-03", "n0");
	assert_int_equal(finding->verdict, VERDICT_FAIL);
	assert_int_equal(finding->count, 5);
	assert_int_equal(finding->bytes, 100);
	assert_true(finding->share == 0.1);
	assert_int_equal(finding->example_count, 3);
	assert_string_equal(finding->examples[0].transport, "tcp");
	assert_int_equal(finding->examples[0].bytes, 20);
	assert_non_null(strstr(finding->seen, "tcp/lo"));
	bed_end(&bed);
}

/* Fragments are as large as their message, whenever that is told. */
static void parts_of_a_message(void **state)
{
	(void)state;
	for (int late = 0; late < 2; late++) {
		const struct fact_op op = { .id = 7, .process = 0, .bytes = MIB };
		const struct fact_transfer part = {
			.caused_by = 7,
			.peer = 1,
			.op = "am_bcopy",
			.transport = "sysv",
			.device = "memory",
			.locality = LOCALITY_NODE,
			.src_mem = "host",
			.dst_mem = "host",
		};
		const struct fact_sums sums = { .count = 128, .bytes = MIB };
		struct bed bed;

		bed_begin(&bed, SPEC);
		if (!late)
			fact_put(&bed.sink, FACT_OP, &op);
		fact_put_sums(&bed.sink, FACT_TRANSFERS, &part, &sums);
		if (late)
			fact_put(&bed.sink, FACT_OP, &op);
		bed_judge(&bed);
		bed_expect(&bed, "PATH-05", "n0", VERDICT_FAIL);
		assert_int_equal(bed_finding(&bed, "PATH-05", "n0")->bytes, MIB);
		bed_end(&bed);
	}
}

/* Transfers of which only sums are known: least is what each has at least. */
static const struct sums_case {
	const char *rule, *policy;
	struct {
		int to;
		const char *transport, *op;
		uint64_t count, bytes, least;
	} sums;
	uint64_t known; /* bytes of a message that the policy likes, beside them */
	enum verdict verdict;
} sums_cases[] = {
#define LARGE_BY_CMA                                                                               \
	SPEC "expect: [ { loc: intra, size: [64K, inf], tl: [cma], min_share: 0.9 } ]\n"
#define SMALL_BY_CMA SPEC "expect: [ { loc: intra, size: [0, 64K], tl: [cma] } ]\n"
#define SMALL_BY_TCP SPEC "expect: [ { loc: inter, size: [0, 64K], tl: [tcp] } ]\n"
	/* fragments on the wrong way, however large, may be of large messages, and of small ones */
	{ "PATH-01",
	  LARGE_BY_CMA,
	  { 1, "posix", "am_bcopy", 9, 9 * 8 * KIB, 4096 },
	  0,
	  VERDICT_UNKNOWN },
	{ "PATH-01",
	  LARGE_BY_CMA,
	  { 1, "posix", "put_zcopy", 1, 100 * KIB, 64 * KIB },
	  0,
	  VERDICT_FAIL },
	{ "PATH-01", LARGE_BY_CMA, { 1, "cma", "get_zcopy", 1, 8, 8 }, 0, VERDICT_PASS },
	/* too few to matter, whatever they are; or not */
	{ "PATH-01",
	  LARGE_BY_CMA,
	  { 1, "posix", "am_bcopy", 9, 9 * 8 * KIB, 0 },
	  9 * MIB,
	  VERDICT_PASS },
	{ "PATH-01",
	  LARGE_BY_CMA,
	  { 1, "posix", "am_bcopy", 9, 9 * 8 * KIB, 0 },
	  99 * KIB,
	  VERDICT_UNKNOWN },
	/* what may be small, and what is not */
	{ "PATH-01", SMALL_BY_CMA, { 1, "posix", "am_short", 9, 9 * 8, 8 }, 0, VERDICT_UNKNOWN },
	{ "PATH-01", SMALL_BY_CMA, { 1, "posix", "put_zcopy", 1, MIB, 64 * KIB }, 0, VERDICT_SKIP },
	{ "PATH-02",
	  SMALL_BY_TCP,
	  { 2, "tcp", "am_bcopy", 900, 900 * 8 * KIB, 4096 },
	  0,
	  VERDICT_UNKNOWN },
	{ "PATH-02", SMALL_BY_TCP, { 2, "tcp", "am_zcopy", 2, 2 * MIB, MIB }, 0, VERDICT_FAIL },
	{ "PATH-02", TCP_OK, { 2, "tcp", "am_bcopy", 900, 900 * 8 * KIB, 4096 }, 0, VERDICT_PASS },
	{ "PATH-05", SPEC, { 1, "posix", "am_bcopy", 9, 9 * 8 * KIB, 4096 }, 0, VERDICT_UNKNOWN },
	{ "PATH-05", SPEC, { 1, "posix", "am_short", 9, 9 * 8, 8 }, 0, VERDICT_PASS },
	/* of no known interface: the size is as little known as the way */
	{ "PATH-01", LARGE_BY_CMA, { 1, NULL, "am_bcopy", 9, 9 * 8 * KIB, 0 }, 0, VERDICT_UNKNOWN },
	{ "PATH-05", SPEC, { 1, NULL, "am_bcopy", 9, 9 * 8 * KIB, 4096 }, 0, VERDICT_UNKNOWN },
	{ "PATH-01",
	  LARGE_BY_CMA,
	  { 1, NULL, "am_bcopy", 9, 9 * 8 * KIB, 0 },
	  99 * MIB,
	  VERDICT_PASS },
};

static void sizes_of_sums(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sums_cases) / sizeof(*sums_cases); i++) {
		const struct sums_case *one = &sums_cases[i];
		const struct fact_transfer fact = {
			.peer = one->sums.to,
			.op = one->sums.op,
			.transport = one->sums.transport,
			.fetches = fact_fetches(one->sums.op, one->sums.transport),
			.device = "eth0",
			.locality = one->sums.to == 1 ? LOCALITY_NODE : LOCALITY_REMOTE,
			.src_mem = "host",
			.dst_mem = "host",
		};
		const struct fact_sums sums = { .count = one->sums.count,
						.bytes = one->sums.bytes,
						.least = one->sums.least };
		struct bed bed;

		bed_begin(&bed, one->policy);
		fact_put_sums(&bed.sink, FACT_TRANSFERS, &fact, &sums);
		if (one->known)
			bed_move(&bed, &(struct moved){ 0, 1, "cma", .bytes = one->known });
		bed_judge(&bed);
		bed_expect(&bed, one->rule, NULL, one->verdict);
		bed_end(&bed);
	}
}

/* Messages of 64 KiB or more may not go by tcp; 900 KiB do, as may 200 KiB of sums, or more. */
static void wire_up_and_sums(void **state)
{
	static const struct {
		uint64_t forbidden, sums;
		enum verdict verdict;
	} wire_ups[] = {
		{ 900 * KIB, 100 * KIB, VERDICT_PASS },
		{ 900 * KIB, 200 * KIB, VERDICT_UNKNOWN },
		{ 1100 * KIB, 200 * KIB, VERDICT_FAIL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wire_ups) / sizeof(*wire_ups); i++) {
		const struct fact_transfer fact = {
			.peer = 2,
			.op = "am_bcopy",
			.transport = "tcp",
			.device = "eth0",
			.locality = LOCALITY_REMOTE,
			.src_mem = "host",
			.dst_mem = "host",
		};
		const struct fact_sums sums = { .count = 100, .bytes = wire_ups[i].sums };
		struct bed bed;

		bed_begin(&bed, SMALL_BY_TCP);
		fact_put_sums(&bed.sink, FACT_TRANSFERS, &fact, &sums);
		bed_move(&bed, &(struct moved){ 0, 2, "tcp", "eth0", .bytes = 100 * KIB,
						.count = wire_ups[i].forbidden / (100 * KIB) });
		bed_move(&bed, &(struct moved){ 0, 2, "rc_mlx5", "mlx5_0:1", .bytes = 10 * MIB });
		bed_judge(&bed);
		bed_expect(&bed, "PATH-02", "n0>n1", wire_ups[i].verdict);
		bed_end(&bed);
	}
}

/*
 * A get over cuda_copy reads the sender's own GPU and writes the peer's mapped memory: its bytes go
 * from the process that made it, so it is an example of the message's way.
 */
static void get_that_copies_to_the_peer(void **state)
{
	const struct finding *finding;
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	bed_move(&bed, &(struct moved){ 0, 1, "cuda_copy", "cuda", "get_zcopy", NULL, "gpu0",
					"gpu1", .bytes = MIB, .count = 2 });
	bed_judge(&bed);
	bed_expect(&bed, "PATH-04", "n0", VERDICT_FAIL);
	finding = bed_finding(&bed, "PATH-04", "n0");
	assert_int_equal(finding->example_count, 2);
	assert_int_equal(finding->examples[0].process, 0);
	assert_int_equal(finding->examples[0].peer, 1);
	bed_end(&bed);
}

static void one_rail_is_critical(void **state)
{
	struct bed bed;

	(void)state;
	bed_begin(&bed, RAILS);
	bed_move(&bed, &(struct moved){ 0, 2, "tcp", "e0", .bytes = MIB });
	bed_judge(&bed);
	assert_int_equal(bed_finding(&bed, "RAIL-02", "n0")->severity, SEVERITY_CRITICAL);
	bed_end(&bed);
}

/* Over tcp between nodes, NICs of both inventories count: a node without a NIC passes. */
static void emulated_over_tcp(void **state)
{
	static const struct {
		const char *kind[2], *state; /* of the nodes' NICs; NULL: no inventory */
		enum verdict verdict;
	} nics[] = {
		{ { "verbs", "verbs" }, "up", VERDICT_FAIL },
		{ { "verbs", "verbs" }, "down", VERDICT_PASS },
		{ { "verbs", "net" }, "up", VERDICT_PASS },
		{ { "verbs", NULL }, "up", VERDICT_UNKNOWN },
		{ { NULL, "net" }, "up", VERDICT_PASS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(nics); i++) {
		struct snapshots nodes = { 0 };
		struct bed bed;

		bed_begin(&bed, SPEC);
		bed_move(&bed, &(struct moved){ 0, 2, "tcp", "eth0", "am_bcopy", "put/am/bcopy",
						.bytes = MIB });
		for (int node = 0; node < 2; node++) {
			struct inventory_nic *nic;

			if (!nics[i].kind[node])
				continue;
			nic = add_nic(snapshot(&nodes, node, 1000), "mlx5_0:1");
			set_text(&nic->kind, nics[i].kind[node]);
			set_text(&nic->state, nics[i].state);
		}
		snapshots_judge(&nodes, &bed);
		bed_expect(&bed, "PATH-13", "n0>n1", nics[i].verdict);
		snapshots_end(&nodes, &bed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(both_ways),
		cmocka_unit_test(numbers_of_a_failure),
		cmocka_unit_test(parts_of_a_message),
		cmocka_unit_test(sizes_of_sums),
		cmocka_unit_test(wire_up_and_sums),
		cmocka_unit_test(get_that_copies_to_the_peer),
		cmocka_unit_test(one_rail_is_critical),
		cmocka_unit_test(emulated_over_tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
