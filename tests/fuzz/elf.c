// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a reader makes of a file (user/observe/process/reader.h): a part is a file, which goes
 * through the services that tracers ask for. Faults of libelf and libdw count as well: they end
 * readers.
 */
#include <stdlib.h>

#include "fuzz/harness.h"
#include "fuzz/parts.h"
#include "observe/probe/plan.h"
#include "observe/process/elf_private.h"
#include "observe/process/layout.h"
#include "observe/process/library.h"
#include "observe/process/unwind.h"

static int look_at(void *arg, const char *text)
{
	*(size_t *)arg += strlen(text);
	return 0;
}

static void read_rows(const struct elf *elf)
{
	unwind_rows rows = { 0 };
	struct unwind *unwind;

	if (unwind_open(&unwind, elf))
		return;
	for (int i = 0; i < 512 && unwind_read(unwind, &rows, 0) > 0; i++)
		;
	unwind_rule(unwind, 4096);
	vec_release(&rows);
	unwind_close(unwind);
}

static void read_file(struct library *library)
{
	struct elf *elf = library->elf;
	const struct elf_ops_table *tables;
	struct probe_plan plan = { .call_ends = true };
	unsigned int version[3], size;
	enum ucx_asserts asserts;
	size_t length = 0;
	char text[64];

	library->roles = elf_roles(elf);
	elf_mpi_kind(elf, text, sizeof(text));
	ucx_build(elf, version, &size, &asserts);
	layout_dwarf_free(layout_from_dwarf(elf, version));
	for (unsigned int n = 0; n < 64 && elf_needed(elf, n); n++)
		length += strlen(elf_needed(elf, n));
	elf_each_runpath(elf, "/a/b", look_at, &length);
	elf_each_text(elf, ':', look_at, &length);
	free(elf_lacks_version(elf, "libc.so.6", elf));
	library_ops(library, &tables);
	free((void *)library->ops);
	library->ops = NULL;
	/* as if it had all */
	library->roles |= LIB_UCP | LIB_UCT | LIB_UCT_MODULE | LIB_MPI;
	plan_library(&plan, library, LEVEL_UCT);
	plan_release(&plan);
	read_rows(elf);
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
