// SPDX-License-Identifier: BSD-3-Clause
/*
 * successor PID PROGRAM [ARGUMENT...]: runs the program as the process PID, as soon as that number
 * is nobody's. Ends as it does. Root.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t clone_as(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uintptr_t)&pid,
				   .set_tid_size = 1 };

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

int main(int argc, char **argv)
{
	pid_t wanted = argc > 2 ? (pid_t)atoi(argv[1]) : 0, pid;
	int status;

	if (wanted <= 0) {
		fprintf(stderr, "usage: successor PID PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	while ((pid = clone_as(wanted)) < 0 && errno == EEXIST)
		;
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0) {
		perror("clone3");
		return 1;
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
