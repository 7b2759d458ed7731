// SPDX-License-Identifier: BSD-3-Clause
/*
 * The witness for what a capture says of its BPF programs: runtime PID. Has the kernel measure all
 * programs all the time, and when the process has ended prints "NS RUNS" of those that it held.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVERY_US 50000

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
		sums[1] += info.run_cnt;
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

/* Returns how many programs the process holds. */
static int add_all(const char *pid, uint64_t sums[2])
{
	struct dirent *entry;
	char path[64];
	int count = 0;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	fds = opendir(path);
	while (fds && (entry = readdir(fds))) {
		unsigned int id =
			is_program(pid, entry->d_name) ? program_id(pid, entry->d_name) : 0;

		if (id)
			add_program(id, sums);
		count += id != 0;
	}
	if (fds)
		closedir(fds);
	return count;
}

int main(int argc, char **argv)
{
	int measuring = argc == 2 ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1, seen = 0;
	uint64_t last[2] = { 0 };

	if (measuring < 0) {
		fprintf(stderr, "usage: runtime PID, as root\n");
		return 2;
	}
	for (char path[32];
	     snprintf(path, sizeof(path), "/proc/%.20s/fd", argv[1]), !access(path, R_OK);
	     usleep(EVERY_US)) {
		uint64_t sums[2] = { 0 };
		int programs = add_all(argv[1], sums);

		/* they go away one by one at the end */
		if (programs >= seen && sums[0] >= last[0]) {
			last[0] = sums[0];
			last[1] = sums[1];
			seen = programs;
		}
	}
	printf("%" PRIu64 " %" PRIu64 "\n", last[0], last[1]);
	return 0;
}
