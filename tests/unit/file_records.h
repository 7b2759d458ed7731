/* SPDX-License-Identifier: BSD-3-Clause */
/* Records and files for the tests of the capture format. */
#ifndef TESTS_UNIT_FILE_RECORDS_H
#define TESTS_UNIT_FILE_RECORDS_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "file/file.h"

union any_record {
	struct ub_hdr h;
	uint8_t bytes[UB_MAX_RECORD];
	uint64_t words[UB_MAX_RECORD / 8];
};

static inline uint64_t random_u64(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

#define DRAWN_WORDS 21 /* as many as the stored captures were made with */

/* Words that are mostly alike from record to record, with extreme ones among them. */
static inline void random_record(union any_record *r, uint64_t *seed, uint64_t ts)
{
	static const uint64_t extremes[] = { 0, UINT64_MAX, 1ULL << 63, 1ULL << 32, UINT32_MAX };
	size_t i;

	for (i = 0; i < DRAWN_WORDS; i++) {
		uint64_t dice = random_u64(seed) % 16;

		if (dice < 5)
			r->words[i] = extremes[dice];
		else
			r->words[i] = dice < 8 ? random_u64(seed) : 0x7f0000001000 + dice * 64;
	}
	for (i = DRAWN_WORDS; i < UB_MAX_RECORD / 8; i++)
		r->words[i] = r->words[i - DRAWN_WORDS] + i;
	r->h.ts = ts;
	r->h.kind = (uint8_t)(1 + random_u64(seed) % (UB_KIND_MAX - 1));
}

static inline char *temp_path(void)
{
	char *path = strdup("/tmp/ucxbpf-test-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	return path;
}

static inline void temp_free(char *path)
{
	unlink(path);
	free(path);
}

static inline struct file_writer *must_create(const char *path)
{
	struct file_writer *w = NULL;

	assert_int_equal(file_writer_open(&w, path), 0);
	return w;
}

static inline struct file_reader *must_open(const char *path)
{
	struct file_reader *r = NULL;
	const char *why = "";

	if (file_reader_open(&r, path, &why))
		fail_msg("%s: %s", path, why);
	return r;
}

static inline void must_side(struct file_writer *w, const char *t, int n)
{
	json_t *side = json_pack("{s:s, s:i}", "t", t, "n", n);

	assert_int_equal(file_writer_side(w, side), 0);
	json_decref(side);
}

/* The whole of a file; *size bytes, to be freed. */
static inline uint8_t *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	data = malloc(*size + 1);
	assert_int_equal(fread(data, 1, *size, f), *size);
	fclose(f);
	return data;
}

static inline void spill(const char *path, const void *data, size_t size)
{
	FILE *f;

	/* Rewriting a file in place makes some file systems wait for the disk. */
	unlink(path);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	fclose(f);
}

#endif
