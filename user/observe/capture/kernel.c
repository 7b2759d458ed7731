// SPDX-License-Identifier: BSD-3-Clause
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/capture/kernel_private.h"
#include "ucxbpf.skel.h"

/* Value of the per-CPU map "stats" (bpf/maps.bpf.h). */
struct cpu_stats {
	struct ub_stats s;
	uint32_t cpu_seq;
	uint32_t pad;
};

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

void kernel_stop(struct kernel *kernel)
{
	__atomic_store_n(&kernel->skel->bss->stopped, UB_STOP, __ATOMIC_SEQ_CST);
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

		/* these run on the tracer's time, over all tasks of the node */
		if (bpf_program__expected_attach_type(prog) == BPF_TRACE_ITER)
			continue;
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
	/* the programs count these once, see batch_thin() */
	for (int kind = 0; kind < 16; kind++) {
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
	for (int kind = 0; kind < 16; kind++)
		*records += stats.dropped[kind] - stats.thinned[kind];
	return err;
}
