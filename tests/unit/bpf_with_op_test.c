// SPDX-License-Identifier: BSD-3-Clause
/* Transfers without a return probe: what their operation and their request show
 * (bpf/with_op.bpf.h). */
#include "bpf_host.h"

static bool sessions;

#define session_links sessions
#include "with_op.bpf.h"

#define OP 1
#define BCOPY 2
#define SHORT 3
#define SLOT 1
#define WORKER 0x10100
#define IFACE 0x10200
#define UCT_EP 0x10300
#define UCP_EP 0x10400
#define REQUEST 0x14000
#define OTHER_REQUEST 0x14800
#define CONTEXT 0x15e00 /* on the stack */
#define OP_SP 0x15f00
#define SP 0x15d00
#define TRAMPOLINE 0x7000
#define MESSAGE 2500

static const struct ub_layout layout = {
	.req_size = 240,
	.req_flags = 4,
	.req_super = 16,
	.req_ep = 24,
	.req_length = 48,
	.req_proto_config = 80,
	.req_dt_length = 96,
	.req_msg_id = 168,
	.req_msg_tag = 176,
	.req_uct_comp = 152,
	.ep_worker = 16,
	.iface_worker = 32,
};

static struct task_state task;
static struct outbox *const box = &task.outbox;

static void make_request(__u64 at, bool v2)
{
	*host_user(at) = v2 ? (__u64)UCP_REQUEST_FLAG_PROTO_SEND << 32 : 0;
	*host_user(at + layout.req_ep) = UCP_EP;
	*host_user(at + layout.req_length) = v2 ? 0 : MESSAGE;
	*host_user(at + layout.req_dt_length) = v2 ? MESSAGE : 0;
	*host_user(at + layout.req_msg_id) = 77;
}

static void put_site(__u32 row, struct ub_site site)
{
	bpf_map_update_elem(&sites, &row, &site, BPF_ANY);
}

static int setup(void **state)
{
	struct hit hit = { .task = &task, .sp = OP_SP, .row = OP, .slot = SLOT };

	(void)state;
	host_reset();
	memset(&task, 0, sizeof(task));
	sessions = true;
	HOST_MAP(stats);
	HOST_MAP(sites);
	HOST_MAP(layouts);
	bpf_map_update_elem(&layouts, &(__u32){ SLOT }, &layout, BPF_ANY);
	put_site(BCOPY, (struct ub_site){ .kind = UB_XFER,
					  .length_rule = UB_LEN_RETURN,
					  .arg_am_id = 2,
					  .arg_pack = 4,
					  .ends_with_op = 1 });
	put_site(SHORT, (struct ub_site){ .kind = UB_XFER,
					  .length_rule = UB_LEN_SHORT_AM,
					  .arg_am_id = 2,
					  .arg_count = 5,
					  .ends_with_op = 1 });
	*host_user(UCT_EP) = IFACE;
	*host_user(IFACE + layout.iface_worker) = WORKER;
	*host_user(UCP_EP + layout.ep_worker) = WORKER;
	make_request(REQUEST, false);
	make_request(OTHER_REQUEST, false);
	*host_user(OP_SP) = TRAMPOLINE;
	frame_push(&hit, UB_OP, true, (struct parents){});
	return 0;
}

static bool enter(__u32 row, __u8 id, __u64 pack)
{
	struct pt_regs regs = { .arg = { UCT_EP, id, 0, pack } };
	struct hit hit = { .task = &task, .sp = SP, .row = row, .slot = SLOT, .ts = host.now };

	hit.site = bpf_map_lookup_elem(&sites, &row);
	host.now += 10;
	return with_op_enter(&hit, &regs);
}

static bool fragment(__u8 id, __u64 sent)
{
	*host_user(REQUEST + layout.req_dt_length - 8) = sent;
	return enter(BCOPY, id, REQUEST);
}

static void leave(__s64 status)
{
	with_op_leave(&task, task.frames[0].seq, status, host.now);
}

static const struct ub_xfer *record(__u32 at)
{
	assert_true(at < box->bytes);
	return (const struct ub_xfer *)(box->records + at);
}

static const struct ub_frags *frags(__u32 at)
{
	assert_int_equal(record(at)->h.kind, UB_FRAGS);
	return (const struct ub_frags *)record(at);
}

static void sent(const struct ub_xfer *xfer, __u8 id, __s64 length)
{
	assert_int_equal(xfer->am_id, id);
	assert_int_equal(xfer->status, 0);
	assert_int_equal(xfer->length, length);
	assert_int_equal(xfer->req, REQUEST);
	assert_int_equal(xfer->req_len, MESSAGE);
	assert_int_equal(xfer->iface, IFACE);
	assert_int_equal(xfer->h.op, task.frames[0].seq);
	assert_true(xfer->h.flags & UB_F_WITH_OP);
}

static void fragments_are_as_long_as_the_request_goes_on(void **state)
{
	const struct ub_frags *middle;

	(void)state;
	assert_true(fragment(AM_EAGER_FIRST, 0));
	assert_int_equal(box->bytes, 0);
	assert_true(fragment(AM_EAGER_MIDDLE, 976));
	assert_true(fragment(AM_EAGER_MIDDLE, 1960));
	leave(0);
	assert_int_equal(task.with_op_open, 0);
	sent(record(0), AM_EAGER_FIRST, 24 + 976);
	assert_int_equal(record(0)->h.dur, 10);
	middle = frags(sizeof(struct ub_xfer));
	sent(&middle->xfer, AM_EAGER_MIDDLE, 16 + 984 + 16 + 540);
	assert_int_equal(middle->count, 2);
	assert_int_equal(middle->each, 1000);
	assert_int_equal(middle->time, 20);
	assert_int_equal(box->bytes, sizeof(struct ub_xfer) + sizeof(struct ub_frags));
}

/* v2: the request is behind a context on the stack, and its iterator says where it is. */
static void fragments_of_protocol_v2(void **state)
{
	(void)state;
	make_request(REQUEST, true);
	*host_user(CONTEXT) = REQUEST;
	assert_true(enter(BCOPY, AM_EAGER_FIRST, CONTEXT));
	*host_user(REQUEST + layout.req_dt_length + 8) = 976;
	assert_true(enter(BCOPY, AM_EAGER_MIDDLE, CONTEXT));
	leave(0);
	sent(record(0), AM_EAGER_FIRST, 24 + 976);
	sent(&frags(sizeof(struct ub_xfer))->xfer, AM_EAGER_MIDDLE, 16 + 1524);
}

static void a_fragment_without_resources(void **state)
{
	const __u32 size = sizeof(struct ub_xfer);

	(void)state;
	fragment(AM_EAGER_FIRST, 0);
	fragment(AM_EAGER_FIRST, 0);
	fragment(AM_EAGER_MIDDLE, 976);
	fragment(AM_EAGER_MIDDLE, 976);
	leave(UCS_ERR_NO_RESOURCE);
	assert_int_equal(record(0)->status, UCS_ERR_NO_RESOURCE);
	sent(record(size), AM_EAGER_FIRST, 24 + 976);
	for (int i = 2; i < 4; i++) {
		assert_int_equal(record(i * size)->h.kind, UB_XFER);
		assert_int_equal(record(i * size)->status, UCS_ERR_NO_RESOURCE);
		assert_int_equal(record(i * size)->length, 0);
	}
	assert_int_equal(box->bytes, 4 * size);
}

static void a_request_returned_shows_the_outcome(void **state)
{
	struct ub_op op = { .attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL };

	(void)state;
	assert_int_equal(with_op_status(&op), UCS_ERR_NO_RESOURCE);
	op.req_flags = UCP_REQUEST_FLAG_COMPLETED;
	assert_int_equal(with_op_status(&op), 0);
	op.attr_mask = 0;
	assert_int_equal(with_op_status(&op), UCS_ERR_NO_RESOURCE);
}

static void a_single_copy_is_as_long_as_its_request(void **state)
{
	(void)state;
	assert_true(enter(BCOPY, AM_EAGER_ONLY, REQUEST));
	leave(0);
	sent(record(0), AM_EAGER_ONLY, 8 + MESSAGE);
	/* of a generic datatype it may be less */
	*host_user(REQUEST + layout.req_length - 8) = 0x5557;
	assert_false(enter(BCOPY, AM_EAGER_ONLY, REQUEST));
	assert_int_equal(task.with_op_open, 0);
	make_request(REQUEST, true);
	*host_user(REQUEST + layout.req_dt_length - 8) = 7;
	assert_false(enter(BCOPY, AM_EAGER_ONLY, REQUEST));
	assert_true(enter(BCOPY, AM_EAGER_FIRST, REQUEST));
}

static void a_copy_whose_return_is_awaited(void **state)
{
	(void)state;
	/* a synchronous message's, or one that began outside */
	assert_false(fragment(AM_SYNC_FIRST, 0));
	assert_false(fragment(AM_EAGER_MIDDLE, 976));
	/* without a request */
	assert_false(enter(BCOPY, AM_EAGER_FIRST, 0x100));
	assert_int_equal(task.with_op_open, 0);
	sessions = false;
	assert_false(fragment(AM_EAGER_FIRST, 0));
	assert_true(enter(SHORT, AM_EAGER_ONLY, 0));
}

/* Nothing is made up: it is lost, and counted. */
static void a_fragment_that_does_not_follow(void **state)
{
	(void)state;
	fragment(AM_EAGER_FIRST, 0);
	assert_false(enter(BCOPY, AM_EAGER_MIDDLE, OTHER_REQUEST));
	assert_int_equal(cpu_stats()->s.lost_returns, 1);
	fragment(AM_EAGER_FIRST, 0);
	fragment(AM_EAGER_MIDDLE, 976);
	assert_false(fragment(AM_EAGER_MIDDLE, 975));
	assert_int_equal(cpu_stats()->s.lost_returns, 2);
	fragment(AM_EAGER_FIRST, 0);
	assert_false(fragment(AM_EAGER_MIDDLE, MESSAGE));
	assert_int_equal(cpu_stats()->s.lost_returns, 3);
	leave(0);
	assert_int_equal(box->bytes, sizeof(struct ub_xfer));
}

static void a_short_one_that_becomes_a_copy(void **state)
{
	(void)state;
	assert_true(enter(SHORT, AM_EAGER_ONLY, 0));
	assert_true(enter(BCOPY, AM_EAGER_ONLY, REQUEST));
	leave(0);
	assert_int_equal(record(0)->h.site, SHORT);
	assert_int_equal(record(0)->status, UCS_ERR_NO_RESOURCE);
	assert_int_equal(record(0)->req, 0);
	sent(record(sizeof(struct ub_xfer)), AM_EAGER_ONLY, 8 + MESSAGE);
}

#define PROTO 0x15000
#define PROTO_NAME 0x15100

static bool names(__u32 tgid)
{
	struct frame frame = { .owner.proto = PROTO };

	task.outbox.id = (__u64)tgid << 32 | tgid;
	box->bytes = 0;
	name_protocol(&task, &frame, &layout);
	if (!box->bytes)
		return false;
	assert_int_equal(((struct ub_name *)box->records)->h.kind, UB_NAME);
	assert_int_equal(((struct ub_name *)box->records)->key, PROTO);
	assert_string_equal(((struct ub_name *)box->records)->name, "am/bc");
	return true;
}

/*
 * Once per process and program: the address space of one that has ended is another one's later on,
 * at the same address. Where there is no room, it is better known twice than never.
 */
static void a_protocol_is_named_once(void **state)
{
	struct mm_struct other = { .trampoline = &host.trampoline };

	(void)state;
	HOST_MAP(named);
	*host_user(PROTO) = PROTO_NAME;
	memcpy(host_user(PROTO_NAME), "am/bc", 6);
	assert_true(names(7));
	assert_false(names(7));
	assert_true(names(8));
	assert_false(names(8));
	host.task.mm = &other;
	assert_true(names(8));
	host_map(&named)->most = host_map(&named)->count;
	assert_true(names(9));
	assert_true(names(9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(fragments_are_as_long_as_the_request_goes_on, setup),
		cmocka_unit_test_setup(fragments_of_protocol_v2, setup),
		cmocka_unit_test_setup(a_fragment_without_resources, setup),
		cmocka_unit_test_setup(a_request_returned_shows_the_outcome, setup),
		cmocka_unit_test_setup(a_single_copy_is_as_long_as_its_request, setup),
		cmocka_unit_test_setup(a_copy_whose_return_is_awaited, setup),
		cmocka_unit_test_setup(a_fragment_that_does_not_follow, setup),
		cmocka_unit_test_setup(a_short_one_that_becomes_a_copy, setup),
		cmocka_unit_test_setup(a_protocol_is_named_once, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
