/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiles the headers in bpf/ for the host: include this before them. It stands in for vmlinux.h
 * and libbpf's headers, whose guards it defines, and for the kernel's helpers. A test provides in
 * struct host what the helpers return: the task, the user's memory, the clock. Maps are empty until
 * HOST_MAP() registers them; one that is not registered has no elements.
 */
#ifndef UCXBPF_BPF_HOST_H
#define UCXBPF_BPF_HOST_H

#include <errno.h>
#include <linux/bpf.h>
#include <linux/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define __VMLINUX_H__
#define __BPF_HELPERS__
#define __BPF_TRACING_H__
#define __BPF_CORE_READ_H__
#define __TARGET_ARCH_x86

#define SEC(name)
#define __uint(name, val) int(*name)[val]
#define __type(name, val) typeof(val) *name
#define __array(name, val) typeof(val) *name[]
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline, unused))
#define __weak __attribute__((weak))

struct pt_regs {
	__u64 sp, bp, ip, ax, arg[6];
};

#define PT_REGS_SP(x) ((x)->sp)
#define PT_REGS_FP(x) ((x)->bp)
#define PT_REGS_IP(x) ((x)->ip)
#define PT_REGS_RC(x) ((x)->ax)
#define PT_REGS_PARM1(x) ((x)->arg[0])
#define PT_REGS_PARM2(x) ((x)->arg[1])
#define PT_REGS_PARM3(x) ((x)->arg[2])
#define PT_REGS_PARM4(x) ((x)->arg[3])
#define PT_REGS_PARM5(x) ((x)->arg[4])
#define PT_REGS_PARM6(x) ((x)->arg[5])

/* The first word of an mm_struct points to struct xol_area___ub, as in frame.bpf.h. */
struct mm_struct {
	const __u64 *trampoline;
};

struct files_struct;

struct task_struct {
	struct mm_struct *mm;
	struct files_struct *files;
};

#define HOST_USER 0x10000 /* address of the user's memory; around it nothing can be read */
#define HOST_USER_WORDS 4096
#define HOST_MAPS 8
#define HOST_KEY 24

struct host_element {
	struct host_element *next;
	__u8 key[HOST_KEY];
	_Alignas(8) __u8 value[];
};

struct host_map {
	const void *map;
	size_t key, value; /* bytes */
	bool array; /* all elements are there, zeroed */
	__u32 most, count;
	struct host_element *elements;
};

static struct host {
	struct task_struct task;
	struct mm_struct mm;
	__u64 trampoline; /* 0 = the process has none */
	__u64 id; /* tgid and tid */
	__u64 cookie;
	__u64 now;
	void *state; /* in the task's storage */
	__u64 user[HOST_USER_WORDS];
	__u32 user_reads;
	struct host_map maps[HOST_MAPS];
} host;

static inline __u64 *host_user(__u64 address)
{
	assert_true(address >= HOST_USER && !(address & 7));
	assert_true(address < HOST_USER + sizeof(host.user));
	return &host.user[(address - HOST_USER) / 8];
}

static inline long bpf_probe_read_user(void *to, __u32 bytes, const void *from)
{
	__u64 at = (__u64)from - HOST_USER;

	host.user_reads++;
	if (at > sizeof(host.user) || bytes > sizeof(host.user) - at) {
		memset(to, 0, bytes);
		return -EFAULT;
	}
	memcpy(to, (const __u8 *)host.user + at, bytes);
	return 0;
}

/* From an aligned address. */
static inline long bpf_probe_read_user_str(char *to, __u32 bytes, const void *from)
{
	const char *text = (const char *)host_user((__u64)from);

	memcpy(to, text, strnlen(text, bytes - 1) + 1);
	return 0;
}

static inline struct host_map *host_map(const void *map)
{
	for (int i = 0; i < HOST_MAPS; i++)
		if (host.maps[i].map == map)
			return &host.maps[i];
	return NULL;
}

#define HOST_MAP(name)                                                                             \
	host_map_add(&(name), sizeof(*(name).key), sizeof(*(name).value),                          \
		     sizeof(*(name).type) / sizeof(int),                                           \
		     sizeof(*(name).max_entries) / sizeof(int))

static inline void host_map_add(const void *map, size_t key, size_t value, int type, __u32 most)
{
	struct host_map *slot = host_map(NULL);

	assert_non_null(slot);
	assert_true(key <= HOST_KEY);
	*slot = (struct host_map){ .map = map, .key = key, .value = value, .most = most };
	slot->array = type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static inline void host_reset(void)
{
	for (int i = 0; i < HOST_MAPS; i++) {
		struct host_element *next;

		for (struct host_element *e = host.maps[i].elements; e; e = next) {
			next = e->next;
			free(e);
		}
	}
	memset(&host, 0, sizeof(host));
	host.mm.trampoline = &host.trampoline;
	host.task.mm = &host.mm;
	host.id = 7ull << 32 | 8;
	host.now = 1000;
}

static inline struct host_element *host_insert(struct host_map *map, const void *key)
{
	struct host_element *e = calloc(1, sizeof(*e) + map->value);

	assert_non_null(e);
	memcpy(e->key, key, map->key);
	e->next = map->elements;
	map->elements = e;
	map->count++;
	return e;
}

static inline void *bpf_map_lookup_elem(const void *which, const void *key)
{
	struct host_map *map = host_map(which);
	__u32 index;

	if (!map)
		return NULL;
	for (struct host_element *e = map->elements; e; e = e->next)
		if (!memcmp(e->key, key, map->key))
			return e->value;
	memcpy(&index, key, sizeof(index));
	return map->array && index < map->most ? host_insert(map, key)->value : NULL;
}

static inline long bpf_map_update_elem(const void *which, const void *key, const void *value,
				       __u64 flags)
{
	struct host_map *map = host_map(which);
	void *found = bpf_map_lookup_elem(which, key);

	if (!map)
		return -ENOENT;
	if (found && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!found && map->count >= map->most)
		return -E2BIG;
	memcpy(found ? found : host_insert(map, key)->value, value, map->value);
	return 0;
}

static inline long bpf_map_delete_elem(const void *which, const void *key)
{
	struct host_map *map = host_map(which);

	for (struct host_element **at = map ? &map->elements : NULL, *e; at && (e = *at);
	     at = &e->next) {
		if (memcmp(e->key, key, map->key) != 0)
			continue;
		*at = e->next;
		map->count--;
		free(e);
		return 0;
	}
	return -ENOENT;
}

static inline void *bpf_task_storage_get(void *map, struct task_struct *task, void *value,
					 __u64 flags)
{
	return host.state;
}

#define current_task bpf_get_current_task_btf

static inline struct task_struct *bpf_get_current_task_btf(void)
{
	return &host.task;
}

static inline __u64 bpf_get_current_pid_tgid(void)
{
	return host.id;
}

static inline __u64 bpf_get_attach_cookie(void *ctx)
{
	return host.cookie;
}

static inline __u64 bpf_get_func_ip(void *ctx)
{
	return 0;
}

static inline __u64 bpf_ktime_get_ns(void)
{
	return host.now;
}

static inline __u32 bpf_get_smp_processor_id(void)
{
	return 0;
}

static inline long bpf_ringbuf_output(void *ring, void *data, __u64 bytes, __u64 flags)
{
	return 0;
}

static inline long bpf_loop(__u32 n, void *callback, void *context, __u64 flags)
{
	long (*step)(__u32 i, void *context) = callback;
	__u32 i = 0;

	while (i < n && !step(i++, context))
		;
	return i;
}

static inline long bpf_tail_call(void *ctx, void *map, __u32 index)
{
	return 0;
}

static inline long bpf_probe_read_kernel(void *to, __u32 bytes, const void *from)
{
	memcpy(to, from, bytes);
	return 0;
}

#define bpf_core_read bpf_probe_read_kernel
#define bpf_core_field_exists(...) 1
#define HOST_READ_2(from, a) ((from)->a)
#define HOST_READ_3(from, a, b) ((from)->a->b)
#define HOST_READ_N(a, b, c, name, ...) name
#define BPF_CORE_READ(...) HOST_READ_N(__VA_ARGS__, HOST_READ_3, HOST_READ_2, )(__VA_ARGS__)

#endif
