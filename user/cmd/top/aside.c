// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/top/aside.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

void aside_begin(struct aside *aside)
{
	int fd = memfd_create("ucxbpf warnings", MFD_CLOEXEC);

	aside->errors = -1;
	if (fd < 0)
		return;
	fflush(stderr);
	aside->errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (aside->errors >= 0)
		dup2(fd, STDERR_FILENO);
	close(fd);
	signal(SIGTSTP, SIG_IGN);
}

void aside_end(struct aside *aside)
{
	char text[4096];
	ssize_t got;

	if (aside->errors < 0)
		return;
	fflush(stderr);
	lseek(STDERR_FILENO, 0, SEEK_SET);
	while ((got = read(STDERR_FILENO, text, sizeof(text))) > 0)
		if (write(aside->errors, text, got) != got)
			break;
	dup2(aside->errors, STDERR_FILENO);
	close(aside->errors);
	aside->errors = -1;
}
