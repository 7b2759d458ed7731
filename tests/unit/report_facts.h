/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small job made by hand: two ranks on node-a, one on node-b, one process without MPI. Numbers
 * are primes, so that a sum that went to the wrong row shows.
 */
#ifndef UCXBPF_TESTS_REPORT_FACTS_H
#define UCXBPF_TESTS_REPORT_FACTS_H

#include <stddef.h>

#include "explain/facts/facts.h"

static const char made_send[] = "MPI_Send", made_isend[] = "MPI_Isend", made_wait[] = "MPI_Waitall";
static const char made_posix[] = "posix", made_memory[] = "memory", made_tcp[] = "tcp";
static const char made_eth0[] = "eth0", made_cma[] = "cma", made_host[] = "host";
static const char made_tag_send[] = "tag_send", made_tag_recv[] = "tag_recv", made_put[] = "put";
static const char made_am_short[] = "am_short", made_am_bcopy[] = "am_bcopy";
static const char made_get_zcopy[] = "get_zcopy", made_eager[] = "eager_bcopy";
static const char made_rndv[] = "rndv_get_zcopy", made_rma[] = "put_zcopy";
static const char made_put_zcopy[] = "put_zcopy";

static const struct fact_ucx made_ucx[] = {
	{ 0, "/usr/lib/libucp.so.0", "1b2c", "1.13.1", "1.13.1-release" },
	{ 0, "/opt/ucx/libucp.so.0", "3d4e", NULL, NULL },
};

static const struct fact_variable made_environment[] = {
	{ 0, "UCX_\xfe", "\033[2J\xff" },
	{ 0, "UCX_TLS", "" },
};

static const struct fact_process made_processes[] = {
	{ 0,    0,    "boot-a", "node-a", 1009, 1009, 11,       "cg", "/opt/cg", "Open MPI 4.1.4",
	  "77", NULL, NULL,     0,        3,    true, made_ucx, 1,    false,     NULL,
	  0,    -1,   "0-3,8",  false,    false },
	{ 1,    0,    "boot-a", "node-a", 1013, 1013, 13,       "cg", "/opt/cg", "Open MPI 4.1.4",
	  "77", NULL, NULL,     1,        3,    true, made_ucx, 1,    false,     NULL,
	  0,    -1,   NULL,     false,    false },
	{ 2,    1,    "boot-b", "node-b", 1009, 2003,  17,       "cg", "/opt/cg", "Open MPI 4.1.4",
	  "77", NULL, NULL,     2,        3,    false, made_ucx, 1,    false,     NULL,
	  0,    -1,   NULL,     false,    false },
	{ 3,
	  1,
	  "boot-b",
	  "node-b",
	  2011,
	  2011,
	  19,
	  "bare\033[2Jucp",
	  "/opt/\xff",
	  NULL,
	  NULL,
	  NULL,
	  NULL,
	  -1,
	  -1,
	  false,
	  made_ucx + 1,
	  1,
	  false,
	  made_environment,
	  2,
	  0,
	  NULL,
	  false,
	  false },
};

static void made_call(const struct fact_sink *sink, int process, const char *function, int count,
		      uint64_t time, uint64_t bytes)
{
	for (int i = 0; i < count; i++)
		fact_put(sink, FACT_CALL,
			 &(struct fact_call){ .process = process,
					      .function = function,
					      .start = 1000000,
					      .end = time ? 1000000 + time : 0,
					      .end_precision = TIME_LOWER_BOUND,
					      .ops = 1,
					      .bytes = bytes });
}

static void made_op(const struct fact_sink *sink, int process, const char *op, const char *function,
		    const char *protocol, int count, uint64_t bytes)
{
	for (int i = 0; i < count; i++)
		fact_put(sink, FACT_OP,
			 &(struct fact_op){ .process = process,
					    .peer = -1,
					    .op = op,
					    .function = function,
					    .protocol = protocol,
					    .start = 1000100,
					    .end = 1000700,
					    .end_precision = TIME_EXACT,
					    .bytes = bytes });
}

static void made_transfers(const struct fact_sink *sink, struct fact_transfer transfer, int count,
			   uint64_t time)
{
	transfer.start = 1000200;
	transfer.end = time ? transfer.start + time : 0;
	transfer.end_precision = time ? TIME_UPPER_BOUND : TIME_UNKNOWN;
	transfer.wire_bytes = transfer.bytes + 8;
	for (int i = 0; i < count; i++)
		fact_put(sink, FACT_TRANSFER, &transfer);
}

static void made_message(const struct fact_sink *sink, int src, int dst, const char *function,
			 int count, uint64_t bytes)
{
	for (int i = 0; i < count; i++)
		fact_put(sink, FACT_MESSAGE,
			 &(struct fact_message){ .src = src,
						 .dst = dst,
						 .function = function,
						 .send_op = made_tag_send,
						 .recv_op = made_tag_recv,
						 .bytes = bytes });
}

static void made_shared_memory(const struct fact_sink *sink)
{
	struct fact_transfer eager = { .process = 0,
				       .peer = 1,
				       .op = made_am_bcopy,
				       .transport = made_posix,
				       .device = made_memory,
				       .locality = LOCALITY_NODE,
				       .ucp_op = made_tag_send,
				       .function = made_send,
				       .protocol = made_eager,
				       .src_mem = made_host,
				       .dst_mem = made_host,
				       .bytes = 4099 };
	struct fact_transfer get = { .process = 1,
				     .peer = 0,
				     .op = made_get_zcopy,
				     .transport = made_cma,
				     .device = made_memory,
				     .locality = LOCALITY_NODE,
				     .ucp_op = made_tag_recv,
				     .function = made_wait,
				     .protocol = made_rndv,
				     .src_mem = made_host,
				     .dst_mem = made_host,
				     .bytes = 1048583 };
	struct fact_transfer wireup = { .process = 0,
					.peer = 1,
					.op = made_am_bcopy,
					.transport = made_posix,
					.device = made_memory,
					.locality = LOCALITY_NODE,
					.kind = KIND_CONTROL,
					.bytes = 211 };

	made_transfers(sink, eager, 101, 1009);
	eager.retried = true;
	made_transfers(sink, eager, 7, 0);
	made_transfers(sink, get, 13, 200003);
	made_transfers(sink, wireup, 5, 0);
}

static void made_network(const struct fact_sink *sink)
{
	struct fact_transfer eager = { .process = 0,
				       .peer = 2,
				       .op = made_am_short,
				       .transport = made_tcp,
				       .device = made_eth0,
				       .locality = LOCALITY_REMOTE,
				       .ucp_op = made_tag_send,
				       .function = made_isend,
				       .protocol = NULL,
				       .src_mem = made_host,
				       .bytes = 97 };
	struct fact_transfer put = { .process = 3,
				     .peer = -1,
				     .op = made_put_zcopy,
				     .transport = made_tcp,
				     .device = made_eth0,
				     .ucp_op = made_put,
				     .protocol = made_rma,
				     .src_mem = made_host,
				     .bytes = 65537 };
	struct fact_transfer lost = { .process = 2,
				      .peer = 0,
				      .op = made_am_short,
				      .transport = NULL,
				      .device = NULL,
				      .bytes = 89,
				      .unexplained = "request not seen" };

	made_transfers(sink, eager, 103, 5003);
	made_transfers(sink, put, 3, 0);
	made_transfers(sink, lost, 2, 0);
}

static const struct fact_totals made_totals = {
	.produced = 5003,
	.stored = 4999,
	.dropped = { { "ring full", 4 } },
	.sends = 217,
	.receives = 219,
	.matched = 213,
	.ambiguous = 1,
	.unmatched_sends = { { "receiver not in the capture", 2 }, { "lost record", 1 } },
	.unmatched_receives = { { "sender not in the capture", 5 } },
	.data_bytes = 14252358,
	.to_op_bytes = 14252180,
	.to_call_bytes = 14055569,
	.unexplained_bytes = 178,
	.unexplained = { { "request not seen", 178 } },
	.notes = { { "node-b: the capture is incomplete, the tracer was killed", 1 } },
};

/* Hands the whole job to sink. */
/* It ended before it could be looked at; the start is that of a number used again. */
static inline void made_undescribed(const struct fact_sink *sink)
{
	fact_put(sink, FACT_PROCESS,
		 &(struct fact_process){ .index = 0,
					 .host_id = "boot-a",
					 .host_name = "node-a",
					 .pid = 1021,
					 .tgid = 1021,
					 .start_time = 23,
					 .rank = -1,
					 .size = -1,
					 .from_start = true,
					 .environment_cut = -1,
					 .undescribed = true,
					 .ucx_unknown = true });
}

static inline void made_job(const struct fact_sink *sink)
{
	for (int i = 0; i < 4; i++)
		fact_put(sink, FACT_PROCESS, &made_processes[i]);
	made_call(sink, 0, made_send, 101, 2003, 4099);
	made_call(sink, 0, made_isend, 103, 499, 97);
	made_call(sink, 0, made_isend, 13, 0, 1048583);
	made_call(sink, 1, made_wait, 17, 300007, 0);
	made_op(sink, 0, made_tag_send, made_send, made_eager, 101, 4099);
	made_op(sink, 0, made_tag_send, made_isend, NULL, 103, 97);
	made_op(sink, 0, made_tag_send, made_isend, made_rndv, 13, 1048583);
	made_op(sink, 3, made_put, NULL, made_rma, 3, 65537);
	made_op(sink, 3, made_put, NULL, made_rma, 1, UINT64_MAX);
	made_shared_memory(sink);
	made_network(sink);
	made_message(sink, 0, 1, made_send, 101, 4099);
	made_message(sink, 0, 2, made_isend, 99, 97);
	made_message(sink, 0, 1, made_isend, 13, 1048583);
}

#endif
