// SPDX-License-Identifier: BSD-3-Clause
/* When devices were busy, and how many bytes went over them when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "show/export/traffic.h"

struct seen {
	VEC(struct busy) busy;
	VEC(struct rate) rates;
};

static void got_busy(void *arg, const struct busy *busy)
{
	vec_push(&((struct seen *)arg)->busy, *busy);
}

static void got_rate(void *arg, const struct rate *rate)
{
	vec_push(&((struct seen *)arg)->rates, *rate);
}

static const char tcp[] = "tcp", eth[] = "eth0", lo[] = "lo";

static void add(struct traffic *traffic, const char *device, uint64_t start, uint64_t end,
		uint64_t bytes, enum fact_kind kind)
{
	struct fact_transfer transfer = { .transport = tcp,
					  .device = device,
					  .kind = kind,
					  .start = start,
					  .end = end,
					  .bytes = bytes };

	traffic_add(traffic, 0, &transfer, NULL);
	transfer.retried = true;
	traffic_add(traffic, 0, &transfer, NULL);
}

static void run(struct traffic *traffic, struct seen *seen)
{
	*seen = (struct seen){ 0 };
	assert_int_equal(traffic_each(traffic, &(struct traffic_sink){ seen, got_busy, got_rate }),
			 0);
}

static void release(struct traffic *traffic, struct seen *seen)
{
	vec_release(&seen->busy);
	vec_release(&seen->rates);
	traffic_release(traffic);
}

/* Times that overlap or touch are one; a time without an end is a point. */
static void busy(void **state)
{
	struct traffic traffic;
	struct seen seen;

	(void)state;
	traffic_init(&traffic);
	add(&traffic, eth, 1000, 3000, 10, KIND_DATA);
	add(&traffic, lo, 1500, 1600, 7, KIND_DATA);
	add(&traffic, eth, 5000, 0, 20, KIND_DATA);
	add(&traffic, eth, 3000, 4000, 30, KIND_CONTROL);
	add(&traffic, eth, 2000, 2500, UINT64_MAX, KIND_DATA);
	add(&traffic, eth, 2100, 2200, 40, KIND_COPY);
	run(&traffic, &seen);
	assert_int_equal(seen.busy.len, 3);
	assert_ptr_equal(seen.busy.data[0].device->device, eth);
	assert_int_equal(seen.busy.data[0].start, 1000);
	assert_int_equal(seen.busy.data[0].end, 4000);
	assert_int_equal(seen.busy.data[0].count[KIND_DATA], 2);
	assert_int_equal(seen.busy.data[0].count[KIND_CONTROL], 1);
	assert_int_equal(seen.busy.data[0].count[KIND_COPY], 1);
	assert_int_equal(seen.busy.data[0].bytes, 10);
	assert_int_equal(seen.busy.data[0].bytes_unknown, 1);
	assert_int_equal(seen.busy.data[1].start, 5000);
	assert_int_equal(seen.busy.data[1].end, 5000);
	assert_int_equal(seen.busy.data[1].bytes, 20);
	assert_ptr_equal(seen.busy.data[2].device->device, lo);
	assert_int_equal(seen.busy.data[2].bytes, 7);
	release(&traffic, &seen);
}

/* Bytes are spread evenly, and none is lost: 1000 buckets of 1 us here. */
static void rates(void **state)
{
	struct traffic traffic;
	struct seen seen;
	uint64_t sum = 0;

	(void)state;
	traffic_init(&traffic);
	add(&traffic, eth, 1000, 4000, 1000, KIND_DATA);
	add(&traffic, lo, 2500, 2600, 7, KIND_DATA); /* of the same transport */
	add(&traffic, eth, 900000, 0, 5, KIND_DATA);
	add(&traffic, eth, 1000, 500000, 9, KIND_CONTROL);
	run(&traffic, &seen);
	assert_int_equal(seen.rates.len, 4);
	for (size_t i = 0; i < seen.rates.len; i++) {
		assert_int_equal(seen.rates.data[i].width, 1000);
		sum += seen.rates.data[i].bytes;
	}
	assert_int_equal(sum, 1012);
	assert_int_equal(seen.rates.data[0].start, 1000);
	assert_int_equal(seen.rates.data[0].bytes, 333);
	assert_int_equal(seen.rates.data[1].bytes, 333 + 7);
	assert_int_equal(seen.rates.data[2].bytes, 334);
	assert_int_equal(seen.rates.data[3].start, 900000);
	assert_int_equal(seen.rates.data[3].bytes, 5);
	release(&traffic, &seen);
}

/* Times may be anything in a capture that is damaged or foreign. */
static void end_of_time(void **state)
{
	struct traffic traffic;
	struct seen seen;
	uint64_t sum = 0;

	(void)state;
	traffic_init(&traffic);
	add(&traffic, eth, UINT64_MAX - 2500, UINT64_MAX - 1, 2000, KIND_DATA);
	add(&traffic, eth, UINT64_MAX - 1, UINT64_MAX - 1, 5, KIND_DATA);
	add(&traffic, eth, UINT64_MAX, UINT64_MAX, 7, KIND_DATA);
	run(&traffic, &seen);
	for (size_t i = 0; i < seen.rates.len; i++)
		sum += seen.rates.data[i].bytes;
	assert_int_equal(sum, 2012);
	release(&traffic, &seen);
}

static void fragments(void **state)
{
	struct fact_transfer transfer = { .transport = tcp, .start = 1000, .end = 2000 };
	struct fact_sums sums = { .count = 5, .bytes = 50 };
	struct traffic traffic;
	struct seen seen;

	(void)state;
	traffic_init(&traffic);
	traffic_add(&traffic, 0, &transfer, &sums);
	traffic_add(&traffic, -1, &transfer, &sums); /* of no host */
	run(&traffic, &seen);
	assert_int_equal(seen.busy.len, 1);
	assert_int_equal(seen.busy.data[0].count[KIND_DATA], 5);
	assert_int_equal(seen.busy.data[0].bytes, 50);
	release(&traffic, &seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy),
		cmocka_unit_test(rates),
		cmocka_unit_test(end_of_time),
		cmocka_unit_test(fragments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
