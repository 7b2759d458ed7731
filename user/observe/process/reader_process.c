// SPDX-License-Identifier: BSD-3-Clause
/* Readers, and the process that starts them. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/peer.h"
#include "observe/process/elf_private.h"
#include "observe/process/reader_private.h"

#define ROOM_MAX (2ull << 30) /* memory of a reader, beside the files that it maps whole */

/* ---- a reader ---- */

static void limit(int resource, rlim_t most)
{
	setrlimit(resource, &(struct rlimit){ most, most });
}

struct open_files {
	VEC(struct elf *) all; /* by number; NULL: closed, or could not be read */
};

static long open_file(struct open_files *files, const struct order *order, int fd,
		      reader_answer *answer)
{
	struct elf *elf = NULL;
	int err = elf_parse(&elf, fd, order->file_size);

	while (files->all.len <= order->file)
		vec_push(&files->all, NULL);
	files->all.data[order->file] = elf;
	return err ? err : order->serve(elf, NULL, 0, answer);
}

static struct elf *file_of(const struct open_files *files, uint32_t number)
{
	return number < files->all.len ? files->all.data[number] : NULL;
}

static long carry_out(struct open_files *files, const struct order *order, int fd,
		      reader_answer *answer)
{
	struct elf *elf = file_of(files, order->file);

	if (order->kind == ORDER_OPEN)
		return open_file(files, order, fd, answer);
	return elf ? order->serve(elf, order->arguments, order->size, answer) : -EBADF;
}

static _Noreturn void read_files(int socket, pid_t starter)
{
	struct open_files files = { 0 };
	reader_answer answer = { 0 };
	struct order order;
	long result;
	int fd;

	prctl(PR_SET_NAME, "ucxbpf-reader");
	/* a reader that is busy with a file would not notice that the other processes have ended */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limit(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__ /* its shadow is larger */
	limit(RLIMIT_DATA, ROOM_MAX);
#endif
	if (getppid() != starter || !confine_to_parsing())
		_exit(1);
	while (wire_take(socket, &fd, &order, sizeof(order))) {
		if (order.kind == ORDER_CLOSE) {
			elf_free(file_of(&files, order.file));
			if (order.file < files.all.len)
				files.all.data[order.file] = NULL;
			continue;
		}
		answer.len = 0;
		result = carry_out(&files, &order, fd, &answer);
		if (fd >= 0)
			close(fd);
		if (!wire_send_answer(socket, result, &answer))
			break;
	}
	_exit(0);
}

/* ---- the process that starts readers ---- */

/* Its status, or -1: a read from a file system without an answer cannot be ended. */
static int end_process(pid_t pid)
{
	int status = -1;

	kill(pid, SIGKILL);
	for (int i = 0; i < 200; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(i < 20 ? 500 : 10000);
	}
	return -1;
}

/* *end: the tracer's end of its socket; negative: no reader was started. */
static pid_t start_reader(int orders, int *end)
{
	const pid_t starter = getpid();
	pid_t pid;

	*end = peer_fork(SOCK_STREAM, &pid);
	if (*end < 0)
		return -1;
	if (!pid) {
		close(orders);
		read_files(*end, starter);
	}
	return pid;
}

void readers_process(int orders)
{
	pid_t pids[READERS] = { 0 };
	struct rlimit descriptors;
	uint32_t number;
	int fd, end;

	/*
	 * SIGKILL to the tracer's process group is not for these. Not setsid(): a session has a
	 * share of the CPUs of its own (autogroups), and its tasks wait several times as long for
	 * one that the tracer's session keeps busy.
	 */
	setpgid(0, 0);
	/* if the tracer was started with this signal ignored, no child could be waited for */
	signal(SIGCHLD, SIG_DFL);
	/* descriptors on their way, of all processes of the user, count against this limit */
	if (!getrlimit(RLIMIT_NOFILE, &descriptors))
		limit(RLIMIT_NOFILE, descriptors.rlim_max);
	confine_to_starting();
	while (wire_take(orders, &fd, &number, sizeof(number)) && number < READERS) {
		struct started started = { .status = -1 };

		if (pids[number] > 0)
			started.status = end_process(pids[number]);
		pids[number] = started.pid = start_reader(orders, &end);
		/*
		 * refused if too many descriptors are on their way: then the answer has none, and
		 * there is no reader
		 */
		if (!wire_send(orders, end, &started, sizeof(started)) &&
		    !wire_send(orders, -1, &started, sizeof(started)))
			break;
		if (end >= 0)
			close(end);
	}
	/* readers end with this one */
}
