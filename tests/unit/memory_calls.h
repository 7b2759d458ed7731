/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of a GPU library, as tests make them, and what lies at an address after them. */
#ifndef UCXBPF_TESTS_MEMORY_CALLS_H
#define UCXBPF_TESTS_MEMORY_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "explain/memory/memory.h"

#define MIB 0x100000u
#define CONTEXT(device) (0xc000u + (device))

enum { PROCESS = 3, CHILD = 4, THREAD = 70, OTHER = 71 };

static struct memory memory;
static uint32_t tid;
static int host;
static const char *function;

static inline void call_in(int process, enum ub_mem_what what, uint64_t address, uint64_t size,
			   uint64_t handle, int device, int status)
{
	const struct ub_mem record = {
		.address = address,
		.size = size,
		.handle = handle,
		.device = device,
		.status = status,
	};

	memory_apply(&memory, &(struct memory_call){ .process = process,
						     .host = host,
						     .tid = tid,
						     .what = what,
						     .function = function,
						     .record = &record });
}

static inline void call(enum ub_mem_what what, uint64_t address, uint64_t size, uint64_t handle)
{
	call_in(PROCESS, what, address, size, handle, -1, 0);
}

/* Two devices; the thread has the first one's context. */
static inline int setup(void **state)
{
	(void)state;
	memset(&memory, 0, sizeof(memory));
	tid = THREAD;
	host = 0;
	function = NULL;
	memory_begin(&memory, PROCESS);
	for (int device = 0; device < 2; device++)
		call_in(PROCESS, UB_MEM_CTX_RETAIN, 0, 0, CONTEXT(device), device, 0);
	call(UB_MEM_CTX_SET, 0, 0, CONTEXT(0));
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	memory_release(&memory);
	return 0;
}

static inline struct memory_answer at(uint64_t address)
{
	struct memory_answer answer;

	memory_find(&memory, PROCESS, address, &answer);
	return answer;
}

static inline void is(uint64_t address, enum memory_kind kind, int device)
{
	struct memory_answer answer = at(address);

	assert_int_equal(answer.kind, kind);
	assert_int_equal(answer.device, device);
	assert_string_equal(answer.known_by, "allocation");
	assert_null(answer.reason);
}

static inline void is_gpu_for_a_reason(uint64_t address, const char *reason)
{
	assert_int_equal(at(address).kind, MEMORY_GPU);
	assert_int_equal(at(address).device, -1);
	assert_string_equal(at(address).reason, reason);
}

static inline void is_unknown(uint64_t address, const char *reason)
{
	assert_int_equal(at(address).kind, MEMORY_UNKNOWN);
	assert_int_equal(at(address).device, -1);
	assert_null(at(address).known_by);
	assert_string_equal(at(address).reason, reason);
}

static inline const struct memory_use *row(int process, enum memory_kind kind,
					   enum memory_sort sort, int device)
{
	for (size_t i = 0; i < memory.uses.len; i++) {
		const struct memory_use *use = memory.uses.data[i];

		if (use->process == process && use->kind == kind && use->sort == sort &&
		    use->device == device)
			return use;
	}
	return NULL;
}

#endif
