// SPDX-License-Identifier: BSD-3-Clause
#include "observe/probe/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/peer.h"

#define MAX_CLOSERS 32
#define MAX_ORDER (128 << 10)

/*
 * An order to place probes; offsets and cookies follow. Three descriptors come with it: for the
 * answer, of the program, of the file. An order to remove is one descriptor, of a socket that holds
 * the links, and a byte.
 */
struct placing_order {
	int32_t type, pid;
	uint32_t at_return, perf, count;
};

struct keeper_message {
	void *body; /* the receiver's room for it */
	size_t room, size;
	size_t fd_count;
	int fds[PEER_FDS_MAX];
};

static bool pass(int socket, const int *fds, size_t count)
{
	char nothing = 0;

	return peer_send(socket, fds, count, &(struct iovec){ &nothing, 1 }, 1, 0) > 0;
}

/* False: no more will come. */
static bool take(int socket, struct keeper_message *to)
{
	ssize_t got;

	to->fd_count = PEER_FDS_MAX;
	got = peer_take(socket, to->fds, &to->fd_count, to->body, to->room, 0);
	to->size = got > 0 ? (size_t)got : 0;
	return got > 0;
}

/* ---- the keeper ---- */

/* One keeper_close_begin(), shared by threads: the kernel's waits overlap. */
struct removal {
	int answer;
	size_t count, next;
	size_t users; /* the last one frees */
	int fds[];
};

static int removals; /* under way */

static void removal_put(struct removal *removal)
{
	uint64_t now;

	if (__atomic_sub_fetch(&removal->users, 1, __ATOMIC_ACQ_REL))
		return;
	now = clock_ns(CLOCK_MONOTONIC);
	send(removal->answer, &now, sizeof(now), MSG_NOSIGNAL);
	close(removal->answer);
	free(removal);
	__atomic_sub_fetch(&removals, 1, __ATOMIC_ACQ_REL);
}

static void *close_some(void *arg)
{
	struct removal *removal = arg;
	size_t i;

	while ((i = __atomic_fetch_add(&removal->next, 1, __ATOMIC_RELAXED)) < removal->count)
		close(removal->fds[i]);
	removal_put(removal);
	return NULL;
}

static struct removal *removal_take(int from, struct keeper_message *message)
{
	struct removal *removal = xcalloc(1, sizeof(*removal));

	while (take(from, message)) {
		size_t size = message->fd_count * sizeof(int);

		removal = xreallocarray(removal,
					sizeof(*removal) + removal->count * sizeof(int) + size, 1);
		memcpy(removal->fds + removal->count, message->fds, size);
		removal->count += message->fd_count;
	}
	removal->answer = from;
	removal->users = 1;
	__atomic_add_fetch(&removals, 1, __ATOMIC_ACQ_REL);
	return removal;
}

static void removal_start(struct removal *removal)
{
	for (size_t i = 0; i < MAX_CLOSERS && i < removal->count; i++) {
		pthread_t thread;

		__atomic_add_fetch(&removal->users, 1, __ATOMIC_RELAXED);
		if (pthread_create(&thread, NULL, close_some, removal))
			close_some(removal);
		else
			pthread_detach(thread);
	}
	removal_put(removal);
}

static int create(bool perf, int prog_fd, int type, bool at_return,
		  const struct link_target *target)
{
	return perf ? link_perf(prog_fd, at_return, target)
		    : link_multi(prog_fd, type, at_return, target);
}

/* Answers with the link or the error. */
static void place(const struct keeper_message *order)
{
	int answer = order->fds[0], prog_fd = order->fds[1], file = order->fds[2];
	char path[32];
	const struct placing_order *placing = order->body;
	const uint64_t *offsets = (const uint64_t *)(placing + 1);
	struct link_target target = { .path = path,
				      .offsets = offsets,
				      .cookies = offsets + placing->count,
				      .count = placing->count,
				      .pid = placing->pid };
	int link, err;

	/* the tracer's path may name its own descriptors */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	link = create(placing->perf, prog_fd, placing->type, placing->at_return, &target);
	err = link < 0 ? link : 0;
	peer_send(answer, &link, link >= 0, &(struct iovec){ &err, sizeof(err) }, 1, 0);
	if (link >= 0)
		close(link);
	peer_close(order->fds, order->fd_count);
}

/* Carries out orders until the tracer is gone, its last ones included. */
static void keep(int orders)
{
	static _Alignas(struct placing_order) char order[MAX_ORDER];
	struct keeper_message message = { .body = order, .room = sizeof(order) };

	/* SIGKILL to the tracer's process group is not for this one */
	setsid();
	while (take(orders, &message)) {
		bool placing = message.size >= sizeof(struct placing_order);

		if (placing && message.fd_count == 3)
			place(&message);
		else if (!placing && message.fd_count == 1)
			removal_start(removal_take(message.fds[0], &message));
		else /* there was no room for the descriptors: the tracer finds its socket closed */
			peer_close(message.fds, message.fd_count);
	}
	while (__atomic_load_n(&removals, __ATOMIC_ACQUIRE))
		usleep(1000);
}

/* The keeper's socket in the tracer; negative: there is none. */
static int keeper = -1;

void keeper_start(void)
{
	if (keeper < 0)
		keeper = peer_start(SOCK_SEQPACKET, "ucxbpf-keeper", keep);
}

/* ---- its tracer ---- */

struct link_closing {
	int answer; /* the keeper writes when all were closed; -1: closed here already */
	uint64_t began, done; /* ns */
};

/* False: the keeper cannot be asked. */
static bool ask_to_place(const struct placing_order *placing, int prog_fd,
			 const struct link_target *target, int *link)
{
	size_t words = target->count * sizeof(uint64_t);
	struct iovec order[] = { { (void *)placing, sizeof(*placing) },
				 { (void *)target->offsets, words },
				 { (void *)target->cookies, words } };
	int ends[2], err, file;
	struct keeper_message answer = { .body = &err, .room = sizeof(err) };
	bool asked;

	if (keeper < 0 || sizeof(*placing) + 2 * words > MAX_ORDER ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	file = open(target->path, O_PATH | O_CLOEXEC);
	asked = file >= 0 &&
		peer_send(keeper, (int[]){ ends[1], prog_fd, file }, 3, order, 3, 0) > 0;
	if (file >= 0)
		close(file);
	close(ends[1]);
	asked = asked && take(ends[0], &answer) && answer.size == sizeof(err);
	if (asked) /* a link that is missing found no room in the tracer's table of descriptors */
		*link = answer.fd_count ? answer.fds[0] : err ? err : -EMFILE;
	close(ends[0]);
	return asked;
}

int keeper_place(bool perf, int prog_fd, int attach_type, bool at_return,
		 const struct link_target *target)
{
	struct placing_order placing = { attach_type, target->pid, at_return, perf, target->count };
	int link;

	return ask_to_place(&placing, prog_fd, target, &link)
		       ? link
		       : create(perf, prog_fd, attach_type, at_return, target);
}

/*
 * Links wait in a socket that nobody reads until our own descriptors of them are closed, so that
 * the keeper's are always the last ones.
 */
static bool hand_over(struct link_closing *closing, const int *fds, size_t count)
{
	int ends[2];
	size_t passed = 0;

	if (keeper < 0 || !count || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	while (passed < count) {
		size_t n = count - passed < PEER_FDS_MAX ? count - passed : PEER_FDS_MAX;

		if (!pass(ends[0], fds + passed, n))
			break;
		peer_close(fds + passed, n);
		passed += n;
	}
	peer_close(fds + passed, count - passed);
	shutdown(ends[0], SHUT_WR);
	pass(keeper, &ends[1], 1);
	close(ends[1]);
	closing->answer = ends[0];
	return true;
}

struct link_closing *keeper_close_begin(const int *fds, size_t count)
{
	struct link_closing *closing = xcalloc(1, sizeof(*closing));

	closing->began = closing->done = clock_ns(CLOCK_MONOTONIC);
	closing->answer = -1;
	if (hand_over(closing, fds, count))
		return closing;
	peer_close(fds, count);
	closing->done = clock_ns(CLOCK_MONOTONIC);
	return closing;
}

uint64_t keeper_close_wait(struct link_closing *closing)
{
	uint64_t took, done;
	ssize_t got;

	if (!closing)
		return 0;
	if (closing->answer >= 0) {
		while ((got = recv(closing->answer, &done, sizeof(done), 0)) < 0 && errno == EINTR)
			;
		closing->done = got == sizeof(done) ? done : clock_ns(CLOCK_MONOTONIC);
		close(closing->answer);
	}
	took = closing->done - closing->began;
	free(closing);
	return took;
}
