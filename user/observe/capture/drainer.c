// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/drainer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

#define TWO_BITS(type, field) (3ull << 2 * ((offsetof(type, field) - sizeof(struct ub_hdr)) / 8))

const uint64_t sieve_words[UB_KIND_MAX] = {
	[UB_CALL] = TWO_BITS(struct ub_call, ret_addr),
	[UB_OP] = TWO_BITS(struct ub_op, cb) | TWO_BITS(struct ub_op, obj) |
		  TWO_BITS(struct ub_op, mem_type), /* and the caller */
	[UB_XFER] = TWO_BITS(struct ub_xfer, req) | TWO_BITS(struct ub_xfer, comp_func) |
		    TWO_BITS(struct ub_xfer, iface),
	[UB_OBJ] = UINT64_MAX,
	[UB_TASK] = UINT64_MAX,
	[UB_STACK] = UINT64_MAX,
	[UB_POLLS] = TWO_BITS(struct ub_polls, call.ret_addr),
};

enum sieve_word { WORD_SITE = 1, WORD_FUNCTION, WORD_OBJECT, WORD_BUFFER };

void sieve_begin(struct sieve *sieve, uint64_t generation, bool buffers)
{
	if (sieve->generation != generation)
		memset(sieve->sets, 0, sizeof(sieve->sets));
	sieve->generation = generation;
	sieve->buffers = buffers;
	sieve->pass++;
}

static bool is_new(struct sieve *sieve, const struct ub_hdr *h, enum sieve_word word, uint64_t what)
{
	uint64_t who = h->tgid | (uint64_t)word << 32;
	struct sieve_slot *set;

	if (!what)
		return false;
	if (word == WORD_BUFFER)
		who |= (uint64_t)sieve->pass << 40;
	set = sieve->sets[(what ^ who * 0x9e3779b97f4a7c15ull) * 0x9e3779b97f4a7c15ull >>
			  (64 - __builtin_ctz(SIEVE_SETS))];
	for (int i = 0; i < SIEVE_WAYS; i++)
		if (set[i].who == who && set[i].what == what)
			return false;
	memmove(set + 1, set, (SIEVE_WAYS - 1) * sizeof(*set));
	set[0] = (struct sieve_slot){ who, what };
	return true;
}

static bool op_is_new(struct sieve *sieve, const struct ub_op *op)
{
	bool function = op->h.layout && is_new(sieve, &op->h, WORD_FUNCTION, op->cb);
	bool object = op->h.layout && is_new(sieve, &op->h, WORD_OBJECT, op->obj);
	bool buffer = sieve->buffers && is_new(sieve, &op->h, WORD_BUFFER, op->buffer);
	bool caller = is_new(sieve, &op->h, WORD_SITE, ub_op_caller(op));

	return function || object || buffer || caller;
}

static bool xfer_is_new(struct sieve *sieve, const struct ub_xfer *xfer)
{
	const struct ub_hdr *h = &xfer->h;
	bool function = h->layout && xfer->req && is_new(sieve, h, WORD_FUNCTION, xfer->comp_func);
	bool object = h->layout && is_new(sieve, h, WORD_OBJECT, xfer->iface);
	bool buffer = sieve->buffers && is_new(sieve, h, WORD_BUFFER, xfer->laddr);

	return function || object || buffer;
}

bool sieve_passes(struct sieve *sieve, const struct ub_hdr *record)
{
	switch (record->kind) {
	case UB_CALL:
	case UB_POLLS: /* begins as a call does */
		return is_new(sieve, record, WORD_SITE, ((const struct ub_call *)record)->ret_addr);
	case UB_OP:
		return op_is_new(sieve, (const struct ub_op *)record);
	case UB_XFER:
		return xfer_is_new(sieve, (const struct ub_xfer *)record);
	case UB_OBJ:
	case UB_TASK:
	case UB_STACK:
		return true;
	default:
		return false;
	}
}

#define MS 1000000ull /* ns */
/*
 * A thread that belongs to a CPU ends a chunk after the pass in which it reached this number of
 * records: at equal rates, all threads of the gang do so in the same passes. If each ended its
 * chunk in the middle of some pass, the ranks would wait for another thread each time. A chunk with
 * fewer records has room for another pass, and a larger chunk costs less for each record.
 */
#define ENOUGH_FOR_CHUNK (FILE_STREAM_RECORDS / 2)
#define NICE 5 /* of floating threads; one that is bound to a rank's CPU must be punctual */
#define FLUSH_NS (500 * MS)
#define AGAIN 0.25 /* fuller than that: the next pass comes at once */
#define GROW 0.5

/*
 * Rings are drained as rarely as their size allows, since each pass may preempt a rank. A ring is
 * at most half full by then, or full where the last pass found little. Pauses are powers of two, so
 * that long ones end together with short ones.
 */
#define LITTLE 0.125
#define PAUSE_MS_MIN 2
#define PAUSE_MS_MAX 8
#define RESTING_MS 1000
#define FILL_PER_MS (400 << 10) /* bytes; more than a CPU that only makes records can fill */

static void enter(struct drainer *t)
{
	pthread_mutex_lock(&t->gate);
	pthread_mutex_lock(&t->lock);
	pthread_mutex_unlock(&t->gate);
}

static void leave(struct drainer *t)
{
	pthread_mutex_unlock(&t->lock);
}

static void on_record(void *arg, const struct ub_hdr *record, uint16_t cpu, uint32_t cpu_seq)
{
	struct drainer *t = arg;
	struct ub_hdr *copy;
	size_t size = ub_kind_size(record->kind);

	if (record->kind == UB_TASK) {
		__atomic_add_fetch(&t->shared->generation, 1, __ATOMIC_RELAXED);
		t->tasks++;
	}
	if (!sieve_passes(&t->sieve, record))
		return;
	vec_reserve(&t->passed, t->passed.len + size);
	copy = memcpy(t->passed.data + t->passed.len, record, size);
	copy->cpu = cpu;
	copy->cpu_seq = cpu_seq;
	t->passed.len += size;
}

static void on_piece(void *arg, const void *piece, size_t size)
{
	struct drainer *t = arg;
	const struct ub_batch *batch = piece;
	int err;

	t->tasks = 0;
	err = file_stream_batch(t->stream, batch, size);
	if (err == -EBADMSG) {
		__atomic_store_n(&t->shared->error, -EBADMSG, __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n(&t->records, t->records + batch->records, __ATOMIC_RELAXED);
	if (!err)
		__atomic_store_n(&t->others, t->others + batch->records - t->tasks,
				 __ATOMIC_RELAXED);
}

static void hand_over(struct drainer *t)
{
	if (!t->passed.len)
		return;
	pthread_mutex_lock(&t->queue_lock);
	vec_reserve(&t->queue, t->queue.len + t->passed.len);
	memcpy(t->queue.data + t->queue.len, t->passed.data, t->passed.len);
	t->queue.len += t->passed.len;
	pthread_mutex_unlock(&t->queue_lock);
	t->passed.len = 0;
}

/* The next instant that is a multiple of ns, the same for all threads. */
static uint64_t next_multiple(uint64_t ns)
{
	return (clock_ns(CLOCK_MONOTONIC) / ns + 1) * ns;
}

/* The sieve must see forgotten addresses again, even if the chunk has them already. */
static void begin_sieve(struct drainer *t)
{
	uint64_t generation = __atomic_load_n(&t->shared->generation, __ATOMIC_RELAXED);
	bool buffers = __atomic_load_n(&t->shared->buffers, __ATOMIC_RELAXED);

	t->forgot =
		file_stream_pending(t->stream) && (t->forgot || t->sieve.generation != generation);
	file_stream_spare(t->stream, buffers || t->forgot ? NULL : sieve_words);
	sieve_begin(&t->sieve, generation, buffers);
}

/* Drains each ring once. */
static void pass(struct drainer *t)
{
	bool due;

	t->fullest = 0;
	for (size_t i = 0; i < t->rings.len; i++) {
		struct held_ring *held = t->rings.data[i];
		double fill = ring_fill(&held->ring);

		if (fill > t->fullest)
			t->fullest = fill;
		if (fill > GROW)
			__atomic_store_n(&held->crowded, 1, __ATOMIC_RELAXED);
		begin_sieve(t);
		ring_take(&held->ring, on_piece, t);
	}
	hand_over(t);
	due = clock_ns(CLOCK_MONOTONIC) >= t->next_flush;
	if (due)
		t->next_flush = next_multiple(FLUSH_NS);
	if (due || (t->cpu >= 0 && file_stream_pending(t->stream) >= ENOUGH_FOR_CHUNK))
		file_stream_end_chunk(t->stream);
}

static uint64_t pause_of(const struct drainer *t)
{
	unsigned int share = t->fullest > LITTLE ? 2 : 1;
	uint64_t ms = PAUSE_MS_MAX;

	for (size_t i = 0; i < t->rings.len; i++)
		while (ms > PAUSE_MS_MIN && !held_is_retired(t->rings.data[i]) &&
		       ms > t->rings.data[i]->ring.bytes / share / FILL_PER_MS)
			ms /= 2;
	return ms * MS;
}

static void rest(struct drainer *t)
{
	uint64_t pause = pause_of(t), until;
	uint64_t most = __atomic_load_n(&t->shared->pause, __ATOMIC_RELAXED);
	struct timespec at;

	__atomic_store_n(&t->pause, pause, __ATOMIC_RELAXED);
	if (t->cpu >= 0 && most && most < pause)
		pause = most;
	if (__atomic_load_n(&t->shared->resting, __ATOMIC_RELAXED))
		pause = RESTING_MS * MS;
	until = next_multiple(pause);
	at = (struct timespec){ (time_t)(until / (1000 * MS)), (long)(until % (1000 * MS)) };
	pthread_cond_timedwait(&t->wake, &t->lock, &at);
}

static void *work(void *arg)
{
	struct drainer *t = arg;
	bool end;

	if (t->cpu < 0)
		setpriority(PRIO_PROCESS, gettid(), getpriority(PRIO_PROCESS, 0) + NICE);
	else
		prctl(PR_SET_TIMERSLACK, 1);
	enter(t);
	do {
		uint64_t asked = t->asked;

		end = t->end;
		pass(t);
		t->done = asked;
		pthread_cond_signal(&t->idle);
		if (t->cpu < 0 && t->fullest > AGAIN) {
			leave(t);
			enter(t);
		} else if (!end) {
			rest(t);
		}
	} while (!end);
	t->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	leave(t);
	return NULL;
}

void drainer_free(struct drainer *t)
{
	for (size_t i = 0; i < t->rings.len; i++) {
		ring_free(&t->rings.data[i]->ring);
		free(t->rings.data[i]);
	}
	file_stream_free(t->stream);
	vec_release(&t->rings);
	vec_release(&t->passed);
	vec_release(&t->queue);
	vec_release(&t->taken);
	pthread_mutex_destroy(&t->gate);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->queue_lock);
	pthread_cond_destroy(&t->wake);
	pthread_cond_destroy(&t->idle);
	free(t);
}

static int start(struct drainer *t, const struct cpu_bits *cpus)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int err;

	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(*cpus), (const cpu_set_t *)cpus);
	/* the session's thread handles signals */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&t->thread, &attributes, work, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (!err)
		pthread_setname_np(t->thread, "ucxbpf-drain");
	return err;
}

struct drainer *drainer_new(struct drain_shared *shared, struct file_writer *writer, int cpu,
			    int node, unsigned int group, const struct cpu_bits *cpus)
{
	struct drainer *t = calloc(1, sizeof(*t));
	pthread_condattr_t monotonic;

	if (!t)
		return NULL;
	t->shared = shared;
	t->cpu = cpu;
	t->node = node;
	t->group = group;
	t->next_flush = next_multiple(FLUSH_NS);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&t->gate, NULL);
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->queue_lock, NULL);
	pthread_cond_init(&t->wake, &monotonic);
	pthread_cond_init(&t->idle, NULL);
	pthread_condattr_destroy(&monotonic);
	if (file_stream_open(&t->stream, writer, shared->most ? shared->most : FILE_STREAM_RECORDS,
			     on_record, t) ||
	    start(t, cpus)) {
		drainer_free(t);
		return NULL;
	}
	return t;
}

void drainer_add(struct drainer *t, struct held_ring *held)
{
	enter(t);
	vec_push(&t->rings, held);
	leave(t);
}

void drainer_remove(struct drainer *t, size_t i)
{
	enter(t);
	memmove(&t->rings.data[i], &t->rings.data[i + 1],
		(--t->rings.len - i) * sizeof(*t->rings.data));
	leave(t);
}

void drainer_end_chunk(struct drainer *t)
{
	enter(t);
	file_stream_end_chunk(t->stream);
	leave(t);
}

void drainer_end(struct drainer *t)
{
	if (t->ended)
		return;
	enter(t);
	t->end = true;
	pthread_cond_signal(&t->wake);
	leave(t);
	pthread_join(t->thread, NULL);
	t->ended = true;
}

void drainer_take(struct drainer *t, drain_fn fn, void *arg)
{
	size_t at = 0;

	pthread_mutex_lock(&t->queue_lock);
	if (t->queue.len) {
		uint8_t *data = t->queue.data;
		size_t len = t->queue.len, cap = t->queue.cap;

		t->queue.data = t->taken.data;
		t->queue.cap = t->taken.cap;
		t->queue.len = 0;
		t->taken.data = data;
		t->taken.len = len;
		t->taken.cap = cap;
	}
	pthread_mutex_unlock(&t->queue_lock);
	while (at < t->taken.len) {
		const struct ub_hdr *record = (const struct ub_hdr *)(t->taken.data + at);

		fn(arg, record);
		at += ub_kind_size(record->kind);
		/* let records pass again that the session has just forgotten */
		if (record->kind == UB_TASK)
			__atomic_add_fetch(&t->shared->generation, 1, __ATOMIC_RELAXED);
	}
	t->taken.len = 0;
}

void drainer_ask(struct drainer *t)
{
	enter(t);
	t->asked++;
	pthread_cond_signal(&t->wake);
	leave(t);
}

void drainer_await(struct drainer *t)
{
	enter(t);
	while (t->done != t->asked)
		pthread_cond_wait(&t->idle, &t->lock);
	leave(t);
}
