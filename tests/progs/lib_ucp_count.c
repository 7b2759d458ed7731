// SPDX-License-Identifier: BSD-3-Clause
/*
 * A second opinion on UCP operations, with no ucxbpf in it: preloaded before a program that calls
 * UCP directly, it counts the operations that carry data, by the names that reports have. Written
 * to $WITNESS/PID at exit, "OPERATION COUNT" each. With $WITNESS_NOW, the file PID there has the
 * counts of that moment: a 64-bit number for each name.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef uintptr_t word;
typedef word (*function)(word, word, word, word, word, word);

enum operation {
	TAG_SEND,
	TAG_SEND_SYNC,
	TAG_RECV,
	STREAM_SEND,
	AM_SEND,
	PUT,
	GET,
	ATOMIC,
	OPERATIONS
};

static const char *const names[] = { "tag_send", "tag_send_sync", "tag_recv", "stream_send",
				     "am_send",  "put",           "get",      "atomic" };
static uint64_t own_counts[OPERATIONS], *counts = own_counts;

__attribute__((constructor)) static void share_counts(void)
{
	const char *folder = getenv("WITNESS_NOW");
	char path[4096];
	void *shared;
	int fd;

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/%d", folder, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(own_counts)))
		abort();
	shared = mmap(NULL, sizeof(own_counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		abort();
	counts = shared;
	close(fd);
}

/* All arguments are words in registers. Prototypes of ucp.h have other types. */
#define COUNTED(name, operation)                                                                   \
	word name(word a, word b, word c, word d, word e, word f);                                 \
	word name(word a, word b, word c, word d, word e, word f)                                  \
	{                                                                                          \
		static function next;                                                              \
                                                                                                   \
		if (!next)                                                                         \
			next = (function)dlsym(RTLD_NEXT, #name);                                  \
		__atomic_fetch_add(&counts[operation], 1, __ATOMIC_RELAXED);                       \
		return next(a, b, c, d, e, f);                                                     \
	}

COUNTED(ucp_tag_send_nbx, TAG_SEND)
COUNTED(ucp_tag_send_sync_nbx, TAG_SEND_SYNC)
COUNTED(ucp_tag_recv_nbx, TAG_RECV)
COUNTED(ucp_stream_send_nbx, STREAM_SEND)
COUNTED(ucp_put_nbx, PUT)
COUNTED(ucp_get_nbx, GET)
COUNTED(ucp_atomic_op_nbx, ATOMIC)

/* The seventh argument is on the stack. */
word ucp_am_send_nbx(word a, word b, word c, word d, word e, word f, word g);
word ucp_am_send_nbx(word a, word b, word c, word d, word e, word f, word g)
{
	static word (*next)(word, word, word, word, word, word, word);

	if (!next)
		next = (word(*)(word, word, word, word, word, word, word))dlsym(RTLD_NEXT,
										__func__);
	__atomic_fetch_add(&counts[AM_SEND], 1, __ATOMIC_RELAXED);
	return next(a, b, c, d, e, f, g);
}

__attribute__((destructor)) static void write_counts(void)
{
	const char *folder = getenv("WITNESS");
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%d", folder ? folder : ".", getpid());
	file = fopen(path, "we");
	if (!file)
		return;
	for (int i = 0; i < OPERATIONS; i++)
		if (counts[i])
			fprintf(file, "%s %llu\n", names[i], (unsigned long long)counts[i]);
	fclose(file);
}
