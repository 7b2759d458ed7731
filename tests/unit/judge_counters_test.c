// SPDX-License-Identifier: BSD-3-Clause
/* COV-02: ports that carried more, or less, than was traced. */
#include <sys/mman.h>
#include <unistd.h>

#include "site/judge/evidence/evidence.h"
#include "judge_nodes.h"
#include "site/plan/make.h"

#define MIB (1 << 20)
#define POLICY SPEC "rules: { COV-02: { slack: 0 } }\n"

static void set_counter(struct inventory_nic *nic, const char *name, int64_t value)
{
	struct inventory_counter *counter = vec_add(&nic->counters);

	counter->name = strdup(name);
	counter->value = value;
}

/* Of a network interface: bytes of payload, each packet with 66 B of headers, without Ethernet's on
 * lo.
 */
static void add_net(struct inventory *inventory, const char *name, int64_t sent, int64_t received,
		    int64_t packets)
{
	struct inventory_nic *nic = add_nic(inventory, name);
	bool loopback = !strcmp(name, "lo");
	int64_t headers = packets * (loopback ? 52 : 66);

	set_text(&nic->kind, "net");
	set_text(&nic->link_layer, loopback ? "loopback" : "Ethernet");
	set_counter(nic, "tx_bytes", sent + headers);
	set_counter(nic, "rx_bytes", received + headers);
	set_counter(nic, "tx_packets", packets);
	set_counter(nic, "rx_packets", packets);
}

static void set_retransmitted(struct inventory *inventory, int64_t segments)
{
	struct inventory_counter *counter = vec_add(&inventory->tcp);

	counter->name = strdup("RetransSegs");
	counter->value = segments;
}

/* 10 MiB from n0 to n1 over tcp/eth0, at time 1000; counters began at 5000 B. */
static void begin(struct bed *bed, struct snapshots *nodes, int64_t sent, int64_t received)
{
	*nodes = (struct snapshots){ 0 };
	bed_begin(bed, POLICY);
	bed_move(bed, &(struct moved){ 0, 2, "tcp", "eth0", .bytes = MIB, .count = 10 });
	add_net(snapshot(nodes, 0, 900), "eth0", 5000, 5000, 10);
	add_net(snapshot(nodes, 0, 1100), "eth0", 5000 + sent, 5000, 10 + 100);
	add_net(snapshot(nodes, 1, 900), "eth0", 5000, 5000, 10);
	add_net(snapshot(nodes, 1, 1100), "eth0", 5000, 5000 + received, 10 + 100);
}

static void expect(int64_t sent, int64_t received, enum verdict n0, enum verdict n1)
{
	struct snapshots nodes;
	struct bed bed;

	begin(&bed, &nodes, sent, received);
	/* the receiver has no port of its own in use, but for what comes in */
	bed_move(&bed, &(struct moved){ 2, 0, "tcp", "eth0", .bytes = 0 });
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "COV-02", "n0:eth0", n0);
	bed_expect(&bed, "COV-02", "n1:eth0", n1);
	snapshots_end(&nodes, &bed);
}

/* 2 % and 48 B a transfer may be more: 10,695,997 B; 1 % may be less: 10,380,902 B. */
static void by_the_byte(void **state)
{
	const int64_t all = 10 * MIB;
	/* the headers that a counter may have: 70 B a packet at most, 54 at least */
	const int64_t most = (int64_t)(all * 1.02) + 480 + 100 * 4;
	const int64_t least = (int64_t)(all * 0.99) - 100 * 12;

	(void)state;
	expect(all, all, VERDICT_PASS, VERDICT_PASS);
	expect(most, most, VERDICT_PASS, VERDICT_PASS);
	expect(most + 1, all, VERDICT_FAIL, VERDICT_PASS);
	expect(all, most + 1, VERDICT_PASS, VERDICT_FAIL);
	expect(least, least, VERDICT_PASS, VERDICT_PASS);
	expect(least - 1, all, VERDICT_FAIL, VERDICT_PASS);
	expect(all, least - 1, VERDICT_PASS, VERDICT_FAIL);
}

/* Of sends without a probe, some transfers are in the counter alone. */
static void neither_seen_nor_derived(void **state)
{
	static const int64_t sent[] = { 20 * MIB, 5 * MIB, 10 * MIB };
	static const enum verdict verdicts[] = { VERDICT_UNKNOWN, VERDICT_FAIL, VERDICT_PASS };
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	for (int i = 0; i < 3; i++) {
		begin(&bed, &nodes, sent[i], 10 * MIB);
		bed.totals.short_sends.unproven = 7;
		snapshots_judge(&nodes, &bed);
		bed_expect(&bed, "COV-02", "n0:eth0", verdicts[i]);
		if (!i)
			assert_string_equal(
				bed_finding(&bed, "COV-02", "n0:eth0")->why,
				"the transfers of 7 sends were neither seen nor derived "
				"(trace with --exact)");
		snapshots_end(&nodes, &bed);
	}
}

/* An ARP request is shorter than the headers of TCP: less than nothing is not less than was traced.
 */
static void not_of_tcp(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, 10 * MIB, 10 * MIB);
	bed_move(&bed, &(struct moved){ 2, 0, "tcp", "eth0", .bytes = 0 });
	bed_move(&bed, &(struct moved){ 2, 0, "tcp", "eth1", .bytes = 0 });
	for (int i = 2; i < 4; i++)
		add_net(nodes.list[i], "eth1", (i - 2) * (42 - 66), 0, i - 2);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "COV-02", "n1:eth1", VERDICT_PASS);
	snapshots_end(&nodes, &bed);
}

static void sent_again(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, 12 * MIB, 10 * MIB);
	for (int i = 0; i < 2; i++)
		set_retransmitted(nodes.list[i], i * 1400); /* of 1448 B: 2 MB */
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "COV-02", "n0:eth0", VERDICT_PASS);
	snapshots_end(&nodes, &bed);
}

/* Ranks of a node that talk over tcp: the kernel's loopback carries it past the port. */
static void within_a_node(void **state)
{
	static const struct {
		int64_t sent;
		enum verdict verdict;
	} cases[] = {
		{ 10 * MIB, VERDICT_PASS }, /* it does not count */
		{ 15 * MIB, VERDICT_PASS }, /* it counts */
		{ 12 * MIB, VERDICT_UNKNOWN },
		{ 16 * MIB, VERDICT_FAIL },
	};
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(&bed, &nodes, cases[i].sent, 10 * MIB);
		bed_move(&bed, &(struct moved){ 0, 1, "tcp", "eth0", .bytes = MIB, .count = 5 });
		snapshots_judge(&nodes, &bed);
		bed_expect(&bed, "COV-02", "n0:eth0", cases[i].verdict);
		snapshots_end(&nodes, &bed);
	}
}

/* 5 MiB between ranks of n0, which lo carried: eth0 has what went to n1 alone. */
static void by_the_kernels_loopback(void **state)
{
	static const struct {
		const char *device; /* by UCX */
		int64_t lo;
		enum verdict verdict;
	} cases[] = {
		{ "eth0", 5 * MIB, VERDICT_PASS },
		{ "eth0", 7 * MIB, VERDICT_FAIL },
		{ "lo", 5 * MIB, VERDICT_PASS },
		{ "mlx5_0:1", 5 * MIB, VERDICT_FAIL }, /* does not send through the kernel */
	};
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(&bed, &nodes, 10 * MIB, 10 * MIB);
		for (int after = 0; after < 2; after++) {
			add_net(nodes.list[after], "lo", after * cases[i].lo, after * cases[i].lo,
				after * 50);
			add_nic(nodes.list[after], "mlx5_0:1");
		}
		bed_move(&bed,
			 &(struct moved){ 0, 1, "tcp", cases[i].device, .bytes = MIB, .count = 5 });
		/* UCX sets up connections over it */
		bed_move(&bed, &(struct moved){ 0, 1, "tcp", "lo", .bytes = 8 });
		snapshots_judge(&nodes, &bed);
		bed_expect(&bed, "COV-02", "n0:lo", cases[i].verdict);
		bed_expect(&bed, "COV-02", "n0:eth0", VERDICT_PASS);
		snapshots_end(&nodes, &bed);
	}
}

/*
 * A run of tests/live/counters.bats on a busy machine: TCP sent 45 of lo's segments again, which it
 * does when an acknowledgement takes long, though lo loses nothing. Those that n1 sent again went
 * by its own lo, or came here by eth0 in smaller ones.
 */
static void sent_again_by_loopback(void **state)
{
	static const struct {
		int64_t own, others, payload;
		enum verdict verdict;
	} cases[] = {
		{ 45, 0, 50670930, VERDICT_PASS },  { 45, 0, 52959459, VERDICT_PASS },
		{ 45, 0, 52959460, VERDICT_FAIL },  { 0, 0, 50670930, VERDICT_FAIL },
		{ 0, 454, 50670930, VERDICT_FAIL }, { 0, 455, 50670930, VERDICT_PASS },
	};
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		nodes = (struct snapshots){ 0 };
		bed_begin(&bed, SPEC);
		for (int after = 0; after < 4; after++) {
			struct inventory *one = snapshot(&nodes, after / 2, 900 + after % 2 * 200);

			add_net(one, "eth0", 0, 0, 0);
			add_net(one, "lo", after % 2 * cases[i].payload,
				after % 2 * cases[i].payload, after % 2 * 1300);
			set_retransmitted(one,
					  after % 2 * (after < 2 ? cases[i].own : cases[i].others));
		}
		bed_move(&bed,
			 &(struct moved){ 0, 1, "tcp", "eth0", .bytes = 8000024, .count = 6 });
		bed_move(&bed, &(struct moved){ 0, 1, "tcp", "lo", .bytes = 20 });
		bed_move(&bed, &(struct moved){ 0, 1, "tcp", "lo", .bytes = 0, .count = 75 });
		snapshots_judge(&nodes, &bed);
		bed_expect(&bed, "COV-02", "n0", cases[i].verdict);
		if (cases[i].own)
			assert_string_equal(bed_finding(&bed, "COV-02", "n0")->expected,
					    "0 B to 52,959,459 B received");
		bed_expect(&bed, "COV-02", "n0:eth0", VERDICT_PASS);
		snapshots_end(&nodes, &bed);
	}
}

/* What was not traced from its start may have sent all that; less than was traced is wrong still.
 */
static void begun_before(void **state)
{
	const struct fact_process late = {
		.index = 1, .host = 0, .host_id = "n0", .host_name = "n0", .rank = 1
	};
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&bed, &nodes, i ? 5 * MIB : 20 * MIB, 10 * MIB);
		fact_put(&bed.sink, FACT_PROCESS, &late);
		snapshots_judge(&nodes, &bed);
		bed_expect(&bed, "COV-02", "n0:eth0", i ? VERDICT_FAIL : VERDICT_UNKNOWN);
		snapshots_end(&nodes, &bed);
	}
}

/* What is written of facts, read by another judge: that of the same policy. */
static void through_evidence(struct bed *bed)
{
	int file = memfd_create("evidence", MFD_CLOEXEC);
	struct evidence_error error = { 0 };

	assert_true(file >= 0);
	if (judge_evidence_write(bed->judge, &bed->totals, file, &error))
		fail_msg("%s", error.text);
	judge_free(bed->judge);
	bed->judge = judge_new(bed->policy);
	assert_int_equal(lseek(file, 0, SEEK_SET), 0);
	if (judge_evidence_read(bed->judge, file, &error))
		fail_msg("%s", error.text);
	close(file);
}

/* As a part of a sweep is judged: since when processes were traced, and how much of them. */
static void by_evidence(void **state)
{
	static const struct {
		bool late;
		int level;
		enum verdict verdict;
	} cases[] = { { false, 2, VERDICT_FAIL },
		      { true, 2, VERDICT_UNKNOWN },
		      { false, 1, VERDICT_SKIP } };
	const struct fact_process late = {
		.index = 1, .host = 0, .host_id = "n0", .host_name = "n0", .tgid = 7, .rank = 1
	};
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(&bed, &nodes, 20 * MIB, 10 * MIB);
		if (cases[i].late)
			fact_put(&bed.sink, FACT_PROCESS, &late);
		bed.totals.self.known = 1;
		bed.totals.self.levels[cases[i].level] = true;
		through_evidence(&bed);
		for (size_t k = 0; k < nodes.count; k++)
			judge_inventory(bed.judge, nodes.list[k]);
		judge_finish(bed.judge, NULL, 20000);
		bed_expect(&bed, "COV-02", cases[i].verdict == VERDICT_SKIP ? NULL : "n0:eth0",
			   cases[i].verdict);
		snapshots_end(&nodes, &bed);
	}
}

static void lost_records(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, 20 * MIB, 10 * MIB);
	bed.totals.dropped[0] = (struct fact_reason){ "ring full", 3 };
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "COV-02", "n0:eth0", VERDICT_UNKNOWN);
	snapshots_end(&nodes, &bed);
}

static void windows(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, 20 * MIB, 10 * MIB);
	fact_put(&bed.sink, FACT_WINDOW, &(struct fact_window){ .host = 0 });
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "COV-02", "n0", VERDICT_UNKNOWN);
	snapshots_end(&nodes, &bed);
}

/* Counters that were read too late, set back, or are of a port that is gone. */
static void counters_that_do_not_tell(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, 10 * MIB, 10 * MIB);
	nodes.list[0]->mono_ns = 1001;
	nodes.list[3]->nics.data[0].counters.data[0].value = 0;
	bed_move(&bed, &(struct moved){ 2, 0, "tcp", "eth0", .bytes = 8 });
	bed_move(&bed, &(struct moved){ 2, 0, "tcp", "eth7", .bytes = 8 });
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "COV-02", "n0", VERDICT_UNKNOWN);
	bed_expect(&bed, "COV-02", "n1:eth0", VERDICT_UNKNOWN);
	bed_expect(&bed, "COV-02", "n1:eth7", VERDICT_UNKNOWN);
	snapshots_end(&nodes, &bed);
}

/* In words of 4 B; a packet of InfiniBand has 24 B of headers at least. */
static void infiniband(void **state)
{
	static const enum verdict verdicts[] = { VERDICT_PASS, VERDICT_FAIL };
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	for (int fault = 0; fault < 2; fault++) {
		nodes = (struct snapshots){ 0 };
		bed_begin(&bed, POLICY);
		bed_move(&bed,
			 &(struct moved){ 0, 2, "rc_mlx5", "mlx5_0:1", .bytes = MIB, .count = 8 });
		for (int i = 0; i < 2; i++) {
			struct inventory_nic *nic =
				add_nic(snapshot(&nodes, 0, 900 + 200 * i), "mlx5_0:1");
			int64_t packets = i * 2048;

			set_text(&nic->link_layer, "InfiniBand");
			set_counter(nic, "port_xmit_data",
				    (i * 8 * MIB + packets * 26) / 4 + fault * i * MIB);
			set_counter(nic, "port_rcv_data", 0);
			set_counter(nic, "port_xmit_packets", packets);
			set_counter(nic, "port_rcv_packets", 0);
		}
		snapshots_judge(&nodes, &bed);
		bed_expect(&bed, "COV-02", "n0:mlx5_0:1", verdicts[fault]);
		bed_expect(&bed, "COV-02", "n1", VERDICT_UNKNOWN);
		snapshots_end(&nodes, &bed);
	}
}

static void no_snapshots(void **state)
{
	struct snapshots nodes = { 0 };
	struct bed bed;

	(void)state;
	bed_begin(&bed, POLICY);
	bed_move(&bed, &(struct moved){ 0, 2, "tcp", "eth0", .bytes = MIB });
	add_net(snapshot(&nodes, 0, 900), "eth0", 0, 0, 0);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "COV-02", NULL, VERDICT_SKIP);
	snapshots_end(&nodes, &bed);
}

/* What a node's port carried between two parts of a sweep was somebody else's. */
static void in_parts(void **state)
{
	static const struct {
		int64_t between; /* B, of others */
		int inventories; /* in between: at the end of the first part, at the second's begin
				  */
		enum verdict verdict;
	} cases[] = {
		{ 0, 2, VERDICT_PASS },
		{ 50 * MIB, 2, VERDICT_PASS },
		{ 50 * MIB, 1, VERDICT_UNKNOWN },
		{ 0, 0, VERDICT_UNKNOWN },
	};
	const struct plan_options options = { .chunk = 2 };
	char why[PLAN_WHY] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t first = 5000 + 5 * MIB, second = first + cases[i].between;
		struct snapshots nodes = { 0 };
		struct plan *plan = NULL;
		struct bed bed;

		bed_begin(&bed, POLICY "classes: { c: { nodes: 'n[0-3]' } }\n");
		assert_int_equal(plan_make(bed.policy, &options, &plan, why), 0);
		judge_plan(bed.judge, plan);
		bed_move(&bed, &(struct moved){ 0, 2, "tcp", "eth0", .bytes = MIB, .count = 10 });
		judge_capture(bed.judge, "n0", "n0", 950);
		judge_capture(bed.judge, "n0", "n0", 1250);
		add_net(snapshot(&nodes, 0, 900), "eth0", 5000, 5000, 10);
		if (cases[i].inventories > 1)
			add_net(snapshot(&nodes, 0, 1100), "eth0", first, 5000, 60);
		if (cases[i].inventories > 0)
			add_net(snapshot(&nodes, 0, 1200), "eth0", second, 5000, 60);
		add_net(snapshot(&nodes, 0, 1300), "eth0", second + 5 * MIB, 5000, 110);
		snapshots_judge(&nodes, &bed);
		bed_expect(&bed, "COV-02", "n0:eth0", cases[i].verdict);
		snapshots_end(&nodes, &bed);
		plan_free(plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_byte),
		cmocka_unit_test(neither_seen_nor_derived),
		cmocka_unit_test(not_of_tcp),
		cmocka_unit_test(sent_again),
		cmocka_unit_test(in_parts),
		cmocka_unit_test(within_a_node),
		cmocka_unit_test(by_the_kernels_loopback),
		cmocka_unit_test(sent_again_by_loopback),
		cmocka_unit_test(begun_before),
		cmocka_unit_test(by_evidence),
		cmocka_unit_test(lost_records),
		cmocka_unit_test(windows),
		cmocka_unit_test(counters_that_do_not_tell),
		cmocka_unit_test(infiniband),
		cmocka_unit_test(no_snapshots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
