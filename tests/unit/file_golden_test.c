// SPDX-License-Identifier: BSD-3-Clause
/*
 * Captures of every format version stay readable for good: tests/data/format/vN.ucxb were made by
 * the writer of that version (file_golden_test PATH makes one), and hold the records that sample()
 * makes.
 */
#include "unit/file_records.h"

#define RECORDS 300

static void sample(union any_record *r, uint64_t *seed, int i)
{
	random_record(r, seed, 1000000 + 700 * (uint64_t)i);
	r->h.kind = (uint8_t)(1 + i % UB_CALL_END);
	r->h.tid = (uint32_t)i / 10 % 4;
	r->h.cpu = (uint16_t)(i / 10 % 2);
}

static int make(const char *path)
{
	const struct ub_stats stats = { .produced = { [UB_OP] = RECORDS }, .deep = 4 };
	struct file_writer *w = must_create(path);
	union any_record r;
	uint64_t seed = 1;
	int i;

	for (i = 0; i < RECORDS; i++) {
		sample(&r, &seed, i);
		file_writer_record(w, &r.h);
		if (i % 100 == 0) {
			must_side(w, "note", i);
			file_writer_flush(w, &stats);
		}
	}
	return file_writer_close(w, &stats) ? 1 : 0;
}

/* Fields that records have got since that version are 0: compares only what it knew. */
static void check(const char *name, const unsigned int *sizes)
{
	const char *top = getenv("TOP");
	const struct ub_hdr *h;
	struct file_reader *reader;
	union any_record r;
	const char *why;
	char path[4096];
	uint64_t seed = 1;
	int i;

	snprintf(path, sizeof(path), "%s/tests/data/format/%s", top ? top : ".", name);
	reader = must_open(path);
	for (i = 0; i < RECORDS; i++) {
		sample(&r, &seed, i);
		assert_int_equal(file_reader_next(reader, &h), 1);
		assert_int_equal(h->kind, r.h.kind);
		assert_memory_equal(h, &r, sizes[h->kind]);
	}
	assert_int_equal(file_reader_next(reader, &h), 0);
	assert_true(file_reader_complete(reader, &why));
	assert_int_equal(json_array_size(file_reader_sides(reader)), 3);
	assert_int_equal(file_reader_stats(reader)->produced[UB_OP], RECORDS);
	assert_int_equal(file_reader_stats(reader)->deep, 4);
	file_reader_free(reader);
}

static void version_1(void **state)
{
	static const unsigned int sizes[] = { 0, 64, 152, 168, 104, 88, 96, 128, 120, 80, 48 };

	(void)state;
	check("v1.ucxb", sizes);
}

static void version_2(void **state)
{
	static const unsigned int sizes[] = { 0, 64, 160, 168, 112, 88, 96, 128, 120, 80, 48 };

	(void)state;
	check("v2.ucxb", sizes);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_1),
		cmocka_unit_test(version_2),
	};

	if (argc > 1)
		return make(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
