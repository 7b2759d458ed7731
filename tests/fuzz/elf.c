// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a reader makes of a file (user/observe/process/reader.h): a part is a file, which goes
 * through the services that tracers ask for. Faults of libelf and libdw count as well: they end
 * readers.
 */
#include <stdlib.h>

#include "fuzz/elf_questions.h"
#include "fuzz/harness.h"
#include "fuzz/parts.h"
#include "observe/process/elf_private.h"

static void read_file(struct library *library)
{
	size_t length = 0;

	library->roles = elf_roles(library->elf);
	elf_each_text(library->elf, ':', elf_count_bytes, &length);
	elf_ask_all(library, 64, 512);
	free((void *)library->ops);
	library->ops = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *next = data, *end = data + size;
	struct part part;

	for (unsigned int i = 0; i < HARNESS_FILES && part_next(&next, end, &part); i++) {
		const bytes content = { (uint8_t *)part.data, part.size, part.size };
		struct library library = { 0 };

		if (elf_parse(&library.elf, harness_file(i, &content), part.size))
			continue;
		read_file(&library);
		elf_free(library.elf);
	}
	return 0;
}
