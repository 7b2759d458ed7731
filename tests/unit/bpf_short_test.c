// SPDX-License-Identifier: BSD-3-Clause
/* From a send's result to its transfer: bpf/short.bpf.h. */
#include "bpf_host.h"

static bool sessions, deriving = true;

#define session_links sessions
#define derives deriving
#include "short.bpf.h"

enum { OP = 1, SHORT = 2, BCOPY = 3, SLOT = 1 };

#define WORKER 0x10100
#define OTHER_WORKER 0x10200
#define IFACE 0x10300
#define PROXY 0x10400
#define EPS 0x11000
#define OP_SP 0x15f00
#define SP 0x15d00
#define TRAMPOLINE 0x7000
#define LANE 2

static struct ub_layout layout = {
	.req_size = 240,
	.iface_worker = 32,
	.worker_uuid = 48,
	.ep_config = 9,
	.ep_config_bytes = 1,
	.ep_lanes = 16,
	.ep_lane_count = 6,
};

static struct task_state task;
static struct outbox *const box = &task.outbox;

static __u64 uct_ep(int n)
{
	return EPS + n * 0x100 + 0x80;
}

static __u64 ucp_ep(int n)
{
	return EPS + n * 0x100;
}

static void make_ep(int n, __u64 worker, __u64 iface, __u8 config)
{
	*host_user(ucp_ep(n)) = worker;
	*host_user(ucp_ep(n) + 8) = 0x55u | config << 8 | 0x7700ull << 16;
	*host_user(ucp_ep(n) + layout.ep_lanes + LANE * 8) = uct_ep(n);
	*host_user(uct_ep(n)) = iface;
}

static void put_site(__u32 row, struct ub_site site)
{
	bpf_map_update_elem(&sites, &row, &site, BPF_ANY);
}

static void put_layout(void)
{
	bpf_map_update_elem(&layouts, &(__u32){ SLOT }, &layout, BPF_ANY);
}

static int setup(void **state)
{
	(void)state;
	host_reset();
	memset(&task, 0, sizeof(task));
	task.outbox.id = host.id;
	sessions = true;
	HOST_MAP(stats);
	HOST_MAP(sites);
	HOST_MAP(layouts);
	HOST_MAP(derived);
	HOST_MAP(lanes);
	layout.ep_config = 9;
	layout.ep_config_bytes = 1;
	put_layout();
	put_site(SHORT, (struct ub_site){ .kind = UB_XFER,
					  .length_rule = UB_LEN_SHORT_AM,
					  .arg_am_id = 2,
					  .arg_aux = 3,
					  .arg_buffer = 4,
					  .arg_count = 5,
					  .ends_with_op = 1,
					  .derivable = UB_SHORT_SENDS });
	put_site(BCOPY, (struct ub_site){ .kind = UB_XFER, .arg_am_id = 2, .ends_with_op = 1 });
	*host_user(WORKER + layout.worker_uuid) = 0x1111;
	*host_user(OTHER_WORKER + layout.worker_uuid) = 0x2222;
	*host_user(IFACE + layout.iface_worker) = WORKER;
	for (int n = 0; n < 4; n++)
		make_ep(n, WORKER, IFACE, 3);
	calls_checked = 1;
	calls_derived = 0;
	shorts_learnt = 0;
	return 0;
}

struct send {
	int ep;
	__u64 length;
	__u32 by; /* row of the transfer that is seen; 0: none */
	__s64 status;
	bool untagged;
};

#define TAG 0xbeef

/* As op_enter(), xfer_enter() and op_leave() would. */
static void send_it(struct send send)
{
	struct hit hit = { .task = &task, .sp = OP_SP, .row = OP, .slot = SLOT, .ts = ++host.now };
	struct pt_regs regs = { .arg = { uct_ep(send.ep), AM_EAGER_ONLY, TAG, 0, send.length } };
	struct frame *op;

	*host_user(OP_SP) = TRAMPOLINE;
	op = frame_push(&hit, UB_OP, true, (struct parents){});
	op->position = FIFO_NOT_SEEN;
	if (send.by) {
		hit.row = send.by;
		hit.sp = SP;
		hit.site = bpf_map_lookup_elem(&sites, &send.by);
		assert_true(with_op_enter(&hit, &regs));
	}
	host.now += 10;
	task.depth--;
	with_op_leave(&task, op->seq, send.status, host.now);
	task.sent_op = (struct sent_op){ .ep = ucp_ep(send.ep),
					 .length = send.length,
					 .tag = TAG,
					 .ts = op->ts,
					 .now = host.now,
					 .position = op->position,
					 .status = send.status,
					 .up = parents_in(op),
					 .seq = op->seq,
					 .row = OP,
					 .slot = SLOT,
					 .tagged = !send.untagged,
					 .moved = op->moved };
	if (short_leave(&task))
		with_op_leave(&task, op->seq, 0, host.now);
}

static const struct ub_derived *counts(void)
{
	return derived_of(UB_SHORT_SENDS);
}

static void learn(void)
{
	send_it((struct send){ .ep = 0, .length = 64, .by = SHORT });
	send_it((struct send){ .ep = 0, .length = 8, .by = SHORT });
	assert_int_equal(shorts_learnt, 1);
	assert_int_equal(counts()->checked, 1);
	assert_int_equal(counts()->differing, 0);
	calls_checked = 0;
	calls_derived = UB_SHORTS;
	box->bytes = 0;
}

static void assert_derived(struct send send)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)box->records;
	__u64 before = counts()->derived;

	box->bytes = 0;
	send_it(send);
	assert_int_equal(counts()->derived, before + 1);
	assert_int_equal(box->bytes, sizeof(*xfer));
	assert_int_equal(xfer->h.kind, UB_XFER);
	assert_int_equal(xfer->h.site, SHORT);
	assert_int_equal(xfer->h.flags, UB_F_DERIVED | UB_F_WITH_OP | UB_F_WIRE);
	assert_int_equal(xfer->h.op, task.sent_op.seq);
	assert_int_equal(xfer->h.ts, task.sent_op.ts + 1);
	assert_int_equal(xfer->uct_ep, uct_ep(send.ep));
	assert_int_equal(xfer->iface, IFACE);
	assert_int_equal(xfer->am_id, AM_EAGER_ONLY);
	assert_int_equal(xfer->w[0], TAG);
	assert_int_equal(xfer->length, 8 + send.length);
	assert_int_equal(xfer->status, 0);
}

static void assert_unproven(struct send send)
{
	const struct ub_loss *loss = (const struct ub_loss *)box->records;
	__u64 before = counts()->unproven, derived = counts()->derived;

	box->bytes = 0;
	send_it(send);
	assert_int_equal(counts()->unproven, before + 1);
	assert_int_equal(counts()->derived, derived);
	assert_int_equal(box->bytes, sizeof(*loss));
	assert_int_equal(loss->h.kind, UB_LOSS);
	assert_int_equal(loss->unseen, 1);
	assert_int_equal(loss->records, 0);
	assert_int_equal(loss->h.ts, task.sent_op.ts);
	assert_int_equal(loss->until, task.sent_op.now);
}

static void a_send_in_which_nothing_was_seen(void **state)
{
	(void)state;
	learn();
	assert_derived((struct send){ .ep = 0, .length = 65 });
	assert_derived((struct send){ .ep = 0, .length = 0 });
	/* another endpoint of that configuration */
	assert_derived((struct send){ .ep = 1, .length = 8 });
}

static void a_send_whose_transfer_was_seen(void **state)
{
	(void)state;
	learn();
	send_it((struct send){ .ep = 0, .length = 8, .by = SHORT });
	send_it((struct send){ .ep = 0, .length = 8, .by = BCOPY });
	assert_int_equal(counts()->derived, 0);
	assert_int_equal(counts()->unproven, 0);
	assert_int_equal(((const struct ub_xfer *)box->records)->h.flags & UB_F_DERIVED, 0);
	assert_int_equal(box->bytes, 2 * sizeof(struct ub_xfer));
}

static void what_does_not_follow(void **state)
{
	(void)state;
	learn();
	assert_unproven((struct send){ .ep = 0, .length = 8, .status = UCS_ERR_NO_RESOURCE });
	assert_unproven((struct send){ .ep = 0, .length = 8, .untagged = true });
	make_ep(2, WORKER, IFACE, 4);
	assert_unproven((struct send){ .ep = 2, .length = 8 });
	make_ep(2, WORKER, PROXY, 3);
	assert_unproven((struct send){ .ep = 2, .length = 8 });
	make_ep(2, OTHER_WORKER, IFACE, 3);
	assert_unproven((struct send){ .ep = 2, .length = 8 });
}

static void another_worker_at_the_same_address(void **state)
{
	(void)state;
	learn();
	assert_derived((struct send){ .ep = 0, .length = 8 });
	*host_user(WORKER + layout.worker_uuid) = 0x3333;
	ep_generation++;
	assert_unproven((struct send){ .ep = 0, .length = 8 });
}

static void a_child_has_its_own(void **state)
{
	(void)state;
	learn();
	task.outbox.id += 1ull << 32;
	assert_unproven((struct send){ .ep = 0, .length = 8 });
}

/*
 * A process that learns lanes without end has the places of one process, and takes none of another
 * one's; nor is the lane of a place taken for that of another worker there.
 */
static void many_lanes_of_one_process(void **state)
{
	(void)state;
	learn();
	calls_derived = 0;
	calls_checked = 1;
	task.outbox.id += 1ull << 32;
	for (int i = 0; i < 5000; i++) {
		*host_user(WORKER + layout.worker_uuid) = 0x4000 + (__u64)i * 0x123456789;
		make_ep(0, WORKER, IFACE, (__u8)i);
		ep_generation++;
		send_it((struct send){ .ep = 0, .length = 8, .by = SHORT });
	}
	assert_int_equal(shorts_learnt, 5001);
	assert_int_equal(counts()->differing, 0);
	assert_int_equal(host_map(&lanes)->count, 1 + 256);
	calls_checked = 0;
	calls_derived = UB_SHORTS;
	assert_derived((struct send){ .ep = 0, .length = 8 });
	*host_user(WORKER + layout.worker_uuid) = 0x4000;
	make_ep(0, WORKER, IFACE, 0);
	ep_generation++;
	assert_unproven((struct send){ .ep = 0, .length = 8 });
	task.outbox.id -= 1ull << 32;
	*host_user(WORKER + layout.worker_uuid) = 0x1111;
	make_ep(0, WORKER, IFACE, 3);
	ep_generation++;
	assert_derived((struct send){ .ep = 0, .length = 8 });
}

/* However many configurations a worker has, as long as there is a place for each. */
static void many_lanes_of_one_worker(void **state)
{
	(void)state;
	for (int i = 0; i < 256; i++) {
		make_ep(0, WORKER, IFACE, (__u8)i);
		send_it((struct send){ .ep = 0, .length = 8, .by = SHORT });
	}
	assert_int_equal(shorts_learnt, 256);
	calls_checked = 0;
	calls_derived = UB_SHORTS;
	for (int i = 0; i < 256; i++) {
		make_ep(0, WORKER, IFACE, (__u8)i);
		assert_derived((struct send){ .ep = 0, .length = 8 });
	}
}

static void another_thread_sends_as_well(void **state)
{
	(void)state;
	learn();
	task.outbox.id++;
	assert_unproven((struct send){ .ep = 0, .length = 8 });
	calls_derived = 0;
	calls_checked = 2;
	send_it((struct send){ .ep = 0, .length = 8, .by = SHORT });
	assert_int_equal(counts()->without, 1);
	assert_int_equal(shorts_learnt, 1);
	assert_int_equal(counts()->differing, 0);
}

#define SECONDS 1000000000ull

/* Either thread is on its own only ten seconds after the other was last seen. */
static void threads_that_take_turns(void **state)
{
	(void)state;
	learn();
	calls_derived = 0;
	calls_checked = 2;
	for (int turn = 0; turn < 6; turn++) {
		task.outbox.id ^= 1;
		host.now += 2 * SECONDS;
		send_it((struct send){ .ep = 0, .length = 8, .by = SHORT });
		assert_int_equal(counts()->without, turn + 1);
		assert_int_equal(counts()->checked, 1);
	}
	host.now += 9 * SECONDS;
	send_it((struct send){ .ep = 0, .length = 8, .by = SHORT });
	assert_int_equal(counts()->checked, 1);
	host.now += 2 * SECONDS;
	send_it((struct send){ .ep = 0, .length = 8, .by = SHORT });
	assert_int_equal(counts()->checked, 2);
	assert_int_equal(counts()->without, 7);
	assert_int_equal(counts()->differing, 0);
	calls_checked = 0;
	calls_derived = UB_SHORTS;
	assert_derived((struct send){ .ep = 0, .length = 8 });
}

static void configurations_of_two_bytes(void **state)
{
	(void)state;
	layout.ep_config = 8;
	layout.ep_config_bytes = 2;
	put_layout();
	learn();
	assert_derived((struct send){ .ep = 1, .length = 8 });
	make_ep(1, WORKER, IFACE, 4); /* the upper of the two */
	assert_unproven((struct send){ .ep = 1, .length = 8 });
}

static void an_unknown_layout(void **state)
{
	(void)state;
	layout.ep_config_bytes = 0;
	put_layout();
	send_it((struct send){ .ep = 0, .length = 64, .by = SHORT });
	assert_int_equal(shorts_learnt, 0);
	assert_int_equal(counts()->without, 1);
}

static void comparing(void **state)
{
	(void)state;
	learn();
	calls_derived = 0;
	calls_checked = 2;
	send_it((struct send){ .ep = 0, .length = 65, .by = SHORT });
	assert_int_equal(counts()->checked, 2);
	send_it((struct send){ .ep = 0, .length = 8, .by = BCOPY });
	send_it((struct send){ .ep = 0, .length = 8, .by = SHORT, .status = UCS_ERR_NO_RESOURCE });
	assert_int_equal(counts()->without, 1);
	send_it((struct send){ .ep = 0, .length = 8, .by = SHORT, .untagged = true });
	assert_int_equal(counts()->checked, 2);
	/* by another lane than was learnt */
	*host_user(ucp_ep(0) + layout.ep_lanes) = uct_ep(3);
	*host_user(ucp_ep(0) + layout.ep_lanes + LANE * 8) = uct_ep(1);
	send_it((struct send){ .ep = 0, .length = 8, .by = SHORT });
	assert_int_equal(counts()->differing, 1);
	assert_int_equal(counts()->checked, 2);
	/* by a function without a probe */
	send_it((struct send){ .ep = 0, .length = 8 });
	assert_int_equal(counts()->differing, 2);
	/* a request that waits for a lane leaves later */
	send_it((struct send){ .ep = 0, .length = 8, .status = UCS_ERR_NO_RESOURCE });
	assert_int_equal(counts()->without, 2);
	assert_int_equal(counts()->differing, 2);
	/* or while the probes were away: it was entered before they came back */
	*host_user(ucp_ep(0) + layout.ep_lanes + LANE * 8) = uct_ep(0);
	shorts_back = host.now + 5;
	assert_derived((struct send){ .ep = 0, .length = 8 });
	assert_int_equal(counts()->differing, 2);
	shorts_back = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_send_in_which_nothing_was_seen, setup),
		cmocka_unit_test_setup(a_send_whose_transfer_was_seen, setup),
		cmocka_unit_test_setup(what_does_not_follow, setup),
		cmocka_unit_test_setup(another_worker_at_the_same_address, setup),
		cmocka_unit_test_setup(a_child_has_its_own, setup),
		cmocka_unit_test_setup(many_lanes_of_one_process, setup),
		cmocka_unit_test_setup(many_lanes_of_one_worker, setup),
		cmocka_unit_test_setup(another_thread_sends_as_well, setup),
		cmocka_unit_test_setup(threads_that_take_turns, setup),
		cmocka_unit_test_setup(configurations_of_two_bytes, setup),
		cmocka_unit_test_setup(an_unknown_layout, setup),
		cmocka_unit_test_setup(comparing, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
