// SPDX-License-Identifier: BSD-3-Clause
/* The codec by itself: no input makes it leave its buffers, and old and new record sizes meet. */
#include "file/codec.h"
#include "unit/file_records.h"

#define RECORDS 300

struct block {
	uint8_t *records, *data;
	size_t records_size, size, bound;
};

static int make_block(void **state)
{
	struct block *b = calloc(1, sizeof(*b));
	struct encoder *encoder = encoder_new();
	union any_record r;
	uint64_t seed = 4711;
	int i;

	b->records = malloc(RECORDS * sizeof(r));
	for (i = 0; i < RECORDS; i++) {
		random_record(&r, &seed, 1000 * (uint64_t)i);
		r.h.tid = (uint32_t)i % 3;
		memcpy(b->records + b->records_size, &r, ub_kind_size(r.h.kind));
		b->records_size += ub_kind_size(r.h.kind);
	}
	b->bound = encoder_bound(RECORDS, b->records_size);
	b->data = malloc(b->bound);
	b->size = encoder_run(encoder, b->records, RECORDS, b->data);
	encoder_free(encoder);
	*state = b;
	return 0;
}

static int free_block(void **state)
{
	struct block *b = *state;

	free(b->records);
	free(b->data);
	free(b);
	return 0;
}

/* Decodes from a copy of exactly its size, so that a memory checker sees a byte too far. */
static long decode(struct decoder *decoder, const uint8_t *data, size_t size)
{
	struct block_row *rows = malloc(RECORDS * sizeof(*rows));
	uint8_t *copy = malloc(size), *out = NULL;
	long total, n = -EBADMSG, i;

	memcpy(copy, data, size);
	total = decoder_open(decoder, RECORDS, copy, size);
	if (total >= 0) {
		assert_true(total <= RECORDS * UB_MAX_RECORD);
		out = malloc((size_t)total);
		n = decoder_run(decoder, out, rows);
	}
	for (i = 0; i < n; i++) {
		const struct ub_hdr *h = (const void *)(out + rows[i].offset);

		assert_true(rows[i].offset + ub_kind_size(h->kind) <= (size_t)total);
		assert_int_equal(rows[i].ts, h->ts);
	}
	free(out);
	free(copy);
	free(rows);
	return n;
}

static void stays_in_its_bound(void **state)
{
	const struct block *b = *state;

	assert_true(b->size <= b->bound);
}

static void hostile_blocks(void **state)
{
	const struct block *b = *state;
	struct decoder *decoder = decoder_new();
	uint8_t *copy = malloc(b->size);
	uint64_t seed = 99;
	int round, i;

	assert_int_equal(decode(decoder, b->data, b->size), RECORDS);
	for (round = 0; round < 30000; round++) {
		/* Most of a block is columns, whose bytes may be anything: aim at the tables. */
		size_t range = round % 2 ? b->size : 400;

		memcpy(copy, b->data, b->size);
		for (i = 0; i <= round % 4; i++)
			copy[random_u64(&seed) % range] = (uint8_t)random_u64(&seed);
		decode(decoder, copy, b->size);
	}
	free(copy);
	decoder_free(decoder);
}

static void short_blocks(void **state)
{
	const struct block *b = *state;
	struct decoder *decoder = decoder_new();
	size_t size;

	for (size = 0; size < b->size; size++)
		assert_int_equal(decode(decoder, b->data, size), -EBADMSG);
	decoder_free(decoder);
}

/* Makes a block of one record by hand: what another version's writer could have stored. */
static size_t one_record(uint8_t *block, uint8_t kind, uint16_t size, uint64_t word)
{
	const struct block_head head = { .base_ts = 77, .records = 1, .contexts = 1, .kinds = 1 };
	const struct block_kind table = { .kind = kind, .size = size };
	uint8_t *at = block;
	unsigned int i;

	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), &table, sizeof(table));
	at += sizeof(head) + sizeof(table);
	memset(at, 0, 5); /* key, tgid, tid, cpu, site */
	at += 5;
	*at++ = 1;
	*at++ = (uint8_t)(2 * kind); /* a difference of kind, folded */
	memset(at, 0, 3); /* layout, flags, frames */
	at += 3;
	*at++ = 1;
	*at++ = 2; /* a count of 1, folded */
	memset(at, 0, 1 + 7); /* the order, the header's residuals */
	at += 8;
	for (i = 0; i < (size - sizeof(struct ub_hdr)) / 8; i++) {
		*at++ = 1;
		*at++ = (uint8_t)(2 * word);
		*at++ = 0;
	}
	return (size_t)(at - block);
}

static void other_versions(void **state)
{
	struct decoder *decoder = decoder_new();
	uint8_t block[400], out[UB_MAX_RECORD];
	struct block_row rows[RECORDS];
	struct ub_call *call = (struct ub_call *)out;

	(void)state;
	/* of today */
	assert_int_equal(decoder_open(decoder, 1, block, one_record(block, UB_CALL, 64, 5)), 64);
	assert_int_equal(decoder_run(decoder, out, rows), 1);
	assert_int_equal(call->h.ts, 77);
	assert_int_equal(call->comm, 5);
	/* of tomorrow, with more fields */
	assert_int_equal(decoder_open(decoder, 1, block, one_record(block, UB_CALL, 160, 6)), 64);
	assert_int_equal(decoder_run(decoder, out, rows), 1);
	assert_int_equal(call->comm, 6);
	/* of yesterday, with fewer */
	assert_int_equal(decoder_open(decoder, 1, block, one_record(block, UB_CALL, 56, 7)), 64);
	assert_int_equal(decoder_run(decoder, out, rows), 1);
	assert_int_equal(call->ret_addr, 7);
	assert_int_equal(call->comm, 0);
	/* of a kind that is not known */
	assert_int_equal(decoder_open(decoder, 1, block, one_record(block, 100, 160, 8)), 0);
	assert_int_equal(decoder_run(decoder, out, rows), 0);
	decoder_free(decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stays_in_its_bound, make_block, free_block),
		cmocka_unit_test_setup_teardown(hostile_blocks, make_block, free_block),
		cmocka_unit_test_setup_teardown(short_blocks, make_block, free_block),
		cmocka_unit_test(other_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
