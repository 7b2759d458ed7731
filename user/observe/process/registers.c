// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/registers.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/vec.h"
#include "observe/process/proc.h"

#define MS 1000000ull /* ns */

/* Where threads are listed. */
struct thread_room {
	thread_list *threads;
	pid_t pid;
	unsigned int left; /* so many more */
};

static int add_thread(void *arg, pid_t tid)
{
	struct thread_room *room = arg;

	if (!room->left--)
		return 1;
	vec_push(room->threads, ((struct thread_registers){ .pid = room->pid, .tid = tid }));
	return 0;
}

int threads_list(thread_list *threads, pid_t pid, unsigned int max)
{
	struct thread_room room = { threads, pid, max };
	int err = proc_threads(pid, add_thread, &room);

	return err < 0 ? err : 0;
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

/*
 * "running", "NUMBER ARGUMENT.. SP PC" within a system call, "-1 SP PC" stopped outside of one
 * (fs/proc/base.c: proc_pid_syscall()).
 */
static bool read_syscall(const struct thread_registers *thread, uint64_t *sp, uint64_t *pc)
{
	char text[256], *last, *before;

	if (!read_text(thread, "syscall", text, sizeof(text)))
		return false;
	last = strrchr(text, ' ');
	if (!last)
		return false;
	*last++ = '\0';
	before = strrchr(text, ' ');
	if (!before)
		return false;
	*pc = strtoull(last, NULL, 16);
	*sp = strtoull(before, NULL, 16);
	return *pc && *sp;
}

/* How often the thread has left a CPU, of its own will or not. */
static bool read_switches(const struct thread_registers *thread, uint64_t *switches)
{
	static const char *const labels[] = { "\nvoluntary_ctxt_switches:",
					      "\nnonvoluntary_ctxt_switches:" };
	char text[8192];

	*switches = 0;
	if (!read_text(thread, "status", text, sizeof(text)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		const char *at = strstr(text, labels[i]);

		if (!at)
			return false;
		*switches += strtoull(at + strlen(labels[i]), NULL, 10);
	}
	return true;
}

static void read_state(struct thread_registers *thread)
{
	struct proc_stat stat;

	thread->at = clock_ns(CLOCK_MONOTONIC);
	thread->state = proc_stat(thread->pid, thread->tid, &stat) ? '\0' : stat.state;
}

#define STACK_COPY 61440 /* bytes: the most that a sample holds, from the innermost frame on */

/*
 * If thread_unmoved() holds afterwards, all that was read since the number of switches is of one
 * time.
 */
static void read_sleeping(struct thread_registers *thread)
{
	uint64_t sp, pc;
	long got;

	if (!read_syscall(thread, &sp, &pc) || !read_switches(thread, &thread->switches))
		return;
	read_state(thread);
	thread->sp = sp;
	thread->pc = pc;
	vec_reserve(&thread->stack, STACK_COPY);
	got = proc_read_memory(thread->pid, sp, thread->stack.data, STACK_COPY);
	thread->stack.len = got > 0 ? (size_t)got : 0;
	thread->asleep = true;
	thread->known = thread_unmoved(thread);
}

bool thread_unmoved(const struct thread_registers *thread)
{
	uint64_t sp, pc, switches;

	if (!thread->asleep)
		return true;
	/*
	 * in this order: a thread that was woken since is running now, or has slept again and so
	 * was switched
	 */
	return read_syscall(thread, &sp, &pc) && sp == thread->sp && pc == thread->pc &&
	       read_switches(thread, &switches) && switches == thread->switches;
}

/* ---- of threads that run ---- */

#define RING_BYTES 65536 /* of a ring's data: a sample is shorter */
#define SAMPLE_NS 10000 /* of CPU time: what the kernel allows; a rank that yields uses little */

struct sampler {
	struct thread_registers *thread;
	int fd;
	struct perf_event_mmap_page *ring;
	size_t page;
	uint64_t since; /* CLOCK_MONOTONIC ns */
};

struct sampled_registers {
	uint64_t time, abi, bp, sp, ip;
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
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = SAMPLE_REGISTERS,
		.sample_stack_user = STACK_COPY,
		.wakeup_events = 1,
		.disabled = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
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

/* -EMFILE, -ENOMEM: not while so many are open; or another error: never. */
static int sampler_open(struct sampler *sampler, struct thread_registers *thread)
{
	void *ring;

	*sampler = (struct sampler){ .thread = thread, .fd = open_event(thread->tid) };
	if (sampler->fd < 0)
		return -errno;
	sampler->page = (size_t)sysconf(_SC_PAGESIZE);
	ring = mmap(NULL, sampler->page + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		    sampler->fd, 0);
	if (ring == MAP_FAILED) {
		close(sampler->fd);
		return -ENOMEM;
	}
	sampler->ring = ring;
	sampler->since = clock_ns(CLOCK_MONOTONIC);
	/* one sample, then no more */
	ioctl(sampler->fd, PERF_EVENT_IOC_REFRESH, 1);
	return 0;
}

static void sampler_close(struct sampler *sampler)
{
	munmap(sampler->ring, sampler->page + RING_BYTES);
	close(sampler->fd);
}

static void copy_out(const struct sampler *sampler, uint64_t at, void *to, size_t size)
{
	const uint8_t *data = (const uint8_t *)sampler->ring + sampler->page;
	const uint64_t offset = at % RING_BYTES;
	const size_t part = size < RING_BYTES - offset ? size : RING_BYTES - offset;

	memcpy(to, data + offset, part);
	memcpy((uint8_t *)to + part, data, size - part);
}

/*
 * After the header: time, abi, registers if that is not 0, bytes of the stack's room, the room,
 * bytes of it that were copied (PERF_RECORD_SAMPLE in perf_event_open(2)).
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
	if (!room || room > STACK_COPY || size < 2 * sizeof(room) + room)
		return;
	copy_out(sampler, at + sizeof(room) + room, &copied, sizeof(copied));
	if (!copied || copied > room)
		return;
	vec_reserve(&thread->stack, copied);
	copy_out(sampler, at + sizeof(room), thread->stack.data, copied);
	thread->stack.len = copied;
	thread->at = registers.time;
	thread->state = 'R';
	thread->asleep = false;
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

/*
 * Threads wait in line for one of a few samplers. One that gets no time on a CPU goes to the end of
 * the line after its turn.
 */
#define SAMPLERS 256 /* open at once, with 68 KiB each */
#define TURN_NS (20 * MS)
#define SPARE_FILES 32 /* descriptors that are left to others */
#define LOOK_MS 5 /* between two looks at samplers that have no sample yet */

struct sampling {
	VEC(struct thread_registers *) line;
	size_t next; /* of the line */
	VEC(struct sampler) samplers;
	VEC(struct pollfd) polls; /* of these */
	int files; /* descriptors from this one on are not used */
	thread_seen seen;
	void *arg;
	uint64_t told_ns; /* in seen, which is not a thread's time to run */
};

static void finish(struct sampling *sampling, struct thread_registers *thread)
{
	uint64_t begin;

	if (!thread->known) {
		thread->asleep = false;
		read_state(thread);
	}
	begin = clock_ns(CLOCK_MONOTONIC);
	sampling->seen(sampling->arg, thread);
	sampling->told_ns += clock_ns(CLOCK_MONOTONIC) - begin;
	vec_release(&thread->stack);
}

static void fill(struct sampling *sampling)
{
	while (sampling->samplers.len < SAMPLERS && sampling->next < sampling->line.len) {
		struct thread_registers *thread = sampling->line.data[sampling->next];
		struct sampler sampler;
		int err = sampler_open(&sampler, thread);

		if (!err && sampler.fd >= sampling->files && sampling->samplers.len) {
			sampler_close(&sampler);
			err = -EMFILE;
		}
		if ((err == -EMFILE || err == -ENOMEM) && sampling->samplers.len)
			return;
		sampling->next++;
		if (err) {
			finish(sampling, thread);
			continue;
		}
		vec_push(&sampling->samplers, sampler);
		vec_push(&sampling->polls, ((struct pollfd){ sampler.fd, POLLIN, 0 }));
	}
}

static void leave(struct sampling *sampling, size_t i)
{
	sampler_close(&sampling->samplers.data[i]);
	sampling->samplers.data[i] = sampling->samplers.data[--sampling->samplers.len];
	sampling->polls.data[i] = sampling->polls.data[--sampling->polls.len];
}

/* Returns whether any thread has left its sampler. */
static bool look(struct sampling *sampling)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const size_t before = sampling->samplers.len;

	for (size_t i = before; i-- > 0;) {
		struct sampler *sampler = &sampling->samplers.data[i];
		struct thread_registers *thread = sampler->thread;

		sampler_read(sampler);
		/* one that runs when it is looked at may sleep the next time */
		if (!thread->known)
			read_sleeping(thread);
		if (thread->known) {
			leave(sampling, i);
			finish(sampling, thread);
		} else if (sampling->next < sampling->line.len && now - sampler->since > TURN_NS) {
			thread->waited_for = true;
			leave(sampling, i);
			vec_push(&sampling->line, thread);
		}
	}
	return sampling->samplers.len < before;
}

static int files_limit(void)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur > INT_MAX ? INT_MAX : (int)limit.rlim_cur - SPARE_FILES;
}

void threads_registers(thread_list *threads, unsigned int ms, thread_seen seen, void *arg)
{
	struct sampling sampling = { .files = files_limit(), .seen = seen, .arg = arg };
	uint64_t until;

	for (size_t i = 0; i < threads->len; i++) {
		struct thread_registers *thread = &threads->data[i];

		thread->known = thread->bp_known = thread->asleep = thread->waited_for = false;
		read_sleeping(thread);
		if (thread->known)
			finish(&sampling, thread);
		else
			vec_push(&sampling.line, thread);
	}
	until = clock_ns(CLOCK_MONOTONIC) + ms * MS;
	sampling.told_ns = 0;
	for (fill(&sampling);
	     sampling.samplers.len && clock_ns(CLOCK_MONOTONIC) < until + sampling.told_ns;
	     fill(&sampling))
		if (!look(&sampling))
			poll(sampling.polls.data, sampling.polls.len, LOOK_MS);
	for (size_t i = 0; i < sampling.samplers.len; i++) {
		struct sampler *sampler = &sampling.samplers.data[i];

		sampler_read(sampler);
		if (sampler->since + TURN_NS < until + sampling.told_ns)
			sampler->thread->waited_for = true;
		sampler_close(sampler);
		finish(&sampling, sampler->thread);
	}
	for (; sampling.next < sampling.line.len; sampling.next++)
		finish(&sampling, sampling.line.data[sampling.next]);
	vec_release(&sampling.line);
	vec_release(&sampling.samplers);
	vec_release(&sampling.polls);
}
