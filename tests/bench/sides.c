// SPDX-License-Identifier: BSD-3-Clause
/* Prints the side records of a capture, one JSON object per line: sides FILE [TYPE]. */
#include <stdio.h>
#include <string.h>

#include "file/file.h"

int main(int argc, char **argv)
{
	struct file_reader *reader;
	const char *why = "name a capture";
	const json_t *side;
	size_t i;

	if (argc < 2 || file_reader_open(&reader, argv[1], &why)) {
		fprintf(stderr, "sides: %s\n", why);
		return 2;
	}
	json_array_foreach(file_reader_sides(reader), i, side)
	{
		if (argc > 2 && strcmp(json_string_value(json_object_get(side, "t")), argv[2]) != 0)
			continue;
		json_dumpf(side, stdout, JSON_COMPACT);
		putchar('\n');
	}
	file_reader_free(reader);
	return 0;
}
