// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_memory LIBRARY [patch]: every function of a CUDA driver library that makes, ends or places
 * memory, each a prime number of times. $TRUTH/RANK.memory gets a line per call: function, address,
 * size, handle, device, status as a trace should have them, then when it began and ended.
 *
 * patch: as UCX does to watch for memory, a jump is put over the beginnings of some of them first,
 * and the instructions that stood there are run from a copy.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <time.h>

#include "mpi_common.h"

#define TOO_MUCH (1ull << 41)

static void *library;
static FILE *ledger;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void *function(const char *name)
{
	void *address = dlsym(library, name);

	if (!address)
		fprintf(stderr, "%s\n", dlerror());
	EXPECT(address);
	return address;
}

/* Public ABI of cuda.h; location.type 1 = a device. */
struct properties {
	int type, handle_types, location_type, location_id;
	char more[72];
};

struct ipc_handle {
	char bytes[64];
};

/* What a call is about. */
struct about {
	uint64_t address, size, handle;
	int device, status;
};

static void record(const char *name, const struct about *about, uint64_t begun)
{
	if (ledger)
		fprintf(ledger,
			"%s %#" PRIx64 " %" PRIu64 " %#" PRIx64 " %d %d %" PRIu64 " %" PRIu64 "\n",
			name, about->address, about->size, about->handle, about->device,
			about->status, begun, now());
}

/* Makes the call and writes it down. */
#define CALL(about, name, types, arguments)                                                        \
	do {                                                                                       \
		uint64_t begun = now();                                                            \
                                                                                                   \
		(about).status = ((int(*) types)function(#name))arguments;                         \
		record(#name, &(about), begun);                                                    \
	} while (0)

#define ABOUT(...)                                                                                 \
	{                                                                                          \
		.device = -1, __VA_ARGS__                                                          \
	}

/* n calls of a function (out address, size, rest...), each followed by one of its counterpart. */
#define PAIRS(n, made, types, arguments, freed, free_types, free_arguments)                        \
	for (int i = 0; i < (n); i++) {                                                            \
		struct about a = ABOUT(.size = 1000 + i), b = ABOUT();                             \
                                                                                                   \
		CALL(a, made, types, arguments);                                                   \
		b.address = a.address;                                                             \
		CALL(b, freed, free_types, free_arguments);                                        \
	}

#define ADDRESS (uint64_t)
#define ADDRESS_STREAM (uint64_t, uint64_t)

static void plain(void)
{
	PAIRS(31, cuMemAlloc_v2, (uint64_t *, size_t), (&a.address, a.size), cuMemFree_v2, ADDRESS,
	      (b.address));
	PAIRS(7, cuMemAllocManaged, (uint64_t *, size_t, unsigned int), (&a.address, a.size, 1),
	      cuMemFree_v2, ADDRESS, (b.address));
	PAIRS(11, cuMemHostAlloc, (uint64_t *, size_t, unsigned int), (&a.address, a.size, 2),
	      cuMemFreeHost, ADDRESS, (b.address));
	PAIRS(5, cuMemAllocHost_v2, (uint64_t *, size_t), (&a.address, a.size), cuMemFreeHost,
	      ADDRESS, (b.address));
	PAIRS(3, cuIpcOpenMemHandle_v2, (uint64_t *, struct ipc_handle, unsigned int),
	      (&a.address, (struct ipc_handle){ "x" }, (a.size = 0, 1)), cuIpcCloseMemHandle,
	      ADDRESS, (b.address));
}

static void streams(void)
{
	struct about stream = ABOUT(), pool = ABOUT(.device = 3);
	struct properties properties = { 1, 0, 1, 3, "" };

	CALL(stream, cuStreamCreate, (uint64_t *, unsigned int), (&stream.handle, 1));
	CALL(pool, cuMemPoolCreate, (uint64_t *, const struct properties *),
	     (&pool.handle, &properties));
	PAIRS(13, cuMemAllocAsync, (uint64_t *, size_t, uint64_t),
	      (&a.address, a.size, a.handle = stream.handle), cuMemFreeAsync, ADDRESS_STREAM,
	      (b.address, stream.handle));
	PAIRS(17, cuMemAllocAsync_ptsz, (uint64_t *, size_t, uint64_t),
	      (&a.address, a.size, a.handle = stream.handle), cuMemFreeAsync_ptsz, ADDRESS_STREAM,
	      (b.address, stream.handle));
	PAIRS(19, cuMemAllocFromPoolAsync, (uint64_t *, size_t, uint64_t, uint64_t),
	      (&a.address, a.size, a.handle = pool.handle, stream.handle), cuMemFreeAsync,
	      ADDRESS_STREAM, (b.address, stream.handle));
	PAIRS(23, cuMemAllocFromPoolAsync_ptsz, (uint64_t *, size_t, uint64_t, uint64_t),
	      (&a.address, a.size, a.handle = pool.handle, stream.handle), cuMemFreeAsync_ptsz,
	      ADDRESS_STREAM, (b.address, stream.handle));
	PAIRS(2, cuMemPoolImportPointer, (uint64_t *, uint64_t, void *),
	      (&a.address, a.handle = pool.handle, (a.size = 0, &properties)), cuMemFreeAsync,
	      ADDRESS_STREAM, (b.address, stream.handle));
	for (int i = 0; i < 5; i++) {
		struct about a = ABOUT();

		CALL(a, cuStreamCreateWithPriority, (uint64_t *, unsigned int, int),
		     (&a.handle, 1, 7));
	}
}

static void pitched(int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t pitch = 0, begun = now();
		struct about a = ABOUT();

		a.status = ((int (*)(uint64_t *, uint64_t *, size_t, size_t, unsigned int))function(
			"cuMemAllocPitch_v2"))(&a.address, &pitch, 100 + i, 70 + i, 4);
		a.size = pitch * (70 + i);
		record("cuMemAllocPitch_v2", &a, begun);
	}
}

/* Physical memory on a device, on the host, and of another process, mapped and unmapped. */
static void mappings(int n)
{
	for (int i = 0; i < n; i++) {
		struct properties properties = { 1, 1, i % 3 == 2 ? 3 : 1, i, "" };
		struct about made = ABOUT(.size = 1 << 21, .device = i % 3 == 2 ? -1 : i);
		struct about map = ABOUT(.address = 0x7e0000000000 + (i << 22), .size = 1 << 21);
		struct about unmap = map, release = ABOUT();

		if (i % 3 == 1) {
			made.size = 0;
			made.device = -1;
			CALL(made, cuMemImportFromShareableHandle, (uint64_t *, void *, int),
			     (&made.handle, &properties, 1));
		} else {
			CALL(made, cuMemCreate,
			     (uint64_t *, size_t, const struct properties *, unsigned long long),
			     (&made.handle, made.size, &properties, 0));
		}
		map.handle = release.handle = made.handle;
		CALL(map, cuMemMap, (uint64_t, size_t, size_t, uint64_t, unsigned long long),
		     (map.address, map.size, 0, map.handle, 0));
		CALL(release, cuMemRelease, ADDRESS, (release.handle));
		CALL(unmap, cuMemUnmap, (uint64_t, size_t), (unmap.address, unmap.size));
	}
}

static void contexts(void)
{
	for (int device = 0; device < 3; device++) {
		struct about a = ABOUT(.device = device), b = a, c = a, d = a, set = ABOUT(), pop;

		CALL(a, cuDevicePrimaryCtxRetain, (uint64_t *, int), (&a.handle, device));
		CALL(b, cuCtxCreate_v2, (uint64_t *, unsigned int, int), (&b.handle, 8, device));
		CALL(c, cuCtxCreate_v3, (uint64_t *, void *, int, unsigned int, int),
		     (&c.handle, NULL, 7, 8, device));
		CALL(d, cuCtxCreate_v4, (uint64_t *, void *, unsigned int, int),
		     (&d.handle, NULL, 8, device));
		set.handle = a.handle;
		CALL(set, cuCtxSetCurrent, ADDRESS, (set.handle));
		set.handle = b.handle;
		CALL(set, cuCtxPushCurrent_v2, ADDRESS, (set.handle));
		pop = (struct about)ABOUT();
		if (device) /* the result may go nowhere */
			CALL(pop, cuCtxPopCurrent_v2, (uint64_t *), (&pop.handle));
		else
			CALL(pop, cuCtxPopCurrent_v2, (uint64_t *), (NULL));
	}
}

/* What changes nothing: too much memory, NULL, an address that was never there. */
static void failures(void)
{
	struct about much = ABOUT(.size = TOO_MUCH), null = ABOUT(),
		     wrong = ABOUT(.address = 0x7001);
	struct about reg = ABOUT(.address = (uintptr_t)&much, .size = 64), unreg = reg;

	CALL(much, cuMemAlloc_v2, (uint64_t *, size_t), (&much.address, much.size));
	CALL(null, cuMemFree_v2, ADDRESS, (0));
	CALL(wrong, cuMemFree_v2, ADDRESS, (wrong.address));
	EXPECT(much.status && !null.status && wrong.status);
	CALL(reg, cuMemHostRegister_v2, (uint64_t, size_t, unsigned int),
	     (reg.address, reg.size, 1));
	unreg.size = 0;
	CALL(unreg, cuMemHostUnregister, ADDRESS, (unreg.address));
}

/* The first instructions of lib_cuda.c's functions: a push, a load beside %rip, a 5-byte move. */
#define PATCH 12

static uint8_t *near_library(const void *address)
{
	uint8_t *page =
		mmap((void *)(((uintptr_t)address & ~0xfffull) - (16 << 20)), 4096,
		     PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(page != MAP_FAILED && llabs(page - (const uint8_t *)address) < 1 << 30);
	return page;
}

static void put_jump(uint8_t *at, const void *target)
{
	static const uint8_t move[] = { 0x48, 0xb8 }, jump[] = { 0xff, 0xe0 };

	memcpy(at, move, sizeof(move));
	memcpy(at + 2, &target, sizeof(target));
	memcpy(at + 10, jump, sizeof(jump));
}

/* A breakpoint among the bytes that are copied would run there, or be jumped over half. */
static void patch(const char *name)
{
	uint8_t *code = function(name), *copy = near_library(code);
	void *page = (void *)((uintptr_t)code & ~0xfffull);
	int32_t distance;

	EXPECT(code[0] == 0x55 && code[1] == 0x8b && (code[2] & 0xc7) == 5 && code[7] == 0xb8);
	memcpy(copy, code, PATCH);
	memcpy(&distance, copy + 3, sizeof(distance));
	distance += code - copy;
	memcpy(copy + 3, &distance, sizeof(distance));
	put_jump(copy + PATCH, code + PATCH);
	EXPECT(!mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC));
	put_jump(code, copy);
	EXPECT(!mprotect(page, 8192, PROT_READ | PROT_EXEC));
}

static void patch_some(void)
{
	patch("cuMemAlloc_v2");
	patch("cuMemAllocManaged");
	patch("cuMemFree_v2");
}

int main(int argc, char **argv)
{
	struct timespec pause = { .tv_nsec = 300000000 };

	library = dlopen(argc > 1 ? argv[1] : "libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	job_start("mpi_memory", &argc, &argv);
	ledger = truth_open("memory");
	nanosleep(&pause, NULL);
	if (argc > 2)
		patch_some();
	contexts();
	plain();
	streams();
	pitched(29);
	mappings(37);
	failures();
	if (ledger)
		fclose(ledger);
	return job_end();
}
