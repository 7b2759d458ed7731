/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that use GPUs: what is seen of their memory. */
#ifndef TESTS_UNIT_MATCH_GPU_H
#define TESTS_UNIT_MATCH_GPU_H

#include "outcome.h"

#define DEVICE_MEMORY 0x7f0000000000u

static inline void job_mem(struct task *task, enum job_site site, uint64_t address, uint64_t size,
			   uint64_t handle, int device, int status)
{
	struct ub_mem *mem = job_add(task, site, 0);

	mem->address = address;
	mem->size = size;
	mem->handle = handle;
	mem->device = device;
	mem->status = status;
}

/* The process maps the driver. */
static inline void job_driver(const struct task *task)
{
	json_array_append_new(task->job->sides,
			      json_pack("{s:s, s:i, s:s, s:[s], s:I}", "t", "library", "tgid",
					task->tgid, "path", "/usr/lib/libcuda.so.1", "roles",
					"cuda", "ts", (json_int_t)task->job->now));
}

static inline void pair_init_gpu(struct pair *p)
{
	pair_init(p, "start");
	job_driver(&p->a);
	job_driver(&p->b);
}

static inline void job_context(struct task *task, int device)
{
	job_mem(task, AT_CTX_RETAIN, 0, 0, 0xc000 + (uint64_t)device, device, 0);
	job_mem(task, AT_CTX_SET, 0, 0, 0xc000 + (uint64_t)device, -1, 0);
}

static inline void job_iface(struct task *task, uint64_t address, const char *transport)
{
	struct ub_obj *obj = job_add(task, AT_IFACE, 0);

	obj->obj = address;
	obj->parent = WORKER(task->tgid);
	strcpy(obj->tl_name, transport);
}

static inline void job_send_from(struct task *task, const struct task *to, uint64_t tag,
				 uint64_t buffer)
{
	struct ub_op *op;

	job_call(task, AT_MPI_SEND);
	op = job_op(task, AT_TAG_SEND, EP(task->tgid, to->tgid), tag, 8, 0);
	op->buffer = buffer;
	job_op_end(task);
}

static inline const struct fact_op *op_tagged(const struct outcome *out, int process, uint64_t tag)
{
	for (size_t i = 0; i < out->ops.len; i++)
		if (out->ops.data[i].process == process && out->ops.data[i].tag == tag)
			return &out->ops.data[i];
	fail_msg("no operation with tag %d", (int)tag);
	return NULL;
}

static inline void is(const struct pair *p, int process, uint64_t tag, const char *memory)
{
	const struct fact_op *op = op_tagged(&p->out, process, tag);

	assert_string_equal(op->memory, memory);
	assert_null(op->memory_reason);
}

static inline void is_unknown(const struct pair *p, int process, uint64_t tag, const char *reason)
{
	const struct fact_op *op = op_tagged(&p->out, process, tag);

	assert_null(op->memory);
	assert_string_equal(op->memory_reason, reason);
}

#endif
