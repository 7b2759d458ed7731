/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture made by hand, record by record, as the input of attribution and matching.
 *
 * job_init() begins a capture of one host, job_process() adds a process to it and returns its main
 * thread. Every other job_*() appends one record, later than all before it, to the frames in which
 * its thread is then; what it returns may be changed until the next record is appended. Messages
 * at the end of this file are such records in the order of an MPI program's.
 */
#ifndef TESTS_UNIT_JOB_H
#define TESTS_UNIT_JOB_H

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
#include "explain/analysis/analysis.h"
#include "explain/analysis/internal.h"
#include "ucxbpf.h"

/* ---- sites ---- */

enum job_site {
	AT_MPI_SEND = 1,
	AT_MPI_RECV,
	AT_MPI_ALLREDUCE,
	AT_MPI_TEST,
	AT_MPI_INIT,
	AT_MPI_COMM_FREE,
	AT_TAG_SEND,
	AT_TAG_RECV,
	AT_TAG_MSG_RECV,
	AT_TAG_PROBE,
	AT_GET,
	AT_ATOMIC,
	AT_AM_SEND,
	AT_AM_RECV_DATA,
	AT_AM_SHORT,
	AT_AM_BCOPY,
	AT_GET_ZCOPY,
	AT_PUT_ZCOPY,
	AT_GET_SHORT,
	AT_PUT_SHORT,
	AT_ATOMIC_POST,
	AT_RX_EAGER,
	AT_RX_FIRST,
	AT_RX_RTS,
	AT_RX_GET_REQ,
	AT_RX_ATS,
	AT_RX_RTR,
	AT_RX_ATP,
	AT_RX_AM,
	AT_RX_AM_FIRST,
	AT_RX_AM_REPLY,
	AT_SEND_CB,
	AT_RECV_CB,
	AT_UCT_COMP,
	AT_REQ_FREE,
	AT_MATCHED,
	AT_WORKER,
	AT_EP,
	AT_IFACE,
	AT_MEM_ALLOC,
	AT_MEM_HOST,
	AT_MEM_FREE,
	AT_MEM_EXPORT,
	AT_MEM_IMPORT,
	AT_RUNTIME,
	AT_CTX_RETAIN,
	AT_CTX_SET,
	AT_TASK,
	AT_LOSS,
	JOB_SITES
};

static const struct {
	const char *symbol, *name;
	uint8_t kind, what, am_id;
} job_sites[JOB_SITES] = {
	[AT_MPI_SEND] = { "PMPI_Send", "MPI_Send", UB_CALL, 0, 0 },
	[AT_MPI_RECV] = { "PMPI_Recv", "MPI_Recv", UB_CALL, 0, 0 },
	[AT_MPI_ALLREDUCE] = { "PMPI_Allreduce", "MPI_Allreduce", UB_CALL, 0, 0 },
	[AT_MPI_TEST] = { "PMPI_Test", "MPI_Test", UB_CALL, 0, 0 },
	[AT_MPI_INIT] = { "PMPI_Init", "MPI_Init", UB_CALL, 0, 0 },
	[AT_MPI_COMM_FREE] = { "PMPI_Comm_free", "MPI_Comm_free", UB_CALL, 0, 0 },
	[AT_TAG_SEND] = { "ucp_tag_send_nbx", "tag_send", UB_OP, 0, 0 },
	[AT_TAG_RECV] = { "ucp_tag_recv_nbx", "tag_recv", UB_OP, 0, 0 },
	[AT_TAG_MSG_RECV] = { "ucp_tag_msg_recv_nbx", "tag_msg_recv", UB_OP, 0, 0 },
	[AT_TAG_PROBE] = { "ucp_tag_probe_nb", "tag_probe", UB_OP, UB_OP_PROBE, 0 },
	[AT_GET] = { "ucp_get_nbx", "get", UB_OP, 0, 0 },
	[AT_ATOMIC] = { "ucp_atomic_op_nbx", "atomic", UB_OP, 0, 0 },
	[AT_AM_SEND] = { "ucp_am_send_nbx", "am_send", UB_OP, 0, 0 },
	[AT_AM_RECV_DATA] = { "ucp_am_recv_data_nbx", "am_recv_data", UB_OP, 0, 0 },
	[AT_AM_SHORT] = { "uct_mm_ep_am_short", "am_short", UB_XFER, 0, 0 },
	[AT_AM_BCOPY] = { "uct_mm_ep_am_bcopy", "am_bcopy", UB_XFER, 0, 0 },
	[AT_GET_ZCOPY] = { "uct_scopy_ep_get_zcopy", "get_zcopy", UB_XFER, 0, 0 },
	[AT_PUT_ZCOPY] = { "uct_scopy_ep_put_zcopy", "put_zcopy", UB_XFER, 0, 0 },
	[AT_GET_SHORT] = { "uct_cuda_copy_ep_get_short", "get_short", UB_XFER, 0, 0 },
	[AT_PUT_SHORT] = { "uct_cuda_copy_ep_put_short", "put_short", UB_XFER, 0, 0 },
	[AT_ATOMIC_POST] = { "uct_mm_ep_atomic64_post", "atomic64_post", UB_XFER, 0, 0 },
	[AT_RX_EAGER] = { "ucp_eager_only_handler", "eager_only", UB_RX, 0, 2 },
	[AT_RX_FIRST] = { "ucp_eager_first_handler", "eager_first", UB_RX, 0, 3 },
	[AT_RX_RTS] = { "ucp_rndv_rts_handler", "rndv_rts", UB_RX, 0, 9 },
	[AT_RX_GET_REQ] = { "ucp_get_req_handler", "get_req", UB_RX, 0, 18 },
	[AT_RX_ATS] = { "ucp_rndv_ats_handler", "rndv_ats", UB_RX, 0, 10 },
	[AT_RX_RTR] = { "ucp_rndv_rtr_handler", "rndv_rtr", UB_RX, 0, 11 },
	[AT_RX_ATP] = { "ucp_rndv_atp_handler", "rndv_atp", UB_RX, 0, 16 },
	[AT_RX_AM] = { "ucp_am_handler", "am_single", UB_RX, 0, 23 },
	[AT_RX_AM_FIRST] = { "ucp_am_long_first_handler", "am_first", UB_RX, 0, 24 },
	[AT_RX_AM_REPLY] = { "ucp_am_handler_reply", "am_single_reply", UB_RX, 0, 26 },
	[AT_SEND_CB] = { "send_cb", "send_callback", UB_COMP, UB_COMP_SEND_CB, 0 },
	[AT_RECV_CB] = { "recv_cb", "recv_callback", UB_COMP, UB_COMP_RECV_CB, 0 },
	[AT_UCT_COMP] = { "uct_comp", "uct_completion", UB_COMP, UB_COMP_UCT, 0 },
	[AT_REQ_FREE] = { "ucp_request_free", "request_free", UB_COMP, UB_COMP_REQ_FREE, 0 },
	[AT_MATCHED] = { "ucp_tag_rndv_matched", "rndv_matched", UB_MATCH, 0, 0 },
	[AT_WORKER] = { "ucp_worker_create", "worker_create", UB_OBJ, UB_OBJ_WORKER_CREATE, 0 },
	[AT_EP] = { "ucp_ep_create", "ep_create", UB_OBJ, UB_OBJ_UCP_EP_CREATE, 0 },
	[AT_IFACE] = { "uct_iface_open", "iface_open", UB_OBJ, UB_OBJ_IFACE_OPEN, 0 },
	[AT_MEM_ALLOC] = { "cuMemAlloc_v2", "cuMemAlloc", UB_MEM, UB_MEM_ALLOC, 0 },
	[AT_MEM_HOST] = { "cuMemHostAlloc", "cuMemHostAlloc", UB_MEM, UB_MEM_ALLOC_HOST, 0 },
	[AT_MEM_FREE] = { "cuMemFree_v2", "cuMemFree", UB_MEM, UB_MEM_FREE, 0 },
	[AT_MEM_EXPORT] = { "cuIpcGetMemHandle", "cuIpcGetMemHandle", UB_MEM, UB_MEM_EXPORT, 0 },
	[AT_MEM_IMPORT] = { "cuIpcOpenMemHandle_v2", "cuIpcOpenMemHandle", UB_MEM, UB_MEM_IMPORT,
			    0 },
	[AT_RUNTIME] = { "cudaMalloc", "cudaMalloc", UB_MEM, UB_MEM_RUNTIME, 0 },
	[AT_CTX_RETAIN] = { "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", UB_MEM,
			    UB_MEM_CTX_RETAIN, 0 },
	[AT_CTX_SET] = { "cuCtxSetCurrent", "cuCtxSetCurrent", UB_MEM, UB_MEM_CTX_SET, 0 },
	[AT_LOSS] = { "loss", "loss", UB_LOSS, 0, 0 },
	[AT_TASK] = { "task", "task", UB_TASK, 0, 0 },
};

/* ---- records ---- */

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
	struct ub_polls polls;
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
	uint64_t caller; /* where they return to; 0: not recorded */
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

#define MPI_CODE 0x5a0000u /* where it calls UCP */

/* From now on the thread's operations are Open MPI's. */
static inline void job_mpi(struct task *task)
{
	const char *path = "/lib/libmpi.so";
	json_t *sides = task->job->sides;

	json_array_append_new(sides,
			      json_pack("{s:s, s:i, s:s, s:[s], s:s, s:I}", "t", "library", "tgid",
					task->tgid, "path", path, "roles", "mpi", "version",
					"Open MPI 4.1.4", "ts", (json_int_t)task->job->now));
	json_array_append_new(sides, json_pack("{s:s, s:i, s:s, s:b}", "t", "module", "id", 0,
					       "path", path, "program", 0));
	json_array_append_new(sides,
			      json_pack("{s:s, s:i, s:i, s:I, s:i, s:i}", "t", "address", "tgid",
					task->tgid, "address", MPI_CODE, "ts",
					(json_int_t)task->job->now, "module", 0, "offset", 16));
	task->caller = MPI_CODE;
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

static inline void job_call_on(struct task *task, enum job_site site, uint64_t comm)
{
	struct ub_call *call;

	task->call = 0;
	call = job_add(task, site, 0);
	call->comm = comm;
	task->call = job_frame(task, call);
}

/* So many calls of MPI_Test, one each every ns; the task is inside of the last one. */
static inline struct ub_polls *job_polls(struct task *task, uint32_t count, uint32_t every)
{
	struct ub_polls *polls;

	task->call = 0;
	polls = job_add(task, AT_MPI_TEST, (count - 1) * every);
	job_frame(task, polls);
	polls->call.h.kind = UB_POLLS;
	polls->call.ret_addr = 0x5500;
	polls->count = count;
	polls->began = (count - 1) * every;
	task->job->seq += count - 1;
	task->job->now += polls->began;
	polls->last = task->call = task->job->seq;
	return polls;
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

/* Receive FIFOs of shared memory, all at one address; an element's header:
 * src/uct/sm/mm/base/mm_iface.h */
#define FIFO_BASE 0x700000u
#define FIFO_STRIDE 128u
#define FIFO_HEADER 28u

/* A snapshot of the one interface that all use; slots 0: it has no FIFO. */
static inline void job_snapshot_iface(struct task *task, const char *transport, const char *device,
				      uint32_t slots)
{
	char iface[24], worker[24], base[24];

	snprintf(iface, sizeof(iface), "%#x", IFACE);
	snprintf(worker, sizeof(worker), "%#x", WORKER(task->tgid));
	snprintf(base, sizeof(base), "%#x", FIFO_BASE);
	json_array_append_new(task->job->sides,
			      json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:I, s:{s:s, s:i, s:i}}",
					"t", "iface", "tgid", task->tgid, "iface", iface, "worker",
					worker, "tl", transport, "dev", device, "ts",
					(json_int_t)task->job->now, "fifo", "base", base, "slots",
					slots, "stride", FIFO_STRIDE));
}

/* The address of an inline message at a position. */
static inline uint64_t job_fifo_data(uint32_t slots, uint64_t position)
{
	return FIFO_BASE + position % slots * FIFO_STRIDE + FIFO_HEADER;
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
	ub_op_set_caller(op, task->caller);
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

/* ---- short messages, as MPI programs send and receive them ---- */

/* A short message in the present call: no request, one am_short. */
static inline void job_pass_short(struct task *task, const struct task *to, uint64_t tag,
				  uint64_t bytes)
{
	struct ub_xfer *xfer;

	job_op(task, AT_TAG_SEND, EP(task->tgid, to->tgid), tag, bytes, 0);
	xfer = job_xfer(task, to, AT_AM_SHORT, 2, (int64_t)bytes + 8, 0);
	xfer->w[0] = tag;
	xfer->h.flags = UB_F_WIRE;
	job_op_end(task);
}

static inline void job_send_short(struct task *task, const struct task *to, uint64_t tag,
				  uint64_t bytes)
{
	job_call(task, AT_MPI_SEND);
	job_pass_short(task, to, tag, bytes);
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

/* In the present call: a receive that finds its message in the unexpected queue. */
static inline void job_find(struct task *task, uint64_t tag, uint64_t mask, uint64_t got,
			    uint64_t bytes)
{
	struct ub_op *op = job_op(task, AT_TAG_RECV, WORKER(task->tgid), tag, 1024, 0);

	op->aux = mask;
	op->info_tag = got;
	op->info_len = bytes;
	op->h.flags = UB_F_INFO;
	job_op_end(task);
}

static inline void job_take(struct task *task, uint64_t tag, uint64_t mask, uint64_t got,
			    uint64_t bytes)
{
	job_call(task, AT_MPI_RECV);
	job_find(task, tag, mask, got, bytes);
}

/* A short message that nobody waits for, and the receive that takes it. */
static inline void job_exchange(struct task *from, struct task *to, uint64_t tag, uint64_t bytes)
{
	job_send_short(from, to, tag, bytes);
	job_arrive(to, tag, bytes, 0);
	job_take(to, tag, UINT64_MAX, tag, bytes);
}

/* ---- messages with an id of their own ---- */

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

#endif
