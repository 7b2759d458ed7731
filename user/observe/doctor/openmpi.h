/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which point-to-point layer (PML) an Open MPI process runs on, and who chose it. Open MPI unloads
 * the PML components that it does not use, so the one that stays mapped is the one in use (seen
 * with 4.1.4: a plain run keeps mca_pml_ob1.so, one over UCX mca_pml_ucx.so).
 */
#ifndef UCXBPF_DOCTOR_OPENMPI_H
#define UCXBPF_DOCTOR_OPENMPI_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Name of the PML in use: "ucx", "ob1", "cm"; "" where none is mapped (yet). */
void openmpi_pml(pid_t pid, char *pml, size_t size);

/*
 * The setting that decides about the PML: "pml = ^ucx", and the file or variable it comes from.
 * False where none is set. The environment comes before the site's file, as in Open MPI.
 */
bool openmpi_pml_setting(pid_t pid, char *setting, size_t size, const char **where);

#endif
