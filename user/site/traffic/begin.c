// SPDX-License-Identifier: BSD-3-Clause
/* Before MPI starts: tell who we are, wait until we are traced. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "site/traffic/traffic.h"

#define POLL_NS 20000000

/* Whoever lists the folder sees whole files alone. */
static void write_pid(const char *folder, const char *node)
{
	char path[PATH_MAX], temporary[PATH_MAX + 8];
	FILE *file;

	snprintf(path, sizeof(path), "%s/../pids", folder);
	if (mkdir(path, 0777) && errno != EEXIST)
		give_up("%s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "%s/../pids/%s.%d", folder, node, getpid());
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	file = fopen(temporary, "we");
	if (!file || fprintf(file, "%d\n", getpid()) < 0 || fclose(file) || rename(temporary, path))
		give_up("%s: %s", path, strerror(errno));
}

void wait_for_go(const struct arguments *arguments, const char *node)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	uint64_t until = now_ns() + arguments->wait_s * 1000000000ull;

	write_pid(arguments->ledger, node);
	while (arguments->go && access(arguments->go, F_OK)) {
		if (now_ns() > until)
			give_up("%s: is not there after %u s (--wait)", arguments->go,
				arguments->wait_s);
		nanosleep(&pause, NULL);
	}
}
