// SPDX-License-Identifier: BSD-3-Clause
/* A thread empties a ring that is retired before the one that took its place. */
#include <sched.h>

#include "observe/capture/drainer.h"
#include "unit/file_records.h"
#include "unit/ring_over.h"

#define BYTES 65536u
#define RINGS 4

struct made_ring {
	uint64_t consumer, producer;
	_Alignas(8) uint8_t data[BYTES];
	struct held_ring *held; /* of the thread that has it */
};

struct bed {
	struct drain_shared shared;
	struct file_writer *writer;
	char *path;
	struct drainer *thread;
	struct made_ring rings[RINGS];
	VEC(uint32_t) order; /* which children the session was told of */
};

static struct drainer *new_thread(struct bed *bed)
{
	struct cpu_bits cpus = { 0 };

	assert_int_equal(sched_getaffinity(0, sizeof(cpus), (cpu_set_t *)&cpus), 0);
	return drainer_new(&bed->shared, bed->writer, -1, -1, 0, &cpus);
}

static void set_up(struct bed *bed)
{
	memset(bed, 0, sizeof(*bed));
	bed->path = temp_path();
	bed->writer = must_create(bed->path);
	bed->thread = new_thread(bed);
	assert_non_null(bed->thread);
	for (int i = 0; i < RINGS; i++) {
		struct made_ring *made = &bed->rings[i];

		made->held = calloc(1, sizeof(*made->held));
		made->held->cpu = i ? 1 : 0;
		made->held->retired = i && i + 1 < RINGS;
		ring_over(&made->held->ring, &made->consumer, &made->producer, made->data, BYTES);
		drainer_add(bed->thread, made->held);
	}
}

static void tear_down(struct bed *bed)
{
	drainer_end(bed->thread);
	drainer_free(bed->thread);
	file_writer_abandon(bed->writer);
	temp_free(bed->path);
	vec_release(&bed->order);
}

/* A fork, which the session is always told of. */
static void make(struct made_ring *made, uint32_t child)
{
	struct {
		uint32_t size, page;
		struct ub_batch head;
		struct ub_task task;
	} piece = {
		.size = (uint32_t)(sizeof(piece.head) + sizeof(piece.task)),
		.head = { .records = 1 },
		.task = { .h = { .ts = child, .kind = UB_TASK }, .what = UB_FORK, .other = child }
	};

	memcpy(made->data + made->producer, &piece, sizeof(piece));
	__atomic_store_n(&made->producer, made->producer + sizeof(piece), __ATOMIC_RELEASE);
}

static void on_record(void *arg, const struct ub_hdr *h)
{
	struct bed *bed = arg;

	vec_push(&bed->order, ((const struct ub_task *)h)->other);
}

/* Rings 1 and 2 are retired, one after the other; 3 has taken their place. */
static void retired_rings_come_first(void **state)
{
	static struct bed bed;
	struct held_ring *first;

	(void)state;
	set_up(&bed);
	first = bed.rings[0].held;
	/* the thread is kept out of its rings until all three have something */
	pthread_mutex_lock(&bed.thread->lock);
	for (int i = RINGS; --i;)
		make(&bed.rings[i], (uint32_t)i);
	pthread_mutex_unlock(&bed.thread->lock);
	drainer_ask(bed.thread);
	drainer_await(bed.thread);
	drainer_take(bed.thread, on_record, &bed);
	/* one ring fewer on the list: the others keep their places */
	drainer_remove(bed.thread, 0);
	free(first);
	pthread_mutex_lock(&bed.thread->lock);
	for (int i = RINGS; --i;)
		make(&bed.rings[i], (uint32_t)(10 + i));
	pthread_mutex_unlock(&bed.thread->lock);
	drainer_ask(bed.thread);
	drainer_await(bed.thread);
	drainer_take(bed.thread, on_record, &bed);
	assert_int_equal(bed.order.len, 2 * (RINGS - 1));
	for (uint32_t i = 0; i < 2 * (RINGS - 1); i++)
		assert_int_equal(bed.order.data[i], i < RINGS - 1 ? 1 + i : 11 + i - (RINGS - 1));
	tear_down(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(retired_rings_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
