// SPDX-License-Identifier: BSD-3-Clause
/* Several threads write one file: every record is there once, in order of time, numbered. */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "unit/file_records.h"

#define THREADS 3
#define BATCHES 4000
#define PER_BATCH 9
#define TOTAL (BATCHES * PER_BATCH)

struct batch {
	struct ub_batch head;
	uint8_t bytes[PER_BATCH * UB_MAX_RECORD];
};

struct thread {
	pthread_t thread;
	struct file_writer *writer;
	uint16_t cpu;
	uint64_t seen; /* records that the stream has shown */
	int error;
};

/* Takes 8 bytes in the file. */
static uint64_t req_of(uint64_t number)
{
	number = (number + 1) * 0x9e3779b97f4a7c15ull;
	return (number ^ number >> 29) * 0xbf58476d1ce4e5b9ull;
}

static size_t make_batch(struct batch *b, uint16_t cpu, uint32_t first)
{
	size_t at = 0;

	b->head = (struct ub_batch){ .first_seq = first, .cpu = cpu, .records = PER_BATCH };
	for (uint32_t i = 0; i < PER_BATCH; i++) {
		struct ub_comp c = { .h = { .ts = 1 + (uint64_t)(first + i) * THREADS + cpu,
					    .tgid = 100u + cpu,
					    .tid = 100u + cpu,
					    .kind = UB_COMP },
				     .req = req_of(first + i) };

		memcpy(b->bytes + at, &c, sizeof(c));
		at += sizeof(c);
	}
	return sizeof(b->head) + at;
}

static void on_seen(void *arg, const struct ub_hdr *h, uint16_t cpu, uint32_t cpu_seq)
{
	struct thread *t = arg;

	if (h->tid == 100u + t->cpu && cpu == t->cpu && cpu_seq == t->seen)
		t->seen++;
}

static void *write_all(void *arg)
{
	struct thread *t = arg;
	struct file_stream *stream;
	struct batch b;

	t->error = file_stream_open(&stream, t->writer, 2000, on_seen, t);
	if (t->error)
		return NULL;
	/* a ring is emptied after an error as well */
	for (uint32_t i = 0; i < BATCHES; i++) {
		size_t size = make_batch(&b, t->cpu, i * PER_BATCH);

		file_stream_batch(stream, &b.head, size);
		if (i % 1500 == 1499)
			file_stream_flush(stream);
	}
	t->error = file_stream_flush(stream);
	file_stream_free(stream);
	return NULL;
}

static void run_threads(struct thread *threads, struct file_writer *w)
{
	for (uint16_t i = 0; i < THREADS; i++) {
		threads[i] = (struct thread){ .writer = w, .cpu = i };
		assert_int_equal(pthread_create(&threads[i].thread, NULL, write_all, &threads[i]),
				 0);
	}
	/* the session's part meanwhile */
	for (int i = 0; i < 200; i++) {
		json_t *side = json_pack("{s:s, s:i}", "t", "note", "n", i);

		file_writer_side(w, side);
		json_decref(side);
		file_writer_flush(w, NULL);
		file_writer_records(w);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i].thread, NULL);
}

static void all_is_there(void **state)
{
	char *path = temp_path();
	struct file_writer *w = must_create(path);
	struct thread threads[THREADS];
	struct file_reader *r;
	const struct ub_hdr *h;
	uint64_t n = 0;
	const char *why;

	(void)state;
	run_threads(threads, w);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(threads[i].error, 0);
		assert_int_equal(threads[i].seen, TOTAL);
	}
	assert_int_equal(file_writer_records(w), THREADS * TOTAL);
	assert_int_equal(file_writer_close(w, NULL), 0);
	r = must_open(path);
	while (file_reader_next(r, &h) == 1) {
		assert_int_equal(h->ts, n + 1);
		assert_int_equal(h->cpu, n % THREADS);
		assert_int_equal(h->cpu_seq, n / THREADS);
		assert_int_equal(((const struct ub_comp *)h)->req, req_of(n / THREADS));
		n++;
	}
	assert_int_equal(n, THREADS * TOTAL);
	assert_int_equal(json_array_size(file_reader_sides(r)), 200);
	assert_true(file_reader_complete(r, &why));
	file_reader_free(r);
	temp_free(path);
}

static void full_disk(void **state)
{
	const struct rlimit limit = { 300000, RLIM_INFINITY };
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	char *path = temp_path();
	struct file_writer *w = must_create(path);
	struct thread threads[THREADS];
	struct file_reader *r;
	const struct ub_hdr *h;
	uint64_t n = 0, refused;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	run_threads(threads, w);
	setrlimit(RLIMIT_FSIZE, &none);
	assert_int_equal(file_writer_error(w), -EFBIG);
	/* one that was done before has none */
	for (int i = 0; i < THREADS; i++)
		assert_true(!threads[i].error || threads[i].error == -EFBIG);
	refused = file_writer_refused(w);
	assert_int_equal(file_writer_close(w, NULL), -EFBIG);
	r = must_open(path);
	while (file_reader_next(r, &h) == 1)
		n++;
	assert_int_equal(file_reader_refused(r), refused);
	assert_true(n > 0 && refused > 0);
	assert_int_equal(n + refused, THREADS * TOTAL);
	assert_int_equal(file_reader_damaged(r), 0);
	file_reader_free(r);
	temp_free(path);
}

static void records_up_to_a_bad_one(void **state)
{
	char *path = temp_path();
	struct file_writer *w = must_create(path);
	struct file_stream *stream;
	struct batch b;
	size_t size = make_batch(&b, 0, 0);

	(void)state;
	assert_int_equal(file_stream_open(&stream, w, 4 * PER_BATCH, NULL, NULL), 0);
	/* the last record is not whole */
	assert_int_equal(file_stream_batch(stream, &b.head, size - 1), -EBADMSG);
	assert_int_equal(file_writer_records(w), PER_BATCH - 1);
	assert_int_equal(file_writer_refused(w), 1);
	/* no head */
	assert_int_equal(file_stream_batch(stream, &b.head, 4), -EBADMSG);
	assert_int_equal(file_writer_refused(w), 2);
	/* the first record is of no known kind */
	((struct ub_hdr *)b.bytes)->kind = UB_KIND_MAX;
	assert_int_equal(file_stream_batch(stream, &b.head, size), -EBADMSG);
	assert_int_equal(file_writer_records(w), PER_BATCH - 1);
	assert_int_equal(file_writer_refused(w), PER_BATCH + 2);
	((struct ub_hdr *)b.bytes)->kind = UB_COMP;
	assert_int_equal(file_stream_batch(stream, &b.head, size), 0);
	assert_int_equal(file_writer_records(w), 2 * PER_BATCH - 1);
	assert_int_equal(file_writer_refused(w), PER_BATCH + 2);
	file_stream_free(stream);
	assert_int_equal(file_writer_records(w), 0);
	file_writer_abandon(w);
	temp_free(path);
}

/* Keeps the numbers of those that it is shown. */
static void keep_number(void *arg, const struct ub_hdr *h, uint16_t cpu, uint32_t cpu_seq)
{
	uint64_t *shown = arg;

	assert_int_equal(cpu, 5);
	assert_int_equal(cpu_seq, 100 + h->ts);
	*shown |= 1ull << h->ts;
}

static void put_calls(struct file_stream *stream, const uint64_t *sites, const uint32_t *tids)
{
	struct {
		struct ub_batch head;
		struct ub_call calls[8];
	} b = { .head = { .first_seq = 100, .cpu = 5, .records = 8 } };

	for (uint32_t i = 0; i < 8; i++)
		b.calls[i] = (struct ub_call){ .h = { .ts = i,
						      .tgid = tids[i],
						      .tid = tids[i],
						      .kind = UB_CALL,
						      .seq = 1 },
					       .ret_addr = sites[i],
					       .comm = i };
	assert_int_equal(file_stream_batch(stream, &b.head, sizeof(b)), 0);
}

static void listeners_are_spared_what_they_know(void **state)
{
	static const uint64_t sites[8] = { 1, 1, 1, 2, 2, 1, 1, 1 };
	static const uint32_t tids[8] = { 7, 7, 7, 7, 7, 7, 8, 8 };
	static const uint64_t ones[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	static const uint32_t eights[8] = { 8, 8, 8, 8, 8, 8, 8, 8 };
	static const uint64_t site[UB_KIND_MAX] = { [UB_CALL] = 3 }, none[UB_KIND_MAX],
			      all[UB_KIND_MAX] = { [UB_CALL] = UINT64_MAX };
	char *path = temp_path();
	struct file_writer *w = must_create(path);
	struct file_stream *stream;
	uint64_t shown = 0;

	(void)state;
	assert_int_equal(offsetof(struct ub_call, ret_addr), sizeof(struct ub_hdr));
	assert_int_equal(file_stream_open(&stream, w, 1000, keep_number, &shown), 0);
	put_calls(stream, sites, tids);
	assert_int_equal(shown, 0xff);
	assert_int_equal(file_stream_end_chunk(stream), 0);
	file_stream_spare(stream, site);
	shown = 0;
	put_calls(stream, sites, tids);
	/* the first one of each thread and site at least */
	assert_int_equal(shown & 0x49, 0x49);
	put_calls(stream, ones, eights);
	shown = 0;
	put_calls(stream, ones, eights);
	assert_int_equal(shown, 0);
	put_calls(stream, (const uint64_t[8]){ 1, 1, 1, 1, 9, 1, 1, 1 }, eights);
	assert_int_equal(shown & 0x10, 0x10);
	file_stream_spare(stream, none);
	shown = 0;
	put_calls(stream, sites, tids);
	assert_int_equal(shown, 0);
	file_stream_spare(stream, all);
	put_calls(stream, sites, tids);
	assert_int_equal(shown, 0xff);
	file_stream_spare(stream, NULL);
	shown = 0;
	put_calls(stream, sites, tids);
	assert_int_equal(shown, 0xff);
	/* a new chunk begins with everything */
	file_stream_spare(stream, site);
	assert_int_equal(file_stream_end_chunk(stream), 0);
	shown = 0;
	put_calls(stream, sites, tids);
	assert_int_equal(shown & 0x49, 0x49);
	file_stream_free(stream);
	assert_int_equal(file_writer_close(w, NULL), 0);
	temp_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_there),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(records_up_to_a_bad_one),
		cmocka_unit_test(listeners_are_spared_what_they_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
