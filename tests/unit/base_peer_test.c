// SPDX-License-Identifier: BSD-3-Clause
/* Descriptors between processes: none is lost, none stays open that nobody has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/peer.h"

#define FILES 300 /* more than a message carries */
#define FDS_END 1024 /* above all descriptors here */

struct bed {
	int ends[2];
	int files[FILES];
	unsigned int open; /* descriptors, these included */
};

static unsigned int descriptors(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < FDS_END; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void begin(struct bed *bed, int type)
{
	assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, bed->ends), 0);
	for (size_t i = 0; i < FILES; i++) {
		bed->files[i] = memfd_create("file", 0);
		assert_true(bed->files[i] >= 0 && bed->files[i] < FDS_END / 2);
	}
	bed->open = descriptors();
}

static void end(const struct bed *bed)
{
	assert_int_equal(descriptors(), bed->open);
	peer_close(bed->ends, 2);
	peer_close(bed->files, FILES);
}

static void send_ok(const struct bed *bed, size_t count, const char *body)
{
	const struct iovec part = { (void *)body, strlen(body) };

	assert_int_equal(peer_send(bed->ends[0], bed->files, count, &part, 1, 0), part.iov_len);
}

/* They are the first of the files, and go no further than this program. */
static void expect_files(const struct bed *bed, const int *fds, size_t count)
{
	struct stat sent, came;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(fstat(bed->files[i], &sent), 0);
		assert_int_equal(fstat(fds[i], &came), 0);
		assert_int_equal(came.st_ino, sent.st_ino);
		assert_int_equal(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
	}
}

/* Receives with room for so many; the body and so many must come. */
static void take_ok(const struct bed *bed, size_t room, size_t wanted, const char *body)
{
	int fds[PEER_FDS_MAX];
	char text[16];
	size_t count = room;

	assert_int_equal(peer_take(bed->ends[1], fds, &count, text, sizeof(text), MSG_DONTWAIT),
			 strlen(body));
	assert_memory_equal(text, body, strlen(body));
	assert_int_equal(count, wanted);
	assert_int_equal(descriptors(), bed->open + wanted);
	expect_files(bed, fds, wanted);
	peer_close(fds, count);
}

static void round_trip(int type)
{
	static const size_t counts[] = { 0, 1, 2, 3, PEER_FDS_MAX };
	char two[] = "two ", more[] = "parts";
	const struct iovec parts[] = { { two, 4 }, { more, 5 } };
	struct bed bed;

	begin(&bed, type);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		send_ok(&bed, counts[i], "body");
		take_ok(&bed, counts[i], counts[i], "body");
	}
	assert_int_equal(peer_send(bed.ends[0], bed.files, 1, parts, 2, 0), 9);
	take_ok(&bed, 1, 1, "two parts");
	end(&bed);
}

static void test_round_trip(void **state)
{
	(void)state;
	round_trip(SOCK_SEQPACKET);
	round_trip(SOCK_STREAM);
}

static void test_wrong_count(void **state)
{
	struct bed bed;
	size_t count = 1;
	int fd;
	char byte = 0;

	(void)state;
	begin(&bed, SOCK_SEQPACKET);
	send_ok(&bed, 1, "fewer");
	take_ok(&bed, 3, 1, "fewer");
	/* of 2 the second would fit into the padding of the first */
	for (size_t room = 0; room < 4; room++) {
		send_ok(&bed, 4, "more");
		take_ok(&bed, room, room, "more");
	}
	assert_int_equal(peer_send(bed.ends[0], bed.files, PEER_FDS_MAX + 1,
				   &(struct iovec){ &byte, 1 }, 1, 0),
			 -E2BIG);
	assert_int_equal(peer_take(bed.ends[1], &fd, &count, &byte, 1, MSG_DONTWAIT), -EAGAIN);
	assert_int_equal(count, 0);
	end(&bed);
}

static void test_truncated(void **state)
{
	struct bed bed;
	int fds[3];
	size_t count = 3;
	char text[4];

	(void)state;
	begin(&bed, SOCK_SEQPACKET);
	send_ok(&bed, 3, "longer");
	send_ok(&bed, 2, "next");
	assert_int_equal(peer_take(bed.ends[1], fds, &count, text, sizeof(text), 0), -EMSGSIZE);
	assert_int_equal(count, 0);
	assert_int_equal(descriptors(), bed.open);
	take_ok(&bed, 3, 2, "next");
	end(&bed);
}

/* A stream goes on where a part was taken; its descriptors came with the first byte. */
static void test_parts_of_stream(void **state)
{
	struct bed bed;
	int fd;
	size_t count = 1;
	char text[4];

	(void)state;
	begin(&bed, SOCK_STREAM);
	send_ok(&bed, 1, "longer");
	assert_int_equal(peer_take(bed.ends[1], &fd, &count, text, sizeof(text), 0), 4);
	assert_int_equal(count, 1);
	expect_files(&bed, &fd, 1);
	close(fd);
	take_ok(&bed, 1, 0, "er");
	end(&bed);
}

/* The receiver's table of descriptors has room for one more. */
static void test_full_table(void **state)
{
	struct rlimit before, few;
	struct bed bed;
	int next;

	(void)state;
	begin(&bed, SOCK_SEQPACKET);
	getrlimit(RLIMIT_NOFILE, &before);
	next = dup(bed.files[0]);
	close(next);
	few = before;
	few.rlim_cur = (rlim_t)next + 1;
	send_ok(&bed, 3, "one");
	send_ok(&bed, 3, "none");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	take_ok(&bed, 3, 1, "one");
	few.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	take_ok(&bed, 3, 0, "none");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	end(&bed);
}

static void test_not_waiting(void **state)
{
	char x = 'x';
	const struct iovec part = { &x, 1 };
	struct bed bed;
	size_t count = 1, sent = 0;
	ssize_t err;
	int fd;
	char byte = 0;

	(void)state;
	begin(&bed, SOCK_SEQPACKET);
	assert_int_equal(peer_take(bed.ends[1], &fd, &count, &byte, 1, MSG_DONTWAIT), -EAGAIN);
	while ((err = peer_send(bed.ends[0], bed.files, 1, &part, 1, MSG_DONTWAIT)) == 1)
		assert_true(++sent < 100000);
	assert_true(sent > 0);
	assert_int_equal(err, -EAGAIN);
	while (sent--)
		take_ok(&bed, 1, 1, "x");
	end(&bed);
}

static void test_other_end_closed(void **state)
{
	struct bed bed;
	size_t count = 1;
	int fd;
	char byte = 0;

	(void)state;
	begin(&bed, SOCK_SEQPACKET);
	close(bed.ends[0]);
	assert_int_equal(peer_take(bed.ends[1], &fd, &count, &byte, 1, 0), 0);
	assert_int_equal(count, 0);
	assert_int_equal(peer_send(bed.ends[1], bed.files, 1, &(struct iovec){ &byte, 1 }, 1, 0),
			 -EPIPE);
	bed.ends[0] = dup(bed.ends[1]);
	end(&bed);
}

/* Sends back what comes, until the other end is closed: it does not hold that itself. */
static _Noreturn void echo(int socket)
{
	size_t count = 1, passed = 0;
	char byte;
	int fd;

	while (peer_take(socket, &fd, &count, &byte, 1, 0) > 0) {
		if (count != 1 || peer_send(socket, &fd, 1, &(struct iovec){ &byte, 1 }, 1, 0) != 1)
			_exit(1);
		close(fd);
		passed++;
	}
	_exit(passed == 2 ? 0 : 2);
}

static void test_fork(void **state)
{
	const unsigned int before = descriptors();
	struct rlimit limit, few;
	struct bed bed;
	int socket, status;
	pid_t pid;

	(void)state;
	socket = peer_fork(SOCK_SEQPACKET, &pid);
	if (socket >= 0 && !pid)
		echo(socket);
	assert_true(socket >= 0);
	assert_int_equal(descriptors(), before + 1);
	begin(&bed, SOCK_SEQPACKET);
	peer_close(bed.ends, 2);
	bed.ends[0] = bed.ends[1] = socket;
	bed.open -= 2;
	for (size_t i = 0; i < 2; i++) {
		int fd;
		size_t count = 1;
		char byte;

		send_ok(&bed, 1, "y");
		assert_int_equal(peer_take(socket, &fd, &count, &byte, 1, 0), 1);
		assert_int_equal(byte, 'y');
		assert_int_equal(count, 1);
		expect_files(&bed, &fd, 1);
		close(fd);
	}
	peer_close(bed.files, FILES);
	close(socket);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(descriptors(), before);
	getrlimit(RLIMIT_NOFILE, &limit);
	few = limit;
	few.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(peer_fork(SOCK_STREAM, &pid), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(descriptors(), before);
}

/* What a started process is like, as it sees itself. */
struct seen {
	char name[16];
	unsigned int descriptors; /* above those that a sanitizer may write to */
	bool all_blocked; /* of the signals that would end it */
};

static void look(int socket)
{
	static const int ending[] = { SIGHUP, SIGINT, SIGTERM, SIGALRM, SIGPIPE };
	struct seen seen = { .all_blocked = true };
	sigset_t blocked;

	for (int fd = STDERR_FILENO + 1; fd < FDS_END; fd++)
		seen.descriptors += fcntl(fd, F_GETFD) >= 0;
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		seen.all_blocked = seen.all_blocked && sigismember(&blocked, ending[i]) == 1;
	prctl(PR_GET_NAME, seen.name);
	peer_send(socket, NULL, 0, &(struct iovec){ &seen, sizeof(seen) }, 1, 0);
}

static void test_start(void **state)
{
	struct seen seen;
	struct bed bed;
	int socket, status;
	size_t none = 0;

	(void)state;
	begin(&bed, SOCK_SEQPACKET);
	socket = peer_start(SOCK_SEQPACKET, "started", look);
	assert_true(socket >= 0);
	assert_int_equal(peer_take(socket, NULL, &none, &seen, sizeof(seen), 0), sizeof(seen));
	assert_string_equal(seen.name, "started");
	assert_int_equal(seen.descriptors, 1);
	assert_true(seen.all_blocked);
	/* it ends as look() returns */
	assert_int_equal(peer_take(socket, NULL, &none, &seen, sizeof(seen), 0), 0);
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
	close(socket);
	end(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_wrong_count),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_parts_of_stream),
		cmocka_unit_test(test_full_table),
		cmocka_unit_test(test_not_waiting),
		cmocka_unit_test(test_other_end_closed),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
