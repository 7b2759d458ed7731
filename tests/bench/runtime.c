// SPDX-License-Identifier: BSD-3-Clause
/*
 * The witness for what a capture says of its BPF programs: runtime PID. Has the kernel measure all
 * programs all the time; prints "0 0" once it does, and then for each line that it is sent
 * "NS RUNS": the time so far in the programs that the process holds, and how often a probe ran one
 * (tracepoints, which run for every process of the machine, are in the time alone).
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The program that a descriptor of the process stands for, 0 = none. */
static unsigned int program_id(const char *pid, const char *fd)
{
	char path[300], line[128];
	unsigned int id = 0;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, fd);
	info = fopen(path, "re");
	while (info && !id && fgets(line, sizeof(line), info))
		if (sscanf(line, "prog_id: %u", &id) != 1)
			id = 0;
	if (info)
		fclose(info);
	return id;
}

static void add_program(unsigned int id, uint64_t sums[2])
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd >= 0 && !bpf_prog_get_info_by_fd(fd, &info, &size)) {
		sums[0] += info.run_time_ns;
		sums[1] += info.type == BPF_PROG_TYPE_KPROBE ? info.run_cnt : 0;
	}
	if (fd >= 0)
		close(fd);
}

/* Links name their program, too: only descriptors of programs count. */
static int is_program(const char *pid, const char *fd)
{
	char path[300], target[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	return n > 0 && !__builtin_strcmp(target, "anon_inode:bpf-prog");
}

static void print_sums(const char *pid)
{
	struct dirent *entry;
	uint64_t sums[2] = { 0 };
	char path[64];
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	fds = opendir(path);
	while (fds && (entry = readdir(fds))) {
		unsigned int id =
			is_program(pid, entry->d_name) ? program_id(pid, entry->d_name) : 0;

		if (id)
			add_program(id, sums);
	}
	if (fds)
		closedir(fds);
	printf("%" PRIu64 " %" PRIu64 "\n", sums[0], sums[1]);
}

int main(int argc, char **argv)
{
	char line[16];

	if (argc != 2 || bpf_enable_stats(BPF_STATS_RUN_TIME) < 0) {
		fprintf(stderr, "usage: runtime PID, as root\n");
		return 2;
	}
	setlinebuf(stdout);
	puts("0 0");
	while (fgets(line, sizeof(line), stdin))
		print_sums(argv[1]);
	return 0;
}
