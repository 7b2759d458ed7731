/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a file is for, by its symbols.
 */
#ifndef UCXBPF_TARGET_ROLES_H
#define UCXBPF_TARGET_ROLES_H

#include "observe/process/library.h"

/* enum library_role bits; 0 = does not matter to a trace. */
unsigned int elf_roles(const struct elf *elf);

/*
 * Which MPI this library is, and its release ("Open MPI 4.1.4") or "". Open MPI 4.1 and 5.0 carry
 * ompi_version_string, MPICH 4.0 to 4.3 MPII_Version_string, older MPICH MPIR_Version_string.
 */
enum mpi_kind elf_mpi_kind(const struct elf *elf, char *version, size_t size);

#endif
