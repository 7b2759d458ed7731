// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a tracer makes of a reader's answers (user/observe/process/reader.h). The parts are the
 * answers, one to each question; then the reader ends. It stands in for reader.c, which the program
 * is linked without. A part of bytes comes over a reader's socket instead of an answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "fuzz/harness.h"
#include "fuzz/parts.h"
#include "observe/probe/plan.h"
#include "observe/process/elf.h"
#include "observe/process/layout.h"
#include "observe/process/library.h"
#include "observe/process/reader_private.h"
#include "observe/process/remote.h"
#include "observe/process/unwind.h"

struct reader_file {
	int error;
};

static const uint8_t *next, *end;

/* As a reader that does not frame its answer sends them. */
static long take_bytes(const struct part *part, reader_answer *answer)
{
	struct patience patience = { .pid = getpid() };
	enum outcome outcome;
	int ends[2];
	long result = -EREMOTEIO;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		abort();
	if (!wire_send(ends[1], -1, part->data, part->size))
		abort();
	close(ends[1]);
	outcome = wire_take_answer(ends[0], part->arg, &patience, &result, answer);
	close(ends[0]);
	if (outcome == SLOW || (!outcome && (result < -4095 || answer->len > part->size)))
		harness_fail("an answer that cannot be");
	return outcome ? -EREMOTEIO : result;
}

static long answer_next(struct reader_file *file, reader_answer *answer)
{
	struct part part;
	long result;

	answer->len = 0;
	if (file->error)
		return file->error;
	if (!part_next(&next, end, &part)) {
		file->error = -EREMOTEIO;
		return file->error;
	}
	if (part.type == PART_BYTES) {
		result = take_bytes(&part, answer);
		file->error = result == -EREMOTEIO ? -EREMOTEIO : 0;
		return result;
	}
	answer_add(answer, part.data, part.size);
	return (int8_t)part.arg;
}

bool readers_started(void)
{
	return true;
}

struct reader_file *reader_file_open(int fd, uint64_t size, uint64_t owner, const char *name,
				     reader_service serve)
{
	(void)serve;
	(void)fd;
	(void)size;
	(void)owner;
	(void)name;
	return xcalloc(1, sizeof(struct reader_file));
}

long reader_file_opened(struct reader_file *file, reader_answer *answer)
{
	return answer_next(file, answer);
}

void reader_file_close(struct reader_file *file)
{
	free(file);
}

long reader_file_ask(struct reader_file *file, reader_service serve, const void *arguments,
		     size_t size, reader_answer *answer)
{
	(void)serve;
	(void)arguments;
	(void)size;
	return answer_next(file, answer);
}

int reader_file_refuse(struct reader_file *file)
{
	file->error = -EREMOTEIO;
	return file->error;
}

static void ask_rows(const struct elf *elf)
{
	unwind_rows rows = { 0 };
	struct unwind *unwind;

	if (unwind_open(&unwind, elf))
		return;
	while (unwind_read(unwind, &rows, 0) > 0)
		;
	unwind_rule(unwind, 4096);
	for (size_t i = 1; i < rows.len; i++)
		if (rows.data[i].pc <= rows.data[i - 1].pc)
			harness_fail("rows out of order");
	vec_release(&rows);
	unwind_close(unwind);
}

static void ask_plan(const struct library *library)
{
	struct probe_plan plan = { 0 };
	struct planned_probe probe;
	uint64_t vaddr;

	plan_library(&plan, library, LEVEL_UCT);
	for (size_t i = 0; i < plan.probes.len; i++)
		if (!site_row(plan.probes.data[i].row) ||
		    elf_offset_to_vaddr(library->elf, plan.probes.data[i].offset, &vaddr))
			harness_fail("a probe that cannot be");
	plan_release(&plan);
	plan_function(&probe, library, 1, 4096);
}

/* Names have to be readable to their ends. */
static int look_at(void *arg, const char *folder)
{
	*(size_t *)arg += strlen(folder);
	return 0;
}

static void ask(struct library *library)
{
	const struct elf *elf = library->elf;
	const struct elf_ops_table *tables;
	unsigned int version[3], size;
	enum ucx_asserts asserts;
	uint64_t value, length;
	size_t names = 0;
	char text[64];

	library->roles = (unsigned int)elf_roles(elf);
	if (elf_mpi_kind(elf, text, sizeof(text)) > MPI_OTHER)
		harness_fail("an MPI that cannot be");
	ucx_build(elf, version, &size, &asserts);
	layout_dwarf_free(layout_from_dwarf(elf, version));
	elf_function(elf, "MPI_Send", &value, &length);
	for (unsigned int n = 0; elf_needed(elf, n); n++)
		names += strlen(elf_needed(elf, n));
	elf_each_runpath(elf, "/a/b", look_at, &names);
	free(elf_lacks_version(elf, "libc.so.6", elf));
	library_ops(library, &tables);
	free((void *)library->ops);
	library->ops = NULL;
	ask_plan(library);
	ask_rows(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t zeros[65536] = "\177ELF";
	const bytes content = { zeros, sizeof(zeros), sizeof(zeros) };
	struct library library = { 0 };
	struct remote_file file;

	harness_file(0, &content);
	next = data;
	end = data + size;
	if (remote_open(harness_path(0), &file) || elf_load_begin(&library.elf, &file))
		return 0;
	if (!elf_load_end(library.elf))
		ask(&library);
	elf_free(library.elf);
	return 0;
}
