// SPDX-License-Identifier: BSD-3-Clause
/* The BPF programs are loaded, their maps filled. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "observe/capture/kernel_count.h"
#include "observe/capture/kernel_private.h"
#include "observe/capture/kernel_spans.h"
#include "observe/probe/sites.h"
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

/* A map of maps takes only those that are made like its first one: rings on a node, or not. */
static int put_rings_on_nodes(struct bpf_map *rings, int node)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NUMA_NODE, .numa_node = node);
	int fd =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, sysconf(_SC_PAGESIZE), &options);
	int err = fd < 0 ? fd : bpf_map__set_inner_map_fd(rings, fd);

	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
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
	int err, first_ring = -1;

	kernel->skel = ucxbpf__open();
	if (!kernel->skel)
		return -errno;
	kernel_spans_choose(kernel->skel, options);
	kernel_count_choose(kernel->skel, options->mechanism, options->count);
	err = bpf_map__set_max_entries(kernel->skel->maps.rings, kernel_cpus(kernel));
	if (!err && options->node >= 0) {
		first_ring = put_rings_on_nodes(kernel->skel->maps.rings, options->node);
		err = first_ring < 0 ? first_ring : 0;
	}
	if (!err && options->stacks)
		err = size_for_stacks(kernel->skel);
	if (!err)
		err = ucxbpf__load(kernel->skel);
	if (first_ring >= 0)
		close(first_ring);
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
		log_error("cannot make the maps of the BPF programs: %s; raise the locked memory "
			  "limit",
			  strerror(-err));
	else
		log_error("cannot load BPF programs: %s; 'ucxbpf doctor' says what this kernel "
			  "lacks",
			  strerror(-err));
}

/* Tests have the rings and threads of a larger machine: so many CPUs, the last of which nobody
 * uses. */
static int made_up_cpus(int cpus)
{
	const char *text = getenv("UCXBPF_TEST_CPUS");
	long all = text ? strtol(text, NULL, 10) : 0;

	return all > cpus && all <= UB_MAX_CPUS ? (int)all - cpus : 0;
}

int kernel_open(struct kernel **out, const struct kernel_options *options)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	int err;

	if (!kernel)
		return -ENOMEM;
	libbpf_set_print(quiet_print);
	kernel->cpus = libbpf_num_possible_cpus();
	kernel->made_up = made_up_cpus(kernel->cpus);
	err = load(kernel, options);
	if (!err)
		err = fill_sites(kernel);
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
	ucxbpf__destroy(kernel->skel);
	free(kernel);
}
