// SPDX-License-Identifier: BSD-3-Clause
/* Operations are told whose memory their buffer is of, as it was when they began. */
#include "match_gpu.h"

/* The same address, one allocation after the other: each operation has the one of its time. */
static void of_its_time(void **state)
{
	struct pair p;

	(void)state;
	pair_init_gpu(&p);
	job_context(&p.a, 0);
	job_send_from(&p.a, &p.b, 1, DEVICE_MEMORY + 64);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY, 4096, 0, -1, 0);
	job_send_from(&p.a, &p.b, 2, DEVICE_MEMORY + 64);
	job_send_from(&p.a, &p.b, 3, DEVICE_MEMORY + 4096);
	job_mem(&p.a, AT_MEM_FREE, DEVICE_MEMORY, 0, 0, -1, 0);
	job_send_from(&p.a, &p.b, 4, DEVICE_MEMORY + 64);
	job_context(&p.a, 1);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY, 4096, 0, -1, 0);
	job_send_from(&p.a, &p.b, 5, DEVICE_MEMORY + 64);
	job_mem(&p.a, AT_MEM_FREE, DEVICE_MEMORY, 0, 0, -1, 0);
	job_mem(&p.a, AT_MEM_HOST, DEVICE_MEMORY, 4096, 0, -1, 0);
	job_send_from(&p.a, &p.b, 6, DEVICE_MEMORY + 64);
	job_send_from(&p.b, &p.a, 7, DEVICE_MEMORY + 64); /* another process's */
	pair_analyse(&p);
	is_unknown(&p, 0, 1, "not seen allocated");
	is(&p, 0, 2, "gpu0");
	is_unknown(&p, 0, 3, "not seen allocated");
	is_unknown(&p, 0, 4, "not seen allocated");
	is(&p, 0, 5, "gpu1");
	is(&p, 0, 6, "pinned");
	is_unknown(&p, 1, 7, "not seen allocated");
	pair_release(&p);
}

/* Data of other datatypes lies elsewhere: the buffer is for whoever unpacks it. */
static void not_contiguous(void **state)
{
	struct pair p;
	struct ub_op *op;

	(void)state;
	pair_init_gpu(&p);
	job_context(&p.a, 0);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY, 4096, 0, -1, 0);
	job_call(&p.a, AT_MPI_SEND);
	op = job_op(&p.a, AT_TAG_SEND, EP(1, 2), 1, 8, 0);
	op->buffer = DEVICE_MEMORY;
	op->datatype = 0xbe03;
	job_op_end(&p.a);
	pair_analyse(&p);
	is_unknown(&p, 0, 1, "datatype is not contiguous");
	pair_release(&p);
}

static const struct fact_transfer *transfer_of(const struct outcome *out, uint64_t bytes)
{
	for (size_t i = 0; i < out->transfers.len; i++)
		if (out->transfers.data[i].bytes == bytes)
			return &out->transfers.data[i];
	fail_msg("no transfer of %d bytes", (int)bytes);
	return NULL;
}

static void moves(const struct pair *p, uint64_t bytes, const char *from, const char *to)
{
	const struct fact_transfer *transfer = transfer_of(&p->out, bytes);

	assert_string_equal(transfer->src_mem ? transfer->src_mem : "unknown", from);
	assert_string_equal(transfer->dst_mem ? transfer->dst_mem : "unknown", to);
}

/* A get of the peer's memory, or, over cuda_copy, of the process's own. */
static void job_fetch(struct task *task, const struct task *from, uint64_t iface, uint64_t bytes,
		      uint64_t laddr, uint64_t raddr)
{
	struct ub_op *op;
	struct ub_xfer *xfer;

	op = job_op(task, AT_GET, EP(task->tgid, from->tgid), raddr, bytes, 0x9000);
	op->buffer = laddr;
	xfer = job_xfer(task, from, AT_GET_ZCOPY, 0, (int64_t)bytes, 0x9000);
	xfer->iface = iface;
	xfer->laddr = laddr;
	xfer->raddr = raddr;
	job_op_end(task);
}

/* Where both ends' memory was seen made, a transfer has both; the remote address is its peer's. */
static void both_ends(void **state)
{
	const uint64_t ipc = 0x3100, copy = 0x3200;
	struct pair p;

	(void)state;
	pair_init_gpu(&p);
	job_iface(&p.a, ipc, "cuda_ipc");
	job_iface(&p.a, copy, "cuda_copy");
	job_context(&p.a, 0);
	job_context(&p.b, 1);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY, 4096, 0, -1, 0);
	job_mem(&p.a, AT_MEM_HOST, DEVICE_MEMORY + 8192, 4096, 0, -1, 0);
	job_mem(&p.b, AT_MEM_ALLOC, DEVICE_MEMORY + 4096, 4096, 0, -1, 0);
	job_fetch(&p.a, &p.b, ipc, 1009, DEVICE_MEMORY, DEVICE_MEMORY + 4096);
	job_fetch(&p.a, &p.b, ipc, 1013, DEVICE_MEMORY, DEVICE_MEMORY);
	job_fetch(&p.a, &p.b, copy, 1019, DEVICE_MEMORY + 8192, DEVICE_MEMORY);
	job_fetch(&p.a, &p.b, IFACE, 1021, DEVICE_MEMORY + 12288, 0x10000);
	pair_analyse(&p);
	moves(&p, 1009, "gpu1", "gpu0");
	moves(&p, 1013, "unknown", "gpu0");
	moves(&p, 1019, "gpu0", "pinned");
	moves(&p, 1021, "host", "host"); /* of a transport that takes no other */
	pair_release(&p);
}

static struct ub_xfer *job_packed(struct task *task, const struct task *to, uint64_t buffer,
				  uint64_t bytes)
{
	struct ub_op *op;
	struct ub_xfer *xfer;

	op = job_op(task, AT_TAG_SEND, EP(task->tgid, to->tgid), bytes, bytes, 0);
	op->buffer = buffer;
	xfer = job_xfer(task, to, AT_AM_BCOPY, 2, (int64_t)bytes + 8, 0);
	xfer->w[0] = bytes;
	xfer->h.flags = UB_F_WIRE;
	job_op_end(task);
	return xfer;
}

/* Data on its way through shared memory is packed from the operation's buffer. */
static void packed(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "start");
	job_driver(&p.a);
	job_packed(&p.a, &p.b, DEVICE_MEMORY, 1009);
	job_context(&p.a, 2);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY, 4096, 0, -1, 0);
	job_packed(&p.a, &p.b, DEVICE_MEMORY, 1013);
	job_packed(&p.a, &p.b, DEVICE_MEMORY + 4096, 1019);
	job_packed(&p.b, &p.a, DEVICE_MEMORY, 1021);
	pair_analyse(&p);
	moves(&p, 1009, "unknown", "host");
	moves(&p, 1013, "host", "host"); /* packed by a copy of its own */
	moves(&p, 1019, "unknown", "host");
	moves(&p, 1021, "host", "host");
	is(&p, 1, 1021, "host"); /* no GPU library */
	pair_release(&p);
}

/* A network's transports carry a GPU's memory, too: not where no process has a GPU's library. */
static void no_gpu(void **state)
{
	const uint64_t net = 0x3300;
	struct pair p;

	(void)state;
	pair_init(&p, "start");
	job_iface(&p.a, net, "rc_verbs");
	job_fetch(&p.a, &p.b, net, 1009, DEVICE_MEMORY, DEVICE_MEMORY + 4096);
	job_packed(&p.a, &p.b, DEVICE_MEMORY, 1013)->iface = net;
	pair_analyse(&p);
	moves(&p, 1009, "host", "host");
	moves(&p, 1013, "host", "host");
	pair_release(&p);
}

static void rows_and_notes(void **state)
{
	struct pair p;
	const struct fact_memory *row;

	(void)state;
	pair_init_gpu(&p);
	job_context(&p.b, 3);
	job_mem(&p.b, AT_MEM_ALLOC, DEVICE_MEMORY, 4099, 0, -1, 0);
	job_mem(&p.b, AT_MEM_ALLOC, DEVICE_MEMORY + 8192, 1009, 0, -1, 0);
	job_mem(&p.b, AT_MEM_FREE, DEVICE_MEMORY, 0, 0, -1, 0);
	job_mem(&p.b, AT_MEM_FREE, DEVICE_MEMORY, 0, 0, -1, 0);
	job_mem(&p.b, AT_MEM_ALLOC, DEVICE_MEMORY, 13, 0, -1, 0);
	job_mem(&p.b, AT_MEM_ALLOC, 0, 1 << 30, 0, -1, 2);
	pair_analyse(&p);
	assert_int_equal(p.out.memory.len, 1);
	row = &p.out.memory.data[0];
	assert_int_equal(row->process, 1);
	assert_string_equal(row->kind, "gpu");
	assert_string_equal(row->sort, "plain");
	assert_int_equal(row->device, 3);
	assert_null(row->reason);
	assert_int_equal(row->allocations, 3);
	assert_int_equal(row->bytes, 4099 + 1009 + 13);
	assert_int_equal(row->live_peak, 4099 + 1009);
	assert_int_equal(reason_count(p.out.totals.notes, "calls of a GPU library that failed"), 1);
	assert_int_equal(
		reason_count(p.out.totals.notes, "memory freed that was not seen allocated"), 1);
	pair_release(&p);
}

/* Records of memory were lost, then or another time: what was known before may be over. */
static void lost(bool memory)
{
	struct pair p;
	struct ub_loss *loss;

	pair_init_gpu(&p);
	job_context(&p.a, 0);
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY, 4096, 0, -1, 0);
	loss = job_add(&p.a, AT_LOSS, 0);
	loss->until = loss->h.ts + 250;
	loss->records = 1;
	p.job.lost = !memory;
	p.job.lost_memory = memory;
	job_mem(&p.a, AT_MEM_ALLOC, DEVICE_MEMORY + 4096, 4096, 0, -1, 0);
	job_mem(&p.a, AT_MEM_HOST, DEVICE_MEMORY + 8192, 4096, 0, -1, 0);
	job_mem(&p.a, AT_MEM_HOST, DEVICE_MEMORY + 12288, 4096, 0, -1, 0);
	for (uint64_t i = 0; i < 4; i++)
		job_send_from(&p.a, &p.b, i, DEVICE_MEMORY + i * 4096);
	pair_analyse(&p);
	is(&p, 0, 3, "pinned");
	for (uint64_t i = 0; i < 3; i++)
		if (memory)
			is_unknown(&p, 0, i, "not seen allocated");
		else
			is(&p, 0, i, i < 2 ? "gpu0" : "pinned");
	pair_release(&p);
}

static void losses(void **state)
{
	(void)state;
	lost(true);
	lost(false);
}

static void job_task(struct task *task, uint32_t what, uint32_t other)
{
	struct ub_task *record = job_add(task, AT_TASK, 0);

	record->what = what;
	record->other = other;
}

/* What had a thread's number before it says nothing of it; nor is a child's what its parent had. */
static void forks_and_threads(void **state)
{
	struct pair p;
	struct task other;

	(void)state;
	pair_init_gpu(&p);
	other = p.a;
	other.tid = 77;
	job_context(&other, 1);
	job_mem(&other, AT_MEM_ALLOC, DEVICE_MEMORY, 4096, 0, -1, 0);
	job_mem(&p.b, AT_MEM_HOST, DEVICE_MEMORY, 4096, 0, -1, 0);
	job_send_from(&p.b, &p.a, 1, DEVICE_MEMORY);
	job_task(&other, UB_THREAD_EXIT, 0);
	job_mem(&other, AT_MEM_ALLOC, DEVICE_MEMORY + 4096, 4096, 0, -1, 0);
	job_task(&p.a, UB_FORK, 2); /* the other process, anew */
	job_send_from(&p.b, &p.a, 2, DEVICE_MEMORY);
	job_send_from(&p.a, &p.b, 3, DEVICE_MEMORY);
	job_send_from(&p.a, &p.b, 4, DEVICE_MEMORY + 4096);
	job_task(&p.a, UB_EXEC, 0);
	job_send_from(&p.a, &p.b, 5, DEVICE_MEMORY);
	pair_analyse(&p);
	is(&p, 1, 1, "pinned");
	is_unknown(&p, 1, 2, "not seen allocated");
	is(&p, 0, 3, "gpu1");
	assert_string_equal(op_tagged(&p.out, 0, 4)->memory, "gpu");
	assert_string_equal(op_tagged(&p.out, 0, 4)->memory_reason,
			    "the thread's current context was not seen");
	is_unknown(&p, 0, 5, "not seen allocated");
	pair_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_its_time),    cmocka_unit_test(not_contiguous),
		cmocka_unit_test(both_ends),      cmocka_unit_test(packed),
		cmocka_unit_test(rows_and_notes), cmocka_unit_test(forks_and_threads),
		cmocka_unit_test(losses),         cmocka_unit_test(no_gpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
