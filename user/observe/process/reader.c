// SPDX-License-Identifier: BSD-3-Clause
/* Asks readers, and replaces those that ended. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/confine.h"
#include "base/log.h"
#include "base/map.h"
#include "base/peer.h"
#include "observe/process/bounds.h"
#include "observe/process/reader_private.h"

#define TAKES_S 4 /* a reader an order; it waits for them */
#define STARTS_S 30 /* a reader in the place of one that has to be ended, on a busy machine */
#define AWAITED_MAX 32 /* orders that fit into a socket, so that neither end waits for room */
#define SLOW_MAX 4 /* files of one owner; each one holds the tracer up for seconds */

struct elf_reader {
	bool runs;
	uint64_t owner; /* of its files */
	int socket;
	pid_t pid;
	uint64_t life; /* number of its start */
	uint32_t files; /* opened so far */
	uint64_t used; /* CPU time when it last gave an answer, ns */
	VEC(struct reader_file *) awaited; /* whose first answers come next, in this order */
};

struct reader_file {
	int fd;
	uint64_t size;
	uint64_t owner;
	char *name;
	reader_service first; /* answered as it is opened */
	uint64_t life; /* of the reader that has it open, 0: none yet */
	uint32_t number;
	int error; /* nobody looks at it any more */
	uint64_t used, allowed; /* CPU time of answers about it, and for the answers' bytes; ns */
	enum { NOT_ASKED, AWAITED, HAS_COME } state; /* of its first answer, which is: */
	long result;
	reader_answer answer;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all this */
static int starter = -1;
static struct elf_reader readers[READERS];
static uint64_t lives;
static struct map slow; /* by owner: how many files took too long */
static bool gone; /* the starter, and with it all of them */

static void limit_time(int socket, int which, time_t seconds)
{
	setsockopt(socket, SOL_SOCKET, which, &(struct timeval){ .tv_sec = seconds },
		   sizeof(struct timeval));
}

void readers_start(void)
{
	int end;

	if (starter >= 0)
		return;
	if (!confine_has_filters())
		log_warn("this kernel cannot refuse system calls: readers of foreign files only "
			 "give up all capabilities");
	end = peer_start(SOCK_STREAM, "ucxbpf-readers", readers_process);
	if (end < 0) {
		log_warn("the tracer reads foreign files itself: %s", strerror(-end));
		return;
	}
	limit_time(end, SO_RCVTIMEO, STARTS_S);
	starter = end;
}

bool readers_started(void)
{
	return starter >= 0;
}

/* False: there is no other one. */
static bool restart(struct elf_reader *reader, struct started *started)
{
	const uint32_t number = (uint32_t)(reader - readers);

	for (size_t i = 0; i < reader->awaited.len; i++)
		reader->awaited.data[i]->state = NOT_ASKED;
	reader->awaited.len = 0;
	if (reader->runs)
		close(reader->socket);
	reader->socket = -1;
	if (!wire_send(starter, -1, &number, sizeof(number)) ||
	    !wire_take(starter, &reader->socket, started, sizeof(*started))) {
		if (!gone)
			log_warn("the process that starts readers of files has ended: files that "
				 "are not known by now are left out");
		gone = true;
		/* one that is late would answer to the wrong question */
		shutdown(starter, SHUT_RDWR);
	}
	reader->runs = reader->socket >= 0;
	reader->pid = started->pid;
	reader->life = ++lives;
	reader->files = 0;
	reader->used = 0;
	if (reader->runs)
		limit_time(reader->socket, SO_SNDTIMEO, TAKES_S);
	return reader->runs;
}

static struct elf_reader *reader_of(uint64_t owner)
{
	struct elf_reader *unused = NULL;

	for (size_t i = 0; i < READERS; i++) {
		if (readers[i].runs && readers[i].owner == owner)
			return &readers[i];
		if (!readers[i].runs && !unused)
			unused = &readers[i];
	}
	unused = unused ? unused : &readers[owner % READERS];
	if (!restart(unused, &(struct started){ 0 }))
		return NULL;
	unused->owner = owner;
	return unused;
}

/* NULL: none, or another one by now. */
static struct elf_reader *reader_with(const struct reader_file *file)
{
	for (size_t i = 0; i < READERS; i++)
		if (file->life && readers[i].runs && readers[i].life == file->life)
			return &readers[i];
	return NULL;
}

/* Orders wait for room only where a reader takes none. */
static bool give(const struct elf_reader *reader, const struct order *order, int fd)
{
	return wire_send(reader->socket, fd, order, sizeof(*order));
}

/* The file is open in that reader once it answers. */
static bool give_file(struct elf_reader *reader, struct reader_file *file)
{
	const struct order order = { .kind = ORDER_OPEN,
				     .file = reader->files,
				     .file_size = file->size,
				     .serve = file->first };

	file->life = reader->life;
	file->number = reader->files++;
	return give(reader, &order, file->fd);
}

static enum outcome take(const struct elf_reader *reader, long *result, reader_answer *answer)
{
	struct patience patience = { .pid = reader->pid };

	return wire_take_answer(reader->socket, reader->awaited.len > 1, &patience, result, answer);
}

#define NO_ANSWER "the reader gave no valid answer"

static bool is_left_out(uint64_t owner)
{
	const uint64_t *count = map_find(&slow, owner, 0);

	return count && *count >= SLOW_MAX;
}

static void note_slow(const struct reader_file *file)
{
	uint64_t *count = map_insert(&slow, file->owner, 0, NULL);

	if (++*count == SLOW_MAX)
		log_warn(
			"%d files of the owner of %s took too long: other files are left out unless "
			"they are read already",
			SLOW_MAX, file->name);
}

static void give_up(struct reader_file *file, enum outcome outcome, int status)
{
	char why[64];

	if (outcome == SLOW)
		snprintf(why, sizeof(why), "its reader took too long");
	else if (outcome == INVALID)
		snprintf(why, sizeof(why), NO_ANSWER);
	else if (status >= 0 && WIFSIGNALED(status))
		snprintf(why, sizeof(why), "the reader ended by signal %d", WTERMSIG(status));
	else
		snprintf(why, sizeof(why), "the reader ended");
	log_printf(gone ? LOG_DEBUG : LOG_WARN, "%s could not be read: %s", file->name, why);
	if (outcome == SLOW)
		note_slow(file);
	file->error = -EREMOTEIO;
}

/* Each answer may be short of what ends a reader. False: all of them together took too long. */
static bool note_time(struct elf_reader *reader, struct reader_file *file, size_t answered)
{
	const uint64_t used = wire_cpu_ns(reader->pid);

	if (used > reader->used)
		file->used += used - reader->used;
	reader->used = used;
	file->allowed += answered * BOUNDS_FILE_BYTE_NS;
	return file->used <= BOUNDS_FILE_NS + file->allowed;
}

/* One that is not answered since its reader ended is asked anew. */
static void take_first(struct elf_reader *reader)
{
	struct reader_file *file = reader->awaited.data[0];
	struct started started = { .status = -1 };
	enum outcome outcome = take(reader, &file->result, &file->answer);

	if (outcome) {
		restart(reader, &started);
		if (outcome != ENDED)
			give_up(file, outcome, started.status);
		return;
	}
	/* others may have been answered since: none of that is held against one file */
	reader->used = wire_cpu_ns(reader->pid);
	file->state = HAS_COME;
	memmove(reader->awaited.data, reader->awaited.data + 1,
		--reader->awaited.len * sizeof(*reader->awaited.data));
}

/* The next answer is that to the next question. NULL: there is no reader. */
static struct elf_reader *free_reader(uint64_t owner)
{
	struct elf_reader *reader = reader_of(owner);

	while (reader && reader->awaited.len)
		take_first(reader);
	return reader && reader->runs ? reader : NULL;
}

/* order NULL: opens the file alone. A reader may have been ended by others: it gets two tries. */
static long ask(struct reader_file *file, struct order *order, reader_answer *answer)
{
	enum outcome outcome = ENDED;
	struct started started = { .status = -1 };
	long result = -EREMOTEIO;

	if (is_left_out(file->owner))
		return file->error = -EREMOTEIO;
	for (int tries = 0; tries < 2 && outcome == ENDED; tries++) {
		struct elf_reader *reader = free_reader(file->owner);

		if (!reader)
			break;
		outcome = ANSWERED;
		if (!order || file->life != reader->life)
			outcome = give_file(reader, file) ? take(reader, &result, answer) : ENDED;
		if (!outcome && order) {
			order->file = file->number;
			outcome = give(reader, order, -1) ? take(reader, &result, answer) : ENDED;
		}
		if (!outcome && !note_time(reader, file, answer->len))
			outcome = SLOW;
		else if (outcome)
			restart(reader, &started);
	}
	if (outcome) {
		give_up(file, outcome, started.status);
		return file->error;
	}
	return result;
}

/* Where that is not possible now, reader_file_opened() asks. */
static void ask_ahead(struct reader_file *file)
{
	struct elf_reader *reader = is_left_out(file->owner) ? NULL : reader_of(file->owner);

	if (!reader || reader->awaited.len == AWAITED_MAX)
		return;
	if (!give_file(reader, file)) {
		restart(reader, &(struct started){ 0 });
		return;
	}
	file->state = AWAITED;
	vec_push(&reader->awaited, file);
}

struct reader_file *reader_file_open(int fd, uint64_t size, uint64_t owner, const char *name,
				     reader_service serve)
{
	struct reader_file *file = xcalloc(1, sizeof(*file));

	*file = (struct reader_file){ fd, size, owner, .name = xstrdup(name), .first = serve };
	pthread_mutex_lock(&lock);
	ask_ahead(file);
	pthread_mutex_unlock(&lock);
	return file;
}

static void await(struct reader_file *file)
{
	while (file->state == AWAITED)
		take_first(reader_with(file));
}

long reader_file_opened(struct reader_file *file, reader_answer *answer)
{
	long result;

	vec_release(answer);
	pthread_mutex_lock(&lock);
	await(file);
	result = file->error;
	if (file->state == HAS_COME) {
		result = file->result;
		*answer = file->answer;
		file->answer = (reader_answer){ 0 };
	} else if (!result) {
		result = ask(file, NULL, answer);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

void reader_file_close(struct reader_file *file)
{
	const struct order order = { .kind = ORDER_CLOSE, .file = file->number };
	const struct elf_reader *reader;

	pthread_mutex_lock(&lock);
	await(file);
	reader = reader_with(file);
	if (reader)
		send(reader->socket, &order, sizeof(order), MSG_NOSIGNAL | MSG_DONTWAIT);
	pthread_mutex_unlock(&lock);
	vec_release(&file->answer);
	free(file->name);
	free(file);
}

long reader_file_ask(struct reader_file *file, reader_service serve, const void *arguments,
		     size_t size, reader_answer *answer)
{
	struct order order = { .kind = ORDER_ASK, .serve = serve, .size = size };
	long result = file->error;

	answer->len = 0;
	if (result)
		return result;
	if (size > sizeof(order.arguments))
		return -E2BIG;
	if (size)
		memcpy(order.arguments, arguments, size);
	pthread_mutex_lock(&lock);
	result = ask(file, &order, answer);
	pthread_mutex_unlock(&lock);
	return result;
}

int reader_file_refuse(struct reader_file *file)
{
	struct elf_reader *reader;

	pthread_mutex_lock(&lock);
	reader = reader_with(file);
	if (reader)
		restart(reader, &(struct started){ 0 });
	if (!file->error)
		log_warn("%s could not be read: " NO_ANSWER, file->name);
	file->error = -EREMOTEIO;
	pthread_mutex_unlock(&lock);
	return file->error;
}
