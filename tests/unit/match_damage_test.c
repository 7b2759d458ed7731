// SPDX-License-Identifier: BSD-3-Clause
/* Records that a damaged file had are missing without any thread telling of it. */
#include "explain/analysis/internal.h"
#include "match_gpu.h"

#define MOVED (DEVICE_MEMORY + 0x10000)

/* The same address on one GPU, then on the other: what tells of it may be missing. */
static void job_reuse(struct pair *p, bool damaged)
{
	pair_init_gpu(p);
	job_context(&p->a, 0);
	job_mem(&p->a, AT_MEM_ALLOC, DEVICE_MEMORY, 4096, 0, -1, 0);
	job_send_from(&p->a, &p->b, 1, DEVICE_MEMORY);
	job_call(&p->a, AT_MPI_SEND);
	job_mem(&p->a, AT_MEM_FREE, DEVICE_MEMORY, 0, 0, -1, 0);
	if (damaged)
		job_damage_last(&p->job);
}

static void between(void **state)
{
	struct pair p;

	(void)state;
	job_reuse(&p, true);
	job_send_from(&p.a, &p.b, 2, DEVICE_MEMORY);
	job_send_from(&p.a, &p.b, 3, DEVICE_MEMORY);
	job_context(&p.a, 1);
	job_mem(&p.a, AT_MEM_ALLOC, MOVED, 4096, 0, -1, 0);
	job_send_from(&p.a, &p.b, 4, MOVED);
	pair_analyse(&p);
	is(&p, 0, 1, "gpu0");
	is_unknown(&p, 0, 2, "not seen allocated");
	is_unknown(&p, 0, 3, "not seen allocated");
	is(&p, 0, 4, "gpu1");
	pair_release(&p);
}

/* Nothing of its CPU comes behind, but the counters say that there was more. */
static void at_the_end(void **state)
{
	struct pair p;
	size_t moved;

	(void)state;
	job_reuse(&p, true);
	moved = p.job.records.len;
	job_send_from(&p.a, &p.b, 2, DEVICE_MEMORY);
	for (size_t i = moved; i < p.job.records.len; i++) {
		p.job.records.data[i].h.cpu = 1;
		p.job.records.data[i].h.cpu_seq = (uint32_t)(i - moved);
	}
	pair_analyse(&p);
	is_unknown(&p, 0, 2, "not seen allocated");
	pair_release(&p);
}

/* All is there: the end was seen, and a damage of something else changes nothing. */
static void none(void **state)
{
	struct pair p;

	(void)state;
	job_reuse(&p, false);
	p.job.damaged = 0;
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY, 4096, 0, -1, 0);
	job_send_from(&p.a, &p.b, 2, DEVICE_MEMORY);
	pair_analyse(&p);
	is(&p, 0, 1, "gpu0");
	is(&p, 0, 2, "gpu0");
	pair_release(&p);
}

/* Hits that found no memory: no record of them is there, nor was any produced. */
static void never_recorded(void **state)
{
	struct fact_totals totals = { 0 };
	struct record_source source = { 0 };
	struct capture capture = { 0 };
	struct analysis_loss loss;

	(void)state;
	assert_false(totals_add(&totals, &source, &capture, 0, 0, &loss));
	assert_int_equal(totals.calls_missing, 0);
	assert_int_equal(totals.partial, 0);
	source.stats.task_nomem = 3;
	assert_true(totals_add(&totals, &source, &capture, 0, 0, &loss));
	assert_int_equal(loss.unseen, 3);
	assert_int_equal(loss.lost + loss.missing, 0);
	assert_int_equal(totals.calls_missing, 1);
	assert_int_equal(totals.partial, 1);
}

/* Sums are whole where records were left out on purpose, and not where the file lacks some. */
static void sums_of_a_partial_file(void **state)
{
	struct record_source source = { .stats = { .produced = { [UB_CALL] = 9 },
						   .dropped = { [UB_CALL] = 4 },
						   .thinned = { [UB_CALL] = 4 },
						   .folded = { [UB_CALL] = 4 } } };
	struct fact_totals totals = { 0 };
	struct capture capture = { 0 };
	struct analysis_loss loss;

	(void)state;
	totals_add(&totals, &source, &capture, 5, 0, &loss);
	assert_int_equal(totals.unsummed, 0);
	assert_int_equal(totals.partial, 0);
	totals_add(&totals, &source, &capture, 4, 0, &loss);
	assert_int_equal(totals.partial, 1);
	source.damaged = 100;
	totals_add(&totals, &source, &capture, 5, 0, &loss);
	assert_int_equal(totals.partial, 2);
	source.damaged = 0;
	source.incomplete = "the tracer was killed";
	totals_add(&totals, &source, &capture, 5, 0, &loss);
	assert_int_equal(totals.partial, 3);
	assert_int_equal(totals.unsummed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between),
		cmocka_unit_test(at_the_end),
		cmocka_unit_test(none),
		cmocka_unit_test(never_recorded),
		cmocka_unit_test(sums_of_a_partial_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
