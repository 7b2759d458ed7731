// SPDX-License-Identifier: BSD-3-Clause
/* Buffers that a process makes up take no memory from other processes. */
#include "file_records.h"

#include "base/deadline.h"
#include "observe/capture/memory.h"
#include "observe/process/bounds.h"

#define TGID 4242
#define PART (1ull << 21)

static void use(struct memory_watch *watch, pid_t tgid, uint64_t buffer)
{
	const struct ub_op record = { .h = { .kind = UB_OP, .tgid = (uint32_t)tgid },
				      .buffer = buffer };

	memory_watch_record(watch, &record.h);
}

static void watch_process(struct memory_watch *watch, pid_t tgid)
{
	vec_push(&watch->watched, ((struct memory_watched){ .tgid = tgid }));
	*map_insert(&watch->index, (uint64_t)tgid, 0, NULL) = watch->watched.len;
}

static void test_quota(void **state)
{
	char *path = temp_path();
	struct file_writer *writer = must_create(path);
	struct track track = { 0 };
	struct memory_watch watch;
	struct file_reader *reader;

	(void)state;
	memory_watch_init(&watch, &track, writer);
	watch_process(&watch, TGID);
	watch_process(&watch, TGID + 1);
	for (uint64_t i = 1; i <= BOUNDS_PARTS + 5; i++)
		use(&watch, TGID, i * PART);
	assert_int_equal(watch.met.used, BOUNDS_PARTS);
	assert_true(watch.watched.data[0].met);
	assert_false(watch.watched.data[1].met);
	use(&watch, TGID + 1, PART);
	assert_true(watch.watched.data[1].met);
	memory_watch_forget(&watch, TGID);
	memory_watch_forget(&watch, TGID + 1);
	assert_int_equal(watch.met.used, 0);
	memory_watch_finish(&watch, DEADLINE_NONE);
	memory_watch_release(&watch);
	assert_int_equal(file_writer_close(writer, NULL), 0);
	reader = must_open(path);
	assert_string_equal(
		json_string_value(
			json_object_get(json_array_get(file_reader_sides(reader), 0), "text")),
		"a process had more than 65536 places of unknown memory: others were left out, 5 "
		"times");
	file_reader_free(reader);
	temp_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quota),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
