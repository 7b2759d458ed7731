// SPDX-License-Identifier: BSD-3-Clause
/* What the session gets to see, and how large rings are for which machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/capture/ring.h"
#include "observe/capture/drainer.h"

static struct sieve *new_sieve(void)
{
	struct sieve *sieve = calloc(1, sizeof(*sieve));

	sieve_begin(sieve, 1, false);
	return sieve;
}

static bool call_passes(struct sieve *sieve, uint32_t tgid, uint64_t site)
{
	struct ub_call call = { .h = { .kind = UB_CALL, .tgid = tgid }, .ret_addr = site };

	return sieve_passes(sieve, &call.h);
}

static bool op_passes(struct sieve *sieve, uint8_t layout, uint64_t obj, uint64_t cb,
		      uint64_t buffer)
{
	struct ub_op op = { .h = { .kind = UB_OP, .tgid = 7, .layout = layout },
			    .obj = obj,
			    .cb = cb,
			    .buffer = buffer };

	return sieve_passes(sieve, &op.h);
}

static bool xfer_passes(struct sieve *sieve, uint8_t layout, uint64_t iface, uint64_t function,
			uint64_t req)
{
	struct ub_xfer xfer = { .h = { .kind = UB_XFER, .tgid = 7, .layout = layout },
				.iface = iface,
				.comp_func = function,
				.req = req,
				.laddr = 0x5000 };

	return sieve_passes(sieve, &xfer.h);
}

static void new_addresses_pass_once(void **state)
{
	struct sieve *sieve = new_sieve();

	(void)state;
	assert_true(call_passes(sieve, 7, 0x100));
	assert_false(call_passes(sieve, 7, 0x100));
	assert_true(call_passes(sieve, 8, 0x100));
	assert_true(op_passes(sieve, 1, 0x100, 0, 0));
	assert_false(op_passes(sieve, 1, 0x100, 0, 0));
	assert_true(op_passes(sieve, 1, 0x100, 0x200, 0));
	assert_true(op_passes(sieve, 1, 0x300, 0x200, 0));
	assert_false(op_passes(sieve, 1, 0x300, 0x200, 0));
	/* an endpoint and an interface are told from a function at the same address */
	assert_true(xfer_passes(sieve, 1, 0x400, 0x300, 0x1));
	assert_false(xfer_passes(sieve, 1, 0x400, 0x300, 0x1));
	/* without a layout, nothing of an operation is looked at; without a request, no function */
	assert_false(op_passes(sieve, 0, 0x900, 0x901, 0));
	assert_false(xfer_passes(sieve, 0, 0x900, 0x901, 1));
	assert_true(xfer_passes(sieve, 1, 0x500, 0x600, 0));
	assert_true(xfer_passes(sieve, 1, 0x500, 0x600, 1));
	free(sieve);
}

/* As many addresses as the ranks of a thread have. */
static void addresses_in_use_do_not_evict_each_other(void **state)
{
	struct sieve *sieve = new_sieve();
	unsigned int passed = 0, first = 0;

	(void)state;
	for (int round = 0; round < 100; round++) {
		for (uint32_t rank = 0; rank < 4; rank++)
			for (uint64_t site = 0; site < 32; site++)
				passed += call_passes(sieve, 4000 + rank,
						      0x555500001230 + 0x40 * site);
		first = round ? first : passed;
	}
	assert_int_equal(first, 4 * 32);
	assert_int_equal(passed, first);
	free(sieve);
}

static void what_was_forgotten_passes_again(void **state)
{
	struct sieve *sieve = new_sieve();

	(void)state;
	assert_true(call_passes(sieve, 7, 0x100));
	sieve_begin(sieve, 1, false);
	assert_false(call_passes(sieve, 7, 0x100));
	sieve_begin(sieve, 2, false);
	assert_true(call_passes(sieve, 7, 0x100));
	free(sieve);
}

static void buffers_pass_where_they_are_wanted(void **state)
{
	struct sieve *sieve = new_sieve();

	(void)state;
	assert_false(op_passes(sieve, 1, 0, 0, 0x7000));
	sieve_begin(sieve, 1, true);
	assert_true(op_passes(sieve, 1, 0, 0, 0x7000));
	assert_false(op_passes(sieve, 1, 0, 0, 0x7000));
	/* other memory may be there by the next pass */
	sieve_begin(sieve, 1, true);
	assert_true(op_passes(sieve, 1, 0, 0, 0x7000));
	free(sieve);
}

static void lives_always_pass(void **state)
{
	static const uint8_t always[] = { UB_OBJ, UB_TASK, UB_STACK };
	static const uint8_t never[] = { UB_RX,   UB_COMP,  UB_MATCH, UB_NAME,
					 UB_LOSS, UB_FRAGS, UB_MEM };
	struct sieve *sieve = new_sieve();
	union {
		struct ub_hdr h;
		uint8_t bytes[UB_MAX_RECORD];
	} record;

	(void)state;
	memset(&record, 0x11, sizeof(record));
	for (size_t i = 0; i < 2 * sizeof(always); i++) {
		record.h.kind = always[i / 2];
		assert_true(sieve_passes(sieve, &record.h));
	}
	for (size_t i = 0; i < sizeof(never); i++) {
		record.h.kind = never[i];
		assert_false(sieve_passes(sieve, &record.h));
	}
	free(sieve);
}

#define MIB ((size_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static void plan_is(struct ring_plan plan, size_t first, size_t total)
{
	assert_int_equal(plan.first, first);
	assert_int_equal(plan.total, total);
	assert_int_equal(plan.first & (plan.first - 1), 0);
	assert_true(plan.most >= plan.first);
}

static void rings_by_memory(void **state)
{
	(void)state;
	plan_is(ring_plan(0, 2, 24 * GIB, false), 4 * MIB, 48 * MIB);
	plan_is(ring_plan(0, 32, 128 * GIB, false), 4 * MIB, 128 * GIB / 1000);
	plan_is(ring_plan(0, 32, 512 * GIB, false), 4 * MIB, 192 * MIB);
	plan_is(ring_plan(0, 192, 96 * GIB, false), MIB / 2, 96 * GIB / 1000);
	plan_is(ring_plan(0, 1024, 64 * GIB, false), MIB / 2, 64 * GIB / 1000);
	plan_is(ring_plan(MIB / 16, 32, 512 * GIB, false), MIB / 16, SIZE_MAX);
	assert_int_equal(ring_plan(MIB / 16, 2, GIB, false).most, MIB / 16);
}

static void rings_of_few_records(void **state)
{
	(void)state;
	plan_is(ring_plan(0, 2, 24 * GIB, true), 4 * MIB, 24 * MIB);
	plan_is(ring_plan(0, 16, 512 * GIB, true), MIB, 24 * MIB);
	plan_is(ring_plan(0, 128, 512 * GIB, true), MIB / 8, 24 * MIB);
	plan_is(ring_plan(0, 256, 2048 * GIB, true), MIB / 16, 24 * MIB);
}

static void cpus_of_a_list(void **state)
{
	struct cpu_bits bits = { 0 };

	(void)state;
	cpu_bits_add_list(&bits, "0-2,5,64-65,8190-9000\n");
	for (int cpu = 0; cpu < UB_MAX_CPUS; cpu++)
		assert_int_equal(cpu_bits_has(&bits, cpu),
				 cpu <= 2 || cpu == 5 || cpu == 64 || cpu == 65 || cpu >= 8190);
}

static void cpus_of_this_process(void **state)
{
	struct cpu_bits bits = { 0 }, unknown = { 0 };
	int count = 0, online = 0;

	(void)state;
	cpu_bits_add_process(&bits, getpid());
	cpu_bits_add_process(&unknown, 0x7fffffff);
	for (int cpu = 0; cpu < UB_MAX_CPUS; cpu++) {
		count += cpu_bits_has(&bits, cpu);
		online += cpu_bits_has(&unknown, cpu);
	}
	assert_in_range(count, 1, online);
	assert_int_equal(online, sysconf(_SC_NPROCESSORS_ONLN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_addresses_pass_once),
		cmocka_unit_test(addresses_in_use_do_not_evict_each_other),
		cmocka_unit_test(what_was_forgotten_passes_again),
		cmocka_unit_test(buffers_pass_where_they_are_wanted),
		cmocka_unit_test(lives_always_pass),
		cmocka_unit_test(rings_by_memory),
		cmocka_unit_test(rings_of_few_records),
		cmocka_unit_test(cpus_of_a_list),
		cmocka_unit_test(cpus_of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
