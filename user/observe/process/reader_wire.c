// SPDX-License-Identifier: BSD-3-Clause
/* Orders and answers on a reader's socket. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/peer.h"
#include "observe/process/reader_private.h"

#define SECOND 1000000000ull
#define CPU_NS (2 * SECOND) /* for an answer; a large file takes some ms */
#define WALL_NS (20 * SECOND) /* on a busy machine */
#define STILL_NS (4 * SECOND) /* without CPU time: the server of its file does not answer */

struct answer_head {
	int64_t result;
	uint64_t size;
};

#define FIRST_BYTES 4096 /* of an answer that come with its head: most are shorter */

struct first_part {
	struct answer_head head;
	uint8_t bytes[FIRST_BYTES];
};

/* Without a descriptor by send(), the one call to send that a reader may make. */
bool wire_send(int socket, int fd, const void *data, size_t size)
{
	ssize_t sent;

	if (fd >= 0) {
		sent = peer_send(socket, &fd, 1, &(struct iovec){ (void *)data, size }, 1, 0);
		if (sent < 0)
			return false;
		data = (const char *)data + sent;
		size -= (size_t)sent;
	}
	while (size) {
		sent = send(socket, data, size, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		data = (const char *)data + sent;
		size -= (size_t)sent;
	}
	return true;
}

bool wire_take(int socket, int *fd, void *data, size_t size)
{
	*fd = -1;
	while (size) {
		size_t count = *fd < 0;
		const ssize_t got = peer_take(socket, fd, &count, data, size, 0);

		if (got <= 0) {
			if (*fd >= 0)
				close(*fd);
			*fd = -1;
			return false;
		}
		data = (char *)data + got;
		size -= (size_t)got;
	}
	return true;
}

bool wire_send_answer(int socket, long result, const reader_answer *answer)
{
	struct first_part part;
	const size_t first = answer->len < FIRST_BYTES ? answer->len : FIRST_BYTES;

	part.head = (struct answer_head){ result, answer->len };
	if (first)
		memcpy(part.bytes, answer->data, first);
	return wire_send(socket, -1, &part, sizeof(part.head) + first) &&
	       (first == answer->len ||
		wire_send(socket, -1, answer->data + first, answer->len - first));
}

uint64_t wire_cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used))
		return 0;
	return (uint64_t)used.tv_sec * SECOND + (uint64_t)used.tv_nsec;
}

/* After a while without an answer. Most come before the first look at the clocks. */
static bool is_over(struct patience *patience)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC), cpu = wire_cpu_ns(patience->pid);

	if (!patience->began) {
		*patience = (struct patience){ patience->pid, now, cpu, now, cpu };
	} else if (cpu > patience->last) {
		patience->moved = now;
		patience->last = cpu;
	}
	return now - patience->began > WALL_NS || cpu - patience->first > CPU_NS ||
	       now - patience->moved > STILL_NS;
}

#define LOOK_MS 100

/* Receives at least so many bytes, and more while there is room. */
static enum outcome take(int socket, struct patience *patience, void *data, size_t least,
			 size_t most, size_t *size)
{
	struct pollfd event = { .fd = socket, .events = POLLIN };

	*size = 0;
	while (*size < least) {
		ssize_t got;

		if (poll(&event, 1, LOOK_MS) <= 0) {
			if (is_over(patience))
				return SLOW;
			continue;
		}
		got = recv(socket, (char *)data + *size, most - *size, MSG_DONTWAIT);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return ENDED;
		*size += (size_t)got;
		/* if bytes trickle in, poll() never times out */
		if (*size < least && is_over(patience))
			return SLOW;
	}
	return ANSWERED;
}

enum outcome wire_take_answer(int socket, bool others, struct patience *patience, long *result,
			      reader_answer *answer)
{
	struct first_part part;
	size_t size, first, rest;
	enum outcome outcome = take(socket, patience, &part, sizeof(part.head),
				    others ? sizeof(part.head) : sizeof(part), &size);

	answer->len = 0;
	if (outcome)
		return outcome;
	first = size - sizeof(part.head);
	if (part.head.size > READER_ANSWER || first > part.head.size || part.head.result < -4095 ||
	    part.head.result > INT32_MAX)
		return INVALID;
	rest = part.head.size - first;
	vec_reserve(answer, part.head.size);
	if (first)
		memcpy(answer->data, part.bytes, first);
	if (rest)
		outcome = take(socket, patience, answer->data + first, rest, rest, &size);
	answer->len = outcome ? 0 : part.head.size;
	*result = (long)part.head.result;
	return outcome;
}
