/* SPDX-License-Identifier: BSD-3-Clause */
/* A job made up record by record. */
#ifndef TESTS_UNIT_MATCH_JOB_H
#define TESTS_UNIT_MATCH_JOB_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "explain/match/analysis.h"
#include "match_sites.h"

union job_record {
	struct ub_hdr h;
	struct ub_call call;
	struct ub_op op;
	struct ub_xfer xfer;
	struct ub_rx rx;
	struct ub_comp comp;
	struct ub_match match;
	struct ub_obj obj;
	struct ub_mem mem;
	struct ub_task task;
	struct ub_loss loss;
	uint8_t bytes[UB_MAX_RECORD];
};

/* One capture; records must be added in time order, which is what every job_*() does. */
struct job {
	json_t *sides;
	VEC(union job_record) records;
	size_t read;
	uint64_t now;
	uint32_t cpu_seq, seq;
	uint64_t lost, lost_memory, damaged;
};

/* A thread of a process of a job, and the frames it is in. */
struct task {
	struct job *job;
	uint32_t tgid, tid;
	uint32_t call, op, rx;
	uint64_t op_end; /* operations last until then */
};

#define WORKER(tgid) (0x1000000u + (tgid))
#define UUID(tgid) (0xabcd0000u + (tgid))
#define EP(from, to) (0x2000000u + (from)*256 + (to))
#define IFACE 0x3000u
#define REQUEST_SIZE 272
#define OP_NS 1000

static inline void job_init(struct job *job, const char *host, const char *mode)
{
	memset(job, 0, sizeof(*job));
	job->now = 1000000;
	job->sides = json_array();
	json_array_append_new(job->sides, json_pack("{s:s, s:{s:s, s:s}, s:s, s:I}", "t", "capture",
						    "host", "id", host, "name", host, "mode", mode,
						    "ts", (json_int_t)1));
	for (int row = 1; row < JOB_SITES; row++)
		json_array_append_new(job->sides,
				      json_pack("{s:s, s:i, s:s, s:s, s:i, s:i, s:i}", "t", "site",
						"row", row, "symbol", job_sites[row].symbol, "name",
						job_sites[row].name, "kind", job_sites[row].kind,
						"what", job_sites[row].what, "am_id",
						job_sites[row].am_id));
}

static inline void job_release(struct job *job)
{
	json_decref(job->sides);
	vec_release(&job->records);
}

static inline void *job_add(struct task *task, enum job_site site, uint32_t dur)
{
	struct job *job = task->job;
	union job_record *record = vec_add(&job->records);

	job->now += 100;
	record->h = (struct ub_hdr){ .ts = job->now,
				     .tgid = task->tgid,
				     .tid = task->tid,
				     .cpu_seq = job->cpu_seq++,
				     .site = site,
				     .call = task->call,
				     .op = task->op,
				     .rx = task->rx,
				     .dur = dur,
				     .kind = job_sites[site].kind,
				     .layout = 1 };
	return record;
}

static inline uint32_t job_frame(struct task *task, void *record)
{
	struct ub_hdr *h = record;

	return h->seq = ++task->job->seq;
}

/* A record that was produced and never stored. */
static inline void job_lose_last(struct job *job)
{
	job->records.len--;
	job->lost++;
}

/* A record that was in a part of the file that is damaged. */
static inline void job_damage_last(struct job *job)
{
	job->records.len--;
	job->damaged++;
}

static inline struct task job_process(struct job *job, uint32_t tgid, int rank,
				      const char *seen_from)
{
	struct task task = { .job = job, .tgid = tgid, .tid = tgid };

	json_array_append_new(job->sides,
			      json_pack("{s:s, s:i, s:i, s:I, s:i, s:s, s:i, s:i, s:s}", "t",
					"process", "tgid", tgid, "start_time", 5, "ts",
					(json_int_t)job->now, "ns_pid", tgid, "comm", "app", "rank",
					rank, "size", 4, "seen_from", seen_from));
	return task;
}

static inline void job_object(struct task *task, enum job_site site, uint64_t address,
			      uint64_t parent, uint64_t uuid)
{
	struct ub_obj *obj = job_add(task, site, 0);

	obj->obj = address;
	obj->parent = parent;
	obj->uuid = uuid;
	if (site == AT_IFACE) {
		strcpy(obj->tl_name, "posix");
		strcpy(obj->dev_name, "memory");
	}
}

static inline void job_worker(struct task *task)
{
	job_object(task, AT_IFACE, IFACE, WORKER(task->tgid), 0);
	job_object(task, AT_WORKER, WORKER(task->tgid), 0, UUID(task->tgid));
}

static inline void job_connect(struct task *from, const struct task *to)
{
	job_object(from, AT_EP, EP(from->tgid, to->tgid), WORKER(from->tgid), UUID(to->tgid));
}

static inline void job_call(struct task *task, enum job_site site)
{
	task->call = 0;
	task->call = job_frame(task, job_add(task, site, 0));
}

/* What a snapshot of a running process tells: its worker, and its endpoint to another one. */
static inline void job_snapshot(struct task *task, const struct task *to)
{
	char worker[24], uuid[24], ep[24], peer[24];

	snprintf(worker, sizeof(worker), "%#x", WORKER(task->tgid));
	snprintf(uuid, sizeof(uuid), "%#x", UUID(task->tgid));
	snprintf(ep, sizeof(ep), "%#x", EP(task->tgid, to->tgid));
	snprintf(peer, sizeof(peer), "%#x", UUID(to->tgid));
	json_array_append_new(task->job->sides,
			      json_pack("{s:s, s:i, s:s, s:s, s:I}", "t", "worker", "tgid",
					task->tgid, "worker", worker, "uuid", uuid, "ts",
					(json_int_t)task->job->now));
	json_array_append_new(task->job->sides,
			      json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "t", "ep", "tgid",
					task->tgid, "ep", ep, "worker", worker, "peer_uuid", peer,
					"ts", (json_int_t)task->job->now));
}

/* The record of an operation; fields may be changed until the next job_*(). */
static inline struct ub_op *job_op(struct task *task, enum job_site site, uint64_t obj,
				   uint64_t tag, uint64_t count, uint64_t req)
{
	struct ub_op *op;

	task->op = 0;
	op = job_add(task, site, OP_NS);
	task->op = job_frame(task, op);
	op->obj = obj;
	op->tag = tag;
	op->count = count;
	op->datatype = 8;
	op->req = req;
	op->ret = req ? (int64_t)req + REQUEST_SIZE : 0;
	op->aux = site == AT_TAG_RECV ? UINT64_MAX : 0;
	return op;
}

static inline void job_op_end(struct task *task)
{
	task->op = 0;
	task->job->now += OP_NS;
}

static inline struct ub_xfer *job_xfer(struct task *task, const struct task *to, enum job_site site,
				       uint8_t am_id, int64_t length, uint64_t req)
{
	struct ub_xfer *xfer = job_add(task, site, 50);

	job_frame(task, xfer);
	xfer->iface = IFACE;
	xfer->uct_ep = EP(task->tgid, to->tgid) + 0x1000;
	xfer->req = req;
	xfer->ucp_ep = req ? EP(task->tgid, to->tgid) : 0;
	xfer->length = length;
	xfer->am_id = am_id;
	return xfer;
}

/* Enters a handler; it is left with task->rx = 0. */
static inline struct ub_rx *job_rx(struct task *task, enum job_site site, uint32_t length,
				   uint64_t w0, uint64_t w1, uint64_t w2)
{
	struct ub_rx *rx;

	task->rx = 0;
	rx = job_add(task, site, 0);
	task->rx = job_frame(task, rx);
	rx->worker = WORKER(task->tgid);
	rx->length = length;
	rx->w[0] = w0;
	rx->w[1] = w1;
	rx->w[2] = w2;
	return rx;
}

static inline struct ub_comp *job_comp(struct task *task, enum job_site site, uint64_t req,
				       uint64_t tag, uint64_t length)
{
	struct ub_comp *comp = job_add(task, site, 0);

	comp->req = req;
	comp->tag = tag;
	comp->length = length;
	comp->h.flags = site == AT_RECV_CB ? UB_F_INFO : 0;
	return comp;
}

#endif
