// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES 64

/* PERF_RECORD_MMAP2 behind its header; a file name and {pid, tid}, time follow. */
struct mapped {
	uint32_t pid, tid;
	uint64_t start, bytes, offset;
	uint32_t major, minor;
	uint64_t ino, generation;
	uint32_t protection, flags;
};

/* The kernel writes names up to PATH_MAX, and fills them up to 8 bytes. */
#define NAME_BYTES (4096 + 8)

struct library_watch {
	int cpus;
	int *fds;
	struct perf_event_mmap_page **rings;
	size_t page;
	struct watch_heard heard;
};

static int open_cpu(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int watch_open(struct library_watch **out, const struct watch_heard *heard)
{
	struct library_watch *watch = calloc(1, sizeof(*watch));
	int cpus = sysconf(_SC_NPROCESSORS_CONF), err = 0;

	if (!watch)
		return -ENOMEM;
	watch->heard = *heard;
	watch->page = sysconf(_SC_PAGESIZE);
	watch->fds = calloc(cpus, sizeof(*watch->fds));
	watch->rings = calloc(cpus, sizeof(*watch->rings));
	if (!watch->fds || !watch->rings)
		err = -ENOMEM;
	for (int cpu = 0; cpu < cpus && !err; cpu++) {
		void *ring;
		int fd = open_cpu(cpu);

		if (fd == -ENODEV) /* offline */
			continue;
		if (fd < 0) {
			err = fd;
			break;
		}
		ring = mmap(NULL, (1 + RING_PAGES) * watch->page, PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
		if (ring == MAP_FAILED) {
			err = -errno;
			close(fd);
			break;
		}
		watch->fds[watch->cpus] = fd;
		watch->rings[watch->cpus++] = ring;
	}
	if (err) {
		watch_free(watch);
		return err;
	}
	*out = watch;
	return 0;
}

void watch_free(struct library_watch *watch)
{
	if (!watch)
		return;
	for (int i = 0; i < watch->cpus; i++) {
		munmap(watch->rings[i], (1 + RING_PAGES) * watch->page);
		close(watch->fds[i]);
	}
	free(watch->fds);
	free(watch->rings);
	free(watch);
}

int watch_fd_count(const struct library_watch *watch)
{
	return watch->cpus;
}

int watch_fd(const struct library_watch *watch, int i)
{
	return watch->fds[i];
}

static void copy_out(const struct library_watch *watch, int i, uint64_t at, void *to, size_t size)
{
	const char *data = (const char *)watch->rings[i] + watch->page;
	size_t ring = RING_PAGES * watch->page, offset = at % ring;
	size_t first = size < ring - offset ? size : ring - offset;

	memcpy(to, data + offset, first);
	memcpy((char *)to + first, data, size - first);
}

/* {pid, tid}, the name, and as in every event {pid, tid}, time. */
static void exec_event(struct library_watch *watch, int i, uint64_t at,
		       const struct perf_event_header *header)
{
	uint32_t pid;
	uint64_t time;

	if (header->size < sizeof(*header) + 2 * sizeof(pid) + 2 * sizeof(time))
		return;
	copy_out(watch, i, at + sizeof(*header), &pid, sizeof(pid));
	copy_out(watch, i, at + header->size - sizeof(time), &time, sizeof(time));
	watch->heard.exec(watch->heard.arg, (pid_t)pid, time);
}

static void one_event(struct library_watch *watch, int i, uint64_t at,
		      const struct perf_event_header *header, uint64_t *lost)
{
	const size_t fixed = sizeof(*header) + sizeof(struct mapped);
	char name[NAME_BYTES + 1];
	struct mapped mapped;
	struct mapping mapping;
	uint64_t body[2];
	size_t length;

	if (header->type == PERF_RECORD_LOST) {
		copy_out(watch, i, at + sizeof(*header), body, sizeof(body));
		*lost += body[1];
	}
	if (header->type == PERF_RECORD_COMM && header->misc & PERF_RECORD_MISC_COMM_EXEC)
		exec_event(watch, i, at, header);
	if (header->type != PERF_RECORD_MMAP2 || header->size < fixed + sizeof(body))
		return;
	copy_out(watch, i, at + sizeof(*header), &mapped, sizeof(mapped));
	copy_out(watch, i, at + header->size - sizeof(body[0]), body, sizeof(body[0]));
	length = header->size - fixed - sizeof(body);
	if (length > NAME_BYTES)
		length = NAME_BYTES;
	copy_out(watch, i, at + fixed, name, length);
	name[length] = 0;
	mapping = (struct mapping){ .start = mapped.start,
				    .end = mapped.start + mapped.bytes,
				    .offset = mapped.offset,
				    .readable = mapped.protection & PROT_READ,
				    .writable = mapped.protection & PROT_WRITE,
				    .executable = mapped.protection & PROT_EXEC,
				    .dev = makedev(mapped.major, mapped.minor),
				    .ino = mapped.ino,
				    .path = name };
	watch->heard.mapped(watch->heard.arg, (pid_t)mapped.pid, &mapping, body[0]);
}

void watch_read(struct library_watch *watch, uint64_t *lost)
{
	for (int i = 0; i < watch->cpus; i++) {
		struct perf_event_mmap_page *ring = watch->rings[i];
		uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
		uint64_t tail = ring->data_tail;

		while (tail < head) {
			struct perf_event_header header;

			copy_out(watch, i, tail, &header, sizeof(header));
			if (header.size < sizeof(header))
				break;
			one_event(watch, i, tail, &header, lost);
			tail += header.size;
		}
		__atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
	}
}
