// SPDX-License-Identifier: BSD-3-Clause
/* A file loses what is not kept, and goes on. */
#include "unit/file_records.h"

#include <sys/stat.h>

#define PID_GONE 7
#define PID_STAYS 8

static bool keeps_side(void *arg, const json_t *side)
{
	(void)arg;
	return json_integer_value(json_object_get(side, "n")) != PID_GONE;
}

static bool keeps_record(void *arg, const struct ub_hdr *record)
{
	(void)arg;
	return record->tgid != PID_GONE;
}

static const struct file_kept kept = { keeps_side, keeps_record, NULL };

static void put(struct file_writer *w, uint32_t tgid, uint64_t ts)
{
	union any_record record = { .h = { .kind = UB_TASK, .tgid = tgid, .ts = ts } };

	assert_int_equal(file_writer_record(w, &record.h), 0);
}

/* Sides other than "trimmed", records, and whether it says that it was trimmed. */
static void count(const char *path, size_t *sides, size_t *records, bool *trimmed)
{
	struct file_reader *r = must_open(path);
	const struct ub_hdr *record;
	const json_t *side;
	uint64_t before = 0;
	size_t i;

	*sides = *records = 0;
	*trimmed = false;
	json_array_foreach(file_reader_sides(r), i, side)
	{
		const bool says = !strcmp(json_string_value(json_object_get(side, "t")), "trimmed");

		assert_true(!says || !*trimmed);
		*trimmed |= says;
		*sides += !says;
	}
	for (; file_reader_next(r, &record) > 0; ++*records) {
		assert_true(record->ts >= before);
		before = record->ts;
	}
	file_reader_free(r);
}

static void expect(const char *path, size_t sides, size_t records, bool trimmed)
{
	size_t found_sides, found_records;
	bool found_trimmed;

	count(path, &found_sides, &found_records, &found_trimmed);
	assert_int_equal(found_sides, sides);
	assert_int_equal(found_records, records);
	assert_int_equal(found_trimmed, trimmed);
}

static void test_trims_again_and_again(void **state)
{
	char *path = temp_path(), *part = NULL;
	struct file_writer *w = must_create(path);

	(void)state;
	must_side(w, "process", PID_GONE);
	must_side(w, "process", PID_STAYS);
	for (uint64_t ts = 1; ts <= 100; ts++)
		put(w, ts % 2 ? PID_GONE : PID_STAYS, ts);
	assert_int_equal(file_writer_flush(w, NULL), 0);
	expect(path, 2, 100, false);
	for (uint64_t round = 1; round <= 3; round++) {
		put(w, PID_GONE, 100 + round);
		must_side(w, "process", PID_GONE);
		assert_int_equal(file_writer_trim(w, &kept), 0);
		expect(path, 1, 50 + round - 1, true);
		put(w, PID_STAYS, 100 + round);
		assert_int_equal(file_writer_flush(w, NULL), 0);
		expect(path, 1, 50 + round, true);
	}
	assert_true(asprintf(&part, "%s" FILE_TRIMMED, path) > 0);
	assert_int_not_equal(access(part, F_OK), 0);
	assert_int_equal(file_writer_close(w, NULL), 0);
	expect(path, 1, 53, true);
	free(part);
	temp_free(path);
}

static void test_smaller(void **state)
{
	char *path = temp_path();
	struct file_writer *w = must_create(path);
	uint64_t before;

	(void)state;
	for (uint64_t ts = 1; ts <= 100000; ts++)
		put(w, ts % 1000 ? PID_GONE : PID_STAYS, ts * ts);
	assert_int_equal(file_writer_flush(w, NULL), 0);
	before = file_writer_bytes(w);
	assert_int_equal(file_writer_trim(w, &kept), 0);
	assert_true(file_writer_bytes(w) < before / 20);
	expect(path, 0, 100, true);
	file_writer_abandon(w);
	expect(path, 0, 100, true);
	temp_free(path);
}

/* The folder takes no new file: the old one stays as it is, and is written on. */
static void test_no_room(void **state)
{
	char folder[] = "/tmp/ucxbpf-test-XXXXXX", path[64], part[80];
	struct file_writer *w;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a", folder);
	snprintf(part, sizeof(part), "%s" FILE_TRIMMED, path);
	assert_int_equal(mkdir(part, 0700), 0);
	w = must_create(path);
	put(w, PID_GONE, 1);
	assert_int_equal(file_writer_trim(w, &kept), -EISDIR);
	put(w, PID_STAYS, 2);
	assert_int_equal(file_writer_close(w, NULL), 0);
	expect(path, 0, 2, false);
	rmdir(part);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trims_again_and_again),
		cmocka_unit_test(test_smaller),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
