// SPDX-License-Identifier: BSD-3-Clause
/*
 * Times what a record costs from a ring's batch to the file, without the ring: encode FILE [RECORDS
 * [RANKS [PER_CHUNK]]] gives batches of a made-up job to one stream, rank after rank, as rings are
 * drained.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/traffic.h"
#include "file/file.h"

#define DRAIN_NS 5000000u /* of the job's time between two looks at a ring */

/* Batches of one rank as the kernel makes them, behind each other. */
struct batches {
	VEC(uint8_t) bytes;
	VEC(size_t) ends;
};

static void make_batches(struct rank *r, struct batches *b)
{
	size_t at = 0;

	while (at < r->pending.len) {
		const struct ub_hdr *first = (const void *)(r->pending.data + at);
		struct ub_batch head = { .first_seq = first->cpu_seq, .cpu = first->cpu };
		size_t from = at;

		while (at < r->pending.len && at - from < UB_MAX_BATCH - UB_MAX_RECORD) {
			const struct ub_hdr *h = (const void *)(r->pending.data + at);

			if (h->cpu != head.cpu)
				break;
			head.records++;
			at += ub_kind_size(h->kind);
		}
		vec_reserve(&b->bytes, b->bytes.len + sizeof(head) + at - from);
		memcpy(b->bytes.data + b->bytes.len, &head, sizeof(head));
		memcpy(b->bytes.data + b->bytes.len + sizeof(head), r->pending.data + from,
		       at - from);
		b->bytes.len += sizeof(head) + at - from;
		vec_push(&b->ends, b->bytes.len);
	}
	r->pending.len = 0;
}

static int drain(struct traffic *t, struct file_stream *stream, uint64_t *ns)
{
	struct batches b = { 0 };
	uint64_t begin;
	size_t at = 0;
	int error = 0;

	for (uint32_t i = 0; i < t->ranks; i++)
		make_batches(&t->rank[i], &b);
	begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (size_t i = 0; !error && i < b.ends.len; at = b.ends.data[i++])
		error = file_stream_batch(stream, (const void *)(b.bytes.data + at),
					  b.ends.data[i] - at);
	*ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	vec_release(&b.bytes);
	vec_release(&b.ends);
	return error;
}

static int measure(struct traffic *t, struct file_writer *w, uint64_t records, uint32_t most)
{
	struct file_stream *stream;
	uint64_t ns = 0, drained = 0, count;
	int error = file_stream_open(&stream, w, most, NULL, NULL);

	if (error)
		return error;
	while (!error && file_writer_records(w) < records) {
		iterate(t);
		if (t->rank[0].now - drained < DRAIN_NS)
			continue;
		drained = t->rank[0].now;
		error = drain(t, stream, &ns);
	}
	count = file_writer_records(w);
	if (!error)
		error = file_stream_flush(stream);
	file_stream_free(stream);
	printf("encode: %" PRIu32 " ranks, %" PRIu64 " records, %.1f ns and %.2f bytes each\n",
	       t->ranks, count, (double)ns / (double)count,
	       (double)file_writer_bytes(w) / (double)count);
	return error;
}

int main(int argc, char **argv)
{
	static struct traffic t = { .seed = 88172645463325252 };
	uint64_t records = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000000;
	uint32_t most = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : FILE_STREAM_RECORDS;
	struct file_writer *w;
	int error, close_error;

	t.ranks = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 32;
	if (argc < 2 || most < 64 || most > FILE_STREAM_RECORDS || t.ranks < 2 ||
	    t.ranks > TRAFFIC_MAX_RANKS) {
		fprintf(stderr, "usage: encode FILE [RECORDS [RANKS [PER_CHUNK]]]; 2 to %d ranks\n",
			TRAFFIC_MAX_RANKS);
		return 2;
	}
	error = file_writer_open(&w, argv[1]);
	if (!error) {
		traffic_ranks(&t);
		for (uint16_t i = 0; i < TRAFFIC_SITES; i++)
			t.sites[i] = i + 1;
		error = measure(&t, w, records, most);
		close_error = file_writer_close(w, NULL);
		error = error ? error : close_error;
	}
	for (uint32_t i = 0; i < t.ranks; i++)
		vec_release(&t.rank[i].pending);
	if (error)
		fprintf(stderr, "encode: %s: %s\n", argv[1], strerror(-error));
	return error != 0;
}
