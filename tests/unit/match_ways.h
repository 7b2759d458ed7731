/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages from one GPU to another, as UCX moves them: copied on their way, fetched, staged. Which
 * request does what, and whose parent it has: src/ucp/dt/dt.c, src/ucp/rndv/rndv.c of 1.13.1,
 * proto_rndv.c, rndv_mtype.inl and rndv_rkey_ptr.c beside it of 1.18.1.
 */
#ifndef TESTS_UNIT_MATCH_WAYS_H
#define TESTS_UNIT_MATCH_WAYS_H

#include "match_gpu.h"

#define OVER_CMA 0x3100
#define OVER_COPY 0x3200
#define OVER_IPC 0x3300
#define SOURCE 0x7f0000000000u /* of process a, on its GPU 0 */
#define TARGET 0x7f1000000000u /* of process b, on its GPU 1 */
#define BUFFER_SIZE 0x2000000
#define STAGE(tgid) (0x7e0000000000u + (tgid)*0x10000000u) /* pinned by UCX */
#define BOUNCE 0x555500001000u /* of a transport */
#define MEM_TYPE_EP(tgid) (0x2f00000u + (tgid))
#define SEND_REQ 0x9000
#define RECV_REQ 0xa000

static inline void ways_process(struct task *task, int device, uint64_t buffer)
{
	job_iface(task, OVER_CMA, "cma");
	job_iface(task, OVER_COPY, "cuda_copy");
	job_iface(task, OVER_IPC, "cuda_ipc");
	job_context(task, device);
	job_mem(task, AT_MEM_ALLOC, buffer, BUFFER_SIZE, 0, -1, 0);
	job_mem(task, AT_MEM_HOST, STAGE(task->tgid), BUFFER_SIZE, 0, -1, 0);
}

static inline void ways_init(struct pair *p)
{
	pair_init_gpu(p);
	ways_process(&p->a, 0, SOURCE);
	ways_process(&p->b, 1, TARGET);
}

/* One within the process, between memory of UCX's own and the program's. */
static inline struct ub_xfer *ways_copy(struct task *task, enum job_site site, uint64_t bytes,
					uint64_t laddr, uint64_t raddr)
{
	struct ub_xfer *xfer = job_xfer(task, task, site, 0, (int64_t)bytes, 0);

	xfer->iface = OVER_COPY;
	xfer->uct_ep = MEM_TYPE_EP(task->tgid) + 0x1000;
	xfer->laddr = laddr;
	xfer->raddr = raddr;
	return xfer;
}

/* ... by a fragment's request. */
static inline void ways_stage(struct task *task, enum job_site site, uint64_t bytes, uint64_t laddr,
			      uint64_t raddr, uint64_t req, uint64_t super)
{
	struct ub_xfer *xfer = ways_copy(task, site, bytes, laddr, raddr);

	xfer->req = req;
	xfer->super_req = super;
	xfer->ucp_ep = MEM_TYPE_EP(task->tgid);
	xfer->status = 1;
}

static inline struct ub_xfer *ways_move(struct task *task, const struct task *to,
					enum job_site site, uint64_t iface, uint64_t bytes,
					uint64_t laddr, uint64_t raddr, uint64_t req,
					uint64_t super)
{
	struct ub_xfer *xfer = job_xfer(task, to, site, 0, (int64_t)bytes, req);

	xfer->iface = iface;
	xfer->laddr = laddr;
	xfer->raddr = raddr;
	xfer->super_req = super;
	return xfer;
}

static inline void ways_post(struct task *task, uint64_t tag, uint64_t bytes, uint64_t buffer,
			     uint64_t req)
{
	struct ub_op *op;

	job_call(task, AT_MPI_RECV);
	op = job_op(task, AT_TAG_RECV, WORKER(task->tgid), tag, bytes, req);
	op->buffer = buffer;
	op->cb = 0x5000;
	job_op_end(task);
}

static inline void ways_send(struct task *task, const struct task *to, uint64_t tag, uint64_t bytes,
			     uint64_t buffer, uint64_t req)
{
	job_call(task, AT_MPI_SEND);
	job_op(task, AT_TAG_SEND, EP(task->tgid, to->tgid), tag, bytes, req)->buffer = buffer;
}

/* An eager message, and the copy that packs it. */
static inline void ways_pack(struct task *task, const struct task *to, uint64_t tag, uint64_t bytes,
			     uint64_t buffer, uint64_t req)
{
	struct ub_xfer *xfer = job_xfer(task, to, AT_AM_BCOPY, 2, (int64_t)bytes + 8, req);

	xfer->w[0] = tag;
	xfer->h.flags = UB_F_WIRE;
	xfer->h.dur = 400;
	ways_copy(task, AT_GET_SHORT, bytes, BOUNCE, buffer);
	task->job->now += 400;
}

static inline void ways_unpack(struct task *task, uint64_t tag, uint64_t bytes, uint64_t buffer,
			       uint64_t req)
{
	job_rx(task, AT_RX_EAGER, (uint32_t)bytes + 8, tag, 0, 0);
	ways_copy(task, AT_PUT_SHORT, bytes, BOUNCE, buffer);
	job_comp(task, AT_RECV_CB, req, tag, bytes);
	task->rx = 0;
}

/* Enters the handler of the RTS, where it meets its receive. */
static inline void ways_rts(struct pair *p, uint64_t tag, uint64_t bytes)
{
	struct ub_xfer *xfer;
	struct ub_match *match;

	ways_send(&p->a, &p->b, tag, bytes, SOURCE, SEND_REQ);
	xfer = job_xfer(&p->a, &p->b, AT_AM_SHORT, 9, 42, 0);
	xfer->w[0] = tag;
	xfer->w[1] = EP(2, 1);
	xfer->w[2] = SEND_REQ;
	xfer->h.flags = UB_F_WIRE;
	job_op_end(&p->a);
	job_rx(&p->b, AT_RX_RTS, 42, tag, EP(2, 1), SEND_REQ)->w[4] = bytes;
	match = job_add(&p->b, AT_MATCHED, 0);
	match->worker = WORKER(2);
	match->req = RECV_REQ;
	match->tag = tag;
	match->ep_id = EP(2, 1);
	match->req_id = SEND_REQ;
	match->size = bytes;
}

static inline void ways_control(struct task *task, const struct task *to, enum job_site site,
				uint8_t am_id, uint64_t id, enum job_site handler)
{
	struct ub_xfer *xfer = job_xfer(task, to, site, am_id, 16, 0);
	struct task peer = *to;

	xfer->w[0] = id;
	xfer->h.flags = UB_F_WIRE;
	if (handler)
		job_rx(&peer, handler, 16, id, 0, 0);
}

static inline void ways_done(struct pair *p, uint64_t tag, uint64_t bytes)
{
	job_comp(&p->b, AT_RECV_CB, RECV_REQ, tag, bytes);
	job_comp(&p->a, AT_SEND_CB, SEND_REQ, 0, 0);
}

/* The receiver fetches it out of the peer's GPU. */
static inline void ways_fetched(struct pair *p, uint64_t tag, uint64_t bytes)
{
	ways_post(&p->b, tag, bytes, TARGET, RECV_REQ);
	ways_rts(p, tag, bytes);
	ways_move(&p->b, &p->a, AT_GET_ZCOPY, OVER_IPC, bytes, TARGET, SOURCE, 0xa100, RECV_REQ)
		->status = 1;
	p->b.rx = 0;
	job_comp(&p->b, AT_UCT_COMP, 0xa100, 0, 0);
	ways_control(&p->b, &p->a, AT_AM_SHORT, 10, SEND_REQ, AT_RX_ATS);
	ways_done(p, tag, bytes);
}

enum staging { STAGED, STAGED_V2, STAGED_MAPPED };

struct fragment {
	uint64_t offset, bytes;
	uint64_t send, send_super, recv, recv_super, rtr;
};

/* In the handler of the RTS: an RTR per fragment; its parent never sends. */
static inline void ways_rtr(struct pair *p, const struct fragment *f, enum staging how)
{
	struct ub_xfer *xfer = job_xfer(&p->b, &p->a, AT_AM_BCOPY, 11, 48, f->rtr);

	xfer->super_req = how == STAGED_V2 ? f->recv_super : f->recv;
	xfer->h.flags = UB_F_REQ;
}

static inline void ways_fragment(struct pair *p, const struct fragment *f, enum staging how)
{
	uint64_t stage = STAGE(how == STAGED_MAPPED ? 2 : 1) + f->offset;

	job_rx(&p->a, AT_RX_RTR, 48, SEND_REQ, f->rtr, 0);
	ways_stage(&p->a, AT_GET_ZCOPY, f->bytes, stage, SOURCE + f->offset, f->send,
		   f->send_super);
	p->a.rx = 0;
	job_comp(&p->a, AT_UCT_COMP, f->send, 0, 0);
	if (how != STAGED_MAPPED)
		ways_move(&p->a, &p->b, AT_PUT_ZCOPY, OVER_CMA, f->bytes, stage,
			  STAGE(2) + f->offset, f->send, f->send_super);
	ways_control(&p->a, &p->b, AT_AM_SHORT, 16, f->rtr, 0);
	job_rx(&p->b, AT_RX_ATP, 16, f->rtr, 0, 0);
	ways_stage(&p->b, AT_PUT_ZCOPY, f->bytes, STAGE(2) + f->offset, TARGET + f->offset, f->recv,
		   f->recv_super);
	p->b.rx = 0;
	job_comp(&p->b, AT_UCT_COMP, f->recv, 0, 0);
}

static inline struct fragment ways_piece(int i, uint64_t offset, uint64_t bytes, enum staging how)
{
	bool v2 = how == STAGED_V2;
	uint64_t recv = 0xa200 + (uint64_t)i * 16;

	return (struct fragment){
		.offset = offset,
		.bytes = bytes,
		.send = 0x9200 + (uint64_t)i * 16,
		.send_super = v2 ? SEND_REQ : 0x9800 + (uint64_t)i * 16,
		.recv = recv,
		.recv_super = v2 ? 0xa100 : RECV_REQ,
		.rtr = v2 ? recv : 0xa800 + (uint64_t)i * 16,
	};
}

/* From GPU to host, to the peer's host, to its GPU, in fragments. */
static inline void ways_staged(struct pair *p, uint64_t tag, uint64_t bytes, uint64_t piece,
			       enum staging how)
{
	struct fragment f;
	int i = 0;

	ways_post(&p->b, tag, bytes, TARGET, RECV_REQ);
	ways_rts(p, tag, bytes);
	for (uint64_t done = 0; done < bytes; done += f.bytes) {
		f = ways_piece(i++, done, bytes - done < piece ? bytes - done : piece, how);
		ways_rtr(p, &f, how);
	}
	p->b.rx = 0;
	i = 0;
	for (uint64_t done = 0; done < bytes; done += f.bytes) {
		f = ways_piece(i++, done, bytes - done < piece ? bytes - done : piece, how);
		ways_fragment(p, &f, how);
	}
	ways_done(p, tag, bytes);
}

#endif
