// SPDX-License-Identifier: BSD-3-Clause
/* Endpoints that are over (bpf/over.bpf.h): no process takes the room of others. */
#include "bpf_host.h"

#include "over.bpf.h"

#define GREEDY 7
#define OTHER 8
#define FREE 100

static int setup(void **state)
{
	(void)state;
	host_reset();
	HOST_MAP(eps_over);
	HOST_MAP(cell_shares);
	eps_over_used = UB_MAX_EPS_OVER - FREE;
	any_failed = 0;
	return 0;
}

static bool is_marked(__u32 tgid, __u64 ep)
{
	const struct ub_over_key key = { .tgid = tgid, .ep = ep };

	return bpf_map_lookup_elem(&eps_over, &key);
}

static void is_over_once(void **state)
{
	(void)state;
	assert_true(ep_mark_over(GREEDY, 1));
	assert_false(ep_mark_over(GREEDY, 1));
	assert_true(ep_mark_over(OTHER, 1));
	ep_forget_over(GREEDY, 1);
	ep_forget_over(GREEDY, 1);
	assert_true(ep_mark_over(GREEDY, 1));
	assert_int_equal(eps_over_used, UB_MAX_EPS_OVER - FREE + 2);
}

static void one_gets_a_half(void **state)
{
	(void)state;
	for (__u64 ep = 1; ep <= 2 * FREE; ep++)
		assert_true(ep_mark_over(GREEDY, ep));
	assert_true(is_marked(GREEDY, FREE / 2));
	assert_false(is_marked(GREEDY, FREE / 2 + 1));
	process_mark_failed(OTHER);
	assert_true(process_failed(OTHER));
	assert_false(process_failed(GREEDY));
	for (__u64 ep = 1; ep <= FREE; ep++)
		ep_mark_over(OTHER, ep);
	assert_true(is_marked(OTHER, FREE / 4 - 1));
	assert_true(eps_over_used < UB_MAX_EPS_OVER);
}

static void what_is_destroyed_is_free_again(void **state)
{
	(void)state;
	for (__u64 ep = 1; ep <= 10 * FREE; ep++) {
		assert_true(ep_mark_over(GREEDY, ep));
		assert_true(is_marked(GREEDY, ep));
		ep_forget_over(GREEDY, ep);
	}
	assert_int_equal(eps_over_used, UB_MAX_EPS_OVER - FREE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(is_over_once, setup),
		cmocka_unit_test_setup(one_gets_a_half, setup),
		cmocka_unit_test_setup(what_is_destroyed_is_free_again, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
