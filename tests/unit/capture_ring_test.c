// SPDX-License-Identifier: BSD-3-Clause
/* A ring is emptied as the kernel fills it: in order, to its last byte, over its end, and no
 * further. Which ring the kernel has of each CPU is known, whatever fails. */
#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/capture/ring.h"
#include "unit/ring_over.h"

#define BUSY (1u << 31)
#define DISCARDED (1u << 30)
#define BYTES 65536u

/* The kernel's side, kernel/bpf/ringbuf.c. */
struct bed {
	uint64_t consumer, producer;
	_Alignas(8) uint8_t data[BYTES];
	struct ring ring;
	uint64_t next; /* number of the piece that comes next, at either end */
	uint64_t made;
	size_t zero_sized;
};

static void reset(struct bed *bed, uint64_t position)
{
	memset(bed, 0, sizeof(*bed));
	bed->consumer = bed->producer = position;
	ring_over(&bed->ring, &bed->consumer, &bed->producer, bed->data, BYTES);
}

static size_t size_of(uint64_t number)
{
	return 8 + number * 31 % 2000;
}

static uint8_t byte_of(uint64_t number, size_t at)
{
	return (uint8_t)(number * 7 + at);
}

/* False: no room. */
static bool make(struct bed *bed, uint32_t flags)
{
	size_t size = size_of(bed->made), whole = (8 + size + 7) & ~(size_t)7;
	uint64_t consumer = __atomic_load_n(&bed->consumer, __ATOMIC_ACQUIRE);
	uint32_t *head = (uint32_t *)(bed->data + bed->producer % BYTES);

	if (bed->producer + whole - consumer > BYTES)
		return false;
	for (size_t i = 0; i < size; i++)
		bed->data[(bed->producer + 8 + i) % BYTES] = byte_of(bed->made, i);
	__atomic_store_n(head, (uint32_t)size | flags, __ATOMIC_RELEASE);
	__atomic_store_n(&bed->producer, bed->producer + whole, __ATOMIC_RELEASE);
	bed->made++;
	return true;
}

static void expect_next(void *arg, const void *piece, size_t size)
{
	struct bed *bed = arg;
	const uint8_t *bytes = piece;

	assert_int_equal(size, size_of(bed->next));
	for (size_t i = 0; i < size; i++)
		assert_int_equal(bytes[i], byte_of(bed->next, i));
	bed->next++;
}

static void over_the_end(void **state)
{
	static struct bed bed;

	(void)state;
	/* positions grow without end: here beyond 32 bits */
	reset(&bed, 0xffffff000ull);
	for (int lap = 0; lap < 300; lap++) {
		uint64_t before = bed.producer;

		while (make(&bed, 0))
			;
		assert_true(ring_fill(&bed.ring) > 0.95 && ring_fill(&bed.ring) <= 1);
		ring_take(&bed.ring, expect_next, &bed);
		assert_int_equal(bed.next, bed.made);
		assert_int_equal(bed.consumer, bed.producer);
		assert_true(bed.producer > before);
		assert_true(ring_fill(&bed.ring) == 0);
	}
}

static void ends_before_what_is_being_written(void **state)
{
	static struct bed bed;
	uint32_t *head;

	(void)state;
	reset(&bed, 0);
	make(&bed, 0);
	head = (uint32_t *)(bed.data + bed.producer);
	make(&bed, BUSY);
	make(&bed, 0);
	ring_take(&bed.ring, expect_next, &bed);
	assert_int_equal(bed.next, 1);
	assert_int_equal(ring_take(&bed.ring, expect_next, &bed), 0);
	*head &= ~BUSY;
	ring_take(&bed.ring, expect_next, &bed);
	assert_int_equal(bed.next, 3);
}

static void skips_what_was_discarded(void **state)
{
	static struct bed bed;

	(void)state;
	reset(&bed, 0);
	make(&bed, DISCARDED);
	make(&bed, 0);
	bed.next = 1;
	ring_take(&bed.ring, expect_next, &bed);
	assert_int_equal(bed.next, 2);
	assert_int_equal(bed.consumer, bed.producer);
}

/* A producer that is as fast as the consumer: a call ends all the same. */
static void make_one_more(void *arg, const void *piece, size_t size)
{
	struct bed *bed = arg;

	expect_next(arg, piece, size);
	make(bed, 0);
}

static void ends_however_fast_producers_are(void **state)
{
	static struct bed bed;

	(void)state;
	reset(&bed, 0);
	for (int i = 0; i < 5; i++)
		make(&bed, 0);
	ring_take(&bed.ring, make_one_more, &bed);
	assert_int_equal(bed.next, 5);
	assert_int_equal(bed.made, 10);
}

static void note_size(void *arg, const void *piece, size_t size)
{
	struct bed *bed = arg;

	(void)piece;
	bed->zero_sized += !size;
}

static void too_large_over_the_end(void **state)
{
	static struct bed bed;

	(void)state;
	reset(&bed, BYTES - 16);
	*(uint32_t *)(bed.data + BYTES - 16) = RING_PIECE_MAX + 8;
	bed.producer += 8 + RING_PIECE_MAX + 8;
	ring_take(&bed.ring, note_size, &bed);
	assert_int_equal(bed.zero_sized, 1);
	assert_int_equal(bed.consumer, bed.producer);
}

#define PIECES 200000

static void *produce(void *arg)
{
	struct bed *bed = arg;

	while (bed->made < PIECES)
		make(bed, 0);
	return NULL;
}

/* What the sanitizer for threads is to look at. */
static void two_threads(void **state)
{
	static struct bed bed;
	pthread_t producer;

	(void)state;
	reset(&bed, 0);
	assert_int_equal(pthread_create(&producer, NULL, produce, &bed), 0);
	while (bed.next < PIECES)
		ring_take(&bed.ring, expect_next, &bed);
	pthread_join(producer, NULL);
	assert_int_equal(bed.consumer, bed.producer);
}

#define CPUS 4

/* The map of rings as programs have it; skips where this program may make none. */
static int ring_map(struct ring *rings)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	int map;

	for (int i = 0; i < CPUS; i++) {
		if (ring_make(&rings[i], BYTES, -1))
			skip();
	}
	options.inner_map_fd = (uint32_t)rings[0].fd;
	map = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rings", 4, 4, CPUS, &options);
	assert_true(map >= 0);
	return map;
}

static void some_rings_cannot_be_set(void **state)
{
	static const int cpus[CPUS] = { 0, 1, 2, 3 };
	struct ring rings[CPUS], none = { .fd = -1 };
	const struct ring *first[CPUS], *second[CPUS];
	int map = ring_map(rings);
	bool done[CPUS];

	(void)state;
	for (int i = 0; i < CPUS; i++) {
		first[i] = i == 1 ? &none : &rings[i];
		second[i] = &rings[(i + 1) % CPUS];
	}
	assert_int_equal(rings_set(map, cpus, first, CPUS, done), -EBADF);
	for (int i = 0; i < CPUS; i++)
		assert_int_equal(done[i], i != 1);
	assert_int_equal(rings_set(map, cpus, second, CPUS, done), 0);
	for (int i = 0; i < CPUS; i++)
		assert_true(done[i]);
	/* none takes the place of another one */
	assert_int_equal(rings_set(map, cpus, first, 2, done), -EBADF);
	assert_true(done[0] && !done[1]);
	close(map);
	for (int i = 0; i < CPUS; i++)
		ring_free(&rings[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(over_the_end),
		cmocka_unit_test(ends_before_what_is_being_written),
		cmocka_unit_test(skips_what_was_discarded),
		cmocka_unit_test(ends_however_fast_producers_are),
		cmocka_unit_test(too_large_over_the_end),
		cmocka_unit_test(two_threads),
		cmocka_unit_test(some_rings_cannot_be_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
