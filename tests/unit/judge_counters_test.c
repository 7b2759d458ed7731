// SPDX-License-Identifier: BSD-3-Clause
/* COV-02: ports that carried more, or less, than was traced. */
#include "judge_nodes.h"

#define MIB (1 << 20)
#define POLICY SPEC "rules: { COV-02: { slack: 0 } }\n"

static void set_counter(struct inventory_nic *nic, const char *name, int64_t value)
{
	struct inventory_counter *counter = vec_add(&nic->counters);

	counter->name = strdup(name);
	counter->value = value;
}

/* Of a network interface: bytes of payload, each packet with 66 B of headers. */
static void add_net(struct inventory *inventory, const char *name, int64_t sent, int64_t received,
		    int64_t packets)
{
	struct inventory_nic *nic = add_nic(inventory, name);

	set_text(&nic->kind, "net");
	set_counter(nic, "tx_bytes", sent + 66 * packets);
	set_counter(nic, "rx_bytes", received + 66 * packets);
	set_counter(nic, "tx_packets", packets);
	set_counter(nic, "rx_packets", packets);
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

static void sent_again(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, 12 * MIB, 10 * MIB);
	for (int i = 0; i < 2; i++) {
		struct inventory_counter *counter = vec_add(&nodes.list[i]->tcp);

		counter->name = strdup("RetransSegs");
		counter->value = i * 1400; /* of 1448 B: 2 MB */
	}
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
		bed.sink.process(bed.sink.arg, &late);
		snapshots_judge(&nodes, &bed);
		bed_expect(&bed, "COV-02", "n0:eth0", i ? VERDICT_FAIL : VERDICT_UNKNOWN);
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
	bed.sink.window(bed.sink.arg, &(struct fact_window){ .host = 0 });
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_byte),
		cmocka_unit_test(sent_again),
		cmocka_unit_test(within_a_node),
		cmocka_unit_test(begun_before),
		cmocka_unit_test(lost_records),
		cmocka_unit_test(windows),
		cmocka_unit_test(counters_that_do_not_tell),
		cmocka_unit_test(infiniband),
		cmocka_unit_test(no_snapshots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
