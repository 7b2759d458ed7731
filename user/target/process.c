// SPDX-License-Identifier: BSD-3-Clause
#include "target/process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int process_is_32bit(pid_t pid)
{
	unsigned char ident[EI_NIDENT] = { 0 };
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : errno == EPERM ? -EACCES : -errno;
	got = read(fd, ident, sizeof(ident));
	close(fd);
	return got == sizeof(ident) && ident[EI_CLASS] == ELFCLASS32;
}
