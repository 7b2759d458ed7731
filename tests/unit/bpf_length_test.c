// SPDX-License-Identifier: BSD-3-Clause
/* How many bytes a transfer carries (bpf/length.bpf.h). */
#include "bpf_host.h"

#include "length.bpf.h"

#define IOVS 0x10100

static int setup(void **state)
{
	(void)state;
	host_reset();
	return 0;
}

static __u64 direct(enum ub_length_rule rule)
{
	const struct ub_site site = { .length_rule = rule, .arg_count = 3, .arg_header_len = 4 };
	const __u64 args[ARGS] = { 0, 1, 2, 0xffff00000010ull, 0xffff00000020ull };

	return length_direct(&site, args);
}

static void arguments(void **state)
{
	(void)state;
	assert_int_equal(direct(UB_LEN_NONE), 0);
	assert_int_equal(direct(UB_LEN_ARG32), 0x10);
	assert_int_equal(direct(UB_LEN_ARG64), 0xffff00000010ull);
	assert_int_equal(direct(UB_LEN_SHORT_AM), 0x18);
	assert_int_equal(direct(UB_LEN_ZCOPY_AM), 0x20);
	assert_int_equal(direct(UB_LEN_IOV), 0);
	assert_int_equal(direct(UB_LEN_RETURN), 0);
	assert_int_equal(direct(UB_LEN_FIXED4), 4);
	assert_int_equal(direct(UB_LEN_FIXED8), 8);
}

static void put_iov(int at, __u64 buffer, __u64 length, __u32 count)
{
	const struct uct_iov iov = { .buffer = buffer, .length = length, .count = count };

	memcpy(host_user(IOVS + at * sizeof(iov)), &iov, sizeof(iov));
}

static struct iov_sum sum_of(__u64 base, __u64 n)
{
	struct iov_sum sum = {};

	iov_sum(&sum, base, n);
	return sum;
}

static void elements(void **state)
{
	struct iov_sum sum;

	(void)state;
	for (int i = 0; i < MAX_IOV + 1; i++)
		put_iov(i, 0x5000 + i, 100 + i, i == 1 ? 3 : 1);
	assert_int_equal(sum_of(IOVS, 0).bytes, 0);
	assert_int_equal(sum_of(IOVS, 0).unknown, 0);
	sum = sum_of(IOVS, 2);
	assert_int_equal(sum.bytes, 100 + 3 * 101);
	assert_int_equal(sum.first, 0x5000);
	assert_int_equal(sum.unknown, 0);
	sum = sum_of(IOVS, MAX_IOV);
	assert_int_equal(sum.bytes, 8 * 100 + 28 + 2 * 101);
	assert_int_equal(sum.unknown, 0);
	/* elements beyond the limit are not added */
	assert_int_equal(sum_of(IOVS, MAX_IOV + 1).bytes, sum.bytes);
	assert_int_equal(sum_of(IOVS, MAX_IOV + 1).unknown, 1);
}

static void elements_that_cannot_be_read(void **state)
{
	const __u64 last = HOST_USER + sizeof(host.user) - sizeof(struct uct_iov);
	const struct uct_iov iov = { .buffer = 0x5000, .length = 100, .count = 1 };

	(void)state;
	memcpy(host_user(last), &iov, sizeof(iov));
	assert_int_equal(sum_of(last, 2).bytes, 100);
	assert_int_equal(sum_of(last, 2).unknown, 1);
	assert_int_equal(sum_of(0, 1).unknown, 1);
	assert_int_equal(sum_of(0, 1).first, 0);
}

static void results(void **state)
{
	__u64 bytes = 77;

	(void)state;
	assert_int_equal(length_result(&bytes, UB_LEN_ARG32, -2), -2);
	assert_int_equal(length_result(&bytes, UB_LEN_ARG32, 1), 1);
	/* a function that returns a status has only its lowest byte */
	assert_int_equal(length_result(&bytes, UB_LEN_IOV, 0xfe), -2);
	assert_int_equal(bytes, 77);
	assert_int_equal(length_result(&bytes, UB_LEN_RETURN, 1000), 0);
	assert_int_equal(bytes, 1000);
	assert_int_equal(length_result(&bytes, UB_LEN_RETURN, -2), -2);
	assert_int_equal(bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(arguments, setup),
		cmocka_unit_test_setup(elements, setup),
		cmocka_unit_test_setup(elements_that_cannot_be_read, setup),
		cmocka_unit_test_setup(results, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
