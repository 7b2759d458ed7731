// SPDX-License-Identifier: BSD-3-Clause
/* PROTO-02: whose rendezvous moves data by another scheme than that of most nodes. */
#include "judge_bed.h"

#define MOST_NODES 5
#define MOST_SENDS 12
#define CLASS SPEC "classes: { a: { nodes: 'n[0-4]' } }\n"

static const char *const names[MOST_NODES] = { "n0", "n1", "n2", "n3", "n4" };

struct sent {
	int from, to;
	const char *protocol;
	const char *transport; /* NULL: rc_mlx5 */
	uint64_t bytes; /* 0: 1 MiB */
};

static void send(struct bed *bed, const struct sent *sent)
{
	const uint64_t bytes = sent->bytes ? sent->bytes : 1 << 20;
	const struct fact_op op = {
		.id = ++bed->ops, .process = sent->from, .op = "tag_send", .bytes = bytes
	};
	const struct fact_transfer transfer = {
		.caused_by = op.id,
		.process = sent->from,
		.peer = sent->to,
		.op = "put_zcopy",
		.transport = sent->transport ? sent->transport : "rc_mlx5",
		.device = "mlx5_0:1",
		.locality = sent->from == sent->to ? LOCALITY_NODE : LOCALITY_REMOTE,
		.kind = KIND_DATA,
		.protocol = sent->protocol,
		.src_mem = "host",
		.dst_mem = "host",
		.bytes = bytes,
	};

	fact_put(&bed->sink, FACT_OP, &op);
	fact_put(&bed->sink, FACT_TRANSFER, &transfer);
}

static void begin(struct bed *bed, const char *policy, const struct sent *sends)
{
	bed_begin(bed, policy);
	for (int i = 0; i < MOST_NODES; i++)
		fact_put(&bed->sink, FACT_PROCESS,
			 &(struct fact_process){ .index = i,
						 .host = i,
						 .host_id = names[i],
						 .host_name = names[i],
						 .rank = i });
	for (int i = 0; i < MOST_SENDS && sends[i].protocol; i++)
		send(bed, &sends[i]);
	bed_judge(bed);
}

static char letter_of(enum verdict verdict)
{
	return verdict == VERDICT_PASS ? 'p' : verdict == VERDICT_FAIL ? 'f' : 'u';
}

/* A letter for each node; -: nothing is said of it. */
static void expect(struct bed *bed, const char *verdicts)
{
	const struct finding *findings;
	size_t count = judge_findings(bed->judge, &findings);
	char said[MOST_NODES + 1] = "-----";

	for (size_t i = 0; i < count; i++)
		for (int node = 0; node < MOST_NODES; node++)
			if (!strcmp(findings[i].rule->id, "PROTO-02") &&
			    !strcmp(findings[i].subject.text, names[node]))
				said[node] = letter_of(findings[i].verdict);
	assert_string_equal(said, verdicts);
}

#define BY(protocol_, from_, to_)                                                                  \
	{                                                                                          \
		.from = from_, .to = to_, .protocol = protocol_                                    \
	}
#define GET(from, to) BY("rndv/get/zcopy", from, to)
#define PUT(from, to) BY("rndv/put/zcopy", from, to)
#define ELSE(protocol_, from_, to_, ...)                                                           \
	{                                                                                          \
		.from = from_, .to = to_, .protocol = protocol_, __VA_ARGS__                       \
	}

static const struct {
	const char *verdicts;
	struct sent sends[MOST_SENDS];
} cases[] = {
	/* all the same, or with one in both */
	{ "ppp--", { GET(0, 1), GET(1, 2), GET(2, 0) } },
	{ "ppp--", { GET(0, 1), GET(1, 2), GET(2, 0), BY("rndv/recv/ppln", 2, 0) } },
	/* the third one's settings reach what others send to it: more pairs are so than not */
	{ "ppf--", { GET(0, 1), GET(1, 0), PUT(2, 0), PUT(2, 1), PUT(0, 2), PUT(1, 2) } },
	{ "ppf--",
	  { GET(0, 1), GET(1, 0), GET(2, 0), GET(2, 1), PUT(0, 2), BY("rndv/put/mtype", 1, 2) } },
	/* it sends nothing */
	{ "ppf--", { GET(0, 1), GET(1, 0), PUT(0, 2), PUT(1, 2) } },
	/* of two, nobody is right; nor of four of which two and two are alike */
	{ "uu---", { GET(0, 1), PUT(1, 0) } },
	{ "uuuu-", { GET(0, 1), GET(1, 0), PUT(2, 3), PUT(3, 2) } },
	/* one of the last two is set otherwise */
	{ "ppuup", { GET(0, 1), GET(1, 4), GET(4, 0), PUT(2, 3) } },
	/* one pair alone: nobody is to blame for it, and the others are as they were */
	{ "puupp",
	  { GET(0, 1), GET(1, 0), PUT(1, 2), GET(3, 2), GET(2, 3), GET(3, 4), GET(4, 0),
	    GET(2, 0) } },
	/* two ranks of the third node, one is set otherwise: the first node sends to that one only
	 */
	{ "upp--", { PUT(0, 2), GET(1, 2), PUT(1, 2), GET(1, 0), GET(2, 1) } },
	/* messages of other sizes do not tell */
	{ "ppu--",
	  { GET(0, 1), GET(1, 0), ELSE("rndv/put", 2, 0, .bytes = 1200000),
	    ELSE("rndv/put", 2, 1, .bytes = 1200000) } },
	{ "pp---", { GET(0, 1), GET(1, 0), PUT(2, 2) } },
	{ "pppp-",
	  { GET(0, 1), GET(1, 0), ELSE("rndv/put", 2, 3, .transport = "tcp"),
	    ELSE("rndv/put", 3, 2, .transport = "tcp") } },
	/* within nodes */
	{ "ppf--",
	  { ELSE("rndv/get", 0, 0, .transport = "cma"), ELSE("rndv/get", 1, 1, .transport = "cma"),
	    ELSE("rndv/put", 2, 2, .transport = "cma") } },
	/* what is not contiguous goes by active messages anywhere */
	{ "pp---", { GET(0, 1), GET(1, 0), BY("rndv/am/bcopy", 2, 0), BY("rndv/am/bcopy", 2, 1) } },
};

static void who_differs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bed bed;

		begin(&bed, CLASS, cases[i].sends);
		expect(&bed, cases[i].verdicts);
		bed_end(&bed);
	}
}

static void each_class_by_itself(void **state)
{
	static const struct sent sends[MOST_SENDS] = { GET(0, 1), GET(1, 0), PUT(2, 3), PUT(3, 2),
						       PUT(0, 2) };
	struct bed bed;

	(void)state;
	begin(&bed, SPEC "classes: { a: { nodes: 'n[0-1]' }, b: { nodes: 'n[2-3]' } }\n", sends);
	expect(&bed, "pppp-");
	bed_end(&bed);
}

static void what_is_said(void **state)
{
	const struct finding *finding;
	struct bed bed;

	(void)state;
	begin(&bed, CLASS, cases[2].sends);
	finding = bed_finding(&bed, "PROTO-02", "n2");
	assert_string_equal(finding->seen, "by put");
	assert_string_equal(
		finding->expected,
		"rendezvous of 1048576 to 1048576 B over rc_mlx5 between nodes, host to host: "
		"by get, as on most nodes");
	bed_end(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_differs),
		cmocka_unit_test(each_class_by_itself),
		cmocka_unit_test(what_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
