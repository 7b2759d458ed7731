// SPDX-License-Identifier: BSD-3-Clause
/* Names of memory, written and read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory_name.h"

static void check(const char *text, enum memory_kind kind, int device)
{
	struct memory_name name = memory_name_read(text);

	assert_int_equal(name.kind, kind);
	assert_int_equal(name.device, device);
}

static void names(void **state)
{
	char text[MEMORY_NAME_MAX];

	(void)state;
	for (int kind = MEMORY_UNKNOWN; kind < MEMORY_KINDS; kind++)
		check(memory_kind_name(kind), kind, -1);
	for (int device = 0; device < 100; device++) {
		memory_gpu_name(text, device);
		check(text, MEMORY_GPU, device);
	}
	check("unknown", MEMORY_UNKNOWN, -1);
	check("", MEMORY_UNKNOWN, -1);
	check("hosts", MEMORY_UNKNOWN, -1);
	check("gpus", MEMORY_UNKNOWN, -1);
	check("gpu-3", MEMORY_UNKNOWN, -1);
	check("gpu1x", MEMORY_UNKNOWN, -1);
	check("gpu99999999999", MEMORY_UNKNOWN, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
