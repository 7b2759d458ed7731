// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/registers.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "observe/process/proc.h"

#define MS 1000000ull /* ns */

int threads_list(thread_list *threads, pid_t pid, unsigned int max)
{
	const struct dirent *entry;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return -ESRCH;
	for (unsigned int i = 0; i < max && (entry = readdir(tasks));) {
		const pid_t tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		vec_push(threads, ((struct thread_registers){ .pid = pid, .tid = tid }));
		i++;
	}
	closedir(tasks);
	return 0;
}

void threads_release(thread_list *threads)
{
	for (size_t i = 0; i < threads->len; i++)
		vec_release(&threads->data[i].stack);
	vec_release(threads);
}

/* A small file of the thread's, as text. False: it has ended, or may not be read. */
static bool read_text(const struct thread_registers *thread, const char *name, char *text,
		      size_t size)
{
	char path[64];
	long got;

	snprintf(path, sizeof(path), "task/%d/%s", thread->tid, name);
	got = proc_read(thread->pid, path, text, size - 1);
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

/* "TID (COMM) STATE ..."; a name may hold parentheses and spaces. */
static void read_state(struct thread_registers *thread)
{
	const char *behind;
	char text[512];

	thread->state = '\0';
	if (!read_text(thread, "stat", text, sizeof(text)))
		return;
	behind = strrchr(text, ')');
	if (behind && behind[1] == ' ')
		thread->state = behind[2];
}

/*
 * "running", "NUMBER ARGUMENT.. SP PC" within a system call, "-1 SP PC" stopped outside of one
 * (fs/proc/base.c: proc_pid_syscall()).
 */
static void read_sleeping(struct thread_registers *thread)
{
	char text[256], *pc, *sp;

	if (!read_text(thread, "syscall", text, sizeof(text)))
		return;
	pc = strrchr(text, ' ');
	if (!pc)
		return;
	*pc++ = '\0';
	sp = strrchr(text, ' ');
	if (!sp)
		return;
	thread->pc = strtoull(pc, NULL, 16);
	thread->sp = strtoull(sp, NULL, 16);
	thread->known = thread->pc && thread->sp;
}

/* ---- of threads that run ---- */

#define SAMPLE_STACK 16384 /* bytes; from the innermost frame to that of the MPI call */
#define RING_PAGES 16 /* two samples and more */
#define SAMPLE_NS 10000 /* of CPU time: what the kernel allows; a rank that yields uses little */

struct sampler {
	struct thread_registers *thread;
	int fd;
	struct perf_event_mmap_page *ring;
	size_t page;
};

struct sampled_registers {
	uint64_t abi, bp, sp, ip;
};

#ifdef __x86_64__
/* bits and their order: PERF_REG_X86_* in arch/x86/include/uapi/asm/perf_regs.h */
#define SAMPLE_REGISTERS (1u << 6 | 1u << 7 | 1u << 8) /* BP, SP, IP */

static int open_event(pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = SAMPLE_NS,
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = SAMPLE_REGISTERS,
		.sample_stack_user = SAMPLE_STACK,
		.wakeup_events = 1,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}
#else
static int open_event(pid_t tid)
{
	(void)tid;
	return -1;
}
#endif

/* False: no event of this thread can be had. */
static bool sampler_open(struct sampler *sampler, struct thread_registers *thread)
{
	void *ring;

	*sampler = (struct sampler){ .thread = thread, .fd = open_event(thread->tid) };
	if (sampler->fd < 0)
		return false;
	sampler->page = (size_t)sysconf(_SC_PAGESIZE);
	ring = mmap(NULL, (1 + RING_PAGES) * sampler->page, PROT_READ | PROT_WRITE, MAP_SHARED,
		    sampler->fd, 0);
	if (ring == MAP_FAILED) {
		close(sampler->fd);
		return false;
	}
	sampler->ring = ring;
	/* one sample, then no more */
	ioctl(sampler->fd, PERF_EVENT_IOC_REFRESH, 1);
	return true;
}

static void sampler_close(struct sampler *sampler)
{
	munmap(sampler->ring, (1 + RING_PAGES) * sampler->page);
	close(sampler->fd);
}

static void copy_out(const struct sampler *sampler, uint64_t at, void *to, size_t size)
{
	const uint8_t *data = (const uint8_t *)sampler->ring + sampler->page;
	const uint64_t bytes = RING_PAGES * sampler->page, offset = at % bytes;
	const size_t part = size < bytes - offset ? size : bytes - offset;

	memcpy(to, data + offset, part);
	memcpy((uint8_t *)to + part, data, size - part);
}

/*
 * After the header: abi, registers if that is not 0, bytes of the stack's room, the room, bytes of
 * it that were copied (PERF_RECORD_SAMPLE in perf_event_open(2)).
 */
static void take_sample(struct sampler *sampler, uint64_t at, size_t size)
{
	struct thread_registers *thread = sampler->thread;
	struct sampled_registers registers;
	uint64_t room, copied;

	if (size < sizeof(registers) + 2 * sizeof(room))
		return;
	copy_out(sampler, at, &registers, sizeof(registers));
	if (!registers.abi)
		return;
	at += sizeof(registers);
	size -= sizeof(registers);
	copy_out(sampler, at, &room, sizeof(room));
	if (!room || room > SAMPLE_STACK || size < 2 * sizeof(room) + room)
		return;
	copy_out(sampler, at + sizeof(room) + room, &copied, sizeof(copied));
	if (!copied || copied > room)
		return;
	vec_reserve(&thread->stack, copied);
	copy_out(sampler, at + sizeof(room), thread->stack.data, copied);
	thread->stack.len = copied;
	thread->pc = registers.ip;
	thread->sp = registers.sp;
	thread->bp = registers.bp;
	thread->known = thread->bp_known = true;
}

/* The first sample will do. */
static void sampler_read(struct sampler *sampler)
{
	const uint64_t head = __atomic_load_n(&sampler->ring->data_head, __ATOMIC_ACQUIRE);
	struct perf_event_header header;

	for (uint64_t at = sampler->ring->data_tail; at < head && !sampler->thread->known;
	     at += header.size) {
		copy_out(sampler, at, &header, sizeof(header));
		if (header.size < sizeof(header))
			return;
		if (header.type == PERF_RECORD_SAMPLE)
			take_sample(sampler, at + sizeof(header), header.size - sizeof(header));
	}
}

struct sampling {
	VEC(struct sampler) samplers;
	VEC(struct pollfd) polls;
};

/* One that runs when it is looked at may sleep the next time. */
static bool all_known(struct sampling *sampling)
{
	bool all = true;

	for (size_t i = 0; i < sampling->samplers.len; i++) {
		struct sampler *sampler = &sampling->samplers.data[i];

		if (sampler->thread->known)
			continue;
		sampler_read(sampler);
		if (!sampler->thread->known)
			read_sleeping(sampler->thread);
		if (sampler->thread->known)
			sampling->polls.data[i].fd = -1; /* poll() leaves it out */
		else
			all = false;
	}
	return all;
}

#define LOOK_MS 5 /* between two looks at those that have made no sample */

void threads_registers(thread_list *threads, unsigned int ms)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + ms * MS;
	struct sampling sampling = { 0 };

	for (size_t i = 0; i < threads->len; i++) {
		struct thread_registers *thread = &threads->data[i];
		struct sampler sampler;

		thread->known = thread->bp_known = false;
		thread->stack.len = 0;
		read_sleeping(thread);
		if (thread->known || !sampler_open(&sampler, thread))
			continue;
		vec_push(&sampling.samplers, sampler);
		vec_push(&sampling.polls, ((struct pollfd){ sampler.fd, POLLIN, 0 }));
	}
	while (!all_known(&sampling) && clock_ns(CLOCK_MONOTONIC) < until)
		poll(sampling.polls.data, sampling.polls.len, LOOK_MS);
	for (size_t i = 0; i < sampling.samplers.len; i++)
		sampler_close(&sampling.samplers.data[i]);
	for (size_t i = 0; i < threads->len; i++)
		read_state(&threads->data[i]);
	vec_release(&sampling.samplers);
	vec_release(&sampling.polls);
}
