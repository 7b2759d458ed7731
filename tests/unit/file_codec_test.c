// SPDX-License-Identifier: BSD-3-Clause
/* The codec by itself: no input makes it leave its buffers, and old and new record sizes meet. */
#include "file/codec.h"
#include "file/chunk.h"
#include "unit/file_records.h"

#define RECORDS 300

struct block {
	uint8_t *data;
	size_t size, bound;
	uint32_t records;
	bool sorted; /* of version 1 */
};

static int make_block(void **state)
{
	struct block *b = calloc(1, sizeof(*b));
	struct block_encoder *encoder = encoder_new();
	const uint64_t watched[UB_KIND_MAX] = { 0 };
	struct block_made made;
	union any_record r;
	uint64_t seed = 4711;

	for (uint32_t i = 0; i < RECORDS; i++) {
		random_record(&r, &seed, 1000 * (uint64_t)i);
		r.h.tid = i % 3;
		encoder_add(encoder,
			    &(struct encoder_batch){ .records = &r,
						     .size = sizeof(r),
						     .n = 1,
						     .cpu = i % 2,
						     .cpu_seq = i },
			    watched);
	}
	b->records = RECORDS;
	b->bound = encoder_bound(RECORDS);
	b->data = malloc(b->bound);
	made = encoder_finish(encoder, b->data);
	for (int i = 0; i < BLOCK_PARTS; i++)
		b->size += made.parts[i];
	encoder_free(encoder);
	*state = b;
	return 0;
}

/* The first block of a capture of version 1. */
static int load_block(void **state)
{
	struct block *b = calloc(1, sizeof(*b));
	const struct chunk_ref *chunk;
	const char *top = getenv("TOP");
	struct loader loader;
	struct chunk_scan scan;
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/format/v1.ucxb", top ? top : ".");
	f = fopen(path, "rb");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	assert_int_equal(scan_file(&scan, fileno(f), (uint64_t)ftell(f)), 0);
	chunk = scan.chunks.data;
	while (chunk->head.type != CHUNK_SORTED || chunk->head.records < 2)
		chunk++;
	assert_int_equal(loader_init(&loader, fileno(f)), 0);
	assert_int_equal(loader_read(&loader, chunk), 0);
	b->records = chunk->head.records;
	b->size = chunk->head.raw_size;
	b->data = malloc(b->size);
	memcpy(b->data, loader.raw.data, b->size);
	b->sorted = true;
	loader_release(&loader);
	scan_release(&scan);
	fclose(f);
	*state = b;
	return 0;
}

static int free_block(void **state)
{
	struct block *b = *state;

	free(b->data);
	free(b);
	return 0;
}

struct decoders {
	struct block_decoder *decoder;
	struct sorted *sorted;
};

static struct decoders new_decoders(void)
{
	return (struct decoders){ decoder_new(), sorted_new() };
}

static void free_decoders(struct decoders *d)
{
	decoder_free(d->decoder);
	sorted_free(d->sorted);
}

/* Decodes from a copy of exactly its size, so that a memory checker sees a byte too far. */
static long decode(struct decoders *d, const struct block *b, const uint8_t *data, size_t size)
{
	struct block_row *rows = malloc(b->records * sizeof(*rows));
	uint8_t *copy = malloc(size), *out = NULL;
	long total, n = -EBADMSG, i;

	memcpy(copy, data, size);
	total = b->sorted ? sorted_open(d->sorted, b->records, copy, size)
			  : decoder_open(d->decoder, b->records, copy, size);
	if (total >= 0) {
		assert_true(total <= (long)b->records * UB_MAX_RECORD);
		out = malloc((size_t)total);
		n = b->sorted ? sorted_run(d->sorted, out, rows)
			      : decoder_run(d->decoder, out, rows, DECODE_ALL);
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
	struct decoders decoders = new_decoders();
	uint8_t *copy = malloc(b->size);
	uint64_t seed = 99;
	int round, i;

	assert_int_equal(decode(&decoders, b, b->data, b->size), b->records);
	for (round = 0; round < 30000; round++) {
		/* Most of a block is columns, whose bytes may be anything: aim at the tables. */
		size_t range = round % 2 ? b->size : 400, from = 0;

		if (!b->sorted && !(round % 2))
			from = sizeof(struct block_head) + (round % 4 ? 2 : 4) * RECORDS;
		memcpy(copy, b->data, b->size);
		for (i = 0; i <= round % 4; i++)
			copy[from + random_u64(&seed) % range] = (uint8_t)random_u64(&seed);
		if (round % 8 == 3)
			copy[random_u64(&seed) % sizeof(struct block_head)] ^=
				(uint8_t)random_u64(&seed);
		decode(&decoders, b, copy, b->size);
	}
	free(copy);
	free_decoders(&decoders);
}

static void short_blocks(void **state)
{
	const struct block *b = *state;
	struct decoders decoders = new_decoders();
	size_t size;

	for (size = 0; size < b->size; size++)
		assert_int_equal(decode(&decoders, b, b->data, size), -EBADMSG);
	free_decoders(&decoders);
}

/* Makes a block of one record by hand: what another version's writer could have stored. */
static size_t one_sorted(uint8_t *block, uint8_t kind, uint16_t size, uint64_t word)
{
	const struct sorted_head head = { .base_ts = 77, .records = 1, .contexts = 1, .kinds = 1 };
	const struct sorted_kind table = { .kind = kind, .size = size };
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

/* The same as a block of today. */
static size_t one_record(uint8_t *block, uint8_t kind, uint16_t size, uint64_t word)
{
	const struct block_head head = { .base_ts = 77, .records = 1, .kinds = 1 };
	const struct block_kind table = { .kind = kind, .size = size, .records = 1 };
	uint32_t words = (size - sizeof(struct ub_hdr)) / 8;
	uint32_t columns[BLOCK_COLUMNS] = { [COLUMN_WORDS] = (uint32_t)((1ull << words) - 1),
					    [COLUMN_RUN_RECORDS] = 1,
					    [COLUMN_CONTEXT_SORT] = kind };
	const bool empty[BLOCK_COLUMNS] = {
		[COLUMN_SEQ] = true, [COLUMN_CALL] = true, [COLUMN_OP] = true,
		[COLUMN_RX] = true,  [COLUMN_DUR] = true,  [COLUMN_LONG] = true
	};
	const uint64_t value = zigzag(word, 8);
	uint8_t *at = block;

	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	memset(at, 0, 2); /* the time's low bytes */
	at += 2;
	memcpy(at, &table, sizeof(table));
	at += sizeof(table);
	*at++ = 0x81; /* HOW_CONTEXT | HOW_WORDS */
	for (int i = 0; i < BLOCK_COLUMNS; i++) {
		uint32_t n = !empty[i];

		memcpy(at, &n, sizeof(n));
		at = column_put_32(at + sizeof(n), &columns[i], n, 0);
	}
	for (uint32_t i = 0; i < words; i++) {
		const uint32_t n = 1;

		memcpy(at, &n, sizeof(n));
		at = column_put(at + sizeof(n), &value, 1, 8);
	}
	return (size_t)(at - block);
}

/* Decodes a block of one record that takes so many bytes; returns how many came out. */
typedef long (*decode_one)(void *decoder, uint8_t kind, uint16_t size, uint64_t word, long bytes,
			   void *out);

static long decode_sorted(void *decoder, uint8_t kind, uint16_t size, uint64_t word, long bytes,
			  void *out)
{
	struct block_row rows[RECORDS];
	uint8_t block[400];

	assert_int_equal(sorted_open(decoder, 1, block, one_sorted(block, kind, size, word)),
			 bytes);
	return sorted_run(decoder, out, rows);
}

static long decode_record(void *decoder, uint8_t kind, uint16_t size, uint64_t word, long bytes,
			  void *out)
{
	struct block_row rows[RECORDS];
	uint8_t block[400];

	assert_int_equal(decoder_open(decoder, 1, block, one_record(block, kind, size, word)),
			 bytes);
	return decoder_run(decoder, out, rows, DECODE_ALL);
}

static void read_other_versions(decode_one decode, void *decoder)
{
	uint8_t out[UB_MAX_RECORD];
	struct ub_call *call = (struct ub_call *)out;

	/* of today */
	assert_int_equal(decode(decoder, UB_CALL, 64, 5, 64, out), 1);
	assert_int_equal(call->h.ts, 77);
	assert_int_equal(call->comm, 5);
	/* of tomorrow, with more fields */
	assert_int_equal(decode(decoder, UB_CALL, 160, 6, 64, out), 1);
	assert_int_equal(call->comm, 6);
	/* of yesterday, with fewer */
	assert_int_equal(decode(decoder, UB_CALL, 56, 7, 64, out), 1);
	assert_int_equal(call->ret_addr, 7);
	assert_int_equal(call->comm, 0);
	/* of a kind that is not known */
	assert_int_equal(decode(decoder, 100, 160, 8, 0, out), 0);
}

static void other_versions_sorted(void **state)
{
	struct sorted *sorted = sorted_new();

	(void)state;
	read_other_versions(decode_sorted, sorted);
	sorted_free(sorted);
}

static void other_versions(void **state)
{
	struct block_decoder *decoder = decoder_new();

	(void)state;
	read_other_versions(decode_record, decoder);
	decoder_free(decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stays_in_its_bound, make_block, free_block),
		cmocka_unit_test_setup_teardown(hostile_blocks, make_block, free_block),
		cmocka_unit_test_setup_teardown(short_blocks, make_block, free_block),
		cmocka_unit_test_setup_teardown(hostile_blocks, load_block, free_block),
		cmocka_unit_test_setup_teardown(short_blocks, load_block, free_block),
		cmocka_unit_test(other_versions),
		cmocka_unit_test(other_versions_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
