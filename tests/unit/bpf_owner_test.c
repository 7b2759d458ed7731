// SPDX-License-Identifier: BSD-3-Clause
/* Which request a transfer belongs to (bpf/owner.bpf.h), by its completion or packing argument. */
#include "bpf_host.h"

#include "owner.bpf.h"

#define WORKER 0x10100
#define IFACE 0x10200
#define UCT_EP 0x10300
#define UCP_EP 0x10400
#define OTHER_EP 0x10500 /* on another worker */
#define SP 0x16000 /* of the transfer */
#define ON_STACK 0x16100 /* above it */
#define REQUEST 0x14000
#define OTHER_REQUEST 0x14800
#define NOWHERE 0x80000000

static const struct ub_layout layout = {
	.req_size = 240,
	.req_flags = 8,
	.req_super = 16,
	.req_ep = 24,
	.req_length = 32,
	.req_dt_length = 40,
	.req_proto_config = 48,
	.req_uct_comp = 64,
	.req_msg_id = 96,
	.req_msg_tag = 104,
	.proto_config_proto = 8,
	.ep_worker = 16,
	.iface_worker = 32,
};

static struct task_state task;
static struct owner owner;

static void make_request(__u64 at, __u64 ep)
{
	*host_user(at + layout.req_super) = 0x5555;
	*host_user(at + layout.req_ep) = ep;
	*host_user(at + layout.req_length) = 1000;
	*host_user(at + layout.req_msg_id) = 77;
	*host_user(at + layout.req_msg_tag) = 99;
}

static int setup(void **state)
{
	(void)state;
	host_reset();
	memset(&task, 0, sizeof(task));
	memset(&owner, 0, sizeof(owner));
	*host_user(UCT_EP) = IFACE;
	*host_user(IFACE + layout.iface_worker) = WORKER;
	*host_user(UCP_EP + layout.ep_worker) = WORKER;
	*host_user(OTHER_EP + layout.ep_worker) = WORKER + 8;
	make_request(REQUEST, UCP_EP);
	make_request(OTHER_REQUEST, OTHER_EP);
	return 0;
}

/* The request that is found, 0 = none. around: the operation that the transfer is in, or NULL */
static __u64 found(__u64 comp, __u64 pack, const struct frame *around, bool message)
{
	struct owner_hints hints = { .comp = comp, .pack = pack, .sp = SP };

	hints_place(&hints, around, message);
	owner_find(&owner, &task, &layout, home_of(&task, UCT_EP, &layout), &hints);
	return owner.req;
}

static void found_by_completion(void **state)
{
	(void)state;
	assert_int_equal(found(REQUEST + layout.req_uct_comp, 0, NULL, true), REQUEST);
	assert_int_equal(owner.found_by, UB_F_REQ_BY_COMP);
	assert_int_equal(owner.ucp_ep, UCP_EP);
	assert_int_equal(owner.super_req, 0x5555);
	assert_int_equal(owner.length, 1000);
	assert_int_equal(owner.w[0], 99);
	assert_int_equal(owner.w[2], 77);
	assert_int_equal(owner.proto, 0);
	/* a completion of other users of UCT is in no request, whatever the packing argument */
	assert_int_equal(found(OTHER_REQUEST + layout.req_uct_comp, REQUEST, NULL, true), 0);
	assert_int_equal(found(NOWHERE, REQUEST, NULL, true), 0);
}

static void protocol_of_the_request(void **state)
{
	const __u64 config = 0x15000;

	(void)state;
	*host_user(REQUEST + layout.req_flags) = UCP_REQUEST_FLAG_PROTO_SEND;
	*host_user(REQUEST + layout.req_dt_length) = 2000;
	*host_user(REQUEST + layout.req_proto_config) = config;
	*host_user(config + layout.proto_config_proto) = 0x7777;
	assert_int_equal(found(0, REQUEST, NULL, true), REQUEST);
	assert_int_equal(owner.found_by, UB_F_REQ_BY_ARG);
	assert_int_equal(owner.length, 2000);
	assert_int_equal(owner.proto, 0x7777);
}

/* The context's first word is tried before the context itself, which may hold an endpoint. */
static void found_through_a_packing_context(void **state)
{
	const struct frame op = { .kind = UB_OP, .span = 1, .sp = ON_STACK + 0x800 };

	(void)state;
	*host_user(ON_STACK) = REQUEST;
	*host_user(ON_STACK + layout.req_ep) = UCP_EP;
	assert_int_equal(found(0, ON_STACK, &op, true), REQUEST);
	assert_int_equal(found(0, ON_STACK, NULL, true), REQUEST);
	assert_int_equal(found(0, ON_STACK, NULL, false), REQUEST);
}

static void a_request_on_the_stack(void **state)
{
	const struct frame below = { .kind = UB_OP, .span = 1, .sp = ON_STACK - 0x80 };
	const struct frame above = { .kind = UB_OP, .span = 1, .sp = ON_STACK + 0x800 };

	(void)state;
	make_request(ON_STACK, UCP_EP);
	*host_user(ON_STACK) = 3; /* status and flags */
	assert_int_equal(found(0, ON_STACK, &below, true), ON_STACK);
	assert_int_equal(found(0, ON_STACK, NULL, true), ON_STACK);
	/* inside the operation, and for puts, only contexts lie there */
	assert_int_equal(found(0, ON_STACK, &above, true), 0);
	assert_int_equal(found(0, ON_STACK, NULL, false), 0);
}

/* Contexts lie on the stack: the first word of what does not is never taken for an address. */
static void a_request_in_the_heap(void **state)
{
	(void)state;
	make_request(REQUEST + 0x400, UCP_EP);
	*host_user(REQUEST) = REQUEST + 0x400;
	assert_int_equal(found(0, REQUEST, NULL, true), REQUEST);
	assert_int_equal(found(0, REQUEST, NULL, false), REQUEST);
}

static void a_request_of_another_worker_is_refused(void **state)
{
	(void)state;
	assert_int_equal(found(0, OTHER_REQUEST, NULL, true), 0);
	*host_user(ON_STACK) = OTHER_REQUEST;
	assert_int_equal(found(0, ON_STACK, NULL, true), 0);
}

static void an_unreadable_request_is_refused(void **state)
{
	(void)state;
	assert_int_equal(found(0, NOWHERE, NULL, true), 0);
	assert_int_equal(found(0, 0, NULL, true), 0);
	/* the end of the request is not there */
	make_request(HOST_USER + sizeof(host.user) - 200, UCP_EP);
	assert_int_equal(found(0, HOST_USER + sizeof(host.user) - 200, NULL, true), 0);
}

static void an_unknown_layout_finds_none(void **state)
{
	const struct ub_layout none = {};
	struct owner_hints hints = { .pack = REQUEST, .sp = SP };

	(void)state;
	owner.req = REQUEST;
	hints_place(&hints, NULL, true);
	owner_find(&owner, &task, &none, home_of(&task, UCT_EP, &none), &hints);
	assert_int_equal(owner.req, 0);
}

static void a_home_is_remembered_until_endpoints_change(void **state)
{
	__u32 reads;

	(void)state;
	assert_int_equal(home_of(&task, UCT_EP, &layout)->worker, WORKER);
	reads = host.user_reads;
	assert_int_equal(home_of(&task, UCT_EP, &layout)->iface, IFACE);
	assert_int_equal(host.user_reads, reads);
	ep_generation++;
	*host_user(IFACE + layout.iface_worker) = WORKER + 8;
	assert_int_equal(home_of(&task, UCT_EP, &layout)->worker, WORKER + 8);
	assert_int_equal(found(0, REQUEST, NULL, true), 0);
	assert_int_equal(found(0, OTHER_REQUEST, NULL, true), OTHER_REQUEST);
}

static void a_home_that_could_not_be_read_is_tried_again(void **state)
{
	(void)state;
	*host_user(UCT_EP) = NOWHERE;
	assert_int_equal(home_of(&task, UCT_EP, &layout)->worker, 0);
	*host_user(UCT_EP) = IFACE;
	assert_int_equal(home_of(&task, UCT_EP, &layout)->worker, WORKER);
}

static void words_of_headers(void **state)
{
	(void)state;
	assert_int_equal(am_header_words(2), 1);
	assert_int_equal(am_header_words(9), 5);
	assert_int_equal(am_header_words(13), 0);
	assert_int_equal(am_header_words(18), 4);
	assert_int_equal(am_header_words(28), 1);
	assert_int_equal(am_header_words(31), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(found_by_completion, setup),
		cmocka_unit_test_setup(protocol_of_the_request, setup),
		cmocka_unit_test_setup(found_through_a_packing_context, setup),
		cmocka_unit_test_setup(a_request_on_the_stack, setup),
		cmocka_unit_test_setup(a_request_in_the_heap, setup),
		cmocka_unit_test_setup(a_request_of_another_worker_is_refused, setup),
		cmocka_unit_test_setup(an_unreadable_request_is_refused, setup),
		cmocka_unit_test_setup(an_unknown_layout_finds_none, setup),
		cmocka_unit_test_setup(a_home_is_remembered_until_endpoints_change, setup),
		cmocka_unit_test_setup(a_home_that_could_not_be_read_is_tried_again, setup),
		cmocka_unit_test_setup(words_of_headers, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
