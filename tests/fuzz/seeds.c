// SPDX-License-Identifier: BSD-3-Clause
/*
 * Makes an input of replay out of captures that belong together: FILE RECORDS CAPTURE...
 * As many records of each as asked for: those that name things come first, since the others mean
 * nothing without them. Of the rows of sites only those are kept whose records are there. RECORDS
 * 0: chunks as they are, of captures whose form is of interest.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "file/chunk.h"
#include "file/file.h"
#include "fuzz/parts.h"

#define SITES 65536

struct records {
	VEC(uint8_t) bytes; /* each UB_MAX_RECORD */
	bool sites[SITES];
	size_t named, others; /* kept so far */
};

static bool names_things(const struct ub_hdr *h)
{
	return h->kind == UB_OBJ || h->kind == UB_TASK || h->kind == UB_NAME || h->kind == UB_MEM ||
	       h->kind == UB_LOSS;
}

static void keep(struct records *records, const struct ub_hdr *h, size_t most)
{
	size_t *kept = names_things(h) ? &records->named : &records->others;

	if (*kept >= most)
		return;
	++*kept;
	vec_reserve(&records->bytes, records->bytes.len + UB_MAX_RECORD);
	memset(records->bytes.data + records->bytes.len, 0, UB_MAX_RECORD);
	memcpy(records->bytes.data + records->bytes.len, h, ub_kind_size(h->kind));
	records->bytes.len += UB_MAX_RECORD;
	records->sites[h->site] = true;
}

static bool is_wanted(const json_t *side, const struct records *records)
{
	const char *t = json_string_value(json_object_get(side, "t"));
	json_int_t row = json_integer_value(json_object_get(side, "row"));

	return strcmp(t, "site") || (row >= 0 && row < SITES && records->sites[row]);
}

static void put_sides(FILE *out, const json_t *sides, const struct records *records)
{
	const json_t *side;
	size_t i;

	json_array_foreach(sides, i, side)
	{
		char *text = json_dumps(side, JSON_COMPACT);
		size_t size = strlen(text);

		text[size] = '\n';
		if (is_wanted(side, records) && size < PART_MOST)
			part_put(out, PART_SIDES, 0, text, size + 1);
		free(text);
	}
}

static int put_records(FILE *out, const char *path, size_t most)
{
	static struct records records;
	struct file_reader *reader;
	const struct ub_hdr *h;
	const char *why;

	records = (struct records){ .bytes = records.bytes };
	records.bytes.len = 0;
	if (file_reader_open(&reader, path, &why)) {
		fprintf(stderr, "%s: %s\n", path, why);
		return 1;
	}
	part_put_capture(out, file_reader_complete(reader, &why) ? 0 : CAPTURE_KILLED,
			 file_reader_stats(reader), sizeof(struct ub_stats));
	while (file_reader_next(reader, &h) == 1)
		keep(&records, h, most);
	put_sides(out, file_reader_sides(reader), &records);
	for (size_t at = 0; at < records.bytes.len; at += UB_MAX_RECORD) {
		h = (const struct ub_hdr *)(records.bytes.data + at);
		part_put(out, PART_RECORD, 0, h, ub_kind_size(h->kind));
	}
	file_reader_free(reader);
	return 0;
}

static void put_chunk(FILE *out, const struct chunk_ref *chunk, struct loader *loader)
{
	const struct chunk_header *head = &chunk->head;
	const struct part_chunk start = { head->min_ts, head->max_ts, head->records, 0 };
	uint8_t data[PART_MOST];

	if (loader_read(loader, chunk) || head->raw_size > sizeof(data) - sizeof(start))
		return;
	memcpy(data, &start, sizeof(start));
	memcpy(data + sizeof(start), loader->raw.data, head->raw_size);
	part_put(out, PART_CHUNK, head->type, data, sizeof(start) + head->raw_size);
}

static int put_chunks(FILE *out, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct chunk_scan scan;
	struct loader loader;
	struct stat file;

	if (fd < 0 || fstat(fd, &file) || scan_file(&scan, fd, (uint64_t)file.st_size) ||
	    loader_init(&loader, fd)) {
		perror(path);
		return 1;
	}
	part_put_capture(out, CAPTURE_KILLED, &scan.stats, sizeof(scan.stats));
	for (size_t i = 0; i < scan.chunks.len; i++)
		put_chunk(out, &scan.chunks.data[i], &loader);
	loader_release(&loader);
	scan_release(&scan);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	FILE *out = argc > 3 ? fopen(argv[1], "wbe") : NULL;
	size_t most = out ? strtoul(argv[2], NULL, 10) : 0;
	int bad = 0;

	if (!out) {
		fprintf(stderr, "usage: seeds FILE RECORDS CAPTURE...\n");
		return 2;
	}
	for (int i = 3; i < argc && !bad; i++)
		bad = most ? put_records(out, argv[i], most) : put_chunks(out, argv[i]);
	return fclose(out) || bad;
}
