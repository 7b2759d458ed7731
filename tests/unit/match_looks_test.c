// SPDX-License-Identifier: BSD-3-Clause
/* Memory that no call was seen to make, by looks at the process; GPUs by PCI address. */
#include "match_gpu.h"

#define WHICH "made before the trace: which GPU was not told"

/* {...} of side records; the process's own ts and tgid are added. */
static void job_side(const struct task *task, const char *text)
{
	json_t *side = json_loads(text, 0, NULL);

	assert_non_null(side);
	json_object_set_new(side, "tgid", json_integer(task->tgid));
	json_object_set_new(side, "ts", json_integer((json_int_t)task->job->now));
	json_array_append_new(task->job->sides, side);
}

static void is_known_by(const struct pair *p, int process, uint64_t tag, const char *known_by)
{
	const char *seen = op_tagged(&p->out, process, tag)->memory_known_by;

	assert_string_equal(seen ? seen : "", known_by);
}

static void is_which(const struct pair *p, int process, uint64_t tag, const char *reason)
{
	const struct fact_op *op = op_tagged(&p->out, process, tag);

	assert_string_equal(op->memory, "gpu");
	assert_string_equal(op->memory_reason, reason);
}

static const char two_gpus[] =
	"{\"t\": \"memory\", \"maps\": [[\"0x1000\", \"0x2000\", \"host\"],"
	" [\"0x7f0000000000\", \"0x7f0000100000\", \"reserved\"]],"
	" \"ucx\": {\"devices\": [[\"0000:81:00.0\", \"mlx5_0\"], [\"0000:5E:00.0\", \"GPU0\"],"
	" [\"0000:18:00.0\", \"GPU1\"]], \"cached\": true, \"regions\":"
	" [[\"0x7f0000001000\", \"0x7f0000002000\", \"cuda\", 1],"
	" [\"0x7f0000002000\", \"0x7f0000003000\", \"cuda-managed\", 2],"
	" [\"0x7f0000003000\", \"0x7f0000004000\", \"unknown\", -1]]}}";

/* The process has them in another order than the host. */
static void numbers(void **state)
{
	const struct fact_device *device;
	struct pair p;

	(void)state;
	pair_init_gpu(&p);
	job_side(&p.a, "{\"t\": \"gpu\", \"pci\": \"0000:18:00.0\", \"uuid\": \"GPU-1\","
		       " \"model\": \"H\", \"numa_node\": 1}");
	job_side(&p.a, "{\"t\": \"gpu\", \"pci\": \"0000:5e:00.0\"}");
	job_side(&p.a, two_gpus);
	job_context(&p.a, 0);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY + 0x8000, 4096, 0, -1, 0);
	job_send_from(&p.a, &p.b, 1, DEVICE_MEMORY + 0x8000);
	job_send_from(&p.a, &p.b, 2, DEVICE_MEMORY + 0x1000);
	job_send_from(&p.a, &p.b, 3, DEVICE_MEMORY + 0x2000);
	job_send_from(&p.a, &p.b, 4, DEVICE_MEMORY + 0x3000);
	job_send_from(&p.a, &p.b, 5, 0x1000);
	job_send_from(&p.a, &p.b, 6, 0x2000);
	pair_analyse(&p);
	is(&p, 0, 1, "gpu1");
	is_known_by(&p, 0, 1, "allocation");
	is(&p, 0, 2, "gpu1");
	is_known_by(&p, 0, 2, "ucx");
	is(&p, 0, 3, "gpu0");
	is_which(&p, 0, 4, WHICH);
	is_known_by(&p, 0, 4, "map");
	is(&p, 0, 5, "host");
	is_known_by(&p, 0, 5, "map");
	is(&p, 0, 6, "host");
	is_known_by(&p, 0, 6, "elimination");
	assert_int_equal(p.out.totals.device_count, 2);
	device = p.out.totals.devices;
	assert_string_equal(device[0].pci, "0000:18:00.0");
	assert_string_equal(device[0].uuid, "GPU-1");
	assert_int_equal(device[0].numa_node, 1);
	assert_int_equal(device[0].user_count, 1);
	assert_int_equal(device[0].users[0].process, 0);
	assert_int_equal(device[0].users[0].ordinal, 1);
	assert_int_equal(device[1].number, 1);
	assert_string_equal(device[1].pci, "0000:5e:00.0");
	assert_null(device[1].uuid);
	assert_int_equal(device[1].numa_node, -1);
	assert_int_equal(device[1].users[0].ordinal, 0);
	assert_int_equal(p.out.memory.data[0].device, 1);
	pair_release(&p);
}

/* A process's own number names none of several GPUs: it may see them in an order of its own. */
static void numbers_not_told(void **state)
{
	for (int gpus = 0; gpus <= 2; gpus++) {
		struct pair p;

		pair_init_gpu(&p);
		if (gpus > 0)
			job_side(&p.a, "{\"t\": \"gpu\", \"pci\": \"0000:18:00.0\"}");
		if (gpus > 1)
			job_side(&p.a, "{\"t\": \"gpu\", \"pci\": \"0000:5e:00.0\"}");
		job_context(&p.a, 0);
		job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY, 4096, 0, -1, 0);
		job_send_from(&p.a, &p.b, 1, DEVICE_MEMORY);
		pair_analyse(&p);
		if (gpus < 2)
			is(&p, 0, 1, "gpu0");
		else
			is_which(&p, 0, 1, "which GPU the process's own number is, is not known");
		assert_int_equal(p.out.memory.data[0].device, gpus < 2 ? 0 : -1);
		pair_release(&p);
	}
	(void)state;
}

/*
 * Where the driver lists a host's GPUs, no process can add others: memory on a GPU that is not
 * listed is on an unknown one, and the numbers of listed GPUs stay.
 */
static void numbers_made_up(void **state)
{
	struct pair p;

	(void)state;
	pair_init_gpu(&p);
	job_side(&p.a, "{\"t\": \"gpu\", \"pci\": \"0000:18:00.0\"}");
	job_side(&p.a, "{\"t\": \"gpu\", \"pci\": \"0000:5e:00.0\"}");
	job_side(&p.a, two_gpus);
	job_side(&p.b, "{\"t\": \"memory\", \"gpus\": [\"0000:02:00.0\"], \"maps\": "
		       "[[\"0x7f0000000000\", \"0x7f0000100000\", \"reserved\"]],"
		       " \"ucx\": {\"devices\": [[\"0000:01:00.0\", \"GPU0\"]], \"cached\": true,"
		       " \"regions\": [[\"0x7f0000001000\", \"0x7f0000002000\", \"cuda\", 0]]}}");
	job_send_from(&p.a, &p.b, 1, DEVICE_MEMORY + 0x1000);
	job_send_from(&p.a, &p.b, 2, DEVICE_MEMORY + 0x2000);
	job_send_from(&p.b, &p.a, 3, DEVICE_MEMORY + 0x1000);
	pair_analyse(&p);
	is(&p, 0, 1, "gpu1");
	is(&p, 0, 2, "gpu0");
	is_which(&p, 1, 3, WHICH);
	assert_int_equal(p.out.totals.device_count, 2);
	pair_release(&p);
}

/* UCX does not tell, but the process used one GPU alone; memory of another process is not on it. */
static void one_gpu_in_use(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "attach");
	job_driver(&p.a);
	job_side(&p.a, "{\"t\": \"gpu\", \"pci\": \"0000:18:00.0\"}");
	job_side(&p.a, "{\"t\": \"gpu\", \"pci\": \"0000:5e:00.0\"}");
	job_side(&p.a, "{\"t\": \"memory\", \"gpus\": [\"0000:5e:00.0\"], \"maps\": "
		       "[[\"0x7f0000000000\", \"0x7f0000100000\", \"reserved\"]]}");
	job_send_from(&p.a, &p.b, 1, DEVICE_MEMORY + 64);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY + 0x8000, 4096, 0, -1, 0);
	job_send_from(&p.a, &p.b, 2, DEVICE_MEMORY + 0x8000);
	job_mem(&p.a, AT_MEM_IMPORT, DEVICE_MEMORY + 0x10000, 0, 0, -1, 0);
	job_send_from(&p.a, &p.b, 3, DEVICE_MEMORY + 0x10000);
	job_send_from(&p.a, &p.b, 4, DEVICE_MEMORY + 0x10040);
	pair_analyse(&p);
	is(&p, 0, 1, "gpu1");
	is_known_by(&p, 0, 1, "map");
	is(&p, 0, 2, "gpu1");
	is_which(&p, 0, 3, "imported: export not seen");
	is_known_by(&p, 0, 3, "allocation");
	is_which(&p, 0, 4, "behind the start of memory whose size was not told");
	pair_release(&p);
}

static void job_send_told(struct task *task, const struct task *to, uint64_t tag, uint64_t buffer,
			  uint16_t type, uint16_t device)
{
	struct ub_op *op;

	job_call(task, AT_MPI_SEND);
	op = job_op(task, AT_TAG_SEND, EP(task->tgid, to->tgid), tag, 8, 0);
	op->buffer = buffer;
	op->mem_type = type;
	op->mem_device = device;
	job_op_end(task);
}

/* What UCX has put into its request, one more than its own numbers; where nothing else is known. */
static void told_by_requests(void **state)
{
	struct pair p;

	(void)state;
	pair_init_gpu(&p);
	job_side(&p.a, two_gpus);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY + 0x8000, 4096, 0, -1, 0);
	job_mem(&p.a, AT_MEM_HOST, DEVICE_MEMORY + 0x9000, 4096, 0, -1, 0);
	job_mem(&p.a, AT_MEM_IMPORT, DEVICE_MEMORY + 0x10000, 0, 0, -1, 0);
	job_send_told(&p.a, &p.b, 1, DEVICE_MEMORY + 0x4000, 2, 3);
	job_send_told(&p.a, &p.b, 2, DEVICE_MEMORY + 0x4000, 2, 0);
	job_send_told(&p.a, &p.b, 3, DEVICE_MEMORY + 0x4000, 2, 1); /* a network card */
	job_send_told(&p.a, &p.b, 4, DEVICE_MEMORY + 0x8000, 3, 2);
	job_send_told(&p.a, &p.b, 5, DEVICE_MEMORY + 0x9000, 2, 2);
	job_send_told(&p.a, &p.b, 6, DEVICE_MEMORY + 0x10000, 2, 2);
	job_send_told(&p.b, &p.a, 7, 0x1000, 1, 0);
	job_send_told(&p.b, &p.a, 8, 0x1000, 3, 0);
	job_send_told(&p.b, &p.a, 9, 0x1000, 2, 2);
	pair_analyse(&p);
	is(&p, 0, 1, "gpu0");
	is_known_by(&p, 0, 1, "ucx");
	is_which(&p, 0, 2, WHICH);
	is_which(&p, 0, 3, WHICH);
	is(&p, 0, 4, "gpu1");
	is(&p, 0, 5, "pinned");
	is_which(&p, 0, 6, "imported: export not seen");
	is(&p, 1, 7, "host");
	is_known_by(&p, 1, 7, "ucx");
	is_unknown(&p, 1, 8, "not seen allocated");
	is_which(&p, 1, 9, "not seen allocated");
	pair_release(&p);
}

static json_t *job_library(const struct task *task)
{
	json_t *side;
	size_t i;

	json_array_foreach(task->job->sides, i, side)
	{
		if (!strcmp(json_string_value(json_object_get(side, "t")), "library") &&
		    json_integer_value(json_object_get(side, "tgid")) == task->tgid)
			return side;
	}
	return NULL;
}

/* Memory came and went between two looks, and a function that may have made it has no probe. */
static void without_a_probe(void **state)
{
	struct pair p;

	(void)state;
	for (int missing = 0; missing < 2; missing++) {
		pair_init_gpu(&p);
		json_object_set_new(job_library(&p.a), "missing", json_integer(missing));
		job_side(&p.a, two_gpus);
		job_send_from(&p.a, &p.b, 1, 0x2000);
		pair_analyse(&p);
		if (missing)
			is_unknown(&p, 0, 1, "not seen allocated");
		else
			is_known_by(&p, 0, 1, "elimination");
		pair_release(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_probe),  cmocka_unit_test(numbers),
		cmocka_unit_test(numbers_not_told), cmocka_unit_test(numbers_made_up),
		cmocka_unit_test(one_gpu_in_use),   cmocka_unit_test(told_by_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
