// SPDX-License-Identifier: BSD-3-Clause
/* A capture that was cut off or damaged anywhere gives what is whole, and says that it is not all.
 */
#include <fcntl.h>

#include "file/output.h"
#include "unit/file_records.h"

#define CHUNKS 3
#define PER_CHUNK 40
#define TOTAL (CHUNKS * PER_CHUNK)

struct sample {
	union any_record records[TOTAL]; /* ts ascends, so file order is time order */
	uint8_t *data;
	size_t size;
	size_t chunk_end[CHUNKS]; /* bytes of the file up to the end of a record chunk */
};

static int make_sample(void **state)
{
	struct sample *s = calloc(1, sizeof(*s));
	char *path = temp_path();
	struct file_writer *w = must_create(path);
	uint64_t seed = 77;
	int i;

	for (i = 0; i < TOTAL; i++) {
		random_record(&s->records[i], &seed, 1000 + 10 * (uint64_t)i);
		if (i % PER_CHUNK == 0)
			must_side(w, "note", i);
		assert_int_equal(file_writer_record(w, &s->records[i].h), 0);
		if (i % PER_CHUNK == PER_CHUNK - 1) {
			assert_int_equal(file_writer_flush(w, NULL), 0);
			s->chunk_end[i / PER_CHUNK] = file_writer_bytes(w);
		}
	}
	assert_int_equal(file_writer_close(w, NULL), 0);
	s->data = slurp(path, &s->size);
	temp_free(path);
	*state = s;
	return 0;
}

static int free_sample(void **state)
{
	struct sample *s = *state;

	free(s->data);
	free(s);
	return 0;
}

/* A capture of the same chunk so many times. */
static void write_chunks(const char *path, const struct chunk_header *head, const void *raw,
			 size_t size, int times)
{
	const struct file_header header = { FILE_MAGIC, FILE_VERSION, UB_WIRE_VERSION };
	struct chunk_start end = { .head = { .magic = CHUNK_MAGIC,
					     .header_size = sizeof(end),
					     .type = CHUNK_END,
					     .payload_sum = chunk_payload_sum("", 0) } };
	struct packed packed;
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	fwrite(&header, sizeof(header), 1, f);
	assert_int_equal(packed_init(&packed, size, false), 0);
	assert_int_equal(packed_make(&packed, head, raw, &size, 1), 0);
	for (int i = 0; i < times; i++)
		fwrite(packed.start, packed_seal(&packed, &end.stats, 0), 1, f);
	packed_release(&packed);
	chunk_seal(&end);
	fwrite(&end, sizeof(end), 1, f);
	assert_int_equal(fclose(f), 0);
}

static void write_sides(const char *path, const char *text, size_t size)
{
	write_chunks(path, &(struct chunk_header){ .type = CHUNK_SIDES }, text, size, 1);
}

static int number_of(const struct sample *s, const struct ub_hdr *h)
{
	int i = (int)((h->ts - 1000) / 10);

	assert_in_range(i, 0, TOTAL - 1);
	assert_memory_equal(h, &s->records[i], ub_kind_size(s->records[i].h.kind));
	return i;
}

static void cut_anywhere(void **state)
{
	const struct sample *s = *state;
	char *path = temp_path();
	size_t size;

	for (size = 0; size < s->size; size++) {
		struct file_reader *r;
		const struct ub_hdr *h;
		const char *why = NULL;
		int expect = 0, n = 0;

		while (expect < CHUNKS && s->chunk_end[expect] <= size)
			expect++;
		spill(path, s->data, size);
		if (file_reader_open(&r, path, &why)) {
			assert_int_equal(expect, 0);
			assert_non_null(why);
			assert_null(r);
			continue;
		}
		for (; file_reader_next(r, &h) == 1; n++)
			assert_int_equal(number_of(s, h), n);
		assert_int_equal(n, expect * PER_CHUNK);
		assert_false(file_reader_complete(r, &why));
		assert_non_null(why);
		assert_int_equal(file_reader_damaged(r), 0);
		file_reader_free(r);
	}
	temp_free(path);
}

/* Reads what can be read: every record is one that was written, in order, and a gap is admitted. */
static void check_damaged(const struct sample *s, const char *path)
{
	struct file_reader *r;
	const struct ub_hdr *h;
	const char *why = NULL;
	int last = -1, n = 0;

	if (file_reader_open(&r, path, &why)) {
		assert_non_null(why);
		return;
	}
	for (; file_reader_next(r, &h) == 1; n++) {
		int i = number_of(s, h);

		assert_true(i > last);
		last = i;
	}
	if (n < TOTAL || json_array_size(file_reader_sides(r)) < CHUNKS)
		assert_false(file_reader_complete(r, &why));
	assert_true(n >= TOTAL - PER_CHUNK);
	file_reader_free(r);
}

static void any_byte_wrong(void **state)
{
	const struct sample *s = *state;
	char *path = temp_path();
	size_t i;

	for (i = 0; i < s->size; i++) {
		static const uint8_t changes[] = { 1, 0x80, 0xff };

		s->data[i] ^= changes[i % 3];
		spill(path, s->data, s->size);
		s->data[i] ^= changes[i % 3];
		check_damaged(s, path);
	}
	temp_free(path);
}

static void bytes_missing_or_more(void **state)
{
	const struct sample *s = *state;
	uint8_t *data = malloc(s->size + 100);
	char *path = temp_path();
	size_t at;

	for (at = 16; at + 100 < s->size; at += 61) {
		memcpy(data, s->data, at);
		memset(data + at, 0xff, 100);
		memcpy(data + at + 100, s->data + at, s->size - at);
		spill(path, data, s->size + 100);
		check_damaged(s, path);
		memcpy(data + at, s->data + at + 1, s->size - at - 1);
		spill(path, data, s->size - 1);
		check_damaged(s, path);
	}
	free(data);
	temp_free(path);
}

static void expect_refusal(const char *path, int error, const char *text)
{
	struct file_reader *r;
	const char *why = NULL;

	assert_int_equal(file_reader_open(&r, path, &why), error);
	assert_null(r);
	assert_non_null(why);
	if (!strstr(why, text))
		fail_msg("\"%s\" does not say \"%s\"", why, text);
}

static void not_a_capture(void **state)
{
	const struct sample *s = *state;
	char *path = temp_path();
	uint8_t *copy = malloc(s->size);

	expect_refusal(path, -EBADMSG, "empty");
	spill(path, "hello, world\nthis is text, and long enough for a header", 50);
	expect_refusal(path, -EBADMSG, "not a ucxbpf capture");
	spill(path, s->data, 16);
	expect_refusal(path, -EBADMSG, "without one complete chunk");
	memcpy(copy, s->data, s->size);
	copy[8]++;
	spill(path, copy, s->size);
	expect_refusal(path, -EPROTONOSUPPORT, "newer");
	expect_refusal("/tmp", -EBADMSG, "directory");
	expect_refusal("/dev/null", -EBADMSG, "not a regular file");
	expect_refusal("/nonexistent/x.ucxb", -ENOENT, "no such file");
	free(copy);
	temp_free(path);
}

static void killed_tracer(void **state)
{
	const struct sample *s = *state;
	char *path = temp_path();
	struct file_reader *r;
	const char *why;

	spill(path, s->data, s->chunk_end[1]);
	r = must_open(path);
	assert_false(file_reader_complete(r, &why));
	assert_string_equal(why, "the tracer was killed before it could finish the capture");
	file_reader_free(r);
	spill(path, s->data, s->chunk_end[1] - 1);
	r = must_open(path);
	assert_false(file_reader_complete(r, &why));
	assert_string_equal(why, "the end of the capture was cut off");
	file_reader_free(r);
	temp_free(path);
}

/* A whole chunk whose text is JSON, but not all side records. */
static void side_that_is_none(void **state)
{
	static const char *const lines[] = { "{\"t\":\"note\",\"n\":0", "[]", "{\"t\":1}" };
	const char *why;
	char *path = temp_path();

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct file_reader *r;

		write_sides(path, lines[i], strlen(lines[i]));
		r = must_open(path);
		assert_int_equal(json_array_size(file_reader_sides(r)), 0);
		assert_int_equal(file_reader_damaged(r), strlen(lines[i]) + 1);
		assert_false(file_reader_complete(r, &why));
		file_reader_free(r);
	}
	temp_free(path);
}

/* The same line over and over again: a few KiB in the file. Returns how many records are kept. */
static size_t read_lines(const char *line, size_t n, bool *complete)
{
	size_t length = strlen(line), kept;
	char *text = malloc(n * length), *path = temp_path();
	struct file_reader *r;
	const char *why;

	for (size_t i = 0; i < n; i++)
		memcpy(text + i * length, line, length);
	write_sides(path, text, n * length);
	free(text);
	r = must_open(path);
	kept = json_array_size(file_reader_sides(r));
	*complete = file_reader_complete(r, &why);
	assert_int_equal(file_reader_damaged(r), (n - kept) * length);
	if (!*complete)
		assert_string_equal(why,
				    "side records that would take too much memory were left out");
	file_reader_free(r);
	temp_free(path);
	return kept;
}

static void sides_out_of_proportion(void **state)
{
	static const struct {
		const char *line;
		size_t n, least, most;
	} all[] = {
		{ "{\"t\":\"note\"}\n", 100000, 100000, 100000 },
		{ "{\"t\":\"note\"}\n", 1000000, 100000, 200000 },
		{ "{\"t\":\"note\",\"a\":[[],[],[],{},{},{\"b\":[0]}]}\n", 400000, 10000, 20000 },
		{ "{}\n", 1000000, 0, 0 },
		/* brackets within texts are no depth */
		{ "{\"t\":\"note\",\"a\":\"\\\"[[[[[[[[[[[[[[[[[[[[\"}\n", 1000, 1000, 1000 },
		{ "{\"t\":\"note\",\"a\":[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]}\n", 1000, 1000, 1000 },
		{ "{\"t\":\"note\",\"a\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}\n", 1000, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		bool complete;
		size_t kept = read_lines(all[i].line, all[i].n, &complete);

		assert_in_range(kept, all[i].least, all[i].most);
		assert_int_equal(complete, kept == all[i].n);
	}
}

/* Captures that are read together share what they may take beyond their sizes. */
static void sides_of_many(void **state)
{
	enum { FILES = 8, LINES = 1000000 };
	static const char line[] = "{\"t\":\"note\"}\n";
	const size_t length = sizeof(line) - 1;
	char *text = malloc(LINES * length), *path = temp_path();
	struct file_reader *readers[FILES];
	size_t alone, kept = 0;
	bool complete;

	(void)state;
	alone = read_lines(line, LINES, &complete);
	for (size_t i = 0; i < LINES; i++)
		memcpy(text + i * length, line, length);
	write_sides(path, text, LINES * length);
	for (size_t i = 0; i < FILES; i++) {
		readers[i] = must_open(path);
		kept += json_array_size(file_reader_sides(readers[i]));
	}
	assert_in_range(kept, alone, 2 * alone);
	for (size_t i = 0; i < FILES; i++)
		file_reader_free(readers[i]);
	assert_int_equal(read_lines(line, LINES, &complete), alone);
	free(text);
	temp_free(path);
}

/* Makes each chunk smaller than a writer does, which takes times for noise. */
static void pack_records(const char *path, int times)
{
	int fd = open(path, O_RDONLY);
	struct chunk_scan scan;
	struct loader loader;
	size_t size;

	free(slurp(path, &size));
	assert_int_equal(scan_file(&scan, fd, size), 0);
	assert_int_equal(loader_init(&loader, fd), 0);
	assert_int_equal(loader_read(&loader, &scan.chunks.data[0]), 0);
	write_chunks(path, &scan.chunks.data[0].head, loader.raw.data,
		     scan.chunks.data[0].head.raw_size, times);
	loader_release(&loader);
	scan_release(&scan);
	close(fd);
}

/* However much memory each of them may take, all files together take 16 GiB. */
static void memory_of_all(void **state)
{
	enum { FILES = 5 };
	struct chunk_memory files[FILES] = { 0 };

	(void)state;
	for (int i = 0; i < FILES; i++)
		assert_true(chunk_memory_take(&files[i], 0, 1 << 30));
	for (int i = 0; i < FILES - 1; i++) {
		assert_true(chunk_memory_take(&files[i], 4ull << 30, 0));
		assert_false(chunk_memory_take(&files[i], 1, 0));
	}
	assert_false(chunk_memory_take(&files[FILES - 1], 1, 0));
	chunk_memory_return(&files[0], 4096, 0);
	assert_false(chunk_memory_take(&files[FILES - 1], 4097, 0));
	assert_true(chunk_memory_take(&files[FILES - 1], 4096, 0));
	for (int i = 0; i < FILES; i++)
		chunk_memory_return(&files[i], files[i].taken, files[i].stored);
	assert_true(chunk_memory_take(&files[0], 4096, 0));
	chunk_memory_return(&files[0], 4096, 0);
}

/* Side records of a later ucxbpf are no damage, and take no memory: as many as there may be of any
 * kind. */
static void sides_of_unknown_kinds(void **state)
{
	enum { LINES = 1000000 };
	static const char line[] = "{\"t\":\"later\",\"a\":[]}\n", known[] = "{\"t\":\"note\"}\n";
	const size_t length = sizeof(line) - 1;
	char *text = malloc(LINES * length + sizeof(known)), *path = temp_path();
	struct file_reader *r;
	const char *why;

	(void)state;
	for (size_t i = 0; i < LINES; i++)
		memcpy(text + i * length, line, length);
	memcpy(text + LINES * length, known, sizeof(known));
	write_sides(path, text, LINES * length + sizeof(known) - 1);
	r = must_open(path);
	assert_int_equal(json_array_size(file_reader_sides(r)), 1);
	assert_int_equal(file_reader_unknown(r), LINES);
	assert_int_equal(file_reader_damaged(r), 0);
	assert_true(file_reader_complete(r, &why));
	file_reader_free(r);
	free(text);
	temp_free(path);
}

/* Chunks that lie in the same time are in memory at once. */
static void records_out_of_proportion(void **state)
{
	enum { CHUNKS_OF_IT = 120, RECORDS = 8192 };
	struct ub_xfer xfer = { .h = { .tgid = 7, .tid = 7, .kind = UB_XFER } };
	char *path = temp_path();
	struct file_writer *w = must_create(path);
	struct file_reader *r;
	const struct ub_hdr *h;
	const char *why;
	int n = 0;

	(void)state;
	for (int i = 0; i < RECORDS; i++) {
		xfer.h.ts = 1 + (uint64_t)i * 1000;
		assert_int_equal(file_writer_record(w, &xfer.h), 0);
	}
	assert_int_equal(file_writer_close(w, NULL), 0);
	pack_records(path, CHUNKS_OF_IT);
	r = must_open(path);
	for (; file_reader_next(r, &h) == 1; n++)
		;
	assert_in_range(n, 30 * RECORDS, (CHUNKS_OF_IT - 1) * RECORDS);
	assert_true(file_reader_damaged(r) > 0);
	assert_false(file_reader_complete(r, &why));
	file_reader_free(r);
	temp_free(path);
}

static unsigned long allocations, without;

static void *one_fails(size_t size)
{
	return ++allocations == without ? NULL : malloc(size);
}

/* An allocation of the JSON library that fails: no side record is lost without a word. */
static void memory_runs_out(void **state)
{
	const struct sample *s = *state;
	char *path = temp_path();
	size_t refused = 0;

	spill(path, s->data, s->size);
	json_set_alloc_funcs(one_fails, free);
	for (without = 1; without <= allocations + 1; without++) {
		struct file_reader *r;
		const char *why = NULL;

		allocations = 0;
		if (file_reader_open(&r, path, &why)) {
			assert_string_equal(why, "not enough memory to read it");
			refused++;
			continue;
		}
		if (json_array_size(file_reader_sides(r)) < CHUNKS)
			assert_false(file_reader_complete(r, &why));
		file_reader_free(r);
	}
	json_set_alloc_funcs(malloc, free);
	assert_true(refused > CHUNKS);
	temp_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cut_anywhere, make_sample, free_sample),
		cmocka_unit_test_setup_teardown(any_byte_wrong, make_sample, free_sample),
		cmocka_unit_test_setup_teardown(bytes_missing_or_more, make_sample, free_sample),
		cmocka_unit_test_setup_teardown(not_a_capture, make_sample, free_sample),
		cmocka_unit_test_setup_teardown(killed_tracer, make_sample, free_sample),
		cmocka_unit_test(side_that_is_none),
		cmocka_unit_test(sides_out_of_proportion),
		cmocka_unit_test(sides_of_many),
		cmocka_unit_test(memory_of_all),
		cmocka_unit_test(sides_of_unknown_kinds),
		cmocka_unit_test(records_out_of_proportion),
		cmocka_unit_test_setup_teardown(memory_runs_out, make_sample, free_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
