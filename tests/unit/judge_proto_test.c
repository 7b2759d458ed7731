// SPDX-License-Identifier: BSD-3-Clause
/* PROTO-02: whose protocols switch at another size than those of most nodes. */
#include "judge_bed.h"

#define MOST_NODES 5
#define CLASS SPEC "classes: { a: { nodes: 'n[0-4]' } }\n"

/* What a node sends: the largest message by eager, the smallest by rendezvous; 0: none so. */
struct switching {
	uint64_t eager, rndv;
	enum verdict verdict;
};

static void send(struct bed *bed, int node, int nodes, const char *protocol, uint64_t bytes)
{
	const struct fact_op op = {
		.id = ++bed->ops, .process = node, .op = "tag_send", .bytes = bytes
	};
	const struct fact_transfer transfer = {
		.caused_by = op.id,
		.process = node,
		.peer = (node + 1) % nodes,
		.op = "am_zcopy",
		.transport = "tcp",
		.device = "eth0",
		.locality = LOCALITY_REMOTE,
		.kind = KIND_DATA,
		.function = "MPI_Isend",
		.protocol = protocol,
		.bytes = bytes,
	};

	if (!bytes)
		return;
	fact_put(&bed->sink, FACT_OP, &op);
	fact_put(&bed->sink, FACT_TRANSFER, &transfer);
}

static const char *const names[MOST_NODES] = { "n0", "n1", "n2", "n3", "n4" };

/* One on each node. */
static void processes(struct bed *bed, int nodes)
{
	for (int i = 0; i < nodes; i++)
		fact_put(&bed->sink, FACT_PROCESS,
			 &(struct fact_process){ .index = i,
						 .host = i,
						 .host_id = names[i],
						 .host_name = names[i],
						 .rank = i });
}

static void judge_all(const char *policy, const struct switching *list)
{
	struct bed bed;
	int nodes = 0;

	bed_begin(&bed, policy);
	while (nodes < MOST_NODES && (list[nodes].eager || list[nodes].rndv))
		nodes++;
	processes(&bed, nodes);
	for (int i = 0; i < nodes; i++) {
		send(&bed, i, nodes, "eager/multi", list[i].eager);
		send(&bed, i, nodes, "rndv/get", list[i].rndv);
	}
	bed_judge(&bed);
	for (int i = 0; i < nodes; i++)
		bed_expect(&bed, "PROTO-02", names[i], list[i].verdict);
	bed_end(&bed);
}

#define PASS VERDICT_PASS
#define FAIL VERDICT_FAIL
#define UNKNOWN VERDICT_UNKNOWN

static void majorities(void **state)
{
	static const struct switching cases[][MOST_NODES] = {
		/* within the factor, and more is not known of the second */
		{ { 8192, 65536, PASS }, { 100, 0, PASS }, { 65536, 100000, PASS } },
		{ { 10000, 0, PASS }, { 0, 8000, PASS } },
		/* the odd one switches later, never, earlier */
		{ { 8192, 65536, PASS }, { 8192, 65536, PASS }, { 1 << 20, 4 << 20, FAIL } },
		{ { 8192, 65536, PASS }, { 8192, 65536, PASS }, { 1 << 20, 0, FAIL } },
		{ { 8192, 65536, PASS }, { 8192, 65536, PASS }, { 0, 1024, FAIL } },
		{ { 8192, 65536, PASS },
		  { 1024, 2048, FAIL },
		  { 8192, 65536, PASS },
		  { 1 << 20, 0, FAIL },
		  { 8192, 0, PASS } },
		/* no majority */
		{ { 100000, 0, UNKNOWN }, { 0, 8000, UNKNOWN } },
		{ { 1000, 2000, UNKNOWN }, { 8000, 9000, UNKNOWN }, { 64000, 65000, UNKNOWN } },
		{ { 100000, 0, UNKNOWN },
		  { 100000, 0, UNKNOWN },
		  { 1024, 8000, UNKNOWN },
		  { 1024, 8000, UNKNOWN } },
		/* the third one agrees with both: which of these is right is not known */
		{ { 1000, 2000, UNKNOWN }, { 64000, 65000, UNKNOWN }, { 1000, 0, PASS } },
		/* two majorities, which share the third and the fourth */
		{ { 1000, 2000, UNKNOWN },
		  { 64000, 65000, UNKNOWN },
		  { 1000, 0, PASS },
		  { 1000, 0, PASS } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		judge_all(CLASS, cases[i]);
}

static void further_apart_is_allowed(void **state)
{
	static const struct switching nodes[MOST_NODES] = { { 1000, 2000, PASS },
							    { 1000, 2000, PASS },
							    { 16000, 64000, PASS } };

	(void)state;
	judge_all(CLASS "rules: { PROTO-02: { factor: 8 } }\n", nodes);
}

/* Each class by itself. */
static void two_classes(void **state)
{
	static const struct switching nodes[MOST_NODES] = { { 1000, 2000, PASS },
							    { 1000, 2000, PASS },
							    { 64000, 65000, PASS },
							    { 64000, 65000, PASS } };

	(void)state;
	judge_all(SPEC "classes: { a: { nodes: 'n[0-1]' }, b: { nodes: 'n[2-3]' } }\n", nodes);
}

static void what_is_said(void **state)
{
	struct bed bed;

	(void)state;
	bed_begin(&bed, CLASS);
	processes(&bed, 3);
	for (int i = 0; i < 3; i++) {
		send(&bed, i, 3, "eager/multi", i == 1 ? 4 : 4096);
		send(&bed, i, 3, "rndv/get", i == 1 ? 512 : 65536);
	}
	bed_judge(&bed);
	assert_string_equal(bed_finding(&bed, "PROTO-02", "n1")->seen,
			    "eager up to 4 B, rendezvous from 512 B on");
	assert_string_equal(
		bed_finding(&bed, "PROTO-02", "n1")->expected,
		"MPI_Isend: eager up to 4096 B, rendezvous from 65536 B on, as on 2 of 3 nodes");
	bed_end(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(majorities),
		cmocka_unit_test(further_apart_is_allowed),
		cmocka_unit_test(two_classes),
		cmocka_unit_test(what_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
