/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts that a library may have in communication, and their names in side records. */
#ifndef UCXBPF_BASE_LIBRARY_ROLE_H
#define UCXBPF_BASE_LIBRARY_ROLE_H

#include <stddef.h>

enum library_role {
	LIB_MPI = 1 << 0, /* defines PMPI_Init or MPI_Init */
	LIB_UCP = 1 << 1, /* defines ucp_worker_create */
	LIB_UCT = 1 << 2, /* defines uct_iface_open */
	LIB_UCT_MODULE =
		1 << 3, /* has uct_iface_ops_t tables or uct_*_ep_* functions, imports uct_* */
	LIB_MPI_PLUGIN = 1 << 4, /* defines completion callbacks of an MPI (mca_pml_ucx_*) */
	LIB_CUDA = 1 << 5, /* defines cuMemAlloc_v2 or cudaMalloc */
	LIB_USER_THREADS = 1 << 6, /* a runtime that switches stacks: user_threads_of() */
	LIB_ROCM = 1 << 7, /* defines hipMalloc or hsa_amd_memory_pool_allocate */
	LIB_ZE = 1 << 8, /* defines zeMemAllocDevice */
	LIB_UCS = 1 << 9, /* defines ucs_socket_recv_nb */
	LIB_SHMEM = 1 << 10, /* defines pshmem_init */
	LIB_SHMEM_PLUGIN = 1 << 11, /* a part of an OpenSHMEM (mca_spml_ucx_*) */
	LIB_MPI_UCC = 1 << 12, /* an MPI, or a plugin of one, that calls UCC */
	LIB_END,
	LIB_ALL = 2 * (LIB_END - 1) - 1,
};

/* Libraries that may allocate memory other than the host's. */
#define LIB_GPU (LIB_CUDA | LIB_ROCM | LIB_ZE)

/* An OpenSHMEM, in parts. */
#define LIB_SHMEM_CODE (LIB_SHMEM | LIB_SHMEM_PLUGIN)

/* Calls that one of these makes itself are a part of the user's call. */
#define LIB_MPI_CODE (LIB_MPI | LIB_SHMEM_CODE)

/* In the order in which records have them; NULL behind the last one. */
struct library_role_name {
	enum library_role role;
	const char *name;
};

extern const struct library_role_name library_role_names[];

/*
 * Length of the part of a file's name that identifies the library: "libuct_ib" in "libuct_ib.so.0"
 * and in "libuct_ib-nixl.so.0". UCX 1.22 appends a suffix by --with-soname-suffix (configure.ac),
 * and Python wheels append a hash of the file.
 */
size_t library_stem(const char *file);

/* The role of this name; 0: NULL, or no role's name. */
unsigned int library_role_by_name(const char *name);

#endif
