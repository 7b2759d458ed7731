/* SPDX-License-Identifier: BSD-3-Clause */
/* Short messages as MPI programs send and receive them. */
#ifndef TESTS_UNIT_MATCH_CALLS_H
#define TESTS_UNIT_MATCH_CALLS_H

#include "match_job.h"

/* MPI_Send of a short message: no request, one am_short. */
static inline void job_send_short(struct task *task, const struct task *to, uint64_t tag,
				  uint64_t bytes)
{
	struct ub_xfer *xfer;

	job_call(task, AT_MPI_SEND);
	job_op(task, AT_TAG_SEND, EP(task->tgid, to->tgid), tag, bytes, 0);
	xfer = job_xfer(task, to, AT_AM_SHORT, 2, (int64_t)bytes + 8, 0);
	xfer->w[0] = tag;
	xfer->h.flags = UB_F_WIRE;
	job_op_end(task);
}

/* A posted receive with a request; its handler and callback come with job_arrive(). */
static inline void job_post(struct task *task, uint64_t tag, uint64_t mask, uint64_t req)
{
	struct ub_op *op;

	job_call(task, AT_MPI_RECV);
	op = job_op(task, AT_TAG_RECV, WORKER(task->tgid), tag, 1024, req);
	op->aux = mask;
	op->cb = 0x5000;
	job_op_end(task);
}

static inline void job_arrive(struct task *task, uint64_t tag, uint64_t bytes, uint64_t req)
{
	job_rx(task, AT_RX_EAGER, (uint32_t)bytes + 8, tag, 0, 0);
	if (req)
		job_comp(task, AT_RECV_CB, req, tag, bytes);
	task->rx = 0;
}

/* A receive that finds its message in the unexpected queue. */
static inline void job_take(struct task *task, uint64_t tag, uint64_t mask, uint64_t got,
			    uint64_t bytes)
{
	struct ub_op *op;

	job_call(task, AT_MPI_RECV);
	op = job_op(task, AT_TAG_RECV, WORKER(task->tgid), tag, 1024, 0);
	op->aux = mask;
	op->info_tag = got;
	op->info_len = bytes;
	op->h.flags = UB_F_INFO;
	job_op_end(task);
}

/* A short message that nobody waits for, and the receive that takes it. */
static inline void job_exchange(struct task *from, struct task *to, uint64_t tag, uint64_t bytes)
{
	job_send_short(from, to, tag, bytes);
	job_arrive(to, tag, bytes, 0);
	job_take(to, tag, UINT64_MAX, tag, bytes);
}

#endif
