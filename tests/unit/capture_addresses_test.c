// SPDX-License-Identifier: BSD-3-Clause
/* The code that an address is put down to, and files that go with the last process that maps them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/deadline.h"
#include "observe/capture/addresses.h"
#include "observe/capture/side.h"
#include "observe/process/bounds.h"

#define PROGRAMS 1000
#define SHARED 7 /* inode of a library that all map */
#define LONG_AGO 1 /* ns */

static void map_at(struct addresses *addresses, pid_t tgid, ino_t ino, uint64_t time)
{
	const struct mapping mapping = { .start = 4096 * ino,
					 .end = 4096 * (ino + 1),
					 .executable = true,
					 .dev = 1,
					 .ino = ino,
					 .path = "/x" };

	addresses_mapped(addresses, tgid, &mapping, time);
}

static void map_file(struct addresses *addresses, pid_t tgid, ino_t ino)
{
	map_at(addresses, tgid, ino, LONG_AGO);
}

/* A process that maps a file of its own and one that others map as well. */
static void run_program(struct addresses *addresses, pid_t tgid)
{
	map_file(addresses, tgid, 1000 + (ino_t)tgid);
	map_file(addresses, tgid, SHARED);
	addresses->processes.data[addresses->processes.len - 1].since = 0;
}

static void test_short_programs(void **state)
{
	struct addresses addresses;

	(void)state;
	addresses_init(&addresses, NULL);
	for (pid_t tgid = 1; tgid <= PROGRAMS; tgid++)
		run_program(&addresses, tgid);
	assert_int_equal(addresses.files.all.len, PROGRAMS + 1);
	/* all but one end */
	for (pid_t tgid = 2; tgid <= PROGRAMS; tgid++)
		addresses_ended(&addresses, tgid, LONG_AGO);
	addresses_sweep(&addresses);
	assert_int_equal(addresses.files.all.len, PROGRAMS + 1);
	addresses_apply(&addresses, DEADLINE_NONE);
	addresses_sweep(&addresses);
	assert_int_equal(addresses.processes.len, 1);
	assert_int_equal(addresses.files.all.len, 2);
	assert_int_equal(addresses.files.known.used, 2);
	addresses_ended(&addresses, 1, LONG_AGO);
	addresses_apply(&addresses, DEADLINE_NONE);
	addresses_sweep(&addresses);
	assert_int_equal(addresses.files.all.len, 0);
	addresses_release(&addresses);
}

static void exec_record(struct addresses *addresses, uint64_t ts)
{
	const struct ub_task task = { .h = { .ts = ts, .tgid = 7, .kind = UB_TASK },
				      .what = UB_EXEC };

	addresses_record(addresses, &task.h);
}

/* `env PROGRAM`: both execs are heard before the first one's record. A program is mapped before it.
 */
static void test_two_execs(void **state)
{
	struct addresses addresses;

	(void)state;
	addresses_init(&addresses, NULL);
	map_at(&addresses, 7, 100, 5);
	addresses.processes.data[0].since = 0;
	addresses_exec(&addresses, 7, 10);
	map_at(&addresses, 7, 101, 11);
	addresses_exec(&addresses, 7, 20);
	map_at(&addresses, 7, 102, 21);
	exec_record(&addresses, 13);
	exec_record(&addresses, 23);
	assert_int_equal(addresses.processes.data[0].heard.len, 1);
	assert_int_equal(addresses.processes.data[0].heard.data[0].range.file->ino, 102);
	addresses_release(&addresses);
}

/* The module that a process's last address was put down to; -1: none. */
static int module_of(const char *path, pid_t tgid)
{
	struct file_reader *reader;
	const char *why;
	const json_t *side;
	size_t i;
	int module = -1;

	assert_int_equal(file_reader_open(&reader, path, &why), 0);
	json_array_foreach(file_reader_sides(reader), i, side)
	{
		const char *type = json_string_value(json_object_get(side, "t"));
		const json_t *id = json_object_get(side, "module");

		if (!strcmp(type, "address") &&
		    json_integer_value(json_object_get(side, "tgid")) == tgid)
			module = json_is_integer(id) ? (int)json_integer_value(id) : -1;
	}
	file_reader_free(reader);
	return module;
}

#define GONE 0x3fffff00 /* above any tgid: nothing is known of these but by events */
#define PARENT (GONE + 1)
#define CHILD (GONE + 2)

static void task_record(struct addresses *addresses, uint32_t what, pid_t tgid, pid_t other,
			uint64_t ts)
{
	const struct ub_task task = { .h = { .ts = ts, .tgid = (uint32_t)tgid, .kind = UB_TASK },
				      .what = what,
				      .other = (uint32_t)other };

	addresses_record(addresses, &task.h);
}

struct trace {
	struct addresses addresses;
	struct file_writer *writer;
	char path[40];
};

static void trace_begin(struct trace *trace)
{
	memset(trace, 0, sizeof(*trace));
	strcpy(trace->path, "/tmp/ucxbpf-test-XXXXXX");
	close(mkstemp(trace->path));
	unlink(trace->path);
	assert_int_equal(file_writer_open(&trace->writer, trace->path), 0);
	addresses_init(&trace->addresses, trace->writer);
	trace->addresses.nameless = true;
}

static void assert_placed(struct trace *trace, pid_t tgid, int module)
{
	struct ub_stats stats = { 0 };

	addresses_apply(&trace->addresses, DEADLINE_NONE);
	addresses_release(&trace->addresses);
	assert_int_equal(file_writer_close(trace->writer, &stats), 0);
	assert_int_equal(module_of(trace->path, tgid), module);
	unlink(trace->path);
}

static void assert_module(struct trace *trace, pid_t tgid, ino_t ino)
{
	const uint64_t *file;

	addresses_apply(&trace->addresses, DEADLINE_NONE);
	file = map_find(&trace->addresses.files.known, 1, ino);
	assert_non_null(file);
	assert_placed(trace, tgid, ((struct code_file *)(uintptr_t)*file)->number);
}

static void call_from(struct trace *trace, pid_t tgid, ino_t ino)
{
	addresses_notice(&trace->addresses, tgid, 4096 * ino + 8, 1);
}

/* A child of a process that was there before the trace, and has mapped something. */
static void trace_fork(struct trace *trace)
{
	trace_begin(trace);
	map_at(&trace->addresses, PARENT, 100, 5);
	trace->addresses.processes.data[0].since = 0;
	task_record(&trace->addresses, UB_FORK, PARENT, CHILD, 10);
}

/* A forked process that has ended is known by its parent's mappings. */
static void test_forked(void **state)
{
	struct trace trace;

	(void)state;
	trace_begin(&trace);
	map_at(&trace.addresses, PARENT, 100, 5);
	task_record(&trace.addresses, UB_FORK, PARENT, CHILD, 10);
	call_from(&trace, CHILD, 100);
	assert_module(&trace, CHILD, 100);
}

/* Its records may be read before that of its fork: they lie in another ring. */
static void test_call_before_fork(void **state)
{
	(void)state;
	for (int applied = 0; applied < 2; applied++) {
		struct trace trace;

		trace_begin(&trace);
		map_at(&trace.addresses, PARENT, 100, 5);
		addresses_notice(&trace.addresses, CHILD, 4096 * 100 + 8, 15);
		if (applied)
			addresses_apply(&trace.addresses, DEADLINE_NONE);
		task_record(&trace.addresses, UB_FORK, PARENT, CHILD, 10);
		assert_module(&trace, CHILD, 100);
	}
}

/* Not by those of the program that the parent begins later, in the same place. */
static void test_parent_execs(void **state)
{
	struct trace trace;

	(void)state;
	for (int late = 0; late < 2; late++) {
		trace_fork(&trace);
		if (!late)
			call_from(&trace, CHILD, 200);
		addresses_exec(&trace.addresses, PARENT, 20);
		task_record(&trace.addresses, UB_EXEC, PARENT, 0, 21);
		map_at(&trace.addresses, PARENT, 200, 22);
		if (late)
			call_from(&trace, CHILD, 200);
		assert_placed(&trace, CHILD, -1);
	}
}

/* The child's calls before that are the parent's earlier program's. */
static void test_forked_before_exec(void **state)
{
	struct trace trace;

	(void)state;
	trace_fork(&trace);
	call_from(&trace, CHILD, 100);
	addresses_exec(&trace.addresses, PARENT, 20);
	task_record(&trace.addresses, UB_EXEC, PARENT, 0, 21);
	assert_module(&trace, CHILD, 100);
}

/* Records of two CPUs: the child's program is heard of before its fork. */
static void test_exec_before_fork(void **state)
{
	struct trace trace;

	(void)state;
	trace_begin(&trace);
	map_at(&trace.addresses, PARENT, 100, 5);
	task_record(&trace.addresses, UB_EXEC, CHILD, 0, 12);
	task_record(&trace.addresses, UB_FORK, PARENT, CHILD, 10);
	call_from(&trace, CHILD, 100);
	assert_placed(&trace, CHILD, -1);
}

/* The parent's number is another process's by now. */
static void test_parent_gone(void **state)
{
	struct trace trace;

	(void)state;
	trace_fork(&trace);
	task_record(&trace.addresses, UB_EXIT, PARENT, 0, LONG_AGO);
	addresses_apply(&trace.addresses, DEADLINE_NONE);
	map_at(&trace.addresses, PARENT, 200, 30);
	call_from(&trace, CHILD, 200);
	assert_placed(&trace, CHILD, -1);
}

static void stray(struct trace *trace, pid_t tgid, ino_t ino, ino_t at, uint64_t time)
{
	const struct mapping mapping = { .start = 4096 * at,
					 .end = 4096 * (at + 1),
					 .executable = true,
					 .dev = 1,
					 .ino = ino,
					 .path = "/y" };

	strays_add(&trace->addresses.strays, tgid, &mapping, time);
}

/* Mapped before the process was known, and read after a later mapping of the same place. */
static void test_strays_are_older(void **state)
{
	struct trace trace;

	(void)state;
	trace_begin(&trace);
	stray(&trace, CHILD, 99, 100, 5);
	map_at(&trace.addresses, CHILD, 100, 10);
	call_from(&trace, CHILD, 100);
	assert_module(&trace, CHILD, 100);
}

/* A program's first mappings come before the record of its exec. */
static void test_strays_of_a_program(void **state)
{
	struct trace trace;

	(void)state;
	trace_begin(&trace);
	stray(&trace, CHILD, 99, 100, 11);
	task_record(&trace.addresses, UB_FORK, PARENT, CHILD, 10);
	task_record(&trace.addresses, UB_EXEC, CHILD, 0, 12);
	call_from(&trace, CHILD, 100);
	assert_module(&trace, CHILD, 99);
}

/* The program that mapped it is not the process's any more, nor is that process. */
static void test_strays_of_before(void **state)
{
	struct trace trace;

	(void)state;
	trace_begin(&trace);
	stray(&trace, CHILD, 99, 100, 5);
	addresses_exec(&trace.addresses, CHILD, 10);
	task_record(&trace.addresses, UB_EXEC, CHILD, 0, 12);
	call_from(&trace, CHILD, 100);
	assert_placed(&trace, CHILD, -1);
	trace_begin(&trace);
	stray(&trace, CHILD, 99, 100, 5);
	task_record(&trace.addresses, UB_FORK, PARENT, CHILD, 10);
	call_from(&trace, CHILD, 100);
	assert_placed(&trace, CHILD, -1);
}

/* The member of the last side record of that type; NULL: none. Frees what trace_begin() made. */
static char *last_text(struct trace *trace, const char *type, const char *member)
{
	struct ub_stats stats = { 0 };
	struct file_reader *reader;
	char *found = NULL;
	const char *why;
	const json_t *side;
	size_t i;

	addresses_release(&trace->addresses);
	assert_int_equal(file_writer_close(trace->writer, &stats), 0);
	assert_int_equal(file_reader_open(&reader, trace->path, &why), 0);
	json_array_foreach(file_reader_sides(reader), i, side)
	{
		const char *text = json_string_value(json_object_get(side, member));

		if (strcmp(json_string_value(json_object_get(side, "t")), type))
			continue;
		free(found);
		found = text ? strdup(text) : NULL;
	}
	file_reader_free(reader);
	unlink(trace->path);
	return found;
}

static void assert_text(struct trace *trace, const char *type, const char *member, const char *text)
{
	char *found = last_text(trace, type, member);

	assert_non_null(found);
	assert_string_equal(found, text);
	free(found);
}

#define NOWHERE 0x1000 /* below what a process may map */

/* Mappings are read once for all addresses of records made before: not once for each. */
static void test_read_once(void **state)
{
	struct trace trace;
	void *made;

	(void)state;
	trace_begin(&trace);
	addresses_notice(&trace.addresses, getpid(), NOWHERE, 1);
	addresses_apply(&trace.addresses, DEADLINE_NONE);
	made = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(made, MAP_FAILED);
	addresses_notice(&trace.addresses, getpid(), (uintptr_t)made, 2);
	addresses_apply(&trace.addresses, DEADLINE_NONE);
	addresses_apply(&trace.addresses, DEADLINE_NONE);
	assert_int_equal(trace.addresses.pending.len, 0);
	munmap(made, 4096);
	assert_text(&trace, "address", "reason", "nothing is mapped there");
}

/* A process whose mappings take long to read waits: neither others do, nor the end. */
static void test_pause(void **state)
{
	struct trace trace;

	(void)state;
	trace_begin(&trace);
	addresses_process(&trace.addresses, getpid());
	trace.addresses.processes.data[0].next_read = DEADLINE_NONE;
	addresses_notice(&trace.addresses, getpid(), NOWHERE, side_now());
	addresses_notice(&trace.addresses, GONE, NOWHERE, 1);
	for (int i = 0; i < 4; i++)
		addresses_apply(&trace.addresses, DEADLINE_NONE);
	assert_int_equal(trace.addresses.pending.len, 1);
	assert_int_equal(trace.addresses.pending.data[0].tgid, getpid());
	addresses_finish(&trace.addresses, DEADLINE_NONE);
	assert_int_equal(trace.addresses.pending.len, 0);
	assert_text(&trace, "address", "reason", "nothing is mapped there");
}

/* No time is left: addresses wait, and at the end they have that reason. */
static void test_no_time(void **state)
{
	struct trace trace;

	(void)state;
	trace_begin(&trace);
	addresses_notice(&trace.addresses, getpid(), NOWHERE, 1);
	addresses_apply(&trace.addresses, 0);
	addresses_apply(&trace.addresses, 0);
	assert_int_equal(trace.addresses.pending.len, 1);
	addresses_finish(&trace.addresses, 0);
	assert_text(&trace, "address", "reason", "its process's mappings were not read in time");
}

/* A process that calls from anywhere has its quota of addresses, others have theirs. */
static void test_quota(void **state)
{
	struct trace trace;

	(void)state;
	trace_begin(&trace);
	for (uint64_t i = 1; i <= BOUNDS_ADDRESSES + 5; i++)
		addresses_notice(&trace.addresses, GONE, i, 1);
	assert_int_equal(trace.addresses.pending.len, BOUNDS_ADDRESSES);
	addresses_notice(&trace.addresses, GONE, 1, 1);
	addresses_notice(&trace.addresses, PARENT, 1, 1);
	assert_int_equal(trace.addresses.pending.len, BOUNDS_ADDRESSES + 1);
	addresses_finish(&trace.addresses, DEADLINE_NONE);
	assert_text(&trace, "note", "text",
		    "a process had more than 16384 code addresses: others were left out, 5 times");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_programs),
		cmocka_unit_test(test_two_execs),
		cmocka_unit_test(test_forked),
		cmocka_unit_test(test_call_before_fork),
		cmocka_unit_test(test_parent_execs),
		cmocka_unit_test(test_forked_before_exec),
		cmocka_unit_test(test_exec_before_fork),
		cmocka_unit_test(test_parent_gone),
		cmocka_unit_test(test_strays_are_older),
		cmocka_unit_test(test_strays_of_a_program),
		cmocka_unit_test(test_strays_of_before),
		cmocka_unit_test(test_read_once),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_quota),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
