/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pieces of the site table, one per layer, and the macros that keep a row on one line.
 * Private to probe/.
 */
#ifndef UCXBPF_PROBE_SITES_TABLES_H
#define UCXBPF_PROBE_SITES_TABLES_H

#include <stdbool.h>

#include "base/vec.h"
#include "observe/probe/sites.h"
#include "observe/process/library.h"

struct site_table {
	const struct site *rows;
	unsigned int count;
	/* enum library_role: a library with one of these roles should have every row */
	unsigned int expected_in;
	/*
	 * Only for a library that defines this function: a library may stand in for some of the
	 * table's functions and call them (UCX's own libucm_cuda). NULL: for any.
	 */
	const char *marker;
};

extern const struct site_table sites_mpi, sites_mpi4, sites_ucp_ops, sites_ucp_am, sites_ucp_rest,
	sites_ucp_errors, sites_uct_base, sites_uct_slots, sites_uct_ops, sites_cuda, sites_cudart,
	sites_hip, sites_hsa, sites_ze, sites_uct_socket, sites_shmem, sites_shmem_ordering;

/* Whether a library with these roles should have the row. */
bool site_expected(unsigned int row, unsigned int roles);

/* The marker of the row's table. */
const char *site_marker(unsigned int row);

/* A row with all its columns. Further arguments initialise struct ub_site. */
#define SITE_ROW(symbol_text, name_text, site_layer, slot, worker, ...)                            \
	{                                                                                          \
		symbol_text, name_text, site_layer, slot, worker,                                  \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define SITE(symbol, name, layer, ...) SITE_ROW(symbol, name, layer, -1, false, __VA_ARGS__)

#define SITE_CALL_AS(symbol, name, comm)                                                           \
	SITE(symbol, name, LEVEL_MPI, .kind = UB_CALL, .arg_comm = (comm))
#define SITE_CALL(f, comm) SITE_CALL_AS("PMPI_" #f, "MPI_" #f, comm)
/* One that makes an operation per call, but none if there is no peer. */
#define SITE_CALL_OP(f, comm, number)                                                              \
	SITE("PMPI_" #f, "MPI_" #f, LEVEL_MPI, .kind = UB_CALL, .arg_comm = (comm),                \
	     .derivable = (number))
#define SITE_CALL_NO_END(f, comm)                                                                  \
	SITE("PMPI_" #f, "MPI_" #f, LEVEL_MPI, .kind = UB_CALL, .what = UB_CALL_NO_END,            \
	     .arg_comm = (comm))
#define SITE_CALL_POLL(f, comm)                                                                    \
	SITE("PMPI_" #f, "MPI_" #f, LEVEL_MPI, .kind = UB_CALL, .what = UB_CALL_POLL,              \
	     .arg_comm = (comm))
#define SITE_CALL_C(f, comm) SITE_CALL_AS("PMPI_" #f "_c", "MPI_" #f "_c", comm)
#define SITE_CALL_X(f, comm) SITE_CALL_AS("PMPIX_" #f, "MPIX_" #f, comm)

/* A GPU library's function: further arguments as above. */
#define SITE_MEM(symbol, name, mem_what, ...)                                                      \
	SITE(symbol, name, LEVEL_BESIDE, .kind = UB_MEM, .what = (mem_what), __VA_ARGS__)

#endif
