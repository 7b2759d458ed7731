// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes the page of a made-up job: mkpage FILE [EVENTS [PROCESSES [PEERS]]]. Each process has as
 * many peers, at distances 1, 2, 3...; 16 processes to a host. Sizes and durations are drawn, so
 * that nothing compresses better than a real job's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/page/page.h"

#define PER_HOST 16
#define EVENTS_PER_MESSAGE 6 /* two calls, two operations, two transfers */

struct job {
	struct fact_sink sink;
	uint64_t seed, id;
	int processes, peers;
	uint64_t now[65536]; /* of each process */
	char hosts[4096][16];
};

static uint64_t draw(struct job *job, uint64_t below)
{
	job->seed = job->seed * 6364136223846793005u + 1442695040888963407u;
	return (job->seed >> 33) % below;
}

/* Many small, few large. */
static uint64_t draw_skewed(struct job *job, int bits)
{
	return draw(job, 1ull << (1 + draw(job, bits)));
}

static void begin(struct job *job)
{
	for (int i = 0; i < job->processes; i++) {
		char *host = job->hosts[i / PER_HOST];

		snprintf(host, sizeof(job->hosts[0]), "node%d", i / PER_HOST);
		job->now[i] = 1000000000;
		fact_put(&job->sink, FACT_PROCESS,
			 &(struct fact_process){ .index = i,
						 .host = i / PER_HOST,
						 .host_id = host,
						 .host_name = host,
						 .pid = 1000 + i,
						 .tgid = 1000 + i,
						 .comm = "made-up",
						 .exe = "/opt/made-up",
						 .mpi = "Open MPI 4.1.6",
						 .rank = i,
						 .size = job->processes });
	}
}

struct side {
	const char *function, *op;
	int process, peer;
	uint64_t bytes, start, length;
	bool sends;
};

/* A call and its operation; returns the operation's id. */
static uint64_t operation(struct job *job, const struct side *side)
{
	uint64_t call = ++job->id, op = ++job->id;

	fact_put(&job->sink, FACT_OP,
		 &(struct fact_op){ .id = op,
				    .call = call,
				    .process = side->process,
				    .peer = side->peer,
				    .op = side->op,
				    .function = side->function,
				    .protocol = side->bytes > 8192 ? "rndv/get" : "eager/bcopy",
				    .tid = 1000 + side->process,
				    .start = side->start + 120,
				    .end = side->start + side->length - 90,
				    .end_precision = TIME_EXACT,
				    .bytes = side->bytes,
				    .sends = side->sends });
	fact_put(&job->sink, FACT_CALL,
		 &(struct fact_call){ .id = call,
				      .process = side->process,
				      .function = side->function,
				      .tid = 1000 + side->process,
				      .start = side->start,
				      .end = side->start + side->length,
				      .end_precision = TIME_LOWER_BOUND,
				      .ops = 1,
				      .bytes = side->sends ? side->bytes : 0 });
	return op;
}

static void transfer(struct job *job, const struct side *side, uint64_t op, enum fact_kind kind)
{
	bool near = side->process / PER_HOST == side->peer / PER_HOST;
	bool large = side->bytes > 8192 && kind == KIND_DATA;

	fact_put(&job->sink, FACT_TRANSFER,
		 &(struct fact_transfer){ .caused_by = op,
					  .caused_in = side->process,
					  .process = side->process,
					  .peer = side->peer,
					  .op = large ? "get_zcopy" : "am_bcopy",
					  .transport = !near   ? "rc_mlx5"
						       : large ? "cma"
							       : "posix",
					  .device = near                ? "memory"
						    : side->process % 2 ? "mlx5_0:1"
									: "mlx5_1:1",
					  .locality = near ? LOCALITY_NODE : LOCALITY_REMOTE,
					  .kind = kind,
					  .ucp_op = side->op,
					  .function = side->function,
					  .protocol = large ? "rndv/get" : "eager/bcopy",
					  .src_mem = "host",
					  .dst_mem = "host",
					  .tid = 1000 + side->process,
					  .start = side->start + 200,
					  .end = side->start + side->length - 150,
					  .end_precision = TIME_UPPER_BOUND,
					  .bytes = kind == KIND_DATA ? side->bytes : 0,
					  .wire_bytes = side->bytes + 8 });
}

static void message(struct job *job, int from, int to)
{
	uint64_t bytes = draw_skewed(job, 22);
	struct side send = { "MPI_Isend",
			     "tag_send",
			     from,
			     to,
			     bytes,
			     job->now[from],
			     400 + draw_skewed(job, 14),
			     true };
	struct side recv = {
		"MPI_Recv", "tag_recv", to, from, bytes, job->now[to], 400 + draw_skewed(job, 16),
		false
	};
	struct fact_message fact = { .src = from,
				     .dst = to,
				     .function = send.function,
				     .send_op = send.op,
				     .recv_op = recv.op,
				     .bytes = bytes,
				     .send_start = send.start + 120,
				     .recv_start = recv.start + 120,
				     .arrival = recv.start + recv.length / 2 };

	job->now[from] += send.length + draw_skewed(job, 16);
	job->now[to] += recv.length + draw_skewed(job, 16);
	fact.send = operation(job, &send);
	fact.recv = operation(job, &recv);
	if (bytes > 8192) {
		transfer(job, &send, fact.send, KIND_CONTROL);
		transfer(job, &recv, fact.recv, KIND_DATA);
	} else {
		transfer(job, &send, fact.send, KIND_DATA);
	}
	fact_put(&job->sink, FACT_MESSAGE, &fact);
}

/* The same facts each time. */
static void run(struct job *job, struct fact_sink sink, uint64_t events)
{
	job->sink = sink;
	job->seed = job->id = 0;
	begin(job);
	for (uint64_t i = 0; i < events / EVENTS_PER_MESSAGE; i++) {
		int from = (int)(i % job->processes);
		int step = 1 + (int)(i / job->processes % job->peers);

		message(job, from, (from + step) % job->processes);
	}
}

int main(int argc, char **argv)
{
	struct fact_totals totals = { .produced = 0 };
	struct page *page = page_new(&(struct page_options){ 0 });
	struct job *job = calloc(1, sizeof(*job));
	uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
	FILE *out;
	int err;

	job->processes = argc > 3 ? atoi(argv[3]) : 1000;
	job->peers = argc > 4 ? atoi(argv[4]) : 100;
	if (argc < 2 || job->processes < 2 || job->processes > 65536 || job->peers < 1 ||
	    job->peers >= job->processes || !(out = fopen(argv[1], "we"))) {
		fprintf(stderr, "usage: mkpage FILE [EVENTS [PROCESSES [PEERS]]]\n");
		return 2;
	}
	run(job, page_scan(page), events);
	page_scan_end(page);
	run(job, page_sink(page), events);
	err = page_write(page, &totals, out);
	if (err || fclose(out))
		fprintf(stderr, "mkpage: %s\n", strerror(err ? -err : errno));
	page_free(page);
	free(job);
	return err != 0;
}
