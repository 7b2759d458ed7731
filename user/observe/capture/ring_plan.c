// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/ring_plan.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static bool read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");
	bool got = file && fgets(line, size, file);

	if (file)
		fclose(file);
	return got;
}

void cpu_bits_add_list(struct cpu_bits *bits, const char *list)
{
	while (*list >= '0' && *list <= '9') {
		char *end;
		long first = strtol(list, &end, 10);
		long last = *end == '-' ? strtol(end + 1, &end, 10) : first;

		for (long cpu = first; cpu <= last && cpu < UB_MAX_CPUS; cpu++)
			cpu_bits_add(bits, (int)cpu);
		list = *end == ',' ? end + 1 : end;
	}
}

static bool add_thread(struct cpu_bits *bits, pid_t tid)
{
	struct cpu_bits thread = { 0 };

	if (sched_getaffinity(tid, sizeof(thread), (cpu_set_t *)&thread))
		return false;
	for (size_t i = 0; i < sizeof(bits->words) / sizeof(bits->words[0]); i++)
		bits->words[i] |= thread.words[i];
	return true;
}

void cpu_bits_add_process(struct cpu_bits *bits, pid_t tgid)
{
	char path[40], line[4096];
	struct dirent *entry;
	bool known = false;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", tgid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			known |= add_thread(bits, atoi(entry->d_name));
	if (tasks)
		closedir(tasks);
	if (!known && read_line("/sys/devices/system/cpu/online", line, sizeof(line)))
		cpu_bits_add_list(bits, line);
}

static void read_node(int node, int *nodes, int cpus)
{
	struct cpu_bits bits = { 0 };
	char path[80], line[4096];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	if (!read_line(path, line, sizeof(line)))
		return;
	cpu_bits_add_list(&bits, line);
	for (int cpu = 0; cpu < cpus && cpu < UB_MAX_CPUS; cpu++)
		if (cpu_bits_has(&bits, cpu))
			nodes[cpu] = node;
}

void cpu_nodes(int *nodes, int cpus)
{
	DIR *all = opendir("/sys/devices/system/node");
	struct dirent *entry;

	for (int cpu = 0; cpu < cpus; cpu++)
		nodes[cpu] = -1;
	while (all && (entry = readdir(all)))
		if (!strncmp(entry->d_name, "node", 4) && entry->d_name[4] >= '0' &&
		    entry->d_name[4] <= '9')
			read_node(atoi(entry->d_name + 4), nodes, cpus);
	if (all)
		closedir(all);
}

/*
 * 4 MiB take what one CPU can make in 10 ms. More per CPU is for those that need it: rings that
 * came close to full.
 */
struct ring_plan ring_plan(size_t asked, unsigned int cpus, uint64_t memory)
{
	struct ring_plan plan = { .first = asked, .most = asked, .total = SIZE_MAX };
	size_t most = 6 * MIB * cpus;

	if (asked)
		return plan;
	plan.total = memory / 1000 < most ? memory / 1000 : most;
	if (plan.total < 48 * MIB)
		plan.total = 48 * MIB;
	plan.first = 4 * MIB;
	while (plan.first > 512 * KIB && plan.first * cpus > plan.total)
		plan.first /= 2;
	plan.most = 32 * MIB;
	return plan;
}
