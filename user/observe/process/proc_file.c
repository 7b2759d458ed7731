// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int plain_error(int error)
{
	return error == ENOENT ? -ESRCH : error == EPERM ? -EACCES : -error;
}

long proc_read(pid_t pid, const char *name, void *buffer, size_t size)
{
	size_t done = 0;
	ssize_t got = 1;
	char path[64];
	int fd, error;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return plain_error(errno);
	while (done < size && (got = read(fd, (char *)buffer + done, size - done)) > 0)
		done += (size_t)got;
	error = errno;
	close(fd);
	return got < 0 ? plain_error(error) : (long)done;
}

long proc_status_number(pid_t pid, const char *label)
{
	char text[4096], wanted[32];
	long got = proc_read(pid, "status", text, sizeof(text) - 1);
	const char *at;

	if (got < 0)
		return got;
	text[got] = '\0';
	snprintf(wanted, sizeof(wanted), "\n%s", label);
	at = strstr(text, wanted);
	return at ? strtol(at + strlen(wanted), NULL, 10) : -ENOENT;
}

long proc_read_memory(pid_t pid, unsigned long long address, void *buffer, size_t size)
{
	struct iovec local = { buffer, size }, remote = { (void *)(uintptr_t)address, size };
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	if (got >= 0)
		return got;
	return errno == EFAULT ? 0 : plain_error(errno);
}
