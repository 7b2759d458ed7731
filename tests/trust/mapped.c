// SPDX-License-Identifier: BSD-3-Clause
/*
 * mapped FILE...: maps them executable, as a loader would, and never looks at what is in them. Says
 * "mapped" when it has, and waits to be killed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAPPED_BYTES (256 << 10)

static int map(const char *path)
{
	int fd = open(path, O_RDONLY);
	void *at = fd < 0 ? MAP_FAILED
			  : mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		perror(path);
	close(fd);
	return at == MAP_FAILED;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (map(argv[i]))
			return 1;
	puts("mapped");
	fflush(stdout);
	for (;;)
		pause();
}
