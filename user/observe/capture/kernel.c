// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/vec.h"
#include "observe/capture/load.h"
#include "observe/probe/links.h"
#include "observe/probe/sites.h"
#include "ucxbpf.skel.h"

struct kernel {
	struct ucxbpf *skel;
	int cpus; /* possible ones */
	int made_up; /* beside them, for tests */
	struct link_programs programs;
};

struct ucxbpf;

/* Spans by the first word of a program's name: "op_session", "op_entry", "call_entry"... */
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

	for (size_t i = 0; i < ARRAY_SIZE(spans); i++)
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

/* Programs of the kinds that have no span, by the first words of their names; of others span_of().
 */
static const struct {
	const char *name;
	enum ub_kind kind;
} points[] = {
	{ "call_", UB_CALL },  { "op_call", UB_OP },      { "match_", UB_MATCH },
	{ "comp_", UB_COMP },  { "rx_", UB_RX },          { "object_end", UB_OBJ },
	{ "memory_", UB_MEM }, { "stack_op", UB_OP },     { "count_call", UB_CALL },
	{ "count_op", UB_OP }, { "count_xfer", UB_XFER }, { "count_error", UB_COMP },
};

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool has_sites(enum ub_kind kind, enum level level)
{
	for (unsigned int row = 1; row < site_count(); row++)
		if (site_row(row)->wire.kind == kind && site_layer_in(site_row(row)->layer, level))
			return true;
	return false;
}

/*
 * Before loading, after all other choices: leaves out programs that no probe of this level would
 * run. Verifying them would take most of the time of a short look at a job.
 */
static void kernel_level_choose(struct ucxbpf *skel, enum level level)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, skel->obj)
	{
		const char *name = bpf_program__name(prog);
		const int span = span_of(name);

		if (bpf_program__type(prog) != BPF_PROG_TYPE_KPROBE)
			continue;
		if (span >= 0 && !has_sites(spans[span].kind, level))
			bpf_program__set_autoload(prog, false);
		for (size_t i = 0; i < ARRAY_SIZE(points); i++)
			if (begins(name, points[i].name) && !has_sites(points[i].kind, level))
				bpf_program__set_autoload(prog, false);
	}
}

/* Before loading: selects the programs to load and their attach types. */
static void kernel_spans_choose(struct ucxbpf *skel, const struct kernel_options *options)
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
	/* a program that goes on with another one must be of the same type */
	bpf_program__set_expected_attach_type(skel->progs.stack_op,
					      links_attach_type(mechanism, true));
	bpf_program__set_autoload(skel->progs.stack_op, options->stacks);
}

/* After loading: sets the programs for links, -1 = missing. */
static void kernel_spans_programs(const struct ucxbpf *skel, struct link_programs *programs)
{
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

/* Lives of objects are recorded with --count, too. */
static bool is_wanted(const char *name, bool session)
{
	const char *ends[] = { "_session", "_entry", "_return" };

	if (begins(name, "object_end") || !strcmp(name, "count_call") ||
	    !strcmp(name, "count_op_only") || !strcmp(name, "count_error_only"))
		return true;
	if (!begins(name, "object_") && !begins(name, "count_"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (strstr(name, ends[i]))
			return session == (i == 0);
	return false;
}

/* Before loading, after kernel_spans_choose(): selects programs and maps for --count. */
static void kernel_count_choose(struct ucxbpf *skel, enum link_mechanism mechanism, bool count)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, skel->obj)
	{
		if (count && bpf_program__type(prog) == BPF_PROG_TYPE_KPROBE)
			bpf_program__set_autoload(prog, is_wanted(bpf_program__name(prog),
								  mechanism == LINK_SESSION));
	}
	bpf_program__set_autoload(skel->progs.count_hits, count);
}

/* After loading: counting programs replace recording ones. */
static void kernel_count_programs(struct ucxbpf *skel, struct link_programs *programs)
{
	programs->entry_fd[UB_CALL] = bpf_program__fd(skel->progs.count_call);
	programs->entry_fd[UB_OP] = bpf_program__fd(skel->progs.count_op_only);
	programs->session_fd[UB_OP] = bpf_program__fd(skel->progs.count_op_session);
	programs->span_entry_fd[UB_OP] = bpf_program__fd(skel->progs.count_op_entry);
	programs->return_fd[UB_OP] = bpf_program__fd(skel->progs.count_op_return);
	programs->session_fd[UB_XFER] = bpf_program__fd(skel->progs.count_xfer_session);
	programs->span_entry_fd[UB_XFER] = bpf_program__fd(skel->progs.count_xfer_entry);
	programs->return_fd[UB_XFER] = bpf_program__fd(skel->progs.count_xfer_return);
	programs->entry_fd[UB_COMP] = bpf_program__fd(skel->progs.count_error_only);
	programs->session_fd[UB_COMP] = bpf_program__fd(skel->progs.count_error_session);
	programs->span_entry_fd[UB_COMP] = bpf_program__fd(skel->progs.count_error_entry);
	programs->return_fd[UB_COMP] = bpf_program__fd(skel->progs.count_error_return);
}

/* ---- loading ---- */

#define LAST_LINES 12 /* of a verifier's log; the reason is there */

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

	if (level == LIBBPF_DEBUG)
		return 0;
	text = xvasprintf(format, args);
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

/* A map of maps takes only maps like its inner map: rings on a node, or not. */
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

/* Room for paths and stacks, more than a hand-written program has. */
static int size_for_stacks(struct ucxbpf *skel)
{
	int err = bpf_map__set_max_entries(skel->maps.rows, KERNEL_ROWS);

	skel->rodata->stacks_on = 1;
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.paths, 8192);
	return err ? err : bpf_map__set_max_entries(skel->maps.stacks, 65536);
}

/* Without operations' probes there is no such program. */
static int go_on_with_stacks(struct kernel *kernel)
{
	const struct ucxbpf *skel = kernel->skel;
	int fd = bpf_program__fd(skel->progs.stack_op);
	uint32_t zero = 0;

	return fd < 0 ? 0
		      : bpf_map__update_elem(skel->maps.after_op, &zero, sizeof(zero), &fd,
					     sizeof(fd), 0);
}

static int load(struct kernel *kernel, const struct kernel_options *options, bool side_by_side)
{
	int err, first_ring = -1;

	load_prepare();
	kernel->skel = ucxbpf__open();
	if (!kernel->skel)
		return -errno;
	kernel->skel->rodata->multi_links = options->mechanism != LINK_PERF;
	kernel->skel->rodata->session_links = options->mechanism == LINK_SESSION;
	kernel->skel->rodata->derives = options->derive;
	kernel_spans_choose(kernel->skel, options);
	kernel_count_choose(kernel->skel, options->mechanism, options->count);
	kernel_level_choose(kernel->skel, options->level);
	err = bpf_map__set_max_entries(kernel->skel->maps.rings, kernel_cpus(kernel));
	if (!err && options->node >= 0) {
		first_ring = put_rings_on_nodes(kernel->skel->maps.rings, options->node);
		err = first_ring < 0 ? first_ring : 0;
	}
	if (!err && options->stacks)
		err = size_for_stacks(kernel->skel);
	if (!err && options->derive)
		err = bpf_map__set_max_entries(kernel->skel->maps.callers, KERNEL_CALLERS);
	if (!err)
		err = side_by_side ? load_side_by_side(kernel->skel->skeleton)
				   : ucxbpf__load(kernel->skel);
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
		log_error(
			"cannot load BPF programs: %s; 'ucxbpf doctor' names the missing kernel feature",
			strerror(-err));
}

/* For tests: extra CPUs to make rings and threads for. */
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
	err = load(kernel, options, true);
	if (err) { /* in less memory at a time, and with the verifier's reasons */
		ucxbpf__destroy(kernel->skel);
		err = load(kernel, options, false);
	}
	if (!err)
		err = fill_sites(kernel);
	if (!err)
		err = go_on_with_stacks(kernel);
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

int kernel_set_wrappers(struct kernel *kernel, unsigned int number,
			const struct ub_wrappers *wrappers)
{
	return bpf_map__update_elem(kernel->skel->maps.wrappers, &number, sizeof(number), wrappers,
				    sizeof(*wrappers), 0);
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

void kernel_forget_process(struct kernel *kernel, pid_t tgid)
{
	uint32_t key = tgid;

	bpf_map__delete_elem(kernel->skel->maps.processes, &key, sizeof(key), 0);
	__atomic_add_fetch(&kernel->skel->data->filter_generation, 1, __ATOMIC_SEQ_CST);
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

void kernel_set_groups(struct kernel *kernel, unsigned int groups)
{
	unsigned int always = 1u << UB_GROUP_NAMES;

	__atomic_store_n(&kernel->skel->bss->quiet_groups, ~(groups | always), __ATOMIC_SEQ_CST);
}

void kernel_resume(struct kernel *kernel)
{
	__atomic_add_fetch(&kernel->skel->bss->window, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&kernel->skel->data->filter_generation, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&kernel->skel->bss->stopped, UB_RUN, __ATOMIC_SEQ_CST);
}

#define POSITIONS_NS (1ull << 25) /* two slices: both ends of a link fall into it */

void kernel_begin_positions(struct kernel *kernel, uint64_t now)
{
	volatile __u64 *until = &kernel->skel->bss->fifo_until;

	if (*until < now + POSITIONS_NS) /* else a loss has set a later end */
		*until = now + POSITIONS_NS;
}

void kernel_stop(struct kernel *kernel)
{
	__atomic_store_n(&kernel->skel->bss->stopped, UB_STOP, __ATOMIC_SEQ_CST);
	/*
	 * Waits for programs of tracepoints that have looked before: synchronize_rcu(). With
	 * nohz_full it is refused, and they are given longer than one takes.
	 */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(50000);
}

int kernel_rest(struct kernel *kernel)
{
	return bpf_iter_create(bpf_link__fd(kernel->skel->links.task_rest));
}

int kernel_cpus(const struct kernel *kernel)
{
	return kernel->cpus + kernel->made_up;
}

int kernel_made_up_cpus(const struct kernel *kernel)
{
	return kernel->made_up;
}

bool kernel_ring_missing(struct kernel *kernel, int cpu)
{
	uint64_t *word = (uint64_t *)&kernel->skel->bss->rings_missing[cpu / 64];
	uint64_t bit = 1ull << (cpu % 64);

	if (cpu >= UB_MAX_CPUS || !(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
		return false;
	return __atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED) & bit;
}

void kernel_set_detail(struct kernel *kernel, uint64_t slices)
{
	__atomic_store_n(&kernel->skel->data->detail_slices, slices, __ATOMIC_SEQ_CST);
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

		/* iterators run in the tracer, not in the job */
		if (bpf_program__expected_attach_type(prog) == BPF_TRACE_ITER)
			continue;
		if (fd >= 0 && !bpf_prog_get_info_by_fd(fd, &info, &size))
			sum += info.run_time_ns;
	}
	return sum;
}

/* Reading a BPF iterator's file runs its program over all tasks. */
void kernel_task_hits(const struct kernel *kernel, task_hits *tasks)
{
	const struct bpf_link *counting = kernel->skel->links.count_hits;
	int fd = bpf_iter_create(bpf_link__fd(counting ? counting : kernel->skel->links.task_hits));
	char bytes[64 * sizeof(struct ub_task_hits)];
	size_t kept = 0;
	long got;

	while (fd >= 0 && (got = read(fd, bytes + kept, sizeof(bytes) - kept)) > 0) {
		size_t all = kept + got, n = all / sizeof(struct ub_task_hits);

		for (size_t i = 0; i < n; i++)
			memcpy(vec_add(tasks), bytes + i * sizeof(struct ub_task_hits),
			       sizeof(struct ub_task_hits));
		kept = all - n * sizeof(struct ub_task_hits);
		memmove(bytes, bytes + all - kept, kept);
	}
	if (fd >= 0)
		close(fd);
}

int kernel_stats(struct kernel *kernel, struct ub_stats *stats)
{
	struct ub_cpu_stats *values = calloc(kernel->cpus, sizeof(*values));
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
	/* the programs count these once, see batch_thin() */
	for (int kind = 0; kind < UB_KINDS; kind++) {
		stats->produced[kind] += stats->thinned[kind];
		stats->dropped[kind] += stats->thinned[kind];
	}
	free(values);
	return err;
}

int kernel_lost(struct kernel *kernel, uint64_t *records)
{
	struct ub_stats stats;
	int err = kernel_stats(kernel, &stats);

	*records = 0;
	for (int kind = 0; kind < UB_KINDS; kind++)
		*records += stats.dropped[kind] - stats.thinned[kind];
	return err;
}
