// SPDX-License-Identifier: BSD-3-Clause
/* Memory that one process exports and another one opens: on which GPU, by whose numbers. */
#include "match_gpu.h"

#define OPENED 0x7e0000000000u
#define SIZE 8192u
#define HANDLE 0xbeef

static void is_on(const struct pair *p, int process, const char *memory, const char *known_by,
		  const char *reason)
{
	const struct fact_op *op = op_tagged(&p->out, process, 1);

	assert_string_equal(op->memory, memory);
	assert_string_equal(op->memory_known_by, known_by);
	if (reason)
		assert_string_equal(op->memory_reason, reason);
	else
		assert_null(op->memory_reason);
}

/* What UCX in that process calls the GPUs at 18:00.0 and 5e:00.0, and what it knows of memory. */
static void job_look(const struct task *task, const char *first, const char *second,
		     json_t *regions)
{
	json_array_append_new(task->job->sides,
			      json_pack("{s:s, s:i, s:I, s:[], s:{s:[[s, s], [s, s]], s:b, s:o}}",
					"t", "memory", "tgid", task->tgid, "ts",
					(json_int_t)task->job->now, "maps", "ucx", "devices",
					"0000:18:00.0", first, "0000:5e:00.0", second, "cached", 1,
					"regions", regions));
}

static void share(struct pair *p)
{
	job_mem(&p->a, AT_MEM_EXPORT, DEVICE_MEMORY + 64, 0, HANDLE, -1, 0);
	job_mem(&p->b, AT_MEM_IMPORT, OPENED, 0, HANDLE, -1, 0);
	job_send_from(&p->b, &p->a, 1, OPENED + SIZE - 8);
}

/* The exporter's second GPU is the first one of the other process, and the host's first. */
static void numbered_otherwise(void **state)
{
	struct pair p;

	(void)state;
	pair_init_gpu(&p);
	job_look(&p.a, "GPU1", "GPU0", json_array());
	job_look(&p.b, "GPU0", "GPU1", json_array());
	job_context(&p.a, 1);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY, SIZE, 0, -1, 0);
	share(&p);
	job_send_from(&p.a, &p.b, 1, DEVICE_MEMORY);
	pair_analyse(&p);
	is_on(&p, 0, "gpu0", "allocation", NULL);
	is_on(&p, 1, "gpu0", "allocation", NULL);
	assert_int_equal(p.out.memory.len, 2);
	assert_int_equal(p.out.memory.data[1].device, 0);
	assert_int_equal(p.out.memory.data[1].exporter, 0);
	assert_int_equal(p.out.memory.data[0].exporter, -1);
	pair_release(&p);
}

/* Without knowing which GPU that is, its number says nothing to another process. */
static void not_identified(void **state)
{
	struct pair p;

	(void)state;
	pair_init_gpu(&p);
	job_context(&p.a, 1);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY, SIZE, 0, -1, 0);
	share(&p);
	job_send_from(&p.a, &p.b, 1, DEVICE_MEMORY);
	pair_analyse(&p);
	is_on(&p, 0, "gpu1", "allocation", NULL);
	is_on(&p, 1, "gpu", "allocation",
	      "imported: which GPU the exporter's number is, is not known");
	pair_release(&p);
}

/* Made before the trace began: the exporter's UCX knows where. */
static void made_before(void **state)
{
	struct pair p;

	(void)state;
	pair_init_gpu(&p);
	job_look(&p.a, "GPU0", "GPU1",
		 json_pack("[[s, s, s, i]]", "0x7f0000000000", "0x7f0000010000", "cuda", 1));
	job_mem(&p.a, AT_MEM_EXPORT, DEVICE_MEMORY + 64, 0, HANDLE, -1, 0);
	job_mem(&p.b, AT_MEM_IMPORT, OPENED, 0, HANDLE, -1, 0);
	job_send_from(&p.b, &p.a, 1, OPENED);
	pair_analyse(&p);
	is_on(&p, 1, "gpu1", "ucx", NULL);
	pair_release(&p);
}

/*
 * Where UCX has it, is where it was opened. Behind it, nobody knows how far it goes: what is not
 * mapped by anything that was seen may be of it, what is the host's by a look is not.
 */
static void export_unseen(void **state)
{
	struct pair p;

	(void)state;
	for (uint64_t at = 0; at < 3; at++) {
		pair_init_gpu(&p);
		job_look(&p.b, "GPU0", "GPU1",
			 json_pack("[[s, s, s, i], [s, s, s, i]]", "0x7e0000000000",
				   "0x7e0000008000", "cuda", 1, "0x7e0000010000", "0x7e0000020000",
				   "host", -1));
		job_mem(&p.b, AT_MEM_IMPORT, OPENED, 0, HANDLE, -1, 0);
		job_send_from(&p.b, &p.a, 1, OPENED + at * 0x8000);
		pair_analyse(&p);
		if (at == 0)
			is_on(&p, 1, "gpu", "allocation", "imported: export not seen");
		else if (at == 1)
			is_unknown(&p, 1, 1, "behind the start of memory whose size was not told");
		else
			is_on(&p, 1, "host", "ucx", NULL);
		pair_release(&p);
	}
}

/* Where the runtime is a library of its own, memory is said to be made by what was called of it. */
static void by_runtime(void **state)
{
	struct pair p;

	(void)state;
	pair_init_gpu(&p);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY, SIZE, 0, -1, 0);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY + SIZE, SIZE, 0, -1, 0);
	p.job.records.data[p.job.records.len - 1].mem.runtime = AT_RUNTIME;
	pair_analyse(&p);
	assert_int_equal(p.out.memory.len, 2);
	assert_string_equal(p.out.memory.data[0].function, "cuMemAlloc");
	assert_string_equal(p.out.memory.data[1].function, "cudaMalloc");
	pair_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbered_otherwise), cmocka_unit_test(not_identified),
		cmocka_unit_test(made_before),        cmocka_unit_test(export_unseen),
		cmocka_unit_test(by_runtime),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
