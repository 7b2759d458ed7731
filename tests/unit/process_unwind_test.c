// SPDX-License-Identifier: BSD-3-Clause
/* Unwinding rows of real files: this program's own and libc's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "observe/process/unwind.h"

static void read_all(const char *path, struct elf **elf, unwind_rows *rows)
{
	struct unwind *unwind;
	int more;

	assert_int_equal(elf_load(elf, path), 0);
	assert_int_equal(unwind_open(&unwind, *elf), 0);
	/* in small steps it comes to the same as at once */
	while ((more = unwind_read(unwind, rows, 0)) > 0)
		;
	assert_int_equal(more, 0);
	unwind_close(unwind);
}

static uint32_t rule_at(const unwind_rows *rows, uint64_t pc)
{
	size_t i = 0;

	while (i + 1 < rows->len && rows->data[i + 1].pc <= pc)
		i++;
	return rows->data[i].rule;
}

static void only_on_x86(void)
{
#ifndef __x86_64__
	skip();
#endif
}

/* Sorted, without two rows at one address or two neighbours that say the same. */
static void rows_are_in_order(void **state)
{
	unwind_rows rows = { 0 };
	struct elf *elf;
	Dl_info info;

	(void)state;
	only_on_x86();
	assert_true(dladdr((void *)(uintptr_t)&strlen, &info));
	read_all(info.dli_fname, &elf, &rows);
	assert_true(rows.len > 10000);
	for (size_t i = 1; i < rows.len; i++) {
		assert_true(rows.data[i].pc > rows.data[i - 1].pc);
		assert_true(rows.data[i].rule != rows.data[i - 1].rule);
	}
	vec_release(&rows);
	elf_free(elf);
}

/* At its first instruction every function's frame is its return address alone. */
static void at_entry(void **state)
{
	uint64_t offset, vaddr, size;
	unwind_rows rows = { 0 };
	struct elf *elf;

	(void)state;
	only_on_x86();
	read_all("/proc/self/exe", &elf, &rows);
	assert_int_equal(elf_function(elf, "main", &offset, &size), 0);
	assert_int_equal(elf_offset_to_vaddr(elf, offset, &vaddr), 0);
	assert_int_equal(rule_at(&rows, vaddr), UB_ROW(1, UB_ROW_RSP, 0));
	/* the way out of _start leads nowhere, and says so */
	assert_int_equal(elf_function(elf, "_start", &offset, &size), 0);
	assert_int_equal(elf_offset_to_vaddr(elf, offset, &vaddr), 0);
	assert_int_equal(UB_ROW_BP(rule_at(&rows, vaddr + 5)), UB_ROW_STOP + UB_STACK_WHOLE);
	/* before the first function there is nothing, nor behind the last one */
	assert_int_equal(rows.data[0].pc, 0);
	assert_true(rows.data[1].pc > 1);
	assert_int_equal(UB_ROW_BP(rule_at(&rows, rows.data[1].pc - 1)),
			 UB_ROW_STOP + UB_STACK_NO_ROWS);
	assert_int_equal(UB_ROW_BP(rule_at(&rows, UINT32_MAX)), UB_ROW_STOP + UB_STACK_NO_ROWS);
	vec_release(&rows);
	elf_free(elf);
}

static void a_file_without(void **state)
{
	struct unwind *unwind;
	struct elf *elf;

	(void)state;
	only_on_x86();
	/* an object file has no program headers, and so no index of its frames */
	assert_int_equal(
		system("echo 'int f(void) { return 1; }' | gcc -x c -c -o unwind_test.o -"), 0);
	assert_int_equal(elf_load(&elf, "unwind_test.o"), 0);
	assert_int_equal(unwind_open(&unwind, elf), -ENOENT);
	elf_free(elf);
	remove("unwind_test.o");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_in_order),
		cmocka_unit_test(at_entry),
		cmocka_unit_test(a_file_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
