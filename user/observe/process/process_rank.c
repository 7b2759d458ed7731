// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "observe/process/elf.h"
#include "observe/process/proc.h"
#include "observe/process/process.h"

#define OBJECT "ompi_mpi_comm_world"
#define MAX_RANK (1 << 24)

/*
 * struct ompi_communicator_t (ompi/communicator/communicator.h, 4.1.4): char c_name[64],
 * uint32_t c_contextid, int c_my_rank. What lies in front differs by version, so the name is
 * searched, and is proof that the object is alive.
 */
#define RANK_AFTER_NAME 68

static bool rank_at(struct process *process, uint64_t address)
{
	static const char name[] = "MPI_COMM_WORLD";
	unsigned char object[512];
	long got = proc_read_memory(process->pid, address, object, sizeof(object));
	const unsigned char *at;
	int rank;

	if (got <= 0)
		return false;
	at = memmem(object, (size_t)got, name, sizeof(name));
	if (!at || at + RANK_AFTER_NAME + sizeof(rank) > object + got)
		return false;
	memcpy(&rank, at + RANK_AFTER_NAME, sizeof(rank));
	if (rank < 0 || rank >= MAX_RANK)
		return false;
	process->rank = rank;
	snprintf(process->rank_from, sizeof(process->rank_from), OBJECT);
	return true;
}

struct program {
	const struct elf *elf;
	struct stat st;
	uint64_t bias;
};

/* One file for all ranks, as a rule: read once. NULL: it cannot be read. */
static const struct elf *program_elf(struct library *mpi, const struct stat *st, const char *path)
{
	uint64_t *index = map_insert(&mpi->programs, st->st_dev, st->st_ino, NULL);
	struct elf *elf;

	/* a process that ends meanwhile has no file any more, the next one may */
	if (!*index && !elf_load(&elf, path)) {
		vec_push(&mpi->program_elfs, elf);
		*index = mpi->program_elfs.len;
	}
	return *index ? mpi->program_elfs.data[*index - 1] : NULL;
}

static int find_bias(void *arg, const struct mapping *mapping)
{
	struct program *program = arg;

	return mapping->executable && mapping->ino == program->st.st_ino &&
	       !elf_load_bias(program->elf, mapping->start, mapping->offset, &program->bias);
}

/*
 * A program that refers to MPI_COMM_WORLD owns the object through a copy relocation; the library's
 * own stays zero. 0: this one does not.
 */
static uint64_t object_of_program(pid_t pid, struct library *mpi)
{
	struct program program = { 0 };
	uint64_t vaddr, address = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (stat(path, &program.st))
		return 0;
	program.elf = program_elf(mpi, &program.st, path);
	if (program.elf && !elf_object(program.elf, OBJECT, &vaddr, NULL) &&
	    process_each_mapping(pid, find_bias, &program) == 1)
		address = program.bias + vaddr;
	return address;
}

static uint64_t object_of_library(const struct mapped_library *mapped)
{
	uint64_t vaddr;

	if (mapped->library->mpi != MPI_OPEN_MPI ||
	    elf_object(mapped->library->elf, OBJECT, &vaddr, NULL))
		return 0;
	return mapped->base + vaddr;
}

uint64_t process_comm_world(pid_t pid, const struct mapped_library *mpi)
{
	uint64_t own = object_of_library(mpi),
		 program = own ? object_of_program(pid, mpi->library) : 0;

	return program ? program : own;
}

bool process_rank_from_memory(struct process *process, const mapped_libraries *mapped)
{
	for (size_t i = 0; process->rank < 0 && i < mapped->len; i++) {
		const struct mapped_library *one = &mapped->data[i];
		uint64_t own = object_of_library(one), program;

		if (!(one->library->roles & LIB_MPI))
			continue;
		program = object_of_program(process->pid, one->library);
		if (!(program && rank_at(process, program)) && own)
			rank_at(process, own);
	}
	return process->rank >= 0;
}
