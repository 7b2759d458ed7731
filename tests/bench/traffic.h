/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records as a conjugate-gradient program makes them over Open MPI, UCX 1.13 and shared memory:
 * halo exchange with two neighbours by Irecv, Isend, Waitall, then two Allreduce by recursive
 * doubling. Times, call durations and the order of arrivals are random; everything else is as
 * regular as it is in a real run.
 */
#ifndef TESTS_BENCH_TRAFFIC_H
#define TESTS_BENCH_TRAFFIC_H

#include <stdbool.h>
#include <string.h>

#include "base/vec.h"
#include "observe/probe/sites.h"
#include "ucxbpf.h"

enum traffic_site {
	SITE_ISEND,
	SITE_IRECV,
	SITE_WAITALL,
	SITE_ALLREDUCE,
	SITE_TAG_SEND,
	SITE_TAG_RECV,
	SITE_SHORT,
	SITE_BCOPY,
	SITE_EAGER,
	SITE_RECV_CB,
	TRAFFIC_SITES
};

#define TRAFFIC_MAX_RANKS 192
#define TRAFFIC_AM_DESC 1u /* UCT_CB_PARAM_FLAG_DESC, uct/api/uct_def.h */

struct rank {
	uint32_t number, tgid;
	uint16_t cpu;
	uint32_t seq;
	uint64_t now; /* ns */
	uint64_t worker, iface, pool; /* addresses */
	uint32_t call; /* open MPI call */
	VEC(uint8_t) pending; /* records that the CPU's ring still holds */
};

struct traffic {
	uint64_t seed;
	uint32_t ranks;
	uint16_t sites[TRAFFIC_SITES];
	uint32_t cpu_seq[2 * TRAFFIC_MAX_RANKS];
	bool positions; /* both ends of a message tell its place in the receiver's FIFO, as after a
			   loss */
	uint64_t fifo[TRAFFIC_MAX_RANKS]; /* of each receiver: the next place, */
	uint64_t place[TRAFFIC_MAX_RANKS]
		      [TRAFFIC_MAX_RANKS]; /* and that of each sender's last message */
	struct rank rank[TRAFFIC_MAX_RANKS];
};

/* The ranks of t->ranks as they begin, each on a CPU of its own. */
static inline void traffic_ranks(struct traffic *t)
{
	uint32_t i;

	for (i = 0; i < t->ranks; i++)
		t->rank[i] = (struct rank){
			.number = i,
			.tgid = 4000 + i,
			.cpu = (uint16_t)i,
			.now = 1000000,
			.worker = 0x555510000000 + 0x1000000 * (uint64_t)i,
			.iface = 0x7f2000001230 + 0x100000000 * (uint64_t)i,
			.pool = 0x7f3000000000 + 0x100000000 * (uint64_t)i,
		};
}

static inline uint64_t dice(struct traffic *t, uint64_t sides)
{
	t->seed ^= t->seed << 13;
	t->seed ^= t->seed >> 7;
	t->seed ^= t->seed << 17;
	return t->seed % sides;
}

/* A span of half to twice ns, sometimes much longer, as cache misses and interrupts make it. */
static inline uint64_t about(struct traffic *t, uint64_t ns)
{
	uint64_t span = ns / 2 + dice(t, ns) + dice(t, ns / 2 + 1);

	return dice(t, 20) ? span : span + dice(t, 20 * ns);
}

static inline uint64_t ep_to(const struct rank *r, uint32_t peer)
{
	return r->worker + 0x100000 + 0x48 * peer;
}

static inline uint64_t uct_ep_to(const struct rank *r, uint32_t peer)
{
	return r->iface + 0x4000 + 0x90 * peer;
}

static inline struct ub_hdr traffic_header(struct traffic *t, struct rank *r,
					   enum traffic_site site, uint8_t kind, uint64_t ts)
{
	return (struct ub_hdr){
		.ts = ts,
		.tgid = r->tgid,
		.tid = r->tgid,
		.cpu = r->cpu,
		.site = t->sites[site],
		.call = r->call,
		.kind = kind,
		.layout = 1,
	};
}

/* Counts the record on its CPU and keeps it until the ring is drained. */
static inline void emit(struct traffic *t, struct rank *r, struct ub_hdr *h)
{
	size_t size = ub_kind_size(h->kind);

	h->cpu_seq = t->cpu_seq[h->cpu]++;
	vec_reserve(&r->pending, r->pending.len + size);
	memcpy(r->pending.data + r->pending.len, h, size);
	r->pending.len += size;
}

static inline void open_call(struct traffic *t, struct rank *r, enum traffic_site site)
{
	struct ub_call c;

	r->call = 0;
	r->now += about(t, 300);
	c = (struct ub_call){ .h = traffic_header(t, r, site, UB_CALL, r->now),
			      .ret_addr = 0x55550000a000 + 0x40 * site,
			      .comm = site == SITE_WAITALL ? 0 : 0x555500100000 };
	c.h.seq = ++r->seq;
	r->call = r->seq;
	emit(t, r, &c.h);
}

/* Requests come off a stack: mostly the same ones again, and never one that is in use (slot). */
static inline uint64_t some_request(struct traffic *t, const struct rank *r, uint32_t slot)
{
	return r->pool + 0x140 * (8 * (uint64_t)slot + (dice(t, 4) ? 1 : dice(t, 8)));
}

static inline uint64_t traffic_tag(uint32_t mpi_tag, uint32_t source)
{
	return (uint64_t)mpi_tag << 40 | (uint64_t)source << 20;
}

static inline uint64_t post_receive(struct traffic *t, struct rank *r, uint32_t peer,
				    uint32_t mpi_tag, uint64_t size)
{
	uint64_t begin = r->now += about(t, 150);
	struct ub_op o = {
		.h = traffic_header(t, r, SITE_TAG_RECV, UB_OP, begin),
		.obj = r->worker,
		.buffer = 0x555501000000 + 0x10000 * peer + mpi_tag % 7 * 64,
		.count = size,
		.tag = traffic_tag(mpi_tag, peer),
		.aux = UINT64_MAX,
		.datatype = 8,
		.req = some_request(t, r, mpi_tag % 2),
		.cb = 0x7f1000002000,
		.attr_mask = 0x2b,
		.req_flags = 0x20000,
	};

	o.ret = (int64_t)o.req + 272;
	o.h.seq = ++r->seq;
	o.h.dur = (uint32_t)about(t, 250);
	r->now += o.h.dur;
	emit(t, r, &o.h);
	return o.req;
}

static inline void send(struct traffic *t, struct rank *r, uint32_t peer, uint32_t mpi_tag,
			uint64_t size)
{
	bool small = size < 92;
	uint64_t begin = r->now += about(t, 150), req = small ? 0 : some_request(t, r, 2);
	uint64_t buffer = 0x555502000000 + 0x10000 * peer + mpi_tag % 7 * 64;
	uint64_t tag = traffic_tag(mpi_tag, r->number);
	struct ub_op o = {
		.h = traffic_header(t, r, SITE_TAG_SEND, UB_OP, begin),
		.obj = ep_to(r, peer),
		.buffer = buffer,
		.count = size,
		.tag = tag,
		.datatype = 8,
		.req = req,
		.cb = 0x7f1000003000,
		.attr_mask = 0x2a,
		.req_len = small ? 0 : size,
	};
	struct ub_xfer x;

	o.h.seq = ++r->seq;
	r->now += about(t, 200);
	x = (struct ub_xfer){
		.h = traffic_header(t, r, small ? SITE_SHORT : SITE_BCOPY, UB_XFER, r->now),
		.uct_ep = uct_ep_to(r, peer),
		.iface = r->iface,
		.req = req,
		.ucp_ep = req ? o.obj : 0,
		.req_len = o.req_len,
		.w = { tag, small ? 0 : size },
		.laddr = buffer,
		.length = (int64_t)size + 8,
		.am_id = 2,
	};
	x.h.seq = ++r->seq;
	x.h.op = o.h.seq;
	x.h.flags = small ? UB_F_WIRE : UB_F_REQ | UB_F_REQ_BY_ARG;
	if (t->positions) {
		t->place[peer][r->number] = t->fifo[peer]++;
		x.raddr = t->place[peer][r->number];
		x.h.flags |= UB_F_FIFO;
	}
	x.h.dur = (uint32_t)about(t, small ? 200 : 200 + size / 8);
	r->now += x.h.dur;
	emit(t, r, &x.h);
	r->now += about(t, 80);
	o.h.dur = (uint32_t)(r->now - begin);
	emit(t, r, &o.h);
}

static inline void arrive(struct traffic *t, struct rank *r, uint32_t peer, uint32_t mpi_tag,
			  uint64_t size, uint64_t req)
{
	uint64_t tag = traffic_tag(mpi_tag, peer);
	struct ub_rx a;
	struct ub_comp c;

	r->now += about(t, 700);
	a = (struct ub_rx){ .h = traffic_header(t, r, SITE_EAGER, UB_RX, r->now),
			    .worker = r->worker,
			    .length = (uint32_t)size + 8,
			    .w = { tag } };
	a.h.seq = ++r->seq;
	if (t->positions) {
		a.data = t->place[r->number][peer];
		a.am_flags = TRAFFIC_AM_DESC | (uint32_t)(r->iface >> 4 & 0xffff) << 16;
		a.h.flags |= UB_F_FIFO;
	}
	emit(t, r, &a.h);
	r->now += about(t, 150 + size / 16);
	c = (struct ub_comp){ .h = traffic_header(t, r, SITE_RECV_CB, UB_COMP, r->now),
			      .req = req,
			      .func = 0x7f1000002000,
			      .tag = tag,
			      .length = size };
	c.h.rx = a.h.seq;
	emit(t, r, &c.h);
}

static inline void wait_for_all(struct traffic *t)
{
	uint64_t latest = 0;
	uint32_t i;

	for (i = 0; i < t->ranks; i++)
		latest = t->rank[i].now > latest ? t->rank[i].now : latest;
	for (i = 0; i < t->ranks; i++)
		t->rank[i].now = latest;
}

static inline void halo_exchange(struct traffic *t)
{
	uint64_t req[TRAFFIC_MAX_RANKS][2];
	uint32_t i, side;

	for (i = 0; i < t->ranks; i++) {
		uint32_t peer[2] = { (i + 1) % t->ranks, (i + t->ranks - 1) % t->ranks };

		for (side = 0; side < 2; side++) {
			open_call(t, &t->rank[i], SITE_IRECV);
			req[i][side] = post_receive(t, &t->rank[i], peer[side], 100 + side, 2400);
		}
		for (side = 0; side < 2; side++) {
			open_call(t, &t->rank[i], SITE_ISEND);
			send(t, &t->rank[i], peer[side], 101 - side, 2400);
		}
		open_call(t, &t->rank[i], SITE_WAITALL);
	}
	wait_for_all(t);
	for (i = 0; i < t->ranks; i++) {
		uint32_t peer[2] = { (i + 1) % t->ranks, (i + t->ranks - 1) % t->ranks };
		uint32_t first = (uint32_t)dice(t, 2);

		if (t->positions)
			first = t->place[i][peer[0]] > t->place[i][peer[1]];
		for (side = first; side != first + 2; side++)
			arrive(t, &t->rank[i], peer[side % 2], 100 + side % 2, 2400,
			       req[i][side % 2]);
	}
}

/* Recursive doubling where the number of ranks is a power of two, else a ring of growing steps. */
static inline uint32_t step_to(const struct traffic *t, uint32_t rank, uint32_t step)
{
	return t->ranks & (t->ranks - 1) ? (rank + step) % t->ranks : rank ^ step;
}

static inline uint32_t step_from(const struct traffic *t, uint32_t rank, uint32_t step)
{
	return t->ranks & (t->ranks - 1) ? (rank + t->ranks - step) % t->ranks : rank ^ step;
}

static inline void allreduce(struct traffic *t)
{
	const uint32_t mpi_tag = 0xffffec;
	uint32_t i, step;

	for (i = 0; i < t->ranks; i++)
		open_call(t, &t->rank[i], SITE_ALLREDUCE);
	for (step = 1; step < t->ranks; step *= 2) {
		uint64_t req[TRAFFIC_MAX_RANKS];

		for (i = 0; i < t->ranks; i++) {
			req[i] = post_receive(t, &t->rank[i], step_from(t, i, step), mpi_tag, 8);
			send(t, &t->rank[i], step_to(t, i, step), mpi_tag, 8);
		}
		wait_for_all(t);
		for (i = 0; i < t->ranks; i++)
			arrive(t, &t->rank[i], step_from(t, i, step), mpi_tag, 8, req[i]);
	}
}

/* One step of the solver: between the exchanges it computes. Seldom, a rank moves to another CPU.
 */
static inline void iterate(struct traffic *t)
{
	uint32_t i;

	halo_exchange(t);
	for (i = 0; i < t->ranks; i++)
		t->rank[i].now += about(t, 20000);
	allreduce(t);
	for (i = 0; i < t->ranks; i++) {
		t->rank[i].now += about(t, 8000);
		if (!dice(t, 3000))
			t->rank[i].cpu = (uint16_t)((t->rank[i].cpu + t->ranks) % (2 * t->ranks));
	}
	allreduce(t);
}

#endif
