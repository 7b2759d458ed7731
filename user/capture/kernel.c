// SPDX-License-Identifier: BSD-3-Clause
#include "capture/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/kernel_count.h"
#include "probe/sites.h"
#include "ucxbpf.skel.h"

/* Value of the per-CPU map "stats" (bpf/maps.bpf.h). */
struct cpu_stats {
	struct ub_stats s;
	uint32_t cpu_seq;
	uint32_t pad;
};

struct kernel {
	struct ucxbpf *skel;
	struct ring_buffer *rings;
	int *ring_fds;
	int cpus;
	struct link_programs programs;
	kernel_record_fn fn;
	void *arg;
};

#define LAST_LINES 12 /* of a verifier's log: there it says what it does not like */

static void print_lines(char *text)
{
	size_t lines = 0, line = 0;

	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	for (char *rest = text, *at; (at = strsep(&rest, "\n")); line++)
		if (*at && (!line || line + LAST_LINES > lines))
			log_debug("%s", at);
}

static int quiet_print(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text;

	if (level == LIBBPF_DEBUG || vasprintf(&text, format, args) < 0)
		return 0;
	print_lines(text);
	free(text);
	return 0;
}

/* Which end of which span a program is, by name: "op_session", "op_entry", "call_entry"... */
static const struct {
	const char *name;
	enum ub_kind kind;
} spans[] = {
	{ "op", UB_OP },
	{ "xfer", UB_XFER },
	{ "object", UB_OBJ },
	{ "exact", UB_CALL },
};

static int span_of(const char *program)
{
	size_t n = strcspn(program, "_");

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		if (strlen(spans[i].name) == n && !strncmp(spans[i].name, program, n) &&
		    strcmp(program, "object_end") != 0 && strcmp(program, "op_call") != 0)
			return i;
	return -1;
}

/* Sleepable uprobes came with 6.0, before the multi links. */
static const char *rx_program(enum link_mechanism mechanism)
{
	return mechanism == LINK_PERF ? "rx_entry" : "rx_sleepable";
}

static void choose_programs(struct ucxbpf *skel, const struct kernel_options *options)
{
	enum link_mechanism mechanism = options->mechanism;
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, skel->obj)
	{
		const char *name = bpf_program__name(prog);
		bool session = strstr(name, "_session");

		if (bpf_program__type(prog) != BPF_PROG_TYPE_KPROBE)
			continue;
		if (span_of(name) >= 0)
			bpf_program__set_autoload(prog, session == (mechanism == LINK_SESSION));
		if (!strncmp(name, "rx_", 3))
			bpf_program__set_autoload(prog, !strcmp(name, rx_program(mechanism)));
		if (!strncmp(name, "exact_", 6) && !options->call_ends)
			bpf_program__set_autoload(prog, false);
		bpf_program__set_expected_attach_type(prog, links_attach_type(mechanism, session));
	}
}

static void find_programs(struct kernel *kernel)
{
	struct link_programs *programs = &kernel->programs;
	struct ucxbpf *skel = kernel->skel;
	struct bpf_program *prog;

	memset(programs, -1, sizeof(*programs));
	programs->entry_fd[UB_CALL] = bpf_program__fd(skel->progs.call_entry);
	programs->entry_fd[UB_OP] = bpf_program__fd(skel->progs.op_call);
	programs->entry_fd[UB_MATCH] = bpf_program__fd(skel->progs.match_entry);
	programs->entry_fd[UB_COMP] = bpf_program__fd(skel->progs.comp_entry);
	programs->entry_fd[UB_OBJ] = bpf_program__fd(skel->progs.object_end);
	programs->entry_fd[UB_MEM] = bpf_program__fd(skel->progs.memory_entry);
	programs->exit_fd[UB_MEM] = bpf_program__fd(skel->progs.memory_exit);
	bpf_object__for_each_program(prog, skel->obj)
	{
		const char *name = bpf_program__name(prog);
		int i = span_of(name), fd = bpf_program__fd(prog);

		if (!strncmp(name, "rx_", 3) && fd >= 0)
			programs->entry_fd[UB_RX] = fd;
		if (i < 0 || fd < 0)
			continue;
		if (strstr(name, "_session"))
			programs->session_fd[spans[i].kind] = fd;
		else if (strstr(name, "_entry"))
			programs->span_entry_fd[spans[i].kind] = fd;
		else
			programs->return_fd[spans[i].kind] = fd;
	}
}

static int fill_sites(struct kernel *kernel)
{
	for (unsigned int row = 1; row < site_count(); row++) {
		struct ub_site wire = site_row(row)->wire;
		int err;

		wire.last_arg = 31 - __builtin_clz(site_arguments(site_row(row)) | 1);
		err = bpf_map__update_elem(kernel->skel->maps.sites, &row, sizeof(row), &wire,
					   sizeof(wire), 0);

		if (err)
			return err;
	}
	return 0;
}

/* A record of a batch, with the number that its CPU gave to it. */
static int on_record(struct kernel *kernel, const struct ub_batch *batch, unsigned int i,
		     const struct ub_hdr *from, size_t size)
{
	union {
		struct ub_hdr h;
		uint8_t bytes[UB_MAX_RECORD];
	} record;

	memcpy(record.bytes, from, size);
	record.h.cpu = batch->cpu;
	record.h.cpu_seq = batch->first_seq + i;
	return kernel->fn(kernel->arg, &record.h);
}

static int on_batch(void *arg, void *data, size_t size)
{
	struct kernel *kernel = arg;
	const struct ub_batch *batch = data;
	const uint8_t *at = (const uint8_t *)(batch + 1), *end = (const uint8_t *)data + size;

	for (unsigned int i = 0; i < batch->records; i++) {
		const struct ub_hdr *h = (const struct ub_hdr *)at;
		size_t bytes = (size_t)(end - at) < sizeof(*h) ? 0 : ub_kind_size(h->kind);
		int err;

		if (!bytes || (size_t)(end - at) < bytes)
			return -EBADMSG;
		err = on_record(kernel, batch, i, h, bytes);
		if (err)
			return err;
		at += bytes;
	}
	return 0;
}

static int make_rings(struct kernel *kernel, size_t bytes)
{
	for (int cpu = 0; cpu < kernel->cpus; cpu++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, bytes, NULL);
		int err;

		if (fd < 0)
			return fd;
		kernel->ring_fds[cpu] = fd;
		err = bpf_map__update_elem(kernel->skel->maps.rings, &cpu, sizeof(cpu), &fd,
					   sizeof(fd), 0);
		if (err)
			return err;
		if (kernel->rings)
			err = ring_buffer__add(kernel->rings, fd, on_batch, kernel);
		else if (!(kernel->rings = ring_buffer__new(fd, on_batch, kernel, NULL)))
			err = -errno;
		if (err)
			return err;
	}
	return 0;
}

/* Paths and stacks: more than any program has that calls MPI from hand-written code. */
static int size_for_stacks(struct ucxbpf *skel)
{
	int err = bpf_map__set_max_entries(skel->maps.rows, KERNEL_ROWS);

	skel->rodata->stacks_on = 1;
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.paths, 8192);
	return err ? err : bpf_map__set_max_entries(skel->maps.stacks, 65536);
}

static int load(struct kernel *kernel, const struct kernel_options *options)
{
	int err;

	kernel->skel = ucxbpf__open();
	if (!kernel->skel)
		return -errno;
	choose_programs(kernel->skel, options);
	kernel_count_choose(kernel->skel, options->mechanism, options->count);
	err = bpf_map__set_max_entries(kernel->skel->maps.rings, kernel->cpus);
	if (!err && options->stacks)
		err = size_for_stacks(kernel->skel);
	if (!err)
		err = ucxbpf__load(kernel->skel);
	return err;
}

static void explain(int err)
{
	if (err == -EPERM)
		log_error("cannot load BPF programs: %s; needs root, or CAP_BPF, CAP_PERFMON and "
			  "CAP_SYS_PTRACE",
			  strerror(-err));
	else if (err == -EACCES || err == -EINVAL)
		log_error("this kernel refuses the BPF programs: %s; --debug shows which",
			  strerror(-err));
	else if (err == -ENOMEM)
		log_error("cannot make the rings: %s; try a smaller --ring-size or raise the "
			  "locked memory limit",
			  strerror(-err));
	else
		log_error("cannot load BPF programs: %s; 'ucxbpf doctor' says what this kernel "
			  "lacks",
			  strerror(-err));
}

int kernel_open(struct kernel **out, const struct kernel_options *options, kernel_record_fn fn,
		void *arg)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	int err;

	if (!kernel)
		return -ENOMEM;
	libbpf_set_print(quiet_print);
	kernel->fn = fn;
	kernel->arg = arg;
	kernel->cpus = libbpf_num_possible_cpus();
	kernel->ring_fds = calloc(kernel->cpus, sizeof(*kernel->ring_fds));
	err = kernel->ring_fds ? load(kernel, options) : -ENOMEM;
	if (!err)
		err = fill_sites(kernel);
	if (!err)
		err = make_rings(kernel, options->ring_bytes);
	if (!err)
		err = ucxbpf__attach(kernel->skel);
	if (err) {
		explain(err);
		kernel_free(kernel);
		return err == -EPERM || err == -ENOMEM ? err : -ENOSYS;
	}
	find_programs(kernel);
	if (options->count)
		kernel_count_programs(kernel->skel, &kernel->programs);
	*out = kernel;
	return 0;
}

void kernel_free(struct kernel *kernel)
{
	if (!kernel)
		return;
	ring_buffer__free(kernel->rings);
	for (int cpu = 0; kernel->ring_fds && cpu < kernel->cpus; cpu++)
		if (kernel->ring_fds[cpu] > 0)
			close(kernel->ring_fds[cpu]);
	free(kernel->ring_fds);
	ucxbpf__destroy(kernel->skel);
	free(kernel);
}

struct ucxbpf *kernel_object(const struct kernel *kernel)
{
	return kernel->skel;
}

const struct link_programs *kernel_programs(const struct kernel *kernel)
{
	return &kernel->programs;
}

int kernel_set_layout(struct kernel *kernel, unsigned int slot, const struct ub_layout *layout)
{
	return bpf_map__update_elem(kernel->skel->maps.layouts, &slot, sizeof(slot), layout,
				    sizeof(*layout), 0);
}

int kernel_map(const struct kernel *kernel, const char *name)
{
	return bpf_object__find_map_fd_by_name(kernel->skel->obj, name);
}

int kernel_trace_process(struct kernel *kernel, pid_t tgid)
{
	uint32_t key = tgid, one = 1;
	int err = bpf_map__update_elem(kernel->skel->maps.processes, &key, sizeof(key), &one,
				       sizeof(one), 0);

	if (!err)
		__atomic_add_fetch(&kernel->skel->data->filter_generation, 1, __ATOMIC_SEQ_CST);
	return err;
}

int kernel_allow_call_ends(struct kernel *kernel, pid_t tgid, bool allow)
{
	uint32_t key = tgid, one = 1;
	const struct bpf_map *map = kernel->skel->maps.no_call_end;
	int err = allow ? bpf_map__delete_elem(map, &key, sizeof(key), 0)
			: bpf_map__update_elem(map, &key, sizeof(key), &one, sizeof(one),
					       BPF_NOEXIST);

	if (!err)
		__atomic_add_fetch(&kernel->skel->bss->no_call_ends, allow ? -1 : 1,
				   __ATOMIC_SEQ_CST);
	return err;
}

void kernel_end_call_ends(struct kernel *kernel)
{
	__atomic_store_n(&kernel->skel->bss->call_ends_over, 1, __ATOMIC_SEQ_CST);
}

bool kernel_is_traced(struct kernel *kernel, pid_t tgid)
{
	uint32_t key = tgid, value;

	return !bpf_map__lookup_elem(kernel->skel->maps.processes, &key, sizeof(key), &value,
				     sizeof(value), 0);
}

void kernel_pause(struct kernel *kernel)
{
	__atomic_store_n(&kernel->skel->bss->stopped, UB_BETWEEN_WINDOWS, __ATOMIC_SEQ_CST);
}

void kernel_resume(struct kernel *kernel)
{
	__atomic_add_fetch(&kernel->skel->bss->window, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&kernel->skel->data->filter_generation, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&kernel->skel->bss->stopped, UB_RUN, __ATOMIC_SEQ_CST);
}

void kernel_stop(struct kernel *kernel)
{
	__atomic_store_n(&kernel->skel->bss->stopped, UB_STOP, __ATOMIC_SEQ_CST);
}

/* Reading a BPF iterator's file runs its program over all tasks. */
int kernel_collect(struct kernel *kernel)
{
	int fd = bpf_iter_create(bpf_link__fd(kernel->skel->links.task_rest)), err = 0;
	char text[64];

	if (fd < 0)
		return fd;
	while ((err = read(fd, text, sizeof(text))) > 0)
		;
	close(fd);
	return err < 0 ? -errno : 0;
}

int kernel_drain(struct kernel *kernel)
{
	return ring_buffer__consume(kernel->rings);
}

uint64_t kernel_run_time(const struct kernel *kernel)
{
	struct bpf_program *prog;
	uint64_t sum = 0;

	bpf_object__for_each_program(prog, kernel->skel->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		int fd = bpf_program__fd(prog);

		if (fd >= 0 && !bpf_prog_get_info_by_fd(fd, &info, &size))
			sum += info.run_time_ns;
	}
	return sum;
}

int kernel_stats(struct kernel *kernel, struct ub_stats *stats)
{
	struct cpu_stats *values = calloc(kernel->cpus, sizeof(*values));
	uint32_t zero = 0;
	int err;

	memset(stats, 0, sizeof(*stats));
	if (!values)
		return -ENOMEM;
	err = bpf_map__lookup_elem(kernel->skel->maps.stats, &zero, sizeof(zero), values,
				   kernel->cpus * sizeof(*values), 0);
	for (int cpu = 0; !err && cpu < kernel->cpus; cpu++) {
		const uint64_t *from = (const uint64_t *)&values[cpu].s;
		uint64_t *to = (uint64_t *)stats;

		for (size_t i = 0; i < sizeof(*stats) / sizeof(*to); i++)
			to[i] += from[i];
	}
	free(values);
	return err;
}
