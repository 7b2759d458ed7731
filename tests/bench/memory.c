// SPDX-License-Identifier: BSD-3-Clause
/*
 * memory FILE: the records of memory in a capture, a line each: process, thread, time (ns),
 * duration (ns), function, address, size, handle, device, status, flags.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "file/file.h"

static const char *symbol_of(const json_t *sides, unsigned int row)
{
	const json_t *side;
	size_t i;

	json_array_foreach(sides, i, side)
	{
		if (!strcmp(json_string_value(json_object_get(side, "t")), "site") &&
		    json_integer_value(json_object_get(side, "row")) == row)
			return json_string_value(json_object_get(side, "symbol"));
	}
	return "?";
}

static void print(const struct ub_mem *mem, const json_t *sides)
{
	printf("%u %u %" PRIu64 " %u %s %#" PRIx64 " %" PRIu64 " %#" PRIx64 " %d %d %u\n",
	       (unsigned int)mem->h.tgid, (unsigned int)mem->h.tid, (uint64_t)mem->h.ts,
	       (unsigned int)mem->h.dur, symbol_of(sides, mem->h.site), (uint64_t)mem->address,
	       (uint64_t)mem->size, (uint64_t)mem->handle, mem->device, mem->status,
	       (unsigned int)mem->h.flags);
}

int main(int argc, char **argv)
{
	struct file_reader *reader;
	const struct ub_hdr *h;
	const char *why = "which file?";
	int got;

	if (argc != 2 || file_reader_open(&reader, argv[1], &why)) {
		fprintf(stderr, "memory: %s\n", why);
		return 2;
	}
	while ((got = file_reader_next(reader, &h)) == 1)
		if (h->kind == UB_MEM)
			print((const struct ub_mem *)h, file_reader_sides(reader));
	file_reader_free(reader);
	return got != 0;
}
