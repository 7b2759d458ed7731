// SPDX-License-Identifier: BSD-3-Clause
/*
 * memory FILE: the records of memory in a capture, a line each: process, thread, time (ns),
 * duration (ns), function, address, size, handle, device, status, the runtime's function around it
 * or -, flags. Threads that ended: process, thread, time, 0, "exit", 0.
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
	printf("%u %u %" PRIu64 " %u %s %#" PRIx64 " %" PRIu64 " %#" PRIx64 " %d %d %s %u\n",
	       (unsigned int)mem->h.tgid, (unsigned int)mem->h.tid, (uint64_t)mem->h.ts,
	       (unsigned int)mem->h.dur, symbol_of(sides, mem->h.site), (uint64_t)mem->address,
	       (uint64_t)mem->size, (uint64_t)mem->handle, mem->device, mem->status,
	       mem->runtime ? symbol_of(sides, mem->runtime) : "-", (unsigned int)mem->h.flags);
}

static void print_end(const struct ub_task *task)
{
	if (task->what == UB_THREAD_EXIT)
		printf("%u %u %" PRIu64 " 0 exit 0\n", (unsigned int)task->h.tgid,
		       (unsigned int)task->h.tid, (uint64_t)task->h.ts);
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
	while ((got = file_reader_next(reader, &h)) == 1) {
		if (h->kind == UB_MEM)
			print((const struct ub_mem *)h, file_reader_sides(reader));
		else if (h->kind == UB_TASK)
			print_end((const struct ub_task *)h);
	}
	file_reader_free(reader);
	return got != 0;
}
