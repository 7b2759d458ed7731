// SPDX-License-Identifier: BSD-3-Clause
/* What a process's mappings and its UCX tell of memory: of this process, over the stock libucs. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka needs what is above */
#include <cmocka.h>

#include "base/deadline.h"
#include "observe/process/gpus.h"
#include "observe/process/proc.h"
#include "observe/process/ucx_memory.h"

#define PAGE 4096

static void *mapped(int protection, int flags)
{
	void *memory = mmap(NULL, PAGE, protection, flags | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

static void classes_of_this_process(void **state)
{
	static int data = 1;
	int local = data;
	void *heap = malloc(64), *private = mapped(PROT_READ | PROT_WRITE, MAP_PRIVATE);
	void *shared = mapped(PROT_READ | PROT_WRITE, MAP_SHARED);
	void *reserved = mapped(PROT_NONE, MAP_PRIVATE | MAP_NORESERVE);
	struct memory_map map = { 0 };

	(void)state;
	assert_int_equal(memory_map_read(&map, getpid()), 0);
	assert_int_equal(memory_map_find(&map, (uintptr_t)heap), MAP_HOST);
	assert_int_equal(memory_map_find(&map, (uintptr_t)&data), MAP_HOST);
	assert_int_equal(memory_map_find(&map, (uintptr_t)&local), MAP_HOST);
	assert_int_equal(memory_map_find(&map, (uintptr_t) private + PAGE - 1), MAP_HOST);
	assert_int_equal(memory_map_find(&map, (uintptr_t)shared), MAP_HOST);
	assert_int_equal(memory_map_find(&map, (uintptr_t)reserved), MAP_RESERVED);
	assert_int_equal(memory_map_find(&map, 16), MAP_NONE);
	assert_int_equal(memory_map_find(&map, UINT64_MAX), MAP_NONE);
	for (size_t i = 1; i < map.ranges.len; i++)
		assert_true(map.ranges.data[i - 1].end <= map.ranges.data[i].start);
	munmap(private, PAGE);
	munmap(shared, PAGE);
	munmap(reserved, PAGE);
	memory_map_release(&map);
	free(heap);
}

static void classes_of_devices(void **state)
{
	static const struct {
		const char *path;
		bool accessible;
		enum map_class class;
	} cases[] = {
		{ "/dev/nvidia-uvm", true, MAP_MANAGED },
		{ "/dev/nvidia-uvm-tools", true, MAP_OTHER },
		{ "/dev/nvidiactl", true, MAP_PINNED },
		{ "/dev/nvidia0", true, MAP_OTHER },
		{ "/dev/gdrdrv", true, MAP_OTHER },
		{ "/dev/infiniband/uverbs0", true, MAP_OTHER },
		{ "/dev/zero (deleted)", true, MAP_HOST },
		{ "/dev/shm/ucx_shm_posix_1", true, MAP_HOST },
		{ "/SYSV00000000 (deleted)", true, MAP_HOST },
		{ "/usr/lib/libx.so", true, MAP_HOST },
		{ "/usr/lib/libx.so", false, MAP_OTHER },
		{ "anon_inode:[perf_event]", true, MAP_OTHER },
		{ "[heap]", true, MAP_HOST },
		{ "[stack]", true, MAP_HOST },
		{ "[vvar]", true, MAP_OTHER },
		{ "", true, MAP_HOST },
		{ "", false, MAP_RESERVED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mapping mapping = { .readable = cases[i].accessible,
					   .writable = cases[i].accessible,
					   .path = cases[i].path };

		assert_int_equal(mapping_class(&mapping), cases[i].class);
	}
}

/* ucs/sys/topo/base/topo.h */
struct bus_id {
	uint16_t domain;
	uint8_t bus, slot, function;
};

struct ucs {
	int (*cache_lookup)(const void *address, size_t size, void *info); /* makes it */
	void (*cache_update)(const void *address, size_t size, int type, uint8_t device);
	void (*cache_remove)(const void *address, size_t size);
	int (*find_device)(const struct bus_id *bus, uint8_t *device);
	int (*set_name)(uint8_t device, const char *name, unsigned int priority);
};

/* A copy under another name, as in a Python wheel: UCX is recognised by its symbols. */
static void *load_renamed(const char *stock)
{
	char folder[] = "/tmp/process_memory.XXXXXX", copy[64], command[PATH_MAX + 80];
	void *library = NULL;

	assert_non_null(mkdtemp(folder));
	snprintf(copy, sizeof(copy), "%s/libsomething-311e600f.so", folder);
	snprintf(command, sizeof(command), "cp '%s' %s", stock, copy);
	if (!system(command))
		library = dlopen(copy, RTLD_NOW);
	unlink(copy);
	rmdir(folder);
	return library;
}

static void *load_stock(void)
{
	return dlopen("libucs.so.0", RTLD_NOW);
}

/* The path that the loader takes, learnt in a child, so that this process does not map it. */
static bool stock_path(char path[PATH_MAX])
{
	FILE *child = popen("ldconfig -p | sed -n 's/.*libucs[.]so[.]0 .* => //p'", "r");
	bool found = child && fgets(path, PATH_MAX, child);

	if (child)
		pclose(child);
	path[found ? strcspn(path, "\n") : 0] = '\0';
	return found;
}

static bool load(struct ucs *ucs)
{
	char stock[PATH_MAX];
	void *library = stock_path(stock) ? load_renamed(stock) : NULL;

	if (!library)
		return false;
	*(void **)&ucs->cache_lookup = dlsym(library, "ucs_memtype_cache_lookup");
	*(void **)&ucs->cache_update = dlsym(library, "ucs_memtype_cache_update");
	*(void **)&ucs->cache_remove = dlsym(library, "ucs_memtype_cache_remove");
	*(void **)&ucs->find_device = dlsym(library, "ucs_topo_find_device_by_bus_id");
	*(void **)&ucs->set_name = dlsym(library, "ucs_topo_sys_device_set_name");
	return ucs->cache_lookup && ucs->cache_update && ucs->cache_remove && ucs->find_device &&
	       ucs->set_name;
}

static void assert_region(const struct ucx_memory *memory, uint64_t address, int type, int device)
{
	const struct ucx_region *region = ucx_memory_find(memory, address);

	assert_non_null(region);
	assert_int_equal(region->type, type);
	assert_int_equal(region->device, device);
}

static void devices_and_regions_of_ucx(void **state)
{
	const struct bus_id bus[] = { { 0, 0x18, 0, 0 }, { 1, 0xaf, 31, 7 } };
	struct ucx_memory memory = { 0 };
	ucx_files files = { 0 };
	struct library_set set = { 0 };
	uint8_t device[2] = { 99, 99 };
	struct ucs ucs = { 0 };
	uint64_t info[3];

	(void)state;
	if (ucx_memory_read(&memory, &files, &set, getpid(), DEADLINE_NONE) == 0 || !load(&ucs)) {
		skip();
		return;
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(ucs.find_device(&bus[i], &device[i]), 0);
	assert_int_equal(ucs.set_name(device[0], "GPU1", 10), 0);
	assert_int_equal(ucx_memory_read(&memory, &files, &set, getpid(), DEADLINE_NONE), 0);
	assert_null(memory.reason);
	assert_true(memory.devices.len >= 2);
	assert_string_equal(memory.devices.data[device[0]].pci, "0000:18:00.0");
	assert_string_equal(memory.devices.data[device[0]].name, "GPU1");
	assert_string_equal(memory.devices.data[device[1]].pci, "0001:af:1f.7");
	assert_false(memory.cached);

	ucs.cache_lookup((void *)16, 1, info);
	assert_int_equal(ucx_memory_read(&memory, &files, &set, getpid(), DEADLINE_NONE), 0);
	assert_null(memory.reason);
	assert_true(memory.cached);
	assert_int_equal(memory.regions.len, 0);

	/* far apart, next to each other, one byte, and many: the table grows by levels */
	ucs.cache_update((void *)0x7f0000000000, 1 << 21, UCX_CUDA, device[0]);
	ucs.cache_update((void *)0x7f0000200000, 4096, UCX_CUDA_MANAGED, device[1]);
	ucs.cache_update((void *)0x10000, 1, UCX_CUDA, UCX_NO_DEVICE);
	for (uint64_t i = 0; i < 1000; i++)
		ucs.cache_update((void *)(0x7e0000000000 + i * 0x30000), 0x10000, UCX_CUDA,
				 device[1]);
	assert_int_equal(ucx_memory_read(&memory, &files, &set, getpid(), DEADLINE_NONE), 0);
	assert_null(memory.reason);
	assert_int_equal(memory.regions.len, 1003);
	assert_region(&memory, 0x7f0000000000, UCX_CUDA, device[0]);
	assert_region(&memory, 0x7f00001fffff, UCX_CUDA, device[0]);
	assert_region(&memory, 0x7f0000200fff, UCX_CUDA_MANAGED, device[1]);
	assert_region(&memory, 0x10000, UCX_CUDA, UCX_NO_DEVICE);
	assert_region(&memory, 0x7e0000000000 + 999 * 0x30000 + 0xffff, UCX_CUDA, device[1]);
	assert_null(ucx_memory_find(&memory, 0x7f0000201000));
	assert_null(ucx_memory_find(&memory, 0x7e0000000000 + 0x10000));

	ucs.cache_remove((void *)0x7f0000000000, 1 << 21);
	assert_int_equal(ucx_memory_read(&memory, &files, &set, getpid(), DEADLINE_NONE), 0);
	assert_int_equal(memory.regions.len, 1002);
	assert_null(ucx_memory_find(&memory, 0x7f0000000000));

	/* a second copy, which has no cache so far, does not hide the first one's */
	assert_non_null(load_stock());
	assert_int_equal(ucx_memory_read(&memory, &files, &set, getpid(), DEADLINE_NONE), 0);
	assert_int_equal(memory.regions.len, 1002);
	ucx_memory_release(&memory);
	vec_release(&files);
	library_set_release(&set);
}

/* How many regions there are in a cache of one. */
static size_t regions_of(uint64_t start, uint64_t end)
{
	uint64_t region[6] __attribute__((aligned(64))) = { start, end };
	struct {
		uint64_t lock, root, base, mask;
		uint32_t shift, regions;
		uint64_t rest[8];
	} cache = { .root = (uintptr_t)region | 1, .mask = ~0ull << 60, .shift = 60, .regions = 1 };
	uint64_t pointer = (uintptr_t)&cache;
	const struct ucx_place place = { .pid = getpid(),
					 .cache = (uintptr_t)&pointer,
					 .deadline = DEADLINE_NONE };
	struct ucx_memory memory = { 0 };
	size_t count;

	ucx_regions_read(&memory, &place);
	assert_int_equal(memory.cached, memory.regions.len);
	count = memory.regions.len;
	ucx_memory_release(&memory);
	return count;
}

/* A process could make the tracer take all addresses, the kernel's too, for a GPU's memory. */
static void regions_that_no_process_has(void **state)
{
	(void)state;
	assert_int_equal(regions_of(0x7f0000000000, 0x7f0000001000), 1);
	assert_int_equal(regions_of(0x7f0000000000, 0x7f0000000000), 0);
	assert_int_equal(regions_of(0x7f0000000000, UINT64_MAX), 0);
	assert_int_equal(regions_of(0xffff888000000000, 0xffff888000001000), 0);
}

/* Directories whose entries all lead to the next one: as of a process that means no good. */
static void read_endless(uint32_t regions, uint64_t deadline, const char *reason)
{
	static uint64_t directories[12][16] __attribute__((aligned(64)));
	struct {
		uint64_t lock, root, base, mask;
		uint32_t shift, regions;
		uint64_t rest[8];
	} cache = { .root = (uintptr_t)directories[0] | 2,
		    .mask = ~0ull << 60,
		    .shift = 60,
		    .regions = regions };
	uint64_t pointer = (uintptr_t)&cache;
	struct ucx_place place = { .pid = getpid(),
				   .cache = (uintptr_t)&pointer,
				   .deadline = deadline };
	struct ucx_memory memory = { 0 };

	for (int i = 0; i < 11 * 16; i++)
		directories[i / 16][i % 16] = (uintptr_t)directories[i / 16 + 1] | 2;
	ucx_regions_read(&memory, &place);
	assert_string_equal(memory.reason, reason);
	assert_false(memory.cached);
	assert_int_equal(memory.regions.len, 0);
	ucx_memory_release(&memory);
}

static void regions_without_end(void **state)
{
	(void)state;
	read_endless(3, DEADLINE_NONE, "UCX's cache of memory types is not as expected");
	/* so many that they would take minutes */
	read_endless(1 << 20, deadline_in(10000000),
		     "UCX's cache of memory types was not read in time");
}

static void write_file(const char *root, const char *path, const char *text)
{
	char name[256];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", root, path);
	for (char *at = name + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(name, 0700);
		*at = '/';
	}
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void remove_file(const char *root, const char *path)
{
	char name[256], *slash;

	snprintf(name, sizeof(name), "%s/%s", root, path);
	unlink(name);
	while ((slash = strrchr(name, '/')) && slash - name >= (long)strlen(root)) {
		*slash = '\0';
		rmdir(name);
	}
}

static const char *text_of(const json_t *records, size_t i, const char *key)
{
	const char *text = json_string_value(json_object_get(json_array_get(records, i), key));

	return text ? text : "";
}

static void gpus_of_a_machine(void **state)
{
	static const char *const paths[] = {
		"proc/driver/nvidia/gpus/0000:5e:00.0/information",
		"proc/driver/nvidia/gpus/0000:18:00.0/information",
		"sys/bus/pci/devices/0000:18:00.0/numa_node",
		"sys/bus/pci/devices/0000:5e:00.0/numa_node",
	};
	static const char *const texts[] = {
		"Model: \t\t NVIDIA H200\nIRQ:   \t\t 11\nGPU UUID: \t GPU-?"
		"?"
		"?"
		"?-?"
		"?\n",
		"Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-c0ffee00-1234\nBus Type: \t PCIe\n",
		"1\n",
		"-1\n",
	};
	char root[] = "/tmp/ucxbpf-gpus-XXXXXX";
	json_t *records;

	(void)state;
	assert_non_null(mkdtemp(root));
	records = gpus_side_records(root, 7);
	assert_int_equal(json_array_size(records), 0);
	json_decref(records);
	for (int i = 0; i < 4; i++)
		write_file(root, paths[i], texts[i]);
	records = gpus_side_records(root, 7);
	assert_int_equal(json_array_size(records), 2);
	assert_string_equal(text_of(records, 0, "t"), "gpu");
	assert_string_equal(text_of(records, 0, "pci"), "0000:18:00.0");
	assert_string_equal(text_of(records, 0, "model"), "NVIDIA H200");
	assert_string_equal(text_of(records, 0, "uuid"), "GPU-c0ffee00-1234");
	assert_int_equal(
		json_integer_value(json_object_get(json_array_get(records, 0), "numa_node")), 1);
	assert_string_equal(text_of(records, 1, "pci"), "0000:5e:00.0");
	assert_string_equal(text_of(records, 1, "uuid"), "");
	assert_null(json_object_get(json_array_get(records, 1), "numa_node"));
	json_decref(records);
	for (int i = 0; i < 4; i++)
		remove_file(root, paths[i]);
	assert_int_equal(access(root, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_of_this_process),
		cmocka_unit_test(classes_of_devices),
		cmocka_unit_test(devices_and_regions_of_ucx),
		cmocka_unit_test(regions_that_no_process_has),
		cmocka_unit_test(regions_without_end),
		cmocka_unit_test(gpus_of_a_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
