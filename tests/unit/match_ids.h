/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages with an id of their own, between two ranks. */
#ifndef TESTS_UNIT_MATCH_IDS_H
#define TESTS_UNIT_MATCH_IDS_H

#include "match_outcome.h"

/* First fragment of a message in several: its id is unique. */
static inline void send_multi(struct task *task, const struct task *to, uint64_t tag, uint64_t id)
{
	struct ub_xfer *xfer;

	job_call(task, AT_MPI_SEND);
	job_op(task, AT_TAG_SEND, EP(task->tgid, to->tgid), tag, 10000, 0x7ff1000)->ret = 0;
	xfer = job_xfer(task, to, AT_AM_BCOPY, 3, 8256, 0x7ff1000);
	xfer->w[0] = tag;
	xfer->w[1] = 10000;
	xfer->w[2] = id;
	xfer->h.flags = UB_F_REQ;
	xfer = job_xfer(task, to, AT_AM_BCOPY, 4, 10000 - 8232 + 16, 0x7ff1000);
	xfer->h.flags = UB_F_REQ;
	job_op_end(task);
}

static inline void receive_multi(struct task *task, uint64_t tag, uint64_t id)
{
	job_post(task, tag, UINT64_MAX, 0x9100);
	job_rx(task, AT_RX_FIRST, 8256, tag, 10000, id);
	task->rx = 0;
	job_comp(task, AT_RECV_CB, 0x9100, tag, 10000);
}

static inline void send_rts(struct task *task, const struct task *to, uint64_t tag, uint64_t req)
{
	struct ub_xfer *xfer;

	job_call(task, AT_MPI_SEND);
	job_op(task, AT_TAG_SEND, EP(task->tgid, to->tgid), tag, 100000, req);
	xfer = job_xfer(task, to, AT_AM_SHORT, 9, 42, 0);
	xfer->w[0] = tag;
	xfer->w[1] = EP(to->tgid, task->tgid);
	xfer->w[2] = req;
	xfer->h.flags = UB_F_WIRE;
	job_op_end(task);
}

static inline void arrive_rts(struct task *task, const struct task *from, uint64_t tag,
			      uint64_t req, uint64_t taken_by)
{
	struct ub_rx *rx = job_rx(task, AT_RX_RTS, 42, tag, EP(task->tgid, from->tgid), req);
	struct ub_match *match;

	rx->w[4] = 100000;
	if (taken_by) {
		match = job_add(task, AT_MATCHED, 0);
		match->worker = WORKER(task->tgid);
		match->req = taken_by;
		match->tag = tag;
		match->ep_id = EP(task->tgid, from->tgid);
		match->req_id = req;
		match->size = 100000;
	}
	task->rx = 0;
}

struct ranks {
	struct job job;
	struct task a, b;
	struct job *jobs[1];
	struct outcome out;
};

static inline void ranks_init(struct ranks *r, const char *seen_from)
{
	job_init(&r->job, "host-a", seen_from[0] == 's' ? "run" : "attach");
	r->jobs[0] = &r->job;
	r->a = job_process(&r->job, 1, 0, seen_from);
	r->b = job_process(&r->job, 2, 1, seen_from);
}

static inline void ranks_connect(struct ranks *r)
{
	job_worker(&r->a);
	job_worker(&r->b);
	job_connect(&r->a, &r->b);
	job_connect(&r->b, &r->a);
}

static inline void ranks_analyse(struct ranks *r)
{
	analyse(&r->out, r->jobs, 1);
}

static inline void ranks_release(struct ranks *r)
{
	outcome_release(&r->out);
	job_release(&r->job);
}

#endif
