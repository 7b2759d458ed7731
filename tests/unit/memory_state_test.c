// SPDX-License-Identifier: BSD-3-Clause
/* Whose memory an address is of, as calls of a GPU library are applied one after the other. */
#include "memory_calls.h"

static void kinds(void **state)
{
	(void)state;
	call(UB_MEM_ALLOC, 0x1000000, 3 * MIB, 0);
	call(UB_MEM_ALLOC_PITCH, 0x2000000, 512 * 7, 0);
	call(UB_MEM_ALLOC_MANAGED, 0x3000000, MIB, 0);
	call(UB_MEM_ALLOC_HOST, 0x4000000, 4099, 0);
	call(UB_MEM_REGISTER_HOST, 0x5000000, 4096, 0);
	is(0x1000000, MEMORY_GPU, 0);
	is(0x1000000 + 3 * MIB - 1, MEMORY_GPU, 0);
	is_unknown(0x1000000 + 3 * MIB, "not seen allocated");
	is(0x2000000 + 512 * 7 - 1, MEMORY_GPU, 0);
	is(0x3000001, MEMORY_MANAGED, -1);
	is(0x4000000 + 4098, MEMORY_PINNED, -1);
	is_unknown(0x4000000 + 4099, "not seen allocated");
	is(0x5000000, MEMORY_PINNED, -1);
	assert_int_equal(at(0x4000000).sort, MEMORY_PLAIN);
	assert_int_equal(at(0x5000000).sort, MEMORY_REGISTERED);
	is_unknown(0, "no address");
	/* unregistered, it is still the program's, and its end is not seen */
	call(UB_MEM_FREE, 0x5000000, 0, 0);
	is_unknown(0x5000000, "not seen allocated");
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(memory_kind_name(MEMORY_GPU), "gpu");
	assert_string_equal(memory_kind_name(MEMORY_HOST), "host");
	assert_null(memory_kind_name(MEMORY_UNKNOWN));
	assert_string_equal(memory_sort_name(MEMORY_MAPPED), "mapped");
	assert_string_equal(memory_sort_name(MEMORY_IMPORTED), "imported");
	assert_null(memory_sort_name(MEMORY_NO_SORT));
}

/* An address is of the allocation that is alive, and sums stay. */
static void freed_and_used_again(void **state)
{
	const struct memory_use *use;

	(void)state;
	call(UB_MEM_ALLOC, 0x1000000, 5 * MIB, 0);
	call(UB_MEM_ALLOC, 0x2000000, 3 * MIB, 0);
	call(UB_MEM_FREE, 0x1000000, 0, 0);
	is_unknown(0x1000000, "not seen allocated");
	call(UB_MEM_CTX_SET, 0, 0, CONTEXT(1));
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	is(0x1000000, MEMORY_GPU, 1);
	is_unknown(0x1000000 + MIB, "not seen allocated");
	use = row(PROCESS, MEMORY_GPU, MEMORY_PLAIN, 0);
	assert_int_equal(use->allocations, 2);
	assert_int_equal(use->bytes, 8 * MIB);
	assert_int_equal(use->live, 3 * MIB);
	assert_int_equal(use->live_peak, 8 * MIB);
	assert_int_equal(row(PROCESS, MEMORY_GPU, MEMORY_PLAIN, 1)->live_peak, MIB);
	assert_int_equal(memory_counts(&memory, PROCESS).replaced, 0);
}

static void freed_twice(void **state)
{
	(void)state;
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	call(UB_MEM_FREE, 0x1000000 + 1, 0, 0); /* not where it begins */
	is(0x1000000, MEMORY_GPU, 0);
	call(UB_MEM_FREE, 0x1000000, 0, 0);
	call(UB_MEM_FREE, 0x1000000, 0, 0);
	call(UB_MEM_FREE, 0, 0, 0); /* what cudaFree(0) does: nothing */
	assert_int_equal(memory_counts(&memory, PROCESS).unmatched, 2);
	assert_int_equal(row(PROCESS, MEMORY_GPU, MEMORY_PLAIN, 0)->live, 0);
}

/* Its end was not seen: memory made in its place proves it. */
static void freed_unseen(void **state)
{
	(void)state;
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	call(UB_MEM_ALLOC_HOST, 0x1080000, MIB, 0);
	is(0x1080000, MEMORY_PINNED, -1);
	is_unknown(0x1000000, "not seen allocated");
	assert_int_equal(memory_counts(&memory, PROCESS).replaced, 1);
	assert_int_equal(row(PROCESS, MEMORY_GPU, MEMORY_PLAIN, 0)->live, 0);
}

static void failing_calls(void **state)
{
	(void)state;
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	call_in(PROCESS, UB_MEM_ALLOC, 0x2000000, MIB, 0, -1, 2);
	call_in(PROCESS, UB_MEM_FREE, 0x1000000, 0, 0, -1, 1);
	call_in(PROCESS, UB_MEM_CTX_SET, 0, 0, CONTEXT(1), -1, 201);
	call_in(PROCESS, UB_MEM_CTX_RETAIN, 0, 0, CONTEXT(0), 1, 3);
	call_in(PROCESS, UB_MEM_ALLOC, 0, MIB, 0, -1, 0); /* could not be read */
	is_unknown(0x2000000, "not seen allocated");
	is(0x1000000, MEMORY_GPU, 0);
	call(UB_MEM_ALLOC, 0x3000000, MIB, 0);
	is(0x3000000, MEMORY_GPU, 0);
	assert_int_equal(memory_counts(&memory, PROCESS).failed, 4);
	assert_int_equal(memory_counts(&memory, PROCESS).unreadable, 1);
}

static void streams_and_pools(void **state)
{
	(void)state;
	call(UB_MEM_CTX_PUSH, 0, 0, CONTEXT(1));
	call(UB_MEM_STREAM_CREATE, 0, 0, 0x51);
	call(UB_MEM_CTX_POP, 0, 0, 0);
	call_in(PROCESS, UB_MEM_POOL_CREATE, 0, 0, 0x90, 1, 0);
	call_in(PROCESS, UB_MEM_POOL_CREATE, 0, 0, 0x91, -1, 0); /* may be of host memory */
	call(UB_MEM_ALLOC_STREAM, 0x1000000, MIB, 0x51);
	call(UB_MEM_ALLOC_STREAM, 0x2000000, MIB, 0);
	call(UB_MEM_ALLOC_STREAM, 0x3000000, MIB, 2);
	call(UB_MEM_ALLOC_STREAM, 0x4000000, MIB, 0x52);
	call(UB_MEM_ALLOC_POOL, 0x5000000, MIB, 0x90);
	call(UB_MEM_ALLOC_POOL, 0x6000000, MIB, 0x91);
	call(UB_MEM_ALLOC_POOL, 0x7000000, MIB, 0x92);
	is(0x1000000, MEMORY_GPU, 1);
	is(0x2000000, MEMORY_GPU, 0);
	is(0x3000000, MEMORY_GPU, 0);
	is_gpu_for_a_reason(0x4000000, "the stream was not seen made");
	is(0x5000000, MEMORY_GPU, 1);
	is_unknown(0x6000000, "the call did not tell the device");
	is_unknown(0x7000000, "the pool was not seen made");
	assert_int_equal(at(0x5000000).sort, MEMORY_POOL);
	call(UB_MEM_FREE, 0x5000000, 0, 0);
	is_unknown(0x5000000, "not seen allocated");
}

static void mapped_side_by_side(void **state)
{
	(void)state;
	call_in(PROCESS, UB_MEM_CREATE, 0, 2 * MIB, 0xa0, 0, 0);
	call_in(PROCESS, UB_MEM_CREATE, 0, 2 * MIB, 0xa1, 1, 0);
	call_in(PROCESS, UB_MEM_CREATE, 0, 2 * MIB, 0xa2, -1, 0);
	call(UB_MEM_MAP, 0x1000000, 2 * MIB, 0xa0);
	call(UB_MEM_MAP, 0x1000000 + 2 * MIB, 2 * MIB, 0xa1);
	call(UB_MEM_MAP, 0x1000000 + 4 * MIB, 2 * MIB, 0xa0);
	call(UB_MEM_MAP, 0x1000000 + 6 * MIB, 2 * MIB, 0xa2);
	call(UB_MEM_MAP, 0x1000000 + 8 * MIB, 2 * MIB, 0xa3);
	call(UB_MEM_RELEASE, 0, 0, 0xa0); /* what is mapped stays */
	is(0x1000000 + 2 * MIB - 1, MEMORY_GPU, 0);
	is(0x1000000 + 2 * MIB, MEMORY_GPU, 1);
	is(0x1000000 + 4 * MIB, MEMORY_GPU, 0);
	is_unknown(0x1000000 + 6 * MIB, "the call did not tell the device");
	is_unknown(0x1000000 + 8 * MIB, "the physical memory was not seen made");
	assert_int_equal(at(0x1000000).sort, MEMORY_MAPPED);
	call(UB_MEM_UNMAP, 0x1000000, 4 * MIB, 0); /* over two of them */
	is_unknown(0x1000000, "not seen allocated");
	is_unknown(0x1000000 + 2 * MIB, "not seen allocated");
	is(0x1000000 + 4 * MIB, MEMORY_GPU, 0);
	assert_int_equal(memory_counts(&memory, PROCESS).unmatched, 0);
	call(UB_MEM_UNMAP, 0x1000000, 4 * MIB, 0);
	assert_int_equal(memory_counts(&memory, PROCESS).unmatched, 1);
	/* a released handle's number is free for other memory */
	call(UB_MEM_MAP, 0x1000000, 2 * MIB, 0xa0);
	is_unknown(0x1000000, "the physical memory was not seen made");
	call_in(PROCESS, UB_MEM_CREATE, 0, 2 * MIB, 0xa0, 1, 0);
	call(UB_MEM_MAP, 0x1000000, 2 * MIB, 0xa0);
	is(0x1000000, MEMORY_GPU, 1);
}

static void of_other_processes(void **state)
{
	(void)state;
	call(UB_MEM_IMPORT, 0x1000000, 0, 0xbeef);
	is_gpu_for_a_reason(0x1000000, "imported: export not seen");
	is_unknown(0x1000001, "behind the start of memory whose size was not told");
	call(UB_MEM_ALLOC, 0x2000000, MIB, 0);
	is_unknown(0x2000000 + MIB, "not seen allocated");
	/* opened again: the same address, until it is closed as often */
	call(UB_MEM_IMPORT, 0x1000000, 0, 0xbeef);
	call(UB_MEM_FREE, 0x1000000, 0, 0);
	assert_int_equal(at(0x1000000).kind, MEMORY_GPU);
	call(UB_MEM_FREE, 0x1000000, 0, 0);
	is_unknown(0x1000000, "not seen allocated");
	assert_int_equal(memory_counts(&memory, PROCESS).replaced, 0);
	assert_int_equal(memory_counts(&memory, PROCESS).unmatched, 0);
	assert_int_equal(row(PROCESS, MEMORY_GPU, MEMORY_IMPORTED, -1)->allocations, 1);
	assert_int_equal(row(PROCESS, MEMORY_GPU, MEMORY_IMPORTED, -1)->unsized, 1);

	call(UB_MEM_IMPORT_HANDLE, 0, 0, 0xa7);
	call(UB_MEM_MAP, 0x3000000, MIB, 0xa7);
	is_unknown(0x3000000, "memory of another process");
	call(UB_MEM_IMPORT_POOL, 0x4000000, 0, 0x99);
	is_unknown(0x4000000, "memory of another process");
	call_in(PROCESS, UB_MEM_POOL_CREATE, 0, 0, 0x98, 1, 0);
	call(UB_MEM_IMPORT_POOL, 0x5000000, 0, 0x98);
	is(0x5000000, MEMORY_GPU, 1);
}

/* Its closing was not seen, so how often it was open is no matter of what came in its place. */
static void open_in_vain(void **state)
{
	(void)state;
	call(UB_MEM_IMPORT, 0x1000000, 0, 0xbeef);
	call(UB_MEM_IMPORT, 0x1000000, 0, 0xbeef);
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	is(0x1000000, MEMORY_GPU, 0);
	call(UB_MEM_FREE, 0x1000000, 0, 0);
	is_unknown(0x1000000, "not seen allocated");
	call(UB_MEM_IMPORT, 0x1000000, 0, 0xbeef);
	call(UB_MEM_FREE, 0x1000000, 0, 0);
	is_unknown(0x1000000, "not seen allocated");
	assert_int_equal(memory_counts(&memory, PROCESS).unmatched, 0);
}

/* Each thread has a stack of its own; what lies below what was seen is not known. */
static void current_contexts(void **state)
{
	(void)state;
	tid = OTHER;
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	is_gpu_for_a_reason(0x1000000, "the thread's current context was not seen");
	call(UB_MEM_CTX_PUSH, 0, 0, CONTEXT(1));
	call(UB_MEM_CTX_PUSH, 0, 0, CONTEXT(0));
	call(UB_MEM_ALLOC, 0x2000000, MIB, 0);
	call(UB_MEM_CTX_SET, 0, 0, CONTEXT(1)); /* in place of the topmost */
	call(UB_MEM_ALLOC, 0x3000000, MIB, 0);
	call(UB_MEM_CTX_SET, 0, 0, CONTEXT(0));
	call(UB_MEM_CTX_SET, 0, 0, 0); /* pops */
	call(UB_MEM_ALLOC, 0x4000000, MIB, 0);
	call(UB_MEM_CTX_POP, 0, 0, 0);
	call(UB_MEM_ALLOC, 0x5000000, MIB, 0);
	call(UB_MEM_CTX_POP, 0, 0, 0);
	call(UB_MEM_CTX_SET, 0, 0, 0xc0ffee);
	call(UB_MEM_ALLOC, 0x6000000, MIB, 0);
	call_in(PROCESS, UB_MEM_CTX_CREATE, 0, 0, 0xcafe, 1, 0); /* and it is current */
	call(UB_MEM_ALLOC, 0x7000000, MIB, 0);
	is(0x2000000, MEMORY_GPU, 0);
	is(0x3000000, MEMORY_GPU, 1);
	is(0x4000000, MEMORY_GPU, 1);
	is_gpu_for_a_reason(0x5000000, "the thread's current context was not seen");
	is_gpu_for_a_reason(0x6000000, "the current context was not seen made");
	is(0x7000000, MEMORY_GPU, 1);
	tid = THREAD;
	call(UB_MEM_ALLOC, 0x8000000, MIB, 0);
	is(0x8000000, MEMORY_GPU, 0);
	/* a thread that is new and has an old one's number has no context */
	memory_thread_ended(&memory, PROCESS, OTHER);
	tid = OTHER;
	call(UB_MEM_ALLOC, 0x9000000, MIB, 0);
	is_gpu_for_a_reason(0x9000000, "the thread's current context was not seen");
}

#define THREADS 8

/* Eight threads take turns on two devices, and free what another one made. */
static void two_devices_and_threads(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < THREADS; i++) {
		tid = 100 + i;
		call(UB_MEM_CTX_SET, 0, 0, CONTEXT(i & 1));
	}
	for (uint32_t i = 0; i < THREADS * 31; i++) {
		tid = 100 + i % THREADS;
		call(UB_MEM_ALLOC, 0x10000000 + (uint64_t)i * MIB, MIB - i, 0);
	}
	for (uint32_t i = 0; i < THREADS * 31; i++)
		is(0x10000000 + (uint64_t)i * MIB + MIB - i - 1, MEMORY_GPU, i & 1);
	for (uint32_t i = 0; i < THREADS * 31; i++) {
		tid = 100 + (i + 1) % THREADS;
		call(UB_MEM_FREE, 0x10000000 + (uint64_t)i * MIB, 0, 0);
	}
	for (int device = 0; device < 2; device++) {
		const struct memory_use *use = row(PROCESS, MEMORY_GPU, MEMORY_PLAIN, device);

		assert_int_equal(use->allocations, THREADS * 31 / 2);
		assert_int_equal(use->live, 0);
		assert_int_equal(use->live_peak, use->bytes);
	}
	assert_int_equal(memory_counts(&memory, PROCESS).unmatched, 0);
}

/* Another process has other memory at the same address; a child begins with none. */
static void processes(void **state)
{
	struct memory_answer answer;

	(void)state;
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	memory_find(&memory, CHILD, 0x1000000, &answer);
	assert_string_equal(answer.reason, "not seen allocated");
	call_in(CHILD, UB_MEM_ALLOC_HOST, 0x1000000, MIB, 0, -1, 0);
	memory_find(&memory, CHILD, 0x1000000, &answer);
	assert_int_equal(answer.kind, MEMORY_PINNED);
	is(0x1000000, MEMORY_GPU, 0);
	memory_forget(&memory, CHILD);
	memory_find(&memory, CHILD, 0x1000000, &answer);
	assert_int_equal(answer.kind, MEMORY_UNKNOWN);
	is(0x1000000, MEMORY_GPU, 0);
	assert_int_equal(row(CHILD, MEMORY_PINNED, MEMORY_PLAIN, -1)->live, 0);
	assert_int_equal(row(CHILD, MEMORY_PINNED, MEMORY_PLAIN, -1)->allocations, 1);
	/* what the contexts were is forgotten, too */
	memory_forget(&memory, PROCESS);
	call(UB_MEM_CTX_SET, 0, 0, CONTEXT(0));
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	is_gpu_for_a_reason(0x1000000, "the current context was not seen made");
}

/* All is the host's where no GPU library can have made any; a call of one proves it wrong. */
static void no_library(void **state)
{
	struct memory_answer answer;

	(void)state;
	memory_no_library(&memory, CHILD);
	memory_find(&memory, CHILD, 0x1000000, &answer);
	assert_int_equal(answer.kind, MEMORY_HOST);
	assert_int_equal(answer.device, -1);
	assert_string_equal(answer.known_by, "no GPU library");
	assert_null(answer.reason);
	is_unknown(0x1000000, "not seen allocated");
	call_in(CHILD, UB_MEM_ALLOC_HOST, 0x1000000, MIB, 0, -1, 0);
	memory_find(&memory, CHILD, 0x2000000, &answer);
	assert_int_equal(answer.kind, MEMORY_UNKNOWN);
}

/* Numbers that no library makes, as a damaged file may have them. */
static void nonsense(void **state)
{
	(void)state;
	call((enum ub_mem_what)99, 0x1000000, MIB, 0);
	call(UB_MEM_NONE, 0x1000000, MIB, 0);
	call(UB_MEM_CTX_POP, 0, 0, 0);
	call(UB_MEM_CTX_POP, 0, 0, 0);
	call(UB_MEM_UNMAP, 0, UINT64_MAX, 0);
	call(UB_MEM_RELEASE, 0, 0, 0x777);
	is_unknown(0x1000000, "not seen allocated");
	call(UB_MEM_ALLOC_HOST, UINT64_MAX, UINT64_MAX, 0);
	is(UINT64_MAX, MEMORY_PINNED, -1);
}

int main(void)
{
#define STATE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		STATE_TEST(kinds),
		STATE_TEST(names),
		STATE_TEST(freed_and_used_again),
		STATE_TEST(freed_twice),
		STATE_TEST(freed_unseen),
		STATE_TEST(failing_calls),
		STATE_TEST(streams_and_pools),
		STATE_TEST(mapped_side_by_side),
		STATE_TEST(of_other_processes),
		STATE_TEST(open_in_vain),
		STATE_TEST(current_contexts),
		STATE_TEST(two_devices_and_threads),
		STATE_TEST(processes),
		STATE_TEST(no_library),
		STATE_TEST(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
