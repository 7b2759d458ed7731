// SPDX-License-Identifier: BSD-3-Clause
/* What was written comes back: every kind, extreme values, exact order of time. */
#include "unit/file_records.h"

struct expected {
	union any_record record;
	size_t order;
};

static int by_ts(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	if (x->record.h.ts != y->record.h.ts)
		return x->record.h.ts < y->record.h.ts ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void write_all(const char *path, const struct expected *all, size_t n, size_t per_flush)
{
	struct file_writer *w = must_create(path);
	size_t i;

	for (i = 0; i < n; i++) {
		assert_int_equal(file_writer_record(w, &all[i].record.h), 0);
		if (per_flush && i % per_flush == per_flush - 1)
			assert_int_equal(file_writer_flush(w, NULL), 0);
	}
	assert_int_equal(file_writer_records(w), n);
	assert_int_equal(file_writer_close(w, NULL), 0);
}

static int by_content(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	if (x->record.h.ts != y->record.h.ts)
		return x->record.h.ts < y->record.h.ts ? -1 : 1;
	return memcmp(&x->record, &y->record, sizeof(x->record));
}

/* Copies what is read of a record without an order of time: no numbers of frames. */
static void copy_stored(union any_record *to, const struct ub_hdr *h)
{
	memcpy(to, h, h->kind == UB_LOSS ? sizeof(struct ub_loss) : sizeof(*h));
	to->h.seq = to->h.call = to->h.op = to->h.rx = 0;
}

/* Without an order of time, each record comes once all the same. */
static void read_stored(const char *path, const struct expected *all, size_t n)
{
	struct expected *want = calloc(n + 1, sizeof(*want)), *got = calloc(n + 1, sizeof(*got));
	struct file_reader *r = must_open(path);
	const struct ub_hdr *h;

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(file_reader_next_stored(r, &h), 1);
		copy_stored(&got[i].record, h);
		copy_stored(&want[i].record, &all[i].record.h);
	}
	assert_int_equal(file_reader_next_stored(r, &h), 0);
	assert_int_equal(file_reader_next_stored(r, &h), 0);
	qsort(want, n, sizeof(*want), by_content);
	qsort(got, n, sizeof(*got), by_content);
	for (size_t i = 0; i < n; i++)
		assert_memory_equal(&got[i].record, &want[i].record, sizeof(got[i].record));
	file_reader_free(r);
	free(want);
	free(got);
}

static void read_back(const char *path, struct expected *all, size_t n)
{
	struct file_reader *r = must_open(path);
	const struct ub_hdr *h;
	const char *why;
	size_t i;

	qsort(all, n, sizeof(*all), by_ts);
	for (i = 0; i < n; i++) {
		assert_int_equal(file_reader_next(r, &h), 1);
		assert_int_equal(h->kind, all[i].record.h.kind);
		assert_memory_equal(h, &all[i].record, ub_kind_size(h->kind));
	}
	assert_int_equal(file_reader_next(r, &h), 0);
	assert_int_equal(file_reader_next(r, &h), 0);
	assert_true(file_reader_complete(r, &why));
	assert_null(why);
	assert_int_equal(file_reader_damaged(r), 0);
	file_reader_free(r);
	read_stored(path, all, n);
}

/* How ts moves from record to record: what the writer sees of CPUs that are drained in turn. */
typedef uint64_t next_ts(uint64_t *seed, size_t i);

static uint64_t ts_rising(uint64_t *seed, size_t i)
{
	return 1000 * i + random_u64(seed) % 50;
}

static uint64_t ts_equal(uint64_t *seed, size_t i)
{
	(void)seed;
	return 5000 + i / 100 % 3;
}

static uint64_t ts_anywhere(uint64_t *seed, size_t i)
{
	(void)i;
	return random_u64(seed);
}

static uint64_t ts_long_spans(uint64_t *seed, size_t i)
{
	return random_u64(seed) % 500 ? 1000000 + 100 * i : random_u64(seed) % 1000000;
}

static uint64_t ts_per_cpu(uint64_t *seed, size_t i)
{
	return i / 400 * 100000 + i % 100 * 1000 + random_u64(seed) % 700;
}

static void round_trip(next_ts *ts, size_t n, size_t per_flush)
{
	struct expected *all = calloc(n + 1, sizeof(*all));
	char *path = temp_path();
	uint64_t seed = 88172645463325252ULL + n;
	size_t i;

	for (i = 0; i < n; i++) {
		random_record(&all[i].record, &seed, ts(&seed, i));
		all[i].order = i;
	}
	write_all(path, all, n, per_flush);
	read_back(path, all, n);
	temp_free(path);
	free(all);
}

static void every_order(void **state)
{
	static next_ts *const patterns[] = { ts_rising, ts_equal, ts_anywhere, ts_long_spans,
					     ts_per_cpu };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		round_trip(patterns[i], 1, 0);
		round_trip(patterns[i], 7, 1);
		round_trip(patterns[i], 5000, 97);
		round_trip(patterns[i], 5000, 1013);
	}
}

static void more_than_a_chunk(void **state)
{
	(void)state;
	round_trip(ts_per_cpu, 150001, 0);
}

static void no_records(void **state)
{
	(void)state;
	round_trip(ts_rising, 0, 0);
}

/* One kind, one thread: the long runs of equal contexts that a real job makes. */
static void regular_records(void **state)
{
	const size_t n = 70000;
	struct expected *all = calloc(n, sizeof(*all));
	char *path = temp_path();
	size_t i;

	(void)state;
	for (i = 0; i < n; i++) {
		struct ub_xfer *x = (struct ub_xfer *)&all[i].record;

		x->h = (struct ub_hdr){ .ts = 1000 * i,
					.tgid = 9,
					.tid = 9,
					.cpu_seq = (uint32_t)i,
					.site = 3,
					.seq = (uint32_t)(3 * i + 1),
					.dur = 400,
					.op = (uint32_t)(3 * i),
					.kind = UB_XFER };
		x->uct_ep = 0x7f0000000000;
		x->length = -2;
		x->status = -2;
		x->laddr = UINT64_MAX - i;
		all[i].order = i;
	}
	write_all(path, all, n, 0);
	read_back(path, all, n);
	temp_free(path);
	free(all);
}

static void sides_and_stats(void **state)
{
	struct ub_stats stats = { .hits = 11, .produced = { [UB_OP] = 5 } };
	char *path = temp_path();
	struct file_writer *w = must_create(path);
	struct file_reader *r;
	const json_t *sides;
	json_t *bad = json_pack("{s:i}", "t", 1);
	int i;

	(void)state;
	assert_int_equal(file_writer_side(w, bad), -EINVAL);
	json_decref(bad);
	for (i = 0; i < 1000; i++) {
		must_side(w, i % 2 ? "process" : "clock", i);
		if (i % 300 == 0)
			assert_int_equal(file_writer_flush(w, &stats), 0);
	}
	stats.hits = 12;
	assert_int_equal(file_writer_close(w, &stats), 0);
	r = must_open(path);
	sides = file_reader_sides(r);
	assert_int_equal(json_array_size(sides), 1000);
	for (i = 0; i < 1000; i++)
		assert_int_equal(
			json_integer_value(json_object_get(json_array_get(sides, (size_t)i), "n")),
			i);
	assert_memory_equal(file_reader_stats(r), &stats, sizeof(stats));
	file_reader_free(r);
	temp_free(path);
}

static void many_side_chunks(void **state)
{
	char *path = temp_path(), *long_text = malloc(300001);
	struct file_writer *w = must_create(path);
	struct file_reader *r;
	int i;

	(void)state;
	memset(long_text, 'x', 300000);
	long_text[300000] = 0;
	for (i = 0; i < 20; i++) {
		json_t *side = json_pack("{s:s, s:s}", "t", "note", "text", long_text);

		assert_int_equal(file_writer_side(w, side), 0);
		json_decref(side);
	}
	assert_int_equal(file_writer_close(w, NULL), 0);
	r = must_open(path);
	assert_int_equal(json_array_size(file_reader_sides(r)), 20);
	file_reader_free(r);
	free(long_text);
	temp_free(path);
}

static void unknown_kind_is_refused(void **state)
{
	struct ub_hdr h = { .kind = UB_KIND_MAX };
	char *path = temp_path();
	struct file_writer *w = must_create(path);

	(void)state;
	assert_int_equal(file_writer_record(w, &h), -EINVAL);
	h.kind = 0;
	assert_int_equal(file_writer_record(w, &h), -EINVAL);
	assert_int_equal(file_writer_close(w, NULL), 0);
	temp_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order),
		cmocka_unit_test(more_than_a_chunk),
		cmocka_unit_test(no_records),
		cmocka_unit_test(regular_records),
		cmocka_unit_test(sides_and_stats),
		cmocka_unit_test(many_side_chunks),
		cmocka_unit_test(unknown_kind_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
