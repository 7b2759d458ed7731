/* SPDX-License-Identifier: BSD-3-Clause */
/* All that a tracer asks of an ELF file that a process maps, for tests with hostile files. */
#ifndef UCXBPF_ELF_QUESTIONS_H
#define UCXBPF_ELF_QUESTIONS_H

#include <stdlib.h>
#include <string.h>

#include "observe/probe/plan.h"
#include "observe/process/layout.h"
#include "observe/process/library.h"
#include "observe/process/unwind.h"

static int elf_count_bytes(void *arg, const char *text)
{
	*(size_t *)arg += strlen(text);
	return 0;
}

/* reads: of rows, at most */
static void elf_ask_rows(const struct elf *elf, unsigned int reads)
{
	unwind_rows rows = { 0 };
	struct unwind *unwind;

	if (unwind_open(&unwind, elf))
		return;
	while (reads-- && unwind_read(unwind, &rows, 0) > 0)
		rows.len = 0;
	unwind_rule(unwind, 4096);
	vec_release(&rows);
	unwind_close(unwind);
}

/* As if the library had all roles. names, reads: of its needed libraries and rows, at most */
static void elf_ask_all(struct library *library, unsigned int names, unsigned int reads)
{
	const struct elf *elf = library->elf;
	const struct elf_ops_table *tables;
	struct probe_plan plan = { .call_ends = true };
	unsigned int version[3], size;
	enum ucx_asserts asserts;
	size_t length = 0;
	uint64_t value;
	char text[64];

	elf_mpi_kind(elf, text, sizeof(text));
	ucx_build(elf, version, &size, &asserts);
	layout_dwarf_free(layout_from_dwarf(elf, version));
	elf_function(elf, "MPI_Send", &value, NULL);
	elf_object(elf, "ompi_mpi_comm_world", &value, NULL);
	for (unsigned int n = 0; n < names && elf_needed(elf, n); n++)
		length += strlen(elf_needed(elf, n));
	elf_each_runpath(elf, "/a/b", elf_count_bytes, &length);
	free(elf_lacks_version(elf, "libc.so.6", elf));
	library_ops(library, &tables);
	library->roles |= LIB_UCP | LIB_UCT | LIB_UCT_MODULE | LIB_MPI;
	plan_library(&plan, library, LEVEL_UCT);
	plan_release(&plan);
	elf_ask_rows(elf, reads);
}

#endif
