// SPDX-License-Identifier: BSD-3-Clause
/* What a process that is confined to files can still do, and what not. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/confine.h"
#include "unit/refuse.h"

static bool has(unsigned int capability)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct now[2];

	return syscall(SYS_capget, &head, now) ||
	       now[capability / 32].permitted >> capability % 32 & 1;
}

static void *answer(void *arg)
{
	return arg;
}

/* clone(2), in a child of this process that ends at once; 0 or errno. */
static int clone_with(unsigned long flags)
{
	const long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
	int status;

	if (!pid)
		_exit(0);
	if (pid < 0)
		return errno;
	return waitpid((pid_t)pid, &status, 0) == pid ? 0 : errno;
}

/* Namespaces and TIOCSTI are refused; processes and threads start. The same number, from 21 on. */
static int calls_by_argument(void)
{
	static const unsigned long namespaces[] = { CLONE_NEWUSER,  CLONE_NEWNS,  CLONE_NEWPID,
						    CLONE_NEWNET,   CLONE_NEWUTS, CLONE_NEWIPC,
						    CLONE_NEWCGROUP };
	struct clone_args in_memory = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
	pthread_t thread;
	void *got;
	int bytes;

	for (size_t i = 0; i < sizeof(namespaces) / sizeof(*namespaces); i++)
		if (clone_with(namespaces[i]) != EPERM)
			return 21;
	if (syscall(SYS_clone3, &in_memory, sizeof(in_memory)) != -1 || errno != ENOSYS)
		return 22;
	/* no terminal: ENOTTY if it was not refused; the kernel reads 32 bits of the request */
	if (syscall(SYS_ioctl, STDIN_FILENO, (unsigned long)TIOCSTI, "x") != -1 || errno != EPERM)
		return 23;
	if (syscall(SYS_ioctl, STDIN_FILENO, 1ul << 32 | TIOCSTI, "x") != -1 || errno != EPERM)
		return 24;
	if (clone_with(0))
		return 25;
	if (pthread_create(&thread, NULL, answer, &bytes) || pthread_join(thread, &got) ||
	    got != &bytes)
		return 26;
	if (ioctl(STDIN_FILENO, FIONREAD, &bytes) && errno == EPERM)
		return 27;
	return 0;
}

/* The number of the first thing that is not as it should be; 0: all is. */
static int confined(void)
{
	char *const none[] = { NULL };
	char path[] = "/tmp/ucxbpf-confine-XXXXXX", byte;
	struct iovec to = { &byte, 1 }, from = { &byte, 1 };
	int fd;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 1;
	if (has(CAP_SYS_ADMIN) || has(CAP_SYS_PTRACE) || has(CAP_BPF) || has(CAP_SETUID))
		return 2;
	if (!geteuid() && !has(CAP_DAC_OVERRIDE))
		return 3;
	if (execve("/bin/true", none, none) != -1 || errno != EPERM)
		return 4;
	if (socket(AF_INET, SOCK_STREAM, 0) != -1 || errno != EPERM)
		return 5;
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != -1 || errno != EPERM)
		return 6;
	if (mount("none", "/tmp", "tmpfs", 0, NULL) != -1 || errno != EPERM)
		return 7;
	fd = mkstemp(path);
	if (fd < 0 || write(fd, "x", 1) != 1 || fchown(fd, geteuid(), getegid()) || unlink(path))
		return 8;
	return calls_by_argument();
}

/* A tracer: the same number, from 11 on. */
static int traces(void)
{
	char *const none[] = { NULL };
	char byte = 'x', got = 0;
	struct iovec to = { &got, 1 }, from = { &byte, 1 };

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 11;
	if (has(CAP_SYS_MODULE) || has(CAP_NET_ADMIN) || has(CAP_SETUID) || has(CAP_MKNOD))
		return 12;
	if (!geteuid() && !(has(CAP_SYS_ADMIN) && has(CAP_SYS_PTRACE) && has(CAP_DAC_OVERRIDE)))
		return 13;
	if (execve("/bin/true", none, none) != -1 || errno != EPERM)
		return 14;
	if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) != -1 || errno != EPERM)
		return 15;
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1 || got != 'x')
		return 16;
	return calls_by_argument();
}

static void in_child(void (*confine)(void), int (*check)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		confine();
		_exit(check());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	/* the process that it came from is as before */
	assert_int_equal(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
}

static void only_files(void **state)
{
	(void)state;
	in_child(confine_to_files, confined);
}

static void only_tracing(void **state)
{
	(void)state;
	in_child(confine_to_tracing, traces);
}

/* The output of a process that confines itself where the kernel refuses with err. */
static const char *words_of(unsigned int err)
{
	static char text[4096];
	int out = memfd_create("words", 0), status;
	pid_t pid = fork();
	ssize_t size;

	if (!pid) {
		dup2(out, STDERR_FILENO);
		refuse(err, true);
		confine_to_files();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	size = pread(out, text, sizeof(text) - 1, 0);
	assert_true(size >= 0);
	text[size] = '\0';
	close(out);
	return text;
}

static void refusals(void **state)
{
	(void)state;
	assert_string_equal(
		words_of(EPERM),
		"ucxbpf: warning: capabilities cannot be given up: Operation not permitted\n"
		"ucxbpf: warning: system calls cannot be given up: Operation not permitted\n");
	/* a kernel without these is in order */
	assert_string_equal(words_of(EINVAL), "");
	assert_string_equal(words_of(ENOSYS), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_files),
		cmocka_unit_test(only_tracing),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
