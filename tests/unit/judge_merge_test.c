// SPDX-License-Identifier: BSD-3-Clause
/* Evidence is the same file in whatever order, and in whatever steps, its parts are merged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "site/judge/evidence/evidence.h"

#define PARTS 12
#define SHUFFLES 1000
#define MANY 200 /* more than are open at a time, and not a multiple of it */

static uint64_t seed = 88172645463325252;

static uint32_t random_below(uint32_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16) % limit;
}

static int new_file(void)
{
	int file = memfd_create("evidence", MFD_CLOEXEC);

	assert_true(file >= 0);
	return file;
}

/* ---- parts: few nodes, processes and ways, so that most keys are in several parts ---- */

static void feed_processes(const struct fact_sink *sink)
{
	static const char *const hosts[] = { "n0", "n1", "n2" };
	static const struct fact_ucx ucx[] = {
		{ 0, "/usr/lib/libucp.so.0", "b1", "1.13.1", NULL },
		{ 0, "/opt/lib/libucp.so.0", NULL, "1.18.1", "1.18" },
	};

	for (int i = 0; i < 3; i++)
		fact_put(sink, FACT_PROCESS,
			 &(struct fact_process){
				 .index = i,
				 .host = i,
				 .host_id = hosts[i],
				 .host_name = hosts[i],
				 .tgid = 100,
				 .pid = 100,
				 .start_time = 5,
				 .comm = random_below(2) ? "cg" : NULL,
				 .exe = random_below(2) ? "/a\tb\\c\n" : "/b",
				 .rank = (int)random_below(3) - 1,
				 .size = -1,
				 .ucx = ucx,
				 .ucx_count = (int)random_below(3),
				 .environment_cut = -1,
				 .cpus = random_below(2) ? "0-3,8" : NULL,
			 });
}

static void feed_lifetimes(const struct fact_sink *sink)
{
	for (int i = 0; i < 3; i++)
		fact_put(sink, FACT_LIFETIME,
			 &(struct fact_lifetime){ .process = i,
						  .until = 30,
						  .exited = true,
						  .exit_status = -1,
						  .exit_signal = random_below(3) });
}

static void feed_transfers(const struct fact_sink *sink)
{
	static const char *const ops[] = { "am_short", "get_zcopy", NULL };
	static const char *const transports[] = { "tcp", "rc_mlx5", NULL };

	for (int i = 0; i < 40; i++) {
		struct fact_transfer transfer = {
			.process = (int)random_below(3),
			.peer = (int)random_below(4) - 1,
			.op = ops[random_below(3)],
			.transport = transports[random_below(3)],
			.locality = random_below(4),
			.start = random_below(20),
			.bytes = random_below(3) * 1000,
		};

		transfer.fetches = fact_fetches(transfer.op, transfer.transport);
		fact_put(sink, FACT_TRANSFER, &transfer);
	}
}

static void feed_sums(const struct fact_sink *sink)
{
	for (int i = 0; i < 10; i++)
		fact_put_sums(sink, FACT_TRANSFERS,
			      &(struct fact_transfer){ .process = (int)random_below(3),
						       .peer = (int)random_below(3),
						       .op = "am_bcopy",
						       .transport = "tcp" },
			      &(struct fact_sums){ .count = 1 + random_below(9),
						   .bytes = 90000,
						   .least = random_below(3) * 1000 });
}

static struct fact_totals some_totals(void)
{
	struct fact_totals totals = { .stored = random_below(9), .sends = random_below(3) };

	totals.dropped[0] = (struct fact_reason){ "ring full", random_below(5) };
	totals.unmatched_sends[0] = (struct fact_reason){ "in flight", random_below(2) };
	totals.unmatched_sends[1] = (struct fact_reason){ "not seen", 1 };
	return totals;
}

/* A part with a capture of its own. */
static int new_part(const struct policy *policy, uint64_t start)
{
	struct judge *judge = judge_new(policy);
	const struct fact_sink sink = judge_sink(judge);
	const struct fact_totals totals = some_totals();
	struct evidence_error error;
	int file = new_file();

	judge_capture(judge, "n0", "n0", start);
	feed_processes(&sink);
	feed_transfers(&sink);
	feed_sums(&sink);
	feed_lifetimes(&sink);
	if (judge_evidence_write(judge, &totals, file, &error))
		fail_msg("%s", error.text);
	judge_free(judge);
	return file;
}

/* ---- merging ---- */

static int merge(const int *files, size_t count)
{
	struct evidence_merge *merge = evidence_merge_new("/tmp");
	struct evidence_error error;
	int to = new_file(), err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = evidence_merge_add(merge, dup(files[i]), "part", &error);
	err = err ? err : evidence_merge_write(merge, to, &error);
	if (err)
		fail_msg("%s", error.text);
	evidence_merge_free(merge);
	return to;
}

static void assert_same(int one, int other)
{
	off_t size = lseek(one, 0, SEEK_END);
	char *a = malloc(size), *b = malloc(size);

	assert_int_equal(lseek(other, 0, SEEK_END), size);
	assert_int_equal(pread(one, a, size, 0), size);
	assert_int_equal(pread(other, b, size, 0), size);
	assert_memory_equal(a, b, size);
	free(a);
	free(b);
}

/* Some of what is left becomes one, until one is left. */
static int merge_in_steps(const int *parts, size_t count)
{
	int left[PARTS], merged;

	for (size_t i = 0; i < count; i++)
		left[i] = dup(parts[i]);
	while (count > 1) {
		size_t take = 2 + random_below((uint32_t)count - 1), kept = count - take;

		for (size_t i = 0; i < count; i++) {
			size_t other = random_below((uint32_t)count);
			int swapped = left[i];

			left[i] = left[other];
			left[other] = swapped;
		}
		merged = merge(left + kept, take);
		for (size_t i = kept; i < count; i++)
			close(left[i]);
		left[kept] = merged;
		count = kept + 1;
	}
	return left[0];
}

static void any_order(void **state)
{
	struct policy *policy = policy_default();
	int parts[PARTS], whole, merged;

	(void)state;
	for (int i = 0; i < PARTS; i++)
		parts[i] = new_part(policy, i + 1);
	whole = merge(parts, PARTS);
	for (int i = 0; i < SHUFFLES; i++) {
		merged = merge_in_steps(parts, PARTS);
		assert_same(whole, merged);
		close(merged);
	}
	for (int i = 0; i < PARTS; i++)
		close(parts[i]);
	close(whole);
	policy_free(policy);
}

static void more_than_are_open(void **state)
{
	struct policy *policy = policy_default();
	int parts[MANY], backwards[MANY], one, other;

	(void)state;
	for (int i = 0; i < MANY; i++)
		backwards[MANY - 1 - i] = parts[i] = new_part(policy, i + 1);
	one = merge(parts, MANY);
	other = merge(backwards, MANY);
	assert_same(one, other);
	for (int i = 0; i < MANY; i++)
		close(parts[i]);
	close(one);
	close(other);
	policy_free(policy);
}

static void twice(void **state)
{
	struct policy *policy = policy_default();
	struct evidence_merge *merge = evidence_merge_new("/tmp");
	struct evidence_error error;
	int to = new_file();

	(void)state;
	assert_int_equal(evidence_merge_add(merge, new_part(policy, 7), "part", &error), 0);
	assert_int_equal(evidence_merge_add(merge, new_part(policy, 7), "part", &error), 0);
	assert_int_equal(evidence_merge_write(merge, to, &error), -EINVAL);
	assert_non_null(strstr(error.text, "capture\tn0\t7\tn0: holds a capture that another"));
	evidence_merge_free(merge);
	close(to);
	policy_free(policy);
}

static void nothing(void **state)
{
	struct evidence_error error;
	struct policy *policy = policy_default();
	struct judge *judge = judge_new(policy);
	int empty = merge(NULL, 0), again;

	(void)state;
	again = merge(&empty, 1);
	assert_same(empty, again);
	assert_int_equal(judge_evidence_read(judge, empty, &error), 0);
	judge_finish(judge, NULL, 20000);
	assert_int_equal(judge_status(judge, false), 3);
	judge_free(judge);
	policy_free(policy);
	close(empty);
	close(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order),
		cmocka_unit_test(more_than_are_open),
		cmocka_unit_test(twice),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
