/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libraries that stand in for those of GPUs share: functions that make and end memory, over
 * addresses from a counter. They begin and end as those of NVIDIA's driver 580.159.04 do: frame
 * pointer, a comparison of memory with a number, a conditional jump, several returns.
 */
#ifndef UCXBPF_STAND_IN_H
#define UCXBPF_STAND_IN_H

#include <stdint.h>
#include <stddef.h>
#include <unistd.h>

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls", "no-shrink-wrap")

#define UNLOADED 0x321cba00
#define INVALID_VALUE 1
#define OUT_OF_MEMORY 2
#define DEINITIALIZED 4
#define GRANULE 512
#define TOO_MUCH (1ull << 40)

static volatile int state;
static __attribute__((unused)) uint64_t next_address = FIRST_ADDRESS, next_handle = 0x1000;

static __attribute__((noipa, unused)) int done(int status)
{
	return status;
}

static __attribute__((noipa, unused)) int failed(int status)
{
	return status;
}

/* What is freed before it was made, or twice, is told apart by its lowest bit. */
static __attribute__((noipa, unused)) int end(uint64_t address)
{
	return address & 1 ? INVALID_VALUE : 0;
}

static __attribute__((noipa, unused)) int make(uint64_t *out, uint64_t size)
{
	if (size >= TOO_MUCH)
		return OUT_OF_MEMORY;
	*out = __atomic_fetch_add(&next_address, (size / GRANULE + 1) * GRANULE, __ATOMIC_RELAXED);
	return 0;
}

static __attribute__((noipa, unused)) int make_handle(uint64_t *out)
{
	*out = __atomic_fetch_add(&next_handle, 16, __ATOMIC_RELAXED);
	return 0;
}

static __attribute__((noipa, unused)) int make_on(uint64_t *out, int device)
{
	return device < 0 ? INVALID_VALUE : make_handle(out);
}

static __attribute__((noipa, unused)) int make_pitch(uint64_t *out, uint64_t *pitch, uint64_t width,
						     uint64_t height)
{
	*pitch = (width / GRANULE + 1) * GRANULE;
	return make(out, *pitch * height);
}

#define DRIVER(name, parameters, result)                                                           \
	__attribute__((noipa)) int name parameters;                                                \
	__attribute__((noipa)) int name parameters                                                 \
	{                                                                                          \
		int status;                                                                        \
                                                                                                   \
		if (state == UNLOADED)                                                             \
			return DEINITIALIZED;                                                      \
		status = result;                                                                   \
		if (status)                                                                        \
			return failed(status);                                                     \
		return 0;                                                                          \
	}

/* As CUDA and HIP pass them: by value. */
struct ipc_handle {
	uint64_t words[8];
};

static __attribute__((noipa, unused)) int export(struct ipc_handle *out, uint64_t address)
{
	for (unsigned int i = 0; i < 8; i++)
		out->words[i] = address + i * 0x9e3779b97f4a7c15u;
	out->words[7] = getpid();
	return end(address);
}

#endif
