// SPDX-License-Identifier: BSD-3-Clause
/* The BPF programs are loaded, their maps filled, the rings made. */
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
#include "capture/kernel_private.h"
#include "capture/kernel_spans.h"
#include "probe/sites.h"
#include "ucxbpf.skel.h"

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
	kernel_spans_choose(kernel->skel, options);
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
	kernel_spans_programs(kernel->skel, &kernel->programs);
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
