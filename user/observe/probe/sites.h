/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of probe sites: one row per function worth a probe. A new UCX or MPI function is a row.
 * The row number is ub_hdr.site; captures carry the table they were made with (side record "site"),
 * so rows may be added, moved and removed.
 */
#ifndef UCXBPF_PROBE_SITES_H
#define UCXBPF_PROBE_SITES_H

#include <stdbool.h>

#include "base/level.h"
#include "ucxbpf.h"

/*
 * "mpi", "ucp", "uct", or "memory", as in side records: memory is no level of its own, but is
 * traced with the levels ucp and uct.
 */
const char *site_layer_name(enum level layer);

/* Whether a trace of this level (which is not LEVEL_BESIDE) has probes of this layer. */
bool site_layer_in(enum level layer, enum level level);

struct site {
	/* ELF symbol; a pattern or member where the row stands for hidden or learnt functions */
	const char *symbol;
	const char *name; /* as reports show it: MPI_Send, tag_send, am_bcopy, eager_only */
	enum level layer;
	int ops_slot; /* slot of uct_iface_ops_t this row serves, -1 = none */
	bool on_worker; /* an operation whose object is a worker; else it is a ucp_ep */
	struct ub_site wire;
};

/* Rows 1..site_count()-1; row 0 is not a site. */
const struct site *site_row(unsigned int row);
unsigned int site_count(void);

/* OpenSHMEM's are most of the rows, and only captures of its jobs have them. */
bool site_of_shmem(unsigned int row);

/*
 * The arguments that a row names, one bit each (bit 1 = first). BPF programs read no others: a row
 * must name all that its kind of program reads, since a probe may be placed behind an instruction
 * that overwrites the rest.
 */
unsigned int site_arguments(const struct site *site);

/*
 * Whether a probe there may be single-stepped: it is hit so rarely that the cost does not matter.
 * Any other site is left out rather than single-stepped.
 */
bool site_may_step(const struct site *site);

/* Row for a hidden op in an ops table's slot, named after the table's transport; 0 = not traced. */
unsigned int site_by_slot(int ops_slot);

/* Rows that stand for addresses learnt at run time (completion functions): by enum ub_comp_what. */
unsigned int site_for_completion(enum ub_comp_what what);

#endif
