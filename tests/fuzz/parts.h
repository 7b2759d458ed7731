/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An input of a fuzzer: parts, each a head of four bytes and so many bytes as it says. What a
 * capture or an evidence file has around its content (framing, compression, checksums) is made by
 * the target, so that a change of one byte is a change of one value, and never of a checksum.
 *
 * A part that is cut off is as long as what is there. Targets skip types that they do not know.
 */
#ifndef TESTS_FUZZ_PARTS_H
#define TESTS_FUZZ_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum part_type {
	/* of captures: replay.c */
	PART_CAPTURE = 'C', /* begins one; arg: enum capture_is; its loss counters */
	PART_SIDES = 'S', /* side records, a line each */
	PART_RECORD = 'R', /* a wire record */
	PART_CHUNK = 'K', /* arg: type; struct part_chunk and the payload before compression */
	PART_GARBAGE = 'G', /* bytes between chunks */
	/* of a site: site.c */
	PART_POLICY = 'P',
	PART_PLAN = 'L',
	PART_LEDGER = 'N',
	PART_INVENTORY = 'I',
	PART_EVIDENCE = 'E', /* before compression */
	PART_EARLIER = 'B', /* evidence of an earlier sweep */
	/* of a reader of foreign files: reader.c */
	PART_ANSWER = 'A', /* arg: its result, signed */
	PART_BYTES = 'Y', /* over its socket instead; arg: whether other answers follow */
	/* of the file that it reads: elf.c */
	PART_ELF = 'F', /* a file */
};

/* The lowest three bits of the first capture's say what becomes of the facts: enum shown. */
enum capture_is {
	CAPTURE_KILLED = 1 << 3, /* no end chunk */
	CAPTURE_REFUSED = 1 << 4, /* a record could not be stored */
};

struct part_chunk {
	uint64_t min_ts, max_ts;
	uint32_t records;
	uint32_t more; /* bytes that the header says beyond those that there are */
};

struct part {
	uint8_t type, arg;
	uint16_t size;
	const uint8_t *data;
};

#define PART_HEAD 4
#define PART_MOST UINT16_MAX

static inline bool part_next(const uint8_t **at, const uint8_t *end, struct part *part)
{
	size_t left = (size_t)(end - *at);

	if (left <= PART_HEAD)
		return false;
	part->type = (*at)[0];
	part->arg = (*at)[1];
	memcpy(&part->size, *at + 2, sizeof(part->size));
	left -= PART_HEAD;
	if (part->size > left)
		part->size = (uint16_t)left;
	part->data = *at + PART_HEAD;
	*at = part->data + part->size;
	return true;
}

static inline void part_put(FILE *out, enum part_type type, unsigned int arg, const void *data,
			    size_t size)
{
	const uint8_t head[PART_HEAD] = { (uint8_t)type, (uint8_t)arg, (uint8_t)size,
					  (uint8_t)(size >> 8) };

	fwrite(head, sizeof(head), 1, out);
	fwrite(data, 1, size, out);
}

/* A capture's beginning: counters without the zeros behind the last one that counts. */
static inline void part_put_capture(FILE *out, unsigned int arg, const void *stats, size_t size)
{
	while (size && !((const uint8_t *)stats)[size - 1])
		size--;
	part_put(out, PART_CAPTURE, arg, stats, size);
}

#endif
