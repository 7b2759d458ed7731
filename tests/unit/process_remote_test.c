// SPDX-License-Identifier: BSD-3-Clause
/* Reads of a process that has a page which nobody serves. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/process/remote.h"

#define SIZE 4096

static char *plain, *unserved;

/* As the child of this process: a userfaultfd that nobody answers has the page. */
static void never_serve(int ready)
{
	struct uffdio_register range = { .range = { (uintptr_t)unserved, SIZE },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	bool can = fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &range);

	if (write(ready, can ? "y" : "n", 1) == 1)
		pause();
	_exit(0);
}

static char *page(void)
{
	char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

static pid_t child(char *can)
{
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid)
		never_serve(ready[1]);
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], can, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void reads(pid_t pid)
{
	char buffer[SIZE], name[8] = "";

	assert_int_equal(remote_read_memory(pid, (uintptr_t)plain, buffer, 6), 6);
	assert_string_equal(buffer, "plain");
	assert_int_equal(remote_read_memory(pid, 8, buffer, 6), -EFAULT);
	assert_int_equal(remote_read_file(pid, "comm", name, 6), 6);
	assert_memory_equal(name, "proces", 6);
	assert_true(remote_read_file(pid, "cmdline", buffer, SIZE) > 0);
	assert_int_equal(remote_read_file(pid, "none", buffer, SIZE), -ENOENT);
}

static void left_behind(void **state)
{
	char buffer[SIZE], can, other_can;
	pid_t pid = child(&can), other = child(&other_can);
	time_t begin = time(NULL);

	(void)state;
	if (can == 'n') {
		end(pid);
		end(other);
		print_message("no userfaultfd for reads of the kernel here\n");
		skip();
	}
	reads(pid);
	assert_int_equal(remote_read_memory(pid, (uintptr_t)unserved, buffer, SIZE), -ETIME);
	/* not asked again, and no other process suffers */
	for (int i = 0; i < 100; i++)
		assert_int_equal(remote_read_memory(pid, (uintptr_t)plain, buffer, 6), -ETIME);
	assert_int_equal(remote_read_file(pid, "cmdline", buffer, SIZE), -ETIME);
	assert_int_equal(remote_read_file(pid, "comm", buffer, 6), 6);
	reads(other);
	assert_true(time(NULL) - begin < 20);
	end(pid);
	end(other);
}

static void gone(void **state)
{
	char buffer[8], can;
	pid_t pid = child(&can);

	(void)state;
	end(pid);
	assert_int_equal(remote_read_memory(pid, (uintptr_t)plain, buffer, 6), -ESRCH);
	assert_int_equal(remote_read_file(pid, "comm", buffer, 6), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(left_behind),
		cmocka_unit_test(gone),
	};

	plain = page();
	unserved = page();
	strcpy(plain, "plain");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
