// SPDX-License-Identifier: BSD-3-Clause
#include "base/library_role.h"

#include <stddef.h>
#include <string.h>

const struct library_role_name library_role_names[] = {
	{ LIB_MPI, "mpi" },
	{ LIB_UCP, "ucp" },
	{ LIB_UCT, "uct" },
	{ LIB_UCT_MODULE, "uct_module" },
	{ LIB_MPI_PLUGIN, "mpi_plugin" },
	{ LIB_CUDA, "cuda" },
	{ LIB_USER_THREADS, "user_threads" },
	{ LIB_ROCM, "rocm" },
	{ LIB_ZE, "ze" },
	{ LIB_UCS, "ucs" },
	{ LIB_SHMEM, "shmem" },
	{ LIB_SHMEM_PLUGIN, "shmem_plugin" },
	{ LIB_MPI_UCC, "mpi_ucc" },
	{ 0 },
};

size_t library_stem(const char *file)
{
	return strcspn(file, ".-");
}

unsigned int library_role_by_name(const char *name)
{
	for (const struct library_role_name *row = library_role_names; name && row->name; row++)
		if (!strcmp(row->name, name))
			return row->role;
	return 0;
}
