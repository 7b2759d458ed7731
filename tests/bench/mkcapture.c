// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes a capture of a made-up job: mkcapture FILE [RECORDS [RANKS [LOST]]]. A stream of chunks
 * for every eight ranks, as the tracer's threads write them. So many of 100 batches find no room,
 * chosen at random, which makes as many losses as there can be; their records come on top of
 * RECORDS.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/traffic.h"
#include "file/file.h"

#define DRAIN_NS 10000000u /* rings are read this often, files flushed every so many times */
#define DRAINS_PER_FLUSH 100
#define RANKS_PER_STREAM 8
#define MAX_STREAMS (TRAFFIC_MAX_RANKS / RANKS_PER_STREAM)

static const struct {
	enum traffic_site site;
	const char *name, *symbol; /* symbol NULL: the first row of that name */
} traffic_sites[] = {
	{ SITE_ISEND, "MPI_Isend", NULL },
	{ SITE_IRECV, "MPI_Irecv", NULL },
	{ SITE_WAITALL, "MPI_Waitall", NULL },
	{ SITE_ALLREDUCE, "MPI_Allreduce", NULL },
	{ SITE_TAG_SEND, "tag_send", NULL },
	{ SITE_TAG_RECV, "tag_recv", NULL },
	{ SITE_SHORT, "am_short", "uct_mm_ep_am_short" },
	{ SITE_BCOPY, "am_bcopy", "uct_mm_ep_am_bcopy" },
	{ SITE_EAGER, "eager_only", NULL },
	{ SITE_RECV_CB, "recv_callback", NULL },
};

static void put_side(struct file_writer *w, json_t *side)
{
	if (!side || file_writer_side(w, side))
		fprintf(stderr, "mkcapture: a side record was not taken\n");
	json_decref(side);
}

static json_t *address(uint64_t value)
{
	return json_sprintf("0x%" PRIx64, value);
}

static void put_sites(struct traffic *t, struct file_writer *w)
{
	unsigned int row, i;

	for (row = 1; row < site_count(); row++) {
		const struct site *s = site_row(row);

		for (i = 0; i < TRAFFIC_SITES; i++)
			if (!t->sites[i] && !strcmp(s->name, traffic_sites[i].name) &&
			    (!traffic_sites[i].symbol ||
			     !strcmp(s->symbol, traffic_sites[i].symbol)))
				t->sites[traffic_sites[i].site] = (uint16_t)row;
		put_side(w, json_pack("{s:s, s:i, s:s, s:s, s:s, s:i, s:i, s:i}", "t", "site",
				      "row", (int)row, "symbol", s->symbol ? s->symbol : "", "name",
				      s->name, "layer", site_layer_name(s->layer), "kind",
				      s->wire.kind, "what", s->wire.what, "am_id", s->wire.am_id));
	}
}

static uint64_t uuid_of(uint32_t rank)
{
	return 0xabcdef0012340000 + rank;
}

static void put_connections(const struct traffic *t, const struct rank *r, struct file_writer *w)
{
	uint32_t peer;

	put_side(w, json_pack("{s:s, s:i, s:o, s:o, s:s, s:I}", "t", "worker", "tgid", (int)r->tgid,
			      "worker", address(r->worker), "uuid", address(uuid_of(r->number)),
			      "address_name", "node1:1", "ts", (json_int_t)r->now));
	put_side(w,
		 json_pack("{s:s, s:i, s:o, s:o, s:s, s:s, s:I}", "t", "iface", "tgid",
			   (int)r->tgid, "iface", address(r->iface), "worker", address(r->worker),
			   "tl", "posix", "dev", "memory", "ts", (json_int_t)r->now));
	for (peer = 0; peer < t->ranks; peer++) {
		put_side(w, json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:[o], s:I}", "t", "ep",
				      "tgid", (int)r->tgid, "ep", address(ep_to(r, peer)), "worker",
				      address(r->worker), "peer_uuid", address(uuid_of(peer)),
				      "local_id", address(ep_to(r, peer)), "lanes",
				      address(uct_ep_to(r, peer)), "ts", (json_int_t)r->now));
		put_side(w, json_pack("{s:s, s:i, s:o, s:o, s:I}", "t", "uct_ep", "tgid",
				      (int)r->tgid, "uct_ep", address(uct_ep_to(r, peer)), "iface",
				      address(r->iface), "ts", (json_int_t)r->now));
	}
}

static void put_sides(struct traffic *t, struct file_writer *w)
{
	uint32_t i;

	put_side(w,
		 json_pack("{s:s, s:i, s:s, s:{s:s, s:s, s:s, s:s}, s:s, s:s, s:i}", "t", "capture",
			   "version", 1, "tool", "mkcapture", "host", "id",
			   "00000000-0000-0000-0000-000000000001", "name", "node1", "kernel",
			   "6.1.0", "machine", "x86_64", "level", "uct", "mode", "run", "ts", 1));
	put_side(w, json_pack("{s:s, s:i, s:I}", "t", "clock", "mono", 1, "real",
			      (json_int_t)1700000000000000000));
	put_sites(t, w);
	for (i = 0; i < t->ranks; i++) {
		struct rank *r = &t->rank[i];

		put_side(w, json_pack("{s:s, s:i, s:I, s:I, s:i, s:s, s:s, s:[s], s:s, s:i, s:i, "
				      "s:i, s:s, s:s, s:s, s:s}",
				      "t", "process", "tgid", (int)r->tgid, "start_time",
				      (json_int_t)(1000 + i), "ts", (json_int_t)r->now, "ns_pid",
				      (int)r->tgid, "comm", "cg", "exe", "/tmp/cg", "cmdline", "cg",
				      "uts", "node1", "rank", (int)i, "size", (int)t->ranks,
				      "local_rank", (int)i, "rank_from", "OMPI_COMM_WORLD_RANK",
				      "job", "1", "mpi", "Open MPI 4.1.4", "seen_from", "start"));
		put_connections(t, r, w);
	}
}

/* A job whose batches find no room now and then. */
struct lossy {
	struct traffic t;
	uint64_t seed;
	uint32_t percent; /* of batches that are lost */
	uint32_t cpu_seq[2 * TRAFFIC_MAX_RANKS];
	struct ub_loss
		loss[TRAFFIC_MAX_RANKS]; /* what each rank has not told of yet; records 0: none */
	struct ub_stats stats;
};

static int put(struct lossy *job, struct file_stream *stream, struct ub_hdr *h)
{
	h->cpu_seq = job->cpu_seq[h->cpu]++;
	job->stats.produced[h->kind]++;
	return file_stream_record(stream, h);
}

static int tell_loss(struct lossy *job, struct file_stream *stream, struct ub_loss *loss,
		     const struct ub_hdr *next)
{
	int error;

	if (!loss->records)
		return 0;
	loss->h.tgid = next->tgid;
	loss->h.tid = next->tid;
	loss->h.cpu = next->cpu;
	loss->h.kind = UB_LOSS;
	error = put(job, stream, &loss->h);
	*loss = (struct ub_loss){ 0 };
	return error;
}

static void lose(struct lossy *job, struct ub_loss *loss, const struct ub_hdr *h)
{
	if (!loss->records || h->ts < loss->h.ts)
		loss->h.ts = h->ts;
	if (h->ts + h->dur > loss->until)
		loss->until = h->ts + h->dur;
	loss->records++;
	job->cpu_seq[h->cpu]++;
	job->stats.produced[h->kind]++;
	job->stats.dropped[h->kind]++;
}

/* A rank's records, batch by batch. */
static int drain_rank(struct lossy *job, struct rank *r, struct file_stream *stream)
{
	struct ub_loss *loss = &job->loss[r->number];
	size_t at = 0, end = 0;
	bool lost = false;
	int error = 0;

	while (at < r->pending.len && !error) {
		struct ub_hdr *h = (struct ub_hdr *)(r->pending.data + at);

		if (at >= end) {
			end = at + UB_MAX_BATCH;
			lost = (job->seed = job->seed * 6364136223846793005u + 1) >> 33 <
			       (job->percent * (1ull << 31)) / 100;
			error = lost ? 0 : tell_loss(job, stream, loss, h);
		}
		job->stats.hits++;
		if (lost)
			lose(job, loss, h);
		else if (!error)
			error = put(job, stream, h);
		at += ub_kind_size(h->kind);
	}
	r->pending.len = 0;
	return error;
}

/* Hands the records of one CPU after the other to the file, as the rings are read. */
static int drain(struct lossy *job, struct file_stream **streams)
{
	int error = 0;

	for (uint32_t i = 0; i < job->t.ranks && !error; i++)
		error = drain_rank(job, &job->t.rank[i], streams[i / RANKS_PER_STREAM]);
	return error;
}

static int flush(struct file_writer *w, struct file_stream **streams, const struct ub_stats *stats)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < MAX_STREAMS && streams[i]; i++)
		error = file_stream_flush(streams[i]);
	return error ? error : file_writer_flush(w, stats);
}

/* Threads that lost their last batch tell of it when they are collected. */
static int tell_all(struct lossy *job, struct file_stream **streams)
{
	int error = 0;

	for (uint32_t i = 0; i < job->t.ranks && !error; i++) {
		const struct rank *r = &job->t.rank[i];
		const struct ub_hdr thread = { .tgid = r->tgid, .tid = r->tgid, .cpu = r->cpu };

		error = tell_loss(job, streams[i / RANKS_PER_STREAM], &job->loss[i], &thread);
	}
	return error;
}

static int generate(struct lossy *job, struct file_writer *w, struct file_stream **streams,
		    uint64_t records)
{
	struct traffic *t = &job->t;
	uint64_t drained = t->rank[0].now, drains = 0;
	int error = 0;

	while (!error && file_writer_records(w) < records) {
		iterate(t);
		if (t->rank[0].now - drained < DRAIN_NS)
			continue;
		drained = t->rank[0].now;
		error = drain(job, streams);
		if (!error && ++drains % DRAINS_PER_FLUSH == 0)
			error = flush(w, streams, &job->stats);
	}
	error = error ? error : tell_all(job, streams);
	return error ? error : flush(w, streams, &job->stats);
}

int main(int argc, char **argv)
{
	static struct lossy job = { .t = { .seed = 88172645463325252 }, .seed = 1 };
	uint64_t records = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
	struct file_stream *streams[MAX_STREAMS] = { 0 };
	struct traffic *t = &job.t;
	struct file_writer *w;
	uint32_t i;
	int error, close_error;

	t->ranks = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 4;
	job.percent = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
	if (argc < 2 || t->ranks < 2 || t->ranks > TRAFFIC_MAX_RANKS || job.percent > 99) {
		fprintf(stderr, "usage: mkcapture FILE [RECORDS [RANKS [LOST]]]\n");
		return 2;
	}
	t->positions = job.percent > 0;
	error = file_writer_open(&w, argv[1]);
	if (!error) {
		traffic_ranks(t);
		put_sides(t, w);
		for (i = 0; !error && i * RANKS_PER_STREAM < t->ranks; i++)
			error = file_stream_open(&streams[i], w, FILE_STREAM_RECORDS, NULL, NULL);
		if (!error)
			error = generate(&job, w, streams, records);
		for (i = 0; i < MAX_STREAMS; i++)
			file_stream_free(streams[i]);
		close_error = file_writer_close(w, &job.stats);
		error = error ? error : close_error;
	}
	for (i = 0; i < t->ranks; i++)
		vec_release(&t->rank[i].pending);
	if (error)
		fprintf(stderr, "mkcapture: %s: %s\n", argv[1], strerror(-error));
	return error ? 1 : 0;
}
