// SPDX-License-Identifier: BSD-3-Clause
/* What ends with what, and memory that one process exports to another one. */
#include "memory_calls.h"

#define POOLED UB_MEM_ALLOC_STREAM

static void of_device(enum ub_mem_what what, int device)
{
	call_in(PROCESS, what, 0, 0, 0, device, 0);
}

static void is_gone(uint64_t address)
{
	is_unknown(address, "not seen allocated");
}

/* All that was made in it, whoever calls; what has no context stays. */
static void context_destroyed(void **state)
{
	(void)state;
	call_in(PROCESS, UB_MEM_CTX_CREATE, 0, 0, 0xcafe, 1, 0); /* and it is current */
	call(UB_MEM_STREAM_CREATE, 0, 0, 0x51);
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	call(UB_MEM_ALLOC_HOST, 0x2000000, MIB, 0);
	call(UB_MEM_ALLOC_MANAGED, 0x3000000, MIB, 0);
	call(POOLED, 0x4000000, MIB, 0x51);
	call(POOLED, 0x5000000, MIB, 0);
	call_in(PROCESS, UB_MEM_CREATE, 0, MIB, 0xa0, 1, 0);
	call(UB_MEM_MAP, 0x6000000, MIB, 0xa0);
	call(UB_MEM_CTX_POP, 0, 0, 0);
	call(UB_MEM_ALLOC, 0x7000000, MIB, 0);
	is(0x1000000, MEMORY_GPU, 1);
	call(UB_MEM_CTX_DESTROY, 0, 0, 0xcafe);
	for (uint64_t address = 0x1000000; address <= 0x5000000; address += 0x1000000)
		is_gone(address);
	is(0x6000000, MEMORY_GPU, 1);
	is(0x7000000, MEMORY_GPU, 0);
	/* its stream is no longer: the handle is free for another one */
	call(POOLED, 0x1000000, MIB, 0x51);
	is_gpu_for_a_reason(0x1000000, "the stream was not seen made");
	assert_int_equal(row(PROCESS, MEMORY_GPU, MEMORY_PLAIN, 1)->live, 0);
	assert_int_equal(memory_counts(&memory, PROCESS).unmatched, 0);
}

/* On top it is popped; a context made anew may have its handle, and another device. */
static void context_made_again(void **state)
{
	(void)state;
	call_in(PROCESS, UB_MEM_CTX_CREATE, 0, 0, 0xcafe, 1, 0);
	call_in(PROCESS, UB_MEM_CTX_DESTROY, 0, 0, 0xcafe, -1, 1); /* failed */
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	is(0x1000000, MEMORY_GPU, 1);
	tid = OTHER;
	call(UB_MEM_CTX_SET, 0, 0, 0xcafe);
	tid = THREAD;
	call(UB_MEM_CTX_DESTROY, 0, 0, 0xcafe);
	call(UB_MEM_ALLOC, 0x2000000, MIB, 0);
	is(0x2000000, MEMORY_GPU, 0);
	tid = OTHER; /* cannot allocate, and does not know better */
	call(UB_MEM_ALLOC, 0x3000000, MIB, 0);
	is_gpu_for_a_reason(0x3000000, "the current context was not seen made");
	tid = THREAD;
	call_in(PROCESS, UB_MEM_CTX_CREATE, 0, 0, 0xcafe, 0, 0);
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	is(0x1000000, MEMORY_GPU, 0);
}

static void primary_released(void **state)
{
	(void)state;
	call_in(PROCESS, UB_MEM_CTX_RETAIN, 0, 0, CONTEXT(0), 0, 0); /* the second time */
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	of_device(UB_MEM_CTX_RELEASE, 0);
	of_device(UB_MEM_CTX_RELEASE, 1);
	is(0x1000000, MEMORY_GPU, 0);
	call_in(PROCESS, UB_MEM_CTX_RELEASE, 0, 0, 0, 0, 1); /* failed */
	is(0x1000000, MEMORY_GPU, 0);
	of_device(UB_MEM_CTX_RELEASE, 0);
	is_gone(0x1000000);
	of_device(UB_MEM_CTX_RELEASE, 0);
	of_device(UB_MEM_CTX_RELEASE, 7);
	call_in(PROCESS, UB_MEM_CTX_RETAIN, 0, 0, CONTEXT(0), 0, 0);
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	is(0x1000000, MEMORY_GPU, 0);
}

/* Joined in mid-run: there may be more holders than were seen. */
static void primary_of_before(void **state)
{
	(void)state;
	memory_forget(&memory, PROCESS);
	call_in(PROCESS, UB_MEM_CTX_RETAIN, 0, 0, CONTEXT(0), 0, 0);
	call(UB_MEM_CTX_PUSH, 0, 0, CONTEXT(0));
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	of_device(UB_MEM_CTX_RELEASE, 0);
	is(0x1000000, MEMORY_GPU, 0);
	of_device(UB_MEM_CTX_RESET, 0);
	is_gone(0x1000000);
}

static void device_reset(void **state)
{
	(void)state;
	call_in(PROCESS, UB_MEM_POOL_CREATE, 0, 0, 0x90, 0, 0);
	call_in(PROCESS, UB_MEM_POOL_CREATE, 0, 0, 0x91, 1, 0);
	call_in(PROCESS, UB_MEM_CREATE, 0, MIB, 0xa0, 0, 0);
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	call(UB_MEM_ALLOC_POOL, 0x2000000, MIB, 0x90);
	call(UB_MEM_ALLOC_POOL, 0x3000000, MIB, 0x91);
	call(UB_MEM_MAP, 0x4000000, MIB, 0xa0);
	call_in(PROCESS, UB_MEM_CTX_CREATE, 0, 0, 0xcafe, 0, 0);
	call(UB_MEM_ALLOC, 0x5000000, MIB, 0); /* in a context of its own */
	of_device(UB_MEM_CTX_RESET, 0);
	is_gone(0x1000000);
	is_gone(0x2000000);
	is(0x3000000, MEMORY_GPU, 1);
	is(0x4000000, MEMORY_GPU, 0);
	is(0x5000000, MEMORY_GPU, 0);
}

/* What was allocated stays until it is freed. */
static void streams_and_pools_destroyed(void **state)
{
	(void)state;
	call(UB_MEM_STREAM_CREATE, 0, 0, 0x51);
	call_in(PROCESS, UB_MEM_POOL_CREATE, 0, 0, 0x90, 1, 0);
	call(POOLED, 0x1000000, MIB, 0x51);
	call(UB_MEM_ALLOC_POOL, 0x2000000, MIB, 0x90);
	call(UB_MEM_STREAM_DESTROY, 0, 0, 0x51);
	call(UB_MEM_POOL_DESTROY, 0, 0, 0x90);
	is(0x1000000, MEMORY_GPU, 0);
	is(0x2000000, MEMORY_GPU, 1);
	call(POOLED, 0x3000000, MIB, 0x51);
	call(UB_MEM_ALLOC_POOL, 0x4000000, MIB, 0x90);
	is_gpu_for_a_reason(0x3000000, "the stream was not seen made");
	is_unknown(0x4000000, "the pool was not seen made");
	call(UB_MEM_FREE, 0x1000000, 0, 0);
	is_gone(0x1000000);
	/* with its context, it is over all the same */
	call(UB_MEM_STREAM_CREATE, 0, 0, 0x51);
	call(POOLED, 0x1000000, MIB, 0x51);
	call(UB_MEM_STREAM_DESTROY, 0, 0, 0x51);
	call(UB_MEM_CTX_DESTROY, 0, 0, CONTEXT(0));
	is_gone(0x1000000);
}

/* By the properties of pools and physical memory: not all is a GPU's. */
static void managed_and_host(void **state)
{
	(void)state;
	call_in(PROCESS, UB_MEM_POOL_CREATE, 0, 0, 0x90, UB_DEVICE_HOST, 0);
	call_in(PROCESS, UB_MEM_POOL_CREATE, 0, 0, 0x91, UB_DEVICE_MANAGED, 0);
	call_in(PROCESS, UB_MEM_CREATE, 0, MIB, 0xa0, UB_DEVICE_HOST, 0);
	call(UB_MEM_ALLOC_POOL, 0x1000000, MIB, 0x90);
	call(UB_MEM_ALLOC_POOL, 0x2000000, MIB, 0x91);
	call(UB_MEM_MAP, 0x3000000, MIB, 0xa0);
	is(0x1000000, MEMORY_PINNED, -1);
	is(0x2000000, MEMORY_MANAGED, -1);
	is(0x3000000, MEMORY_PINNED, -1);
	assert_int_equal(at(0x3000000).sort, MEMORY_MAPPED);
}

/* A handle is there until it is released as often as it was made or retained. */
static void physical_retained(void **state)
{
	(void)state;
	call_in(PROCESS, UB_MEM_CREATE, 0, MIB, 0xa0, 1, 0);
	call(UB_MEM_MAP, 0x1000000, MIB, 0xa0);
	call(UB_MEM_RETAIN, 0x1000000 + 64, 0, 0xa0);
	call(UB_MEM_RETAIN, 0x1000000 + 64, 0, 0xa1); /* by another name */
	call(UB_MEM_RETAIN, 0x9000000, 0, 0xa2);
	call(UB_MEM_RELEASE, 0, 0, 0xa0);
	call(UB_MEM_MAP, 0x2000000, MIB, 0xa0);
	call(UB_MEM_MAP, 0x3000000, MIB, 0xa1);
	call(UB_MEM_MAP, 0x4000000, MIB, 0xa2);
	is(0x2000000, MEMORY_GPU, 1);
	is(0x3000000, MEMORY_GPU, 1);
	is_unknown(0x4000000, "the physical memory was not seen made");
	call(UB_MEM_RELEASE, 0, 0, 0xa0);
	call(UB_MEM_RELEASE, 0, 0, 0xa0);
	call(UB_MEM_MAP, 0x5000000, MIB, 0xa0);
	is_unknown(0x5000000, "the physical memory was not seen made");
	is(0x1000000, MEMORY_GPU, 1);
}

/* HIP: a thread has a device in place of a context. */
static void current_devices(void **state)
{
	(void)state;
	tid = OTHER;
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	of_device(UB_MEM_DEVICE_SET, 5);
	call(UB_MEM_ALLOC, 0x2000000, MIB, 0);
	call(UB_MEM_STREAM_CREATE, 0, 0, 0x51);
	of_device(UB_MEM_DEVICE_SET, 0);
	call(UB_MEM_ALLOC, 0x3000000, MIB, 1);
	call(UB_MEM_ALLOC, 0x5000000, 8, 2); /* a signal's */
	tid = THREAD;
	call(POOLED, 0x4000000, MIB, 0x51);
	is_gpu_for_a_reason(0x1000000, "the thread's current context was not seen");
	is(0x2000000, MEMORY_GPU, 5);
	is(0x3000000, MEMORY_GPU, 0);
	is(0x4000000, MEMORY_GPU, 5);
	is_unknown(0x5000000, "the call did not tell the device");
}

static void device_given(uint64_t driver, uint64_t handle, int number)
{
	call_in(PROCESS, UB_MEM_DEVICES, driver, 0, handle, number, 0);
}

/* Level Zero: a device's number is its place in its driver's list. */
static void devices_given(void **state)
{
	(void)state;
	call(UB_MEM_ALLOC_ON, 0x1000000, MIB, 0xd1);
	device_given(0x1000, 0xd0, 0);
	device_given(0x1000, 0xd1, 1);
	device_given(0x2000, 0xe0, 0);
	call(UB_MEM_ALLOC_ON, 0x2000000, MIB, 0xd1);
	call(UB_MEM_ALLOC_ON, 0x3000000, MIB, 0xe0);
	is_gpu_for_a_reason(0x1000000, "the device's number was not seen");
	is(0x2000000, MEMORY_GPU, 1);
	is_gpu_for_a_reason(0x3000000, "several drivers have a device of this number");
}

static struct memory_answer child_at(uint64_t address)
{
	struct memory_answer answer;

	memory_find(&memory, CHILD, address, &answer);
	return answer;
}

static void child_opens(uint64_t address, uint64_t handle)
{
	call_in(CHILD, UB_MEM_IMPORT, address, 0, handle, -1, 0);
}

static void is_of(uint64_t address, int exporter, int device)
{
	assert_int_equal(child_at(address).kind, MEMORY_GPU);
	assert_int_equal(child_at(address).sort, MEMORY_IMPORTED);
	assert_int_equal(child_at(address).device, device);
	assert_int_equal(child_at(address).numbered_by, exporter);
	assert_null(child_at(address).reason);
}

/* It is where its own process has it, and all of the allocation is opened. */
static void imported(void **state)
{
	(void)state;
	call(UB_MEM_CTX_SET, 0, 0, CONTEXT(1));
	call(UB_MEM_ALLOC, 0x1000000, 3 * MIB, 0);
	call(UB_MEM_EXPORT, 0x1000000 + MIB, 0, 0xbeef);
	child_opens(0x7000000, 0xbeef);
	is_of(0x7000000, PROCESS, 1);
	is_of(0x7000000 + 3 * MIB - 1, PROCESS, 1);
	assert_int_equal(child_at(0x7000000 + 3 * MIB).kind, MEMORY_UNKNOWN);
	is(0x1000000, MEMORY_GPU, 1);
	assert_int_equal(at(0x1000000).numbered_by, PROCESS);
	/* opened again, it is the same; closed as often, it is gone */
	child_opens(0x7000000, 0xbeef);
	assert_int_equal(row(CHILD, MEMORY_GPU, MEMORY_IMPORTED, 1)->allocations, 1);
	call_in(CHILD, UB_MEM_FREE, 0x7000000, 0, 0, -1, 0);
	is_of(0x7000000, PROCESS, 1);
	call_in(CHILD, UB_MEM_FREE, 0x7000000, 0, 0, -1, 0);
	assert_int_equal(child_at(0x7000000).kind, MEMORY_UNKNOWN);
	assert_int_equal(memory_counts(&memory, CHILD).unmatched, 0);
}

/* What the exporter has at its address now, not what it had. */
static void exported_again(void **state)
{
	(void)state;
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	call(UB_MEM_EXPORT, 0x1000000, 0, 0xbeef);
	child_opens(0x7000000, 0xbeef);
	call(UB_MEM_FREE, 0x1000000, 0, 0);
	call(UB_MEM_CTX_SET, 0, 0, CONTEXT(1));
	call(UB_MEM_ALLOC, 0x1000000, 2 * MIB, 0);
	call(UB_MEM_EXPORT, 0x1000000, 0, 0xbeef);
	is_of(0x7000000, PROCESS, 0);
	/* at the address of another one that was closed unseen */
	child_opens(0x7000000, 0xbeef);
	is_of(0x7000000 + MIB, PROCESS, 1);
	assert_int_equal(memory_counts(&memory, CHILD).replaced, 1);
	call_in(CHILD, UB_MEM_FREE, 0x7000000, 0, 0, -1, 0);
	assert_int_equal(child_at(0x7000000).kind, MEMORY_UNKNOWN);
}

static void is_child_gpu(uint64_t address, const char *reason)
{
	assert_int_equal(child_at(address).kind, MEMORY_GPU);
	assert_int_equal(child_at(address).device, -1);
	assert_string_equal(child_at(address).reason, reason);
}

static void imported_from_unseen(void **state)
{
	static const char unseen[] = "imported: export not seen";

	(void)state;
	child_opens(0x7000000, 0);
	is_child_gpu(0x7000000, unseen);
	call(UB_MEM_EXPORT, 0x1000000, 0, 0); /* the handle could not be read */
	child_opens(0x7100000, 0);
	is_child_gpu(0x7100000, unseen);
	call(UB_MEM_EXPORT, 0x1000000, 0, 0xbeef);
	child_opens(0x7200000, 0xbeef);
	is_child_gpu(0x7200000, "imported: where its own process has it is not known");
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	call(UB_MEM_EXPORT, 0x1000000, 0, 0xbee0);
	host = 1; /* the same handle there is another one */
	child_opens(0x7300000, 0xbee0);
	is_child_gpu(0x7300000, unseen);
	/* which of its devices the exporter's thread had is not known to it either */
	host = 0;
	tid = OTHER;
	call(UB_MEM_ALLOC, 0x2000000, MIB, 0);
	call(UB_MEM_EXPORT, 0x2000000, 0, 0xbee1);
	child_opens(0x7400000, 0xbee1);
	is_child_gpu(0x7400000, "imported: where its own process has it is not known");
	assert_int_equal(child_at(0x7400000 + MIB - 1).kind, MEMORY_GPU);
}

/* By which function it was made is told apart, and said. */
static void functions(void **state)
{
	static const char runtime[] = "cudaMalloc", driver[] = "cuMemAlloc";

	(void)state;
	function = runtime;
	call(UB_MEM_ALLOC, 0x1000000, MIB, 0);
	call(UB_MEM_ALLOC, 0x2000000, MIB, 0);
	function = driver;
	call(UB_MEM_ALLOC, 0x3000000, MIB, 0);
	call(UB_MEM_FREE, 0x1000000, 0, 0);
	assert_int_equal(memory.uses.len, 2);
	assert_ptr_equal(memory.uses.data[0]->function, runtime);
	assert_int_equal(memory.uses.data[0]->allocations, 2);
	assert_int_equal(memory.uses.data[0]->live, MIB);
	assert_ptr_equal(memory.uses.data[1]->function, driver);
	assert_int_equal(memory.uses.data[1]->allocations, 1);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(context_destroyed), TEST(context_made_again),
		TEST(primary_released),  TEST(primary_of_before),
		TEST(device_reset),      TEST(streams_and_pools_destroyed),
		TEST(managed_and_host),  TEST(current_devices),
		TEST(devices_given),     TEST(imported),
		TEST(exported_again),    TEST(imported_from_unseen),
		TEST(functions),         TEST(physical_retained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
