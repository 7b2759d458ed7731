// SPDX-License-Identifier: BSD-3-Clause
/* What looks at a process say of an address at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "explain/memory/evidence.h"

#define WHICH "made before the trace: which GPU was not told"
#define NO_REASON NULL

static struct memory_evidence evidence;
static struct evidence_look *look;
static const int capture, other;

static int setup(void **state)
{
	(void)state;
	memset(&evidence, 0, sizeof(evidence));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	evidence_release(&evidence);
	return 0;
}

static void at(uint64_t ts)
{
	look = evidence_look_add(&evidence, ts, &capture);
}

static void range(uint64_t start, uint64_t end, enum evidence_class class)
{
	vec_push(&look->ranges, ((struct evidence_range){ start, end, class }));
}

static void region(uint64_t start, uint64_t end, enum evidence_type type, int device)
{
	vec_push(&look->regions, ((struct evidence_region){ start, end, type, device }));
}

static void is(uint64_t ts, uint64_t address, enum memory_kind kind, int device,
	       const char *known_by, const char *reason)
{
	struct memory_answer answer = { .kind = MEMORY_KINDS };

	assert_true(evidence_find(&evidence, &capture, ts, address, &answer));
	assert_int_equal(answer.kind, kind);
	assert_int_equal(answer.device, device);
	assert_int_equal(!answer.known_by, !known_by);
	assert_int_equal(!answer.reason, !reason);
	if (known_by)
		assert_string_equal(answer.known_by, known_by);
	if (reason)
		assert_string_equal(answer.reason, reason);
}

static void nothing(uint64_t ts, uint64_t address)
{
	struct memory_answer answer;

	assert_false(evidence_find(&evidence, &capture, ts, address, &answer));
}

/* The capture lost changes. */
static void distrust(void)
{
	for (size_t i = 0; i < evidence.looks.len; i++)
		evidence.looks.data[i]->distrusted = true;
	evidence_ready(&evidence);
}

static void mappings(void **state)
{
	(void)state;
	at(100);
	range(0x1000, 0x2000, EVIDENCE_HOST);
	range(0x2000, 0x3000, EVIDENCE_RESERVED);
	range(0x4000, 0x5000, EVIDENCE_MANAGED);
	range(0x5000, 0x6000, EVIDENCE_PINNED);
	evidence_ready(&evidence);
	for (uint64_t ts = 50; ts <= 150; ts += 50) {
		is(ts, 0x1000, MEMORY_HOST, -1, "map", NO_REASON);
		is(ts, 0x1fff, MEMORY_HOST, -1, "map", NO_REASON);
		is(ts, 0x2000, MEMORY_GPU, -1, "map", WHICH);
		is(ts, 0x4fff, MEMORY_MANAGED, -1, "map", NO_REASON);
		is(ts, 0x5000, MEMORY_PINNED, -1, "map", NO_REASON);
	}
	/* what was mapped before the look and is not there any more, nobody knows */
	nothing(50, 0xfff);
	nothing(50, 0x3000);
	nothing(50, 0x6000);
}

/* Only where a process has but one GPU, its mappings tell which. */
static void only_one(void **state)
{
	(void)state;
	at(100);
	look->only_device = 3;
	range(0x2000, 0x3000, EVIDENCE_RESERVED);
	region(0x5000, 0x6000, UCX_SAYS_GPU, -1);
	evidence_ready(&evidence);
	is(100, 0x2000, MEMORY_GPU, 3, "map", NO_REASON);
	is(100, 0x5000, MEMORY_GPU, 3, "ucx", NO_REASON);
}

/* Where it had memory when the trace began; UCX knows better, and another program had none. */
static void only_one_at_first(void **state)
{
	(void)state;
	at(100);
	range(0x2000, 0x3000, EVIDENCE_RESERVED);
	region(0x5000, 0x6000, UCX_SAYS_GPU, 2);
	evidence_joined(&evidence, &other, 4);
	evidence_ready(&evidence);
	is(100, 0x2000, MEMORY_GPU, -1, "map", WHICH);
	evidence_joined(&evidence, &capture, 4);
	is(100, 0x2000, MEMORY_GPU, 4, "map", NO_REASON);
	is(100, 0x5000, MEMORY_GPU, 2, "ucx", NO_REASON);
	evidence_end_add(&evidence, 90);
	is(100, 0x2000, MEMORY_GPU, -1, "map", WHICH);
}

/* Two looks that differ, and a call in between that ended what lay there. */
static void freed_between_two(void **state)
{
	(void)state;
	at(100);
	range(0x1000, 0x2000, EVIDENCE_HOST);
	range(0x2000, 0x3000, EVIDENCE_HOST);
	at(200);
	range(0x1000, 0x3000, EVIDENCE_RESERVED);
	evidence_change_add(&evidence, 170, 0x1000, 0);
	evidence_ready(&evidence);
	is(150, 0x1800, MEMORY_HOST, -1, "map", NO_REASON);
	is(180, 0x1800, MEMORY_GPU, -1, "map", WHICH);
	/* of another call's memory: neither look is over by it */
	is(180, 0x2000, MEMORY_UNKNOWN, -1, NULL, "its mapping changed while it was in use");
}

/* Between two looks, what both say is so; mapped or unmapped in between: what one says. */
static void between_two(void **state)
{
	(void)state;
	at(200);
	range(0x1000, 0x3000, EVIDENCE_HOST);
	range(0x4000, 0x5000, EVIDENCE_HOST);
	range(0x6000, 0x7000, EVIDENCE_RESERVED);
	at(100);
	range(0x1000, 0x2000, EVIDENCE_HOST);
	range(0x2000, 0x3000, EVIDENCE_RESERVED);
	range(0x5000, 0x6000, EVIDENCE_HOST);
	range(0x6000, 0x7000, EVIDENCE_HOST);
	evidence_ready(&evidence);
	is(150, 0x1000, MEMORY_HOST, -1, "map", NO_REASON);
	is(150, 0x4000, MEMORY_HOST, -1, "map", NO_REASON);
	is(150, 0x5000, MEMORY_HOST, -1, "map", NO_REASON);
	is(150, 0x2000, MEMORY_UNKNOWN, -1, NULL, "its mapping changed while it was in use");
	is(150, 0x6000, MEMORY_UNKNOWN, -1, NULL, "its mapping changed while it was in use");
	is(99, 0x2000, MEMORY_GPU, -1, "map", WHICH);
	is(200, 0x2000, MEMORY_HOST, -1, "map", NO_REASON);
	nothing(99, 0x4000);
}

/*
 * Mapped and unmapped between two looks: the host's, unless a GPU library was ever seen to make
 * something there, or not all that it did was seen.
 */
static void eliminated(void **state)
{
	(void)state;
	at(100);
	range(0x4000, 0x5000, EVIDENCE_OTHER);
	at(200);
	evidence_change_add(&evidence, 300, 0x2000, 0x1000);
	evidence_change_add(&evidence, 310, 0x2800, 0x1000);
	evidence_change_add(&evidence, 320, 0x3900, 0);
	evidence_ready(&evidence);
	for (uint64_t ts = 150; ts <= 250; ts += 100) {
		is(ts, 0x1fff, MEMORY_HOST, -1, "elimination", NO_REASON);
		is(ts, 0x3800, MEMORY_HOST, -1, "elimination", NO_REASON);
		is(ts, 0x3901, MEMORY_HOST, -1, "elimination", NO_REASON);
		nothing(ts, 0x2000);
		nothing(ts, 0x2fff);
		nothing(ts, 0x37ff);
		nothing(ts, 0x3900);
	}
	is(150, 0x4000, MEMORY_UNKNOWN, -1, NULL, "mapped by another device's driver");
	nothing(99, 0x1fff);
	distrust();
	nothing(150, 0x1fff);
}

/* Gone before the first look: only where the process was seen from its start, and all it called. */
/* Sizes of a hostile capture: memory up to the last address hides none below it. */
static void made_up_to_the_end(void **state)
{
	(void)state;
	at(100);
	range(0x4000, 0x5000, EVIDENCE_HOST);
	evidence_change_add(&evidence, 300, 0x2000, 0x1000);
	evidence_change_add(&evidence, 300, UINT64_MAX - 10, 100);
	evidence_ready(&evidence);
	evidence.whole = true;
	is(50, 0x1000, MEMORY_HOST, -1, "elimination", NO_REASON);
	nothing(50, 0x2000);
	nothing(50, UINT64_MAX - 5);
}

static void eliminated_from_the_start(void **state)
{
	(void)state;
	at(100);
	range(0x4000, 0x5000, EVIDENCE_HOST);
	evidence_change_add(&evidence, 300, 0x2000, 0x1000);
	evidence_ready(&evidence);
	nothing(50, 0x1000);
	evidence.whole = true;
	is(50, 0x1000, MEMORY_HOST, -1, "elimination", NO_REASON);
	nothing(50, 0x2000);
	evidence.late = true;
	nothing(50, 0x1000);
	evidence.late = false;
	evidence.unprobed = true;
	nothing(50, 0x1000);
	evidence.unprobed = false;
	distrust();
	nothing(50, 0x1000);
}

/* An earlier capture saw the start: of the time between the two nothing is known. */
static void eliminated_by_one_capture(void **state)
{
	(void)state;
	at(200);
	range(0x4000, 0x5000, EVIDENCE_HOST);
	evidence_look_add(&evidence, 100, &other);
	evidence.whole = true;
	evidence_ready(&evidence);
	nothing(150, 0x1000);
	is(250, 0x1000, MEMORY_HOST, -1, "elimination", NO_REASON);
}

/* A thread's heap grows into what it has reserved. */
static void heap_grows(void **state)
{
	(void)state;
	at(100);
	range(0x2000, 0x3000, EVIDENCE_RESERVED);
	at(200);
	look->cached = true;
	range(0x2000, 0x3000, EVIDENCE_HOST);
	evidence_ready(&evidence);
	is(150, 0x2000, MEMORY_HOST, -1, "map", NO_REASON);
}

/* Likewise, without UCX's word for it: all calls were seen. */
static void heap_grows_from_the_start(void **state)
{
	(void)state;
	at(100);
	range(0x2000, 0x4000, EVIDENCE_RESERVED);
	at(200);
	range(0x2000, 0x4000, EVIDENCE_HOST);
	evidence_change_add(&evidence, 90, 0x3000, 0x1000);
	evidence_ready(&evidence);
	is(150, 0x2000, MEMORY_UNKNOWN, -1, NULL, "its mapping changed while it was in use");
	evidence.whole = true;
	is(150, 0x2000, MEMORY_HOST, -1, "map", NO_REASON);
	is(150, 0x3000, MEMORY_UNKNOWN, -1, NULL, "its mapping changed while it was in use");
	distrust();
	is(150, 0x2000, MEMORY_UNKNOWN, -1, NULL, "its mapping changed while it was in use");
}

static void told_by_ucx(void **state)
{
	(void)state;
	at(100);
	range(0x1000, 0x2000, EVIDENCE_RESERVED);
	range(0x3000, 0x4000, EVIDENCE_MANAGED);
	range(0x7000, 0x8000, EVIDENCE_HOST);
	region(0x1000, 0x1800, UCX_SAYS_GPU, 1);
	region(0x1800, 0x1900, UCX_SAYS_MANAGED, 2);
	region(0x1900, 0x1a00, UCX_SAYS_UNKNOWN, -1);
	region(0x3000, 0x4000, UCX_SAYS_MANAGED, 0);
	region(0x5000, 0x6000, UCX_SAYS_MANAGED, 0);
	region(0x7000, 0x7100, UCX_SAYS_GPU, 0);
	region(0x9000, 0x9100, UCX_SAYS_HOST, -1);
	evidence_ready(&evidence);
	is(90, 0x1000, MEMORY_GPU, 1, "ucx", NO_REASON);
	is(100, 0x17ff, MEMORY_GPU, 1, "ucx", NO_REASON);
	is(110, 0x1800, MEMORY_GPU, 2, "ucx", NO_REASON);
	is(100, 0x1900, MEMORY_GPU, -1, "map", WHICH);
	is(100, 0x3000, MEMORY_MANAGED, -1, "ucx", NO_REASON);
	is(100, 0x5000, MEMORY_UNKNOWN, -1, NULL,
	   "managed or of a pool, which UCX does not tell apart");
	is(100, 0x7000, MEMORY_UNKNOWN, -1, NULL,
	   "UCX and the process's mappings say different things");
	is(100, 0x9000, MEMORY_HOST, -1, "ucx", NO_REASON);
}

/* What UCX found out ends with the memory it was about, in both directions of time. */
static void made_and_freed(void **state)
{
	(void)state;
	at(100);
	range(0x1000, 0x3000, EVIDENCE_RESERVED);
	region(0x1000, 0x2000, UCX_SAYS_GPU, 1);
	region(0x2000, 0x3000, UCX_SAYS_GPU, 2);
	evidence_change_add(&evidence, 130, 0x1400, 0); /* freed: what began there */
	evidence_change_add(&evidence, 70, 0x2800, 0x100); /* made */
	evidence_ready(&evidence);
	is(129, 0x1400, MEMORY_GPU, 1, "ucx", NO_REASON);
	is(131, 0x13ff, MEMORY_GPU, 1, "ucx", NO_REASON);
	is(131, 0x1400, MEMORY_GPU, -1, "map", WHICH);
	is(131, 0x1fff, MEMORY_GPU, -1, "map", WHICH);
	is(131, 0x2000, MEMORY_GPU, 2, "ucx", NO_REASON);
	is(60, 0x2800, MEMORY_GPU, -1, "map", WHICH);
	is(60, 0x28ff, MEMORY_GPU, -1, "map", WHICH);
	is(60, 0x2900, MEMORY_GPU, 2, "ucx", NO_REASON);
	is(71, 0x2800, MEMORY_GPU, 2, "ucx", NO_REASON);
}

/* A context ended: nobody tells what was in it. Where nothing was made is not concerned. */
static void anything_ended(void **state)
{
	(void)state;
	at(100);
	range(0x1000, 0x2000, EVIDENCE_RESERVED);
	region(0x1000, 0x2000, UCX_SAYS_GPU, 1);
	evidence_change_add(&evidence, 120, 0, UINT64_MAX);
	evidence_ready(&evidence);
	is(110, 0x1000, MEMORY_GPU, 1, "ucx", NO_REASON);
	is(130, 0x1000, MEMORY_GPU, -1, "map", WHICH);
	is(130, 0x3000, MEMORY_HOST, -1, "elimination", NO_REASON);
}

/* The process has become another program. */
static void everything_ends(void **state)
{
	(void)state;
	at(100);
	range(0x1000, 0x2000, EVIDENCE_RESERVED);
	region(0x1000, 0x2000, UCX_SAYS_GPU, 1);
	evidence_end_add(&evidence, 120);
	evidence_ready(&evidence);
	is(110, 0x1000, MEMORY_GPU, 1, "ucx", NO_REASON);
	nothing(130, 0x1000);
}

static void changes_its_mind(void **state)
{
	(void)state;
	for (uint64_t ts = 100; ts <= 200; ts += 100) {
		at(ts);
		range(0x1000, 0x2000, EVIDENCE_RESERVED);
		region(0x1000, 0x2000, UCX_SAYS_GPU, ts == 100);
	}
	evidence_ready(&evidence);
	is(150, 0x1000, MEMORY_UNKNOWN, -1, NULL, "UCX has changed its mind about it");
	is(99, 0x1000, MEMORY_GPU, 1, "ucx", NO_REASON);
	is(201, 0x1000, MEMORY_GPU, 0, "ucx", NO_REASON);
}

static void of_another_capture(void **state)
{
	struct memory_answer answer;

	(void)state;
	at(100);
	range(0x1000, 0x2000, EVIDENCE_HOST);
	evidence_ready(&evidence);
	assert_false(evidence_find(&evidence, &other, 100, 0x1000, &answer));
}

/* Records of calls were lost: mappings still hold. */
static void distrusted(void **state)
{
	(void)state;
	at(100);
	range(0x1000, 0x2000, EVIDENCE_RESERVED);
	region(0x1000, 0x2000, UCX_SAYS_GPU, 1);
	distrust();
	is(100, 0x1000, MEMORY_GPU, -1, "map", WHICH);
}

/* Two captures of a process have both lost changes. */
static void all_distrusted(void **state)
{
	(void)state;
	at(100);
	range(0x4000, 0x5000, EVIDENCE_HOST);
	look->distrusted = true;
	evidence_look_add(&evidence, 200, &other)->distrusted = true;
	evidence_ready(&evidence);
	nothing(150, 0x1000);
	evidence.whole = true;
	nothing(50, 0x1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(mappings, setup, teardown),
		cmocka_unit_test_setup_teardown(only_one, setup, teardown),
		cmocka_unit_test_setup_teardown(only_one_at_first, setup, teardown),
		cmocka_unit_test_setup_teardown(freed_between_two, setup, teardown),
		cmocka_unit_test_setup_teardown(between_two, setup, teardown),
		cmocka_unit_test_setup_teardown(eliminated, setup, teardown),
		cmocka_unit_test_setup_teardown(made_up_to_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(eliminated_from_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(eliminated_by_one_capture, setup, teardown),
		cmocka_unit_test_setup_teardown(heap_grows, setup, teardown),
		cmocka_unit_test_setup_teardown(heap_grows_from_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(told_by_ucx, setup, teardown),
		cmocka_unit_test_setup_teardown(made_and_freed, setup, teardown),
		cmocka_unit_test_setup_teardown(anything_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(everything_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(changes_its_mind, setup, teardown),
		cmocka_unit_test_setup_teardown(of_another_capture, setup, teardown),
		cmocka_unit_test_setup_teardown(distrusted, setup, teardown),
		cmocka_unit_test_setup_teardown(all_distrusted, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
