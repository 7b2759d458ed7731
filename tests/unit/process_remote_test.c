// SPDX-License-Identifier: BSD-3-Clause
/* Reads of a process that has a page which nobody serves, and answers that are late. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "observe/process/remote.h"
#include "observe/process/remote_private.h"

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

/* ---- answers that are late, made by hand ---- */

static uint64_t now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/* address: after how many tenths of a second. */
static long late(struct remote_request *request, void *room)
{
	(void)room;
	for (uint64_t i = 0; i < request->address; i++)
		usleep(100000);
	return 0;
}

static long late_but_moving(struct remote_request *request, void *room)
{
	(void)room;
	for (uint64_t i = 0; i < request->address; i++) {
		usleep(100000);
		__atomic_add_fetch(&request->moved, 1, __ATOMIC_RELEASE);
	}
	return 0;
}

static long ask_late(long (*serve)(struct remote_request *, void *), pid_t pid, dev_t dev,
		     uint64_t tenths)
{
	struct remote_request request = {
		.serve = serve, .pid = pid, .fd = -1, .dev = dev, .address = tenths
	};

	return remote_ask(&request, NULL);
}

#define FOREVER 36000

static void *ask_of_process(void *pid)
{
	assert_int_equal(ask_late(late, *(pid_t *)pid, 0, FOREVER), -ETIME);
	return NULL;
}

/* More than all that may be waited for in a minute. */
static void memory_takes_no_time_from_files(void **state)
{
	pid_t pids[6];
	pthread_t threads[6];

	(void)state;
	for (int i = 0; i < 6; i++) {
		pids[i] = 0x3ffffff0 + i; /* no process has these */
		assert_int_equal(pthread_create(&threads[i], NULL, ask_of_process, &pids[i]), 0);
	}
	for (int i = 0; i < 6; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(ask_late(late, 0, 0, 6), 0);
	/* but from memory */
	assert_int_equal(ask_late(late, 0x3ffffff6, 0, 6), -ETIME);
}

#define SLOW_DEV 0x12345

static void slow_file_system(void **state)
{
	uint64_t begin = now_ms();
	long got = -ETIME;

	(void)state;
	assert_int_equal(ask_late(late, 0, SLOW_DEV, FOREVER), -ETIME);
	assert_true(now_ms() - begin >= 1900);
	begin = now_ms();
	assert_int_equal(ask_late(late, 0, SLOW_DEV, FOREVER), -ETIME);
	assert_true(now_ms() - begin < 1900);
	/* it works again, and is no faster than before; on a busy machine a part may be late */
	for (int i = 0; i < 5 && got; i++)
		got = ask_late(late_but_moving, 0, SLOW_DEV, 8);
	assert_int_equal(got, 0);
	/* another one */
	assert_int_equal(ask_late(late, 0, SLOW_DEV + 1, 6), 0);
}

static long ending(struct remote_request *request, void *room)
{
	(void)request;
	(void)room;
	_exit(1);
}

static void helper_that_ends(void **state)
{
	const uint64_t begin = now_ms();

	(void)state;
	assert_int_equal(ask_late(ending, 0, 0, 0), -EAGAIN);
	assert_true(now_ms() - begin < 1900);
	assert_int_equal(ask_late(late, 0, 0, 0), 0);
}

#define NOBODY 54321 /* has no other process */

/* In a process whose user may have no third one. */
static _Noreturn void ask_without_room(void)
{
	const struct rlimit two = { 2, 2 };
	uint64_t begin;
	long got;

	if (setgid(NOBODY) || setuid(NOBODY) || setrlimit(RLIMIT_NPROC, &two))
		_exit(2);
	begin = now_ms();
	for (int i = 0; i < 20; i++) {
		got = ask_late(late, 0, 0, 0);
		if (got != -EAGAIN)
			_exit(3);
	}
	_exit(now_ms() - begin < 1000 ? 0 : 4);
}

static void helper_that_cannot_start(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	if (geteuid()) {
		print_message("needs root\n");
		skip();
	}
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		ask_without_room();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define LINGERS_S 600 /* unless the other end is closed before */

/* Closing the socket to that port takes LINGERS_S. Answers with the helper's pid. */
static long closing(struct remote_request *request, void *room)
{
	static const char much[65536];
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = (in_port_t)request->address,
					.sin_addr = { htonl(INADDR_LOOPBACK) } };
	const struct linger linger = { 1, LINGERS_S };
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)))
		return -errno;
	while (send(fd, much, sizeof(much), MSG_DONTWAIT) > 0)
		;
	request->left = fd;
	*(pid_t *)room = getpid();
	return sizeof(pid_t);
}

/* Takes connections and reads nothing. */
static int listener(in_port_t *port)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0), size = 4096;
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof(at);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 1024), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &length), 0);
	*port = at.sin_port;
	return fd;
}

#define ENDS_MS 30000

static bool ends(pid_t pid)
{
	const uint64_t begin = now_ms();

	while (!kill(pid, 0) && now_ms() - begin < ENDS_MS)
		usleep(10000);
	return kill(pid, 0) && errno == ESRCH;
}

#define CLOSING_DEV 0x54321
#define CLOSINGS 8 /* as many as a file system may have */

static void helpers_that_never_close(void **state)
{
	in_port_t port;
	const int fd = listener(&port);
	pid_t pids[CLOSINGS];

	(void)state;
	for (int i = 0; i < CLOSINGS; i++) {
		struct remote_request request = { .serve = closing,
						  .fd = -1,
						  .dev = CLOSING_DEV,
						  .address = port,
						  .size = sizeof(pid_t) };

		assert_int_equal(remote_ask(&request, &pids[i]), sizeof(pid_t));
	}
	assert_int_equal(ask_late(late, 0, CLOSING_DEV, 3), 0);
	usleep(2200000);
	/* they are left behind, and then its file system is not asked */
	assert_int_equal(ask_late(late, 0, 0, 0), 0);
	assert_int_equal(ask_late(late, 0, CLOSING_DEV, 0), -ETIME);
	assert_int_equal(ask_late(late, 0, CLOSING_DEV + 1, 3), 0);
	close(fd); /* and with it all connections: the helpers can close theirs */
	for (int i = 0; i < CLOSINGS; i++)
		assert_true(ends(pids[i]));
	usleep(250000); /* it is looked who has ended each fifth of a second */
	assert_int_equal(ask_late(late, 0, CLOSING_DEV, 0), 0);
	/* with less patience */
	assert_int_equal(ask_late(late, 0, CLOSING_DEV, 6), -ETIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(helper_that_cannot_start), /* before this process has a starter */
		cmocka_unit_test(left_behind),
		cmocka_unit_test(gone),
		cmocka_unit_test(memory_takes_no_time_from_files),
		cmocka_unit_test(slow_file_system),
		cmocka_unit_test(helper_that_ends),
		cmocka_unit_test(helpers_that_never_close),
	};

	plain = page();
	unserved = page();
	strcpy(plain, "plain");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
