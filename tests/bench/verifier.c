// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loads the BPF programs as a capture does, with each link mechanism that works here, and prints
 * what the verifier had to look at (its limit is a million instructions) and how large the code is.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/capture/kernel.h"
#include "observe/probe/links.h"

/* Our programs are those that this process holds descriptors of. */
static int is_program(const char *fd)
{
	char path[288], target[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%s", fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	return !strcmp(target, "anon_inode:bpf-prog");
}

/* With count, only the programs that record mode has not. */
static void print_program(const char *mechanism, int fd, bool count)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (!bpf_prog_get_info_by_fd(fd, &info, &size) &&
	    count == !strncmp(info.name, "count_", strlen("count_")))
		printf("%-8s %-16s %9u %9u %9u\n", mechanism, info.name, info.verified_insns,
		       info.xlated_prog_len, info.jited_prog_len);
}

static void print_programs(const char *mechanism, bool count)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *entry;

	while (fds && (entry = readdir(fds)))
		if (is_program(entry->d_name))
			print_program(mechanism, atoi(entry->d_name), count);
	if (fds)
		closedir(fds);
}

static int load(enum link_mechanism mechanism, bool count)
{
	struct kernel_options options = {
		.level = LEVEL_UCT,
		.mechanism = mechanism,
		.node = -1,
		.call_ends = !count,
		.count = count,
		.stacks = !count,
		.derive = mechanism != LINK_PERF,
	};
	const char *name = link_mechanism_name(mechanism);
	struct kernel *kernel = NULL;
	int err = kernel_open(&kernel, &options);

	if (err) {
		fprintf(stderr, "%s: %s\n", name, strerror(-err));
		return 1;
	}
	print_programs(name, count);
	kernel_free(kernel);
	return 0;
}

int main(void)
{
	enum link_mechanism best = LINK_NONE;
	int status = links_detect(&best) < 0;

	printf("%-8s %-16s %9s %9s %9s\n", "links", "program", "verified", "bytecode", "code");
	for (int mechanism = LINK_PERF; mechanism <= (int)best; mechanism++)
		for (int count = 0; count < 2; count++)
			status |= load(mechanism, count);
	return status;
}
