/* SPDX-License-Identifier: BSD-3-Clause */
/* Ops tables: every transport of the stock libraries, the hidden operations at their addresses. */
#include "unit/process_stock.h"

#include "observe/process/elf.h"

#define MAX_TABLES 16
#define AM_SHORT 6
#define AM_BCOPY 8
#define AM_ZCOPY 9

struct expected {
	const char *transport; /* whose it is */
	uint64_t vaddr, am_short, am_bcopy, am_zcopy; /* 0 = none here */
	const char *am_bcopy_name; /* NULL = hidden or none */
};

static void check(const struct elf_ops_table *table, const struct expected *expected)
{
	assert_int_equal(table->vaddr, expected->vaddr);
	assert_int_equal(table->slot[AM_SHORT], expected->am_short);
	assert_int_equal(table->slot[AM_BCOPY], expected->am_bcopy);
	assert_int_equal(table->slot[AM_ZCOPY], expected->am_zcopy);
	if (expected->am_bcopy_name)
		assert_string_equal(table->name[AM_BCOPY], expected->am_bcopy_name);
	else
		assert_null(table->name[AM_BCOPY]);
}

static void check_all(const char *file, const char *build_id, const struct expected *expected,
		      int count)
{
	struct elf_ops_table tables[MAX_TABLES];
	struct elf *elf = stock_open(file);

	if (!stock_is(elf, build_id)) {
		elf_free(elf);
		print_message("%s is another build\n", file);
		skip();
	}
	assert_int_equal(elf_ops_tables(elf, tables, MAX_TABLES), count);
	for (int i = 0; i < count; i++)
		check(&tables[i], &expected[i]);
	elf_free(elf);
}

static void test_libuct(void **state)
{
	static const struct expected expected[] = {
		{ "mm", 0x3f460, 0x19fc0, 0x1a440, 0, "uct_mm_ep_am_bcopy" },
		{ "self", 0x408a0, 0x1d810, 0x1d970, 0, "uct_self_ep_am_bcopy" },
		{ "tcp", 0x40bc0, 0x21e50, 0x22a20, 0x22eb0, "uct_tcp_ep_am_bcopy" },
	};

	(void)state;
	check_all("libuct.so.0", DEBIAN_UCT, expected, 3);
}

static void test_hidden_operations_of_libuct_ib(void **state)
{
	static const struct expected expected[] = {
		{ "rc_verbs", 0xa45c0, 0x2ee90, 0x2f820, 0x2fc90, "uct_rc_verbs_ep_am_bcopy" },
		{ "rc_mlx5", 0xa4900, 0x35db0, 0x37eb0, 0x38600, "uct_rc_mlx5_ep_am_bcopy" },
		{ "dc_mlx5", 0xa5140, 0x5a340, 0x5cc90, 0x5d5b0, "uct_dc_mlx5_ep_am_bcopy" },
		{ "ud_verbs", 0xa5dc0, 0x71ed0, 0x72650, 0x73f30, NULL },
		{ "ud_mlx5", 0xa6220, 0x79780, 0x771f0, 0x76150, NULL },
	};

	(void)state;
	check_all("ucx/libuct_ib.so.0", DEBIAN_UCT_IB, expected, 5);
}

static void test_operations_of_another_library_are_empty(void **state)
{
	struct elf *elf = stock_open("ucx/libuct_cma.so.0");
	struct elf_ops_table table;

	(void)state;
	assert_int_equal(elf_ops_tables(elf, &table, 1), 1);
	for (int slot = 0; slot < 22; slot++)
		assert_int_equal(table.slot[slot], 0);
	elf_free(elf);
}

static void test_counts_beyond_the_array(void **state)
{
	struct elf *elf = stock_open("libuct.so.0");
	struct elf_ops_table tables[4];

	(void)state;
	memset(tables, 0x55, sizeof(tables));
	assert_true(elf_ops_tables(elf, tables, 1) >= 3);
	assert_int_equal(tables[1].vaddr, 0x5555555555555555);
	elf_free(elf);
}

static void test_no_tables_elsewhere(void **state)
{
	struct elf *ucp = stock_open("libucp.so.0"), *libc = stock_open("libc.so.6");

	(void)state;
	assert_int_equal(elf_ops_tables(ucp, NULL, 0), 0);
	assert_int_equal(elf_ops_tables(libc, NULL, 0), 0);
	elf_free(ucp);
	elf_free(libc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libuct),
		cmocka_unit_test(test_hidden_operations_of_libuct_ib),
		cmocka_unit_test(test_operations_of_another_library_are_empty),
		cmocka_unit_test(test_counts_beyond_the_array),
		cmocka_unit_test(test_no_tables_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
