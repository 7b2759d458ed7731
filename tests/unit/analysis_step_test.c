// SPDX-License-Identifier: BSD-3-Clause
/* The protocol step of an open operation, by its records, its request and its peer's queues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "explain/analysis/step.h"

#define NOW 1000

/* The process of the operation, and its peer with one message that found no receive. */
static struct {
	struct process own, peer;
} job;

static void job_set(void)
{
	static struct object worker;
	static struct object *workers[] = { &worker, &worker };
	static struct queued message;

	memset(&job, 0, sizeof(job));
	job.own.workers.data = workers;
	job.own.workers.len = 1;
	job.own.queues_read = job.peer.queues_read = NOW;
	message = (struct queued){ .what = QUEUED_MESSAGE, .request = 77, .tag = 9, .bytes = 4096 };
	job.peer.queued.data = &message;
	job.peer.queued.len = 1;
}

/* A send of 4096 bytes as a look found it. */
static struct queued look(uint64_t id, uint64_t moved, bool copied)
{
	return (struct queued){ .what = QUEUED_SEND,
				.ts = NOW,
				.request = 77,
				.tag = 9,
				.bytes = 4096,
				.followed = true,
				.id = id,
				.moved = moved,
				.copied = copied };
}

static void expect(const struct awaited_state *state, const struct queued *queued, const char *name)
{
	const struct op_step step = step_of(&job.own, state, queued, &job.peer);

	if (name)
		assert_string_equal(step.name, name);
	else
		assert_null(step.name);
	assert_true(!step.name == !!step.reason);
}

static void looked(uint64_t id, uint64_t moved, bool copied, const char *name)
{
	const struct queued queued = look(id, moved, copied);

	expect(NULL, &queued, name);
}

static void sends_by_their_requests(void **state)
{
	struct queued queued = look(0, 1024, true);
	struct op_step step;

	(void)state;
	job_set();
	looked(0, 0, true, FACT_STEP_QUEUED);
	looked(0, 0, false, NULL); /* it may be on the way */
	looked(0, 1024, true, FACT_STEP_DATA);
	looked(0, 1024, false, FACT_STEP_DATA);
	looked(0, 4096, false, FACT_STEP_UNACKNOWLEDGED);
	looked(0, 4096, true, NULL);
	looked(0, UINT64_MAX, true, NULL);
	step = step_of(&job.own, NULL, &queued, NULL);
	assert_int_equal(step.moved, 1024);
	assert_int_equal(step.bytes, 4096);
}

static void sends_by_their_peers(void **state)
{
	struct queued queued = look(77, UINT64_MAX, false);

	(void)state;
	job_set();
	expect(NULL, &queued, FACT_STEP_UNRECEIVED);
	/* another send's message */
	queued.tag = 8;
	expect(NULL, &queued, NULL);
	queued.tag = 9;
	queued.bytes = 4095;
	expect(NULL, &queued, NULL);
	looked(78, UINT64_MAX, false, NULL);
	queued = look(77, UINT64_MAX, false);
	assert_string_equal(step_of(&job.own, NULL, &queued, NULL).reason,
			    "its peer is not traced");
	job.peer.queues_read = 0;
	assert_string_equal(step_of(&job.own, NULL, &queued, &job.peer).reason,
			    "the queues of its peer were not read");
	/* captures without ids */
	job_set();
	queued.followed = false;
	expect(NULL, &queued, FACT_STEP_UNRECEIVED);
	queued.request = 78;
	expect(NULL, &queued, NULL);
}

static void sends_by_their_records(void **state)
{
	struct awaited_state send = { .request = 77, .bytes = 4096, .own = true };
	struct queued queued = look(77, UINT64_MAX, false);

	(void)state;
	job_set();
	expect(&send, NULL, NULL);
	send.refused = true;
	expect(&send, NULL, FACT_STEP_QUEUED);
	send.refused = false;
	send.announced = true;
	expect(&send, NULL, FACT_STEP_ANNOUNCED);
	/* the look is later */
	expect(&send, &queued, FACT_STEP_UNRECEIVED);
	queued.id = 78;
	expect(&send, &queued, FACT_STEP_ANNOUNCED);
	send.matched = true;
	expect(&send, NULL, FACT_STEP_MATCHED);
	send.moved = 1024;
	expect(&send, NULL, FACT_STEP_DATA);
	send.moved = 4096;
	expect(&send, NULL, FACT_STEP_UNACKNOWLEDGED);
	send.own = false; /* its completion may have no record */
	expect(&send, NULL, NULL);
}

static void receives(void **state)
{
	struct queued queued = { .what = QUEUED_RECEIVE, .ts = NOW, .request = 77 };
	struct awaited_state receive = {
		.request = 77, .start = NOW - 1, .bytes = 4096, .own = true, .receives = true
	};

	(void)state;
	job_set();
	expect(NULL, &queued, FACT_STEP_POSTED);
	expect(&receive, &queued, FACT_STEP_POSTED);
	queued.offloaded = true;
	expect(&receive, &queued, NULL);
	/* it is in no queue any more */
	expect(&receive, NULL, FACT_STEP_MATCHED);
	receive.own = false;
	expect(&receive, NULL, NULL);
	receive.own = true;
	/* it may be in that of another worker */
	job.own.workers.data[1] = &(struct object){ .uuid = 1 };
	job.own.workers.len = 2;
	expect(&receive, NULL, NULL);
	job.own.workers.len = 1;
	receive.start = NOW;
	expect(&receive, NULL, NULL);
	receive.matched = true;
	expect(&receive, NULL, FACT_STEP_MATCHED);
	receive.moved = 1;
	expect(&receive, NULL, FACT_STEP_DATA);
}

static void rows(void **state)
{
	static struct queued queued = { .what = QUEUED_SEND, .ts = NOW, .request = 77 };
	struct awaited_state send = { .request = 77, .start = NOW - 1 };

	(void)state;
	job_set();
	job.own.queued.data = &queued;
	job.own.queued.len = 1;
	assert_ptr_equal(step_row(&job.own, &send), &queued);
	send.receives = true;
	assert_null(step_row(&job.own, &send));
	send.receives = false;
	send.start = NOW; /* of an earlier request there */
	assert_null(step_row(&job.own, &send));
}

static void several(void **state)
{
	struct queued a = look(0, 0, true), b = look(0, 0, true);
	struct op_step joined;

	(void)state;
	job_set();
	b.bytes = 1;
	joined = step_join(step_of(&job.own, NULL, &a, NULL), step_of(&job.own, NULL, &b, NULL));
	assert_string_equal(joined.name, FACT_STEP_QUEUED);
	assert_true(joined.bytes == UINT64_MAX);
	b.moved = UINT64_MAX;
	joined = step_join(step_of(&job.own, NULL, &a, NULL), step_of(&job.own, NULL, &b, NULL));
	assert_null(joined.name);
	assert_non_null(joined.reason);
	assert_null(step_none().name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_by_their_requests),
		cmocka_unit_test(sends_by_their_peers),
		cmocka_unit_test(sends_by_their_records),
		cmocka_unit_test(receives),
		cmocka_unit_test(rows),
		cmocka_unit_test(several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
