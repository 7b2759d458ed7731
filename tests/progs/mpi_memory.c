// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_memory LIBRARY [patch]: every function of a CUDA driver library that makes, ends or places
 * memory, each a prime number of times, written down as memory_ledger.h has it.
 *
 * patch: as UCX does to watch for memory, a jump is put over the beginnings of some of them first,
 * and the instructions that stood there are run from a copy.
 */
#include <sys/mman.h>

#include "memory_ledger.h"

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
}

/* As in two processes: what is exported, and what it is opened as. */
static void exports(int n)
{
	for (int i = 0; i < n; i++) {
		struct about plain = ABOUT(.size = 5000), export = ABOUT(), import = ABOUT();
		struct about close = ABOUT(), free = ABOUT();
		struct ipc_handle handle;
		uint64_t begun;

		CALL(plain, cuMemAlloc_v2, (uint64_t *, size_t), (&plain.address, plain.size));
		export.address = free.address = plain.address;
		begun = now();
		export.status = ((int (*)(struct ipc_handle *, uint64_t))function(
			"cuIpcGetMemHandle"))(&handle, plain.address);
		import.handle = export.handle = hash_of(&handle);
		record("cuIpcGetMemHandle", "-", &export, begun);
		CALL(import, cuIpcOpenMemHandle_v2, (uint64_t *, struct ipc_handle, unsigned int),
		     (&import.address, handle, 1));
		close.address = import.address;
		CALL(close, cuIpcCloseMemHandle, ADDRESS, (close.address));
		CALL(import, cuIpcOpenMemHandle, (uint64_t *, struct ipc_handle, unsigned int),
		     (&import.address, handle, 1));
		CALL(free, cuMemFree_v2, ADDRESS, (free.address));
	}
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
		CALL(a, cuStreamDestroy_v2, ADDRESS, (a.handle));
	}
	CALL(pool, cuMemPoolDestroy, ADDRESS, ((pool.device = -1, pool.handle)));
}

/* By type and location: on a device, the host, one of its nodes, nowhere known, managed. */
static void pools(void)
{
	static const struct {
		int type, location, device;
	} kinds[] = { { 1, 1, 5 },  { 1, 2, -2 }, { 1, 3, -2 },
		      { 1, 4, -2 }, { 1, 9, -1 }, { 2, 1, -3 } };

	for (int i = 0; i < 6; i++) {
		struct properties properties = { kinds[i].type, 0, kinds[i].location, 5, "" };
		struct about pool = ABOUT(), by_default = ABOUT(.device = i);

		pool.device = kinds[i].device;
		CALL(pool, cuMemPoolCreate, (uint64_t *, const struct properties *),
		     (&pool.handle, &properties));
		CALL(by_default, cuDeviceGetDefaultMemPool, (uint64_t *, int),
		     (&by_default.handle, i));
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
		record("cuMemAllocPitch_v2", "-", &a, begun);
	}
}

/* Physical memory on a device, on a node of the host, of another process, mapped and unmapped. */
static void mappings(int n)
{
	for (int i = 0; i < n; i++) {
		struct properties properties = { 1, 1, i % 3 == 2 ? 3 : 1, i, "" };
		struct about made = ABOUT(.size = 1 << 21, .device = i % 3 == 2 ? -2 : i);
		struct about map = ABOUT(.address = 0x7e0000000000 + (i << 22), .size = 1 << 21);
		struct about unmap = map, release = ABOUT(), retain = ABOUT();

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
		retain.address = map.address + 64;
		CALL(retain, cuMemRetainAllocationHandle, (uint64_t *, uint64_t),
		     (&retain.handle, retain.address));
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
		b.device = c.device = -1;
		CALL(b, cuCtxDestroy_v2, ADDRESS, (b.handle));
		CALL(c, cuCtxDestroy_v2, ADDRESS, (c.handle));
		c.handle = 0;
		c.device = device;
		CALL(c, cuDevicePrimaryCtxRelease, (int), (device));
		CALL(c, cuDevicePrimaryCtxRelease_v2, (int), (device));
		CALL(c, cuDevicePrimaryCtxReset, (int), (device));
		CALL(c, cuDevicePrimaryCtxReset_v2, (int), (device));
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

	open_gpu_library(argc > 1 ? argv[1] : "libcuda.so.1");
	job_start("mpi_memory", &argc, &argv);
	ledger = truth_open("memory");
	nanosleep(&pause, NULL);
	if (argc > 2)
		patch_some();
	contexts();
	plain();
	exports(3);
	streams();
	pools();
	pitched(29);
	mappings(37);
	failures();
	if (ledger)
		fclose(ledger);
	return job_end();
}
