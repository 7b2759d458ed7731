// SPDX-License-Identifier: BSD-3-Clause
#include "observe/doctor/library.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "observe/doctor/openmpi.h"

/* A program without an interpreter is linked statically (vdso aside, it maps no library). */
static bool is_static(pid_t pid)
{
	char path[64];
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	bool interpreter = false, readable;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	readable = read(fd, &header, sizeof(header)) == sizeof(header);
	for (unsigned int i = 0; readable && i < header.e_phnum; i++) {
		off_t at = header.e_phoff + (off_t)i * header.e_phentsize;

		readable = pread(fd, &segment, sizeof(segment), at) == sizeof(segment);
		interpreter |= readable && segment.p_type == PT_INTERP;
	}
	close(fd);
	return readable && !interpreter;
}

static const struct library *find_role(const mapped_libraries *libraries, unsigned int role)
{
	for (size_t i = 0; i < libraries->len; i++)
		if (libraries->data[i].library->roles & role)
			return libraries->data[i].library;
	return NULL;
}

static const char *mpi_name(const struct library *mpi)
{
	return mpi->mpi_version[0] ? mpi->mpi_version : mpi->path;
}

static void explain_other_pml(struct doctor *doctor, pid_t pid, const char *pml)
{
	char setting[128];
	const char *where;

	if (openmpi_pml_setting(pid, setting, sizeof(setting), &where))
		doctor_problem(doctor, PROBLEM_OB1_CONFIGURED, pml, setting, where);
	else
		doctor_problem(doctor, PROBLEM_OTHER_PML, pml);
}

static void explain_openmpi(struct doctor *doctor, pid_t pid, const struct library *mpi, bool ucx)
{
	char pml[32];

	openmpi_pml(pid, pml, sizeof(pml));
	if (!pml[0] && !ucx)
		doctor_problem(doctor, PROBLEM_MPI_NOT_STARTED, mpi_name(mpi));
	else if (pml[0] && strcmp(pml, "ucx") != 0 && ucx)
		doctor_problem(doctor, PROBLEM_UCX_UNUSED, pml);
	else if (pml[0] && strcmp(pml, "ucx") != 0)
		explain_other_pml(doctor, pid, pml);
}

void doctor_explain(struct doctor *doctor, pid_t pid, const mapped_libraries *libraries)
{
	const struct library *mpi = find_role(libraries, LIB_MPI);
	const struct library *ucp = find_role(libraries, LIB_UCP);
	const struct library *uct = find_role(libraries, LIB_UCT);

	if (mpi && mpi->mpi == MPI_OPEN_MPI)
		explain_openmpi(doctor, pid, mpi, ucp != NULL);
	else if (mpi && !ucp)
		doctor_problem(doctor, PROBLEM_MPI_WITHOUT_UCX, mpi_name(mpi));
	else if (!mpi && !ucp && !uct)
		doctor_problem(doctor, is_static(pid) ? PROBLEM_STATIC : PROBLEM_NOTHING_MAPPED);
	if (ucp && !uct)
		doctor_problem(doctor, PROBLEM_NO_MODULES);
}
