// SPDX-License-Identifier: BSD-3-Clause
/*
 * Asks helpers, leaves those behind that do not answer, and remembers which processes and file
 * systems did not.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/peer.h"
#include "base/vec.h"
#include "observe/process/remote.h"
#include "observe/process/remote_private.h"

#define SECOND 1000000000ull
#define ALONE_NS (60 * SECOND) /* then it is asked again: it may only have been slow */
#define WAITED_MAX (10 * SECOND) /* in that time; then all others get the short patience, too */
#define PATIENCE_S 2 /* more than a page from a slow swap takes */
#define STEP_NS (SECOND / 5)

/*
 * Waits in steps: if this process and the helper get no CPU for seconds, only one step is over, and
 * the helper still has the others to answer.
 */
#define PATIENCE (PATIENCE_S * SECOND / STEP_NS) /* without progress */
#define SHORT_PATIENCE 1 /* with a file system that has not answered in the last minute */
#define LONGEST (10 * PATIENCE) /* for an answer that makes progress */

#define HELPERS_MAX 256 /* left behind, or closing a file: each is a process */
#define LEFT_OF_DEV 8 /* then no file of that file system is opened until some are answered */
_Static_assert(HELPERS_MAX / LEFT_OF_DEV <= REMOTE_SHUNNED, "each has a place");

struct helper {
	struct channel *channel;
	int socket; /* for descriptors */
	uint64_t since; /* it is idle, ns */
};

/* A helper that was left behind. */
struct left {
	int socket; /* at its end when the helper ends */
	pid_t pid; /* whose memory it waits for; 0: nobody's */
	dev_t dev; /* of the file that it waits for; 0: unknown */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of these */
static int starter = -1;
static VEC(struct helper *) idle;
static VEC(struct left) left;
static uint64_t looked; /* when it was last looked which of these have ended, ns */
static bool too_many; /* helpers; was logged */
static struct map slow; /* processes that have delayed a read, until when they are left alone */
static struct map silent; /* file systems that have not answered, until when they get less time */
/*
 * Time spent on answers that did not come. It is kept apart, so that a process that delays reads of
 * its memory takes no time from files.
 */
static struct waited {
	uint64_t ns, since;
} waited_for_memory, waited_for_files;

bool remote_is_shunned(const struct remote_request *request, dev_t dev)
{
	for (size_t i = 0; dev && i < REMOTE_SHUNNED; i++)
		if (request->shunned[i] == dev)
			return true;
	return false;
}

void remote_start(void)
{
	if (starter >= 0)
		return;
	starter = peer_start(SOCK_SEQPACKET, "ucxbpf-helpers", remote_start_helpers);
	if (starter < 0)
		log_warn("processes and their files cannot be read: %s", strerror(-starter));
}

static void helper_free(struct helper *helper)
{
	munmap(helper->channel, sizeof(*helper->channel));
	close(helper->socket);
	free(helper);
}

/* NULL: it cannot be started. */
static struct helper *helper_new(void)
{
	struct channel *channel = MAP_FAILED;
	struct helper *helper;
	char nothing = 0;
	int ends[2], memory = memfd_create("channel", MFD_CLOEXEC);

	if (memory < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		if (memory >= 0)
			close(memory);
		return NULL;
	}
	/* the starter makes it as large as it is mapped */
	if (!ftruncate(memory, offsetof(struct channel, room)))
		channel =
			mmap(NULL, sizeof(*channel), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (channel != MAP_FAILED) {
		sem_init(&channel->asked, 1, 0);
		sem_init(&channel->done, 1, 0);
		if (peer_send(starter, (int[]){ memory, ends[1] }, 2,
			      &(struct iovec){ &nothing, 1 }, 1, 0) < 0) {
			munmap(channel, sizeof(*channel));
			channel = MAP_FAILED;
		}
	}
	close(memory);
	close(ends[1]);
	if (channel == MAP_FAILED) {
		close(ends[0]);
		return NULL;
	}
	helper = xmalloc(sizeof(*helper));
	*helper = (struct helper){ .channel = channel, .socket = ends[0] };
	return helper;
}

/* Whether the helper at the other end has ended, or never was. */
static bool is_gone(int socket)
{
	char nothing;
	const ssize_t got = recv(socket, &nothing, 1, MSG_PEEK | MSG_DONTWAIT);

	return got < 0 ? errno != EAGAIN && errno != EINTR : !got;
}

static size_t left_of(dev_t dev)
{
	size_t count = 0;

	for (size_t i = 0; i < left.len; i++)
		count += left.data[i].dev == dev;
	return count;
}

static void look_at_left(uint64_t now)
{
	size_t kept = 0;

	if (now - looked < STEP_NS)
		return;
	looked = now;
	for (size_t i = 0; i < left.len; i++) {
		if (is_gone(left.data[i].socket))
			close(left.data[i].socket);
		else
			left.data[kept++] = left.data[i];
	}
	left.len = kept;
}

static dev_t dev_of(const struct channel *channel)
{
	return __atomic_load_n(&channel->request.dev, __ATOMIC_ACQUIRE);
}

/* The helper ends once it gets its answer. The caller holds the lock. */
static void leave(struct helper *helper)
{
	const struct channel *channel = helper->channel;

	vec_push(&left, ((struct left){ helper->socket, channel->request.pid, dev_of(channel) }));
	munmap(helper->channel, sizeof(*helper->channel));
	free(helper);
}

/* The helper has answered, but the server of the file does not confirm that it is closed. */
static bool is_stuck(const struct helper *helper, uint64_t now)
{
	enum closing closing = CLOSING;

	return helper->since + PATIENCE_S * SECOND < now &&
	       __atomic_compare_exchange_n(&helper->channel->closing, &closing, CLOSING_LEFT, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void leave_stuck(uint64_t now)
{
	for (size_t i = idle.len; i-- > 0;) {
		struct helper *helper = idle.data[i];
		const dev_t dev = dev_of(helper->channel);

		if (!is_stuck(helper, now))
			continue;
		if (dev)
			*map_insert(&silent, dev, 0, NULL) = now + ALONE_NS;
		leave(helper);
		idle.data[i] = idle.data[--idle.len];
	}
}

static struct helper *idle_helper(void)
{
	for (size_t i = idle.len; i-- > 0;) {
		struct helper *helper = idle.data[i];

		if (__atomic_load_n(&helper->channel->closing, __ATOMIC_ACQUIRE))
			continue;
		idle.data[i] = idle.data[--idle.len];
		return helper;
	}
	return NULL;
}

/* False: there are too many helpers, and all of them wait. */
static bool is_room(void)
{
	const bool full = idle.len + left.len >= HELPERS_MAX;

	if (full && !too_many)
		log_warn("%d reads of files and memory are without an answer: until some have "
			 "one, what would be read is left out",
			 HELPERS_MAX);
	too_many = full;
	return !full;
}

static bool is_left_alone(pid_t pid, uint64_t now)
{
	const uint64_t *until = map_find(&slow, (uint64_t)pid, 0);

	if (until && now < *until)
		return true;
	for (size_t i = 0; i < left.len; i++)
		if (left.data[i].pid == pid)
			return true;
	return false;
}

static void shun(struct remote_request *request)
{
	size_t count = 0;

	for (size_t i = 0; left.len >= LEFT_OF_DEV && i < left.len; i++)
		if (left.data[i].dev && !remote_is_shunned(request, left.data[i].dev) &&
		    left_of(left.data[i].dev) >= LEFT_OF_DEV && count < REMOTE_SHUNNED)
			request->shunned[count++] = left.data[i].dev;
}

/* NULL and *error: -ETIME: the process is slow, or all helpers wait; -EAGAIN: none starts. */
static struct helper *helper_for(struct remote_request *request, int *error)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct helper *helper = NULL;

	*error = -ETIME;
	pthread_mutex_lock(&lock);
	remote_start();
	look_at_left(now);
	leave_stuck(now);
	shun(request);
	if ((!request->pid || !is_left_alone(request->pid, now)) &&
	    !remote_is_shunned(request, request->dev)) {
		helper = idle_helper();
		if (!helper && is_room()) {
			*error = -EAGAIN;
			helper = helper_new();
		}
	}
	pthread_mutex_unlock(&lock);
	return helper;
}

#define ROOM_KEPT (1u << 20) /* bytes */

static void helper_back(struct helper *helper, size_t used)
{
	if (used > ROOM_KEPT)
		madvise(helper->channel->room, REMOTE_ROOM, MADV_REMOVE);
	helper->since = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_lock(&lock);
	vec_push(&idle, helper);
	pthread_mutex_unlock(&lock);
}

static void leave_process(const struct remote_request *request, uint64_t now)
{
	const bool program = !strcmp(request->name, "exe");
	bool fresh;

	pthread_mutex_lock(&lock);
	*map_insert(&slow, (uint64_t)request->pid, 0, &fresh) = now + ALONE_NS;
	pthread_mutex_unlock(&lock);
	if (fresh)
		log_warn("process %d: a read of its %s takes more than %d s, as if nothing "
			 "served its %s: it is left alone for a minute at least",
			 request->pid, program ? "program" : "memory", PATIENCE_S,
			 program ? "file" : "pages");
}

static struct waited *waited_for(const struct remote_request *request)
{
	return request->pid ? &waited_for_memory : &waited_for_files;
}

/* The question was not answered within ns. is_short: nor was it given the full patience. */
static void note_silence(const struct remote_request *request, dev_t dev, uint64_t ns,
			 bool is_short)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct waited *waited = waited_for(request);

	pthread_mutex_lock(&lock);
	if (now - waited->since > ALONE_NS)
		*waited = (struct waited){ .since = now };
	waited->ns += ns;
	if (dev && !is_short)
		*map_insert(&silent, dev, 0, NULL) = now + ALONE_NS;
	pthread_mutex_unlock(&lock);
	if (request->pid)
		leave_process(request, now);
}

/* Whether the question gets the short patience only. */
static bool is_short_of_time(const struct remote_request *request, dev_t dev)
{
	const struct waited *waited = waited_for(request);
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const uint64_t *until;
	bool is_short;

	pthread_mutex_lock(&lock);
	until = dev ? map_find(&silent, dev, 0) : NULL;
	is_short = (until && now < *until) ||
		   (waited->ns >= WAITED_MAX && now - waited->since <= ALONE_NS);
	pthread_mutex_unlock(&lock);
	return is_short;
}

static bool ask(struct helper *helper, const struct remote_request *request)
{
	struct channel *channel = helper->channel;
	char nothing = 0;

	if (request->fd >= 0 &&
	    peer_send(helper->socket, &request->fd, 1, &(struct iovec){ &nothing, 1 }, 1, 0) < 0)
		return false;
	memcpy(&channel->request, request, sizeof(*request));
	__atomic_store_n(&channel->state, HELPER_ASKED, __ATOMIC_RELEASE);
	sem_post(&channel->asked);
	return true;
}

/* False: no answer by then. */
static bool is_done_by(struct channel *channel, uint64_t ns)
{
	const struct timespec until = { (time_t)(ns / SECOND), (long)(ns % SECOND) };

	while (sem_clockwait(&channel->done, CLOCK_MONOTONIC, &until))
		if (errno != EINTR)
			return false;
	return true;
}

/* 0, -ETIME, or -EAGAIN: the helper is gone. */
static int await_answer(const struct helper *helper, const struct remote_request *request,
			bool *is_short)
{
	struct channel *channel = helper->channel;
	uint64_t moved = 0;
	unsigned int last = 0; /* the step in which it was last seen to move */

	*is_short = false;
	for (unsigned int step = 1; step <= LONGEST; step++) {
		const uint64_t before = moved;

		if (is_done_by(channel, clock_ns(CLOCK_MONOTONIC) + STEP_NS))
			return __atomic_load_n(&channel->none, __ATOMIC_ACQUIRE) ? -EAGAIN : 0;
		if (is_gone(helper->socket))
			return -EAGAIN;
		moved = __atomic_load_n(&channel->request.moved, __ATOMIC_ACQUIRE);
		*is_short = is_short_of_time(request, dev_of(channel));
		if (moved != before)
			last = step;
		else if (step - last >= (*is_short ? SHORT_PATIENCE : PATIENCE))
			return -ETIME;
	}
	return -ETIME;
}

/* As above, but afterwards the helper is left behind or freed, unless there is an answer. */
static int wait_for(struct helper *helper, const struct remote_request *request)
{
	struct channel *channel = helper->channel;
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	bool is_short;
	const int err = await_answer(helper, request, &is_short);

	if (err == -EAGAIN)
		helper_free(helper);
	if (err != -ETIME)
		return err;
	if (!remote_settle(channel, HELPER_LEFT)) {
		remote_await(&channel->done);
		return 0;
	}
	note_silence(request, dev_of(channel), clock_ns(CLOCK_MONOTONIC) - begin, is_short);
	pthread_mutex_lock(&lock);
	leave(helper);
	pthread_mutex_unlock(&lock);
	return -ETIME;
}

static long take_answer(struct helper *helper, struct remote_request *request, void *buffer)
{
	const struct channel *channel = helper->channel;
	const size_t wanted = channel->request.fd_count;
	char nothing;

	request->fd_count = wanted;
	if (wanted) {
		const ssize_t got =
			peer_take(helper->socket, request->fds, &request->fd_count, &nothing, 1, 0);

		if (got <= 0 || request->fd_count != wanted) {
			peer_close(request->fds, request->fd_count);
			return -EMFILE;
		}
	}
	if (buffer && channel->result > 0)
		memcpy(buffer, channel->room, (size_t)channel->result);
	return channel->result;
}

long remote_ask(struct remote_request *request, void *buffer)
{
	struct helper *helper;
	long result;
	int err;

	if (request->size > REMOTE_ROOM)
		return -ENOMEM;
	helper = helper_for(request, &err);
	if (!helper)
		return err;
	if (!ask(helper, request)) {
		helper_free(helper);
		return -EAGAIN;
	}
	err = wait_for(helper, request);
	if (err)
		return err;
	result = take_answer(helper, request, buffer);
	helper_back(helper, result > 0 ? (size_t)result : 0);
	return result;
}
