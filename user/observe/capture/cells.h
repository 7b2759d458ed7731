/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's sums: of all traffic with --count, else of records that are not stored. They are
 * read in place and written to the file as side records from time to time: first the description of
 * a cell, then its sums whenever they have changed. The time between two writes grows with that of
 * the capture, so that a file grows by the logarithm of time.
 */
#ifndef UCXBPF_CAPTURE_CELLS_H
#define UCXBPF_CAPTURE_CELLS_H

#include "base/vec.h"
#include "file/file.h"
#include "ucxbpf.h"

struct ucxbpf;

/* A process, or one of its endpoints, that will add to its cells no more. */
struct cells_end {
	uint32_t tgid;
	uint64_t uct_ep; /* 0: the process */
	uint64_t ts;
};

#define CELL_SUMS 6

/* count, bytes, headers, refused, timed, time of struct ub_cell. */
struct cell_sums {
	uint64_t of[CELL_SUMS];
};

struct cells {
	struct ucxbpf *skel;
	bool count; /* programs add every event to cells, not only dropped records */
	struct ub_cell *all; /* the kernel's */
	uint64_t *written; /* by cell: its sums when it was last written, added up */
	uint32_t *ids; /* by cell: its number in the file; 0: not in it */
	uint32_t last_id;
	VEC(struct cells_end) ends;
	/* live, else NULL: by cell, the sums that were taken; descriptions and sums to write */
	struct cell_sums *taken;
	json_t *told, *rows;
	uint64_t since; /* side_now() ns: sums were taken last */
	uint64_t given_back; /* entries in cells that were given back */
	uint64_t started, next_write;
};

/* skel: loaded, and outlives *cells; count: --count. 0 or -errno. */
int cells_open(struct cells *cells, struct ucxbpf *skel, bool count);
void cells_release(struct cells *cells);

/* From here on sums go where cells_take() writes them, not to the capture's file. -ENOMEM. */
int cells_live(struct cells *cells);

/* Address range of an MPI library's code in a process; a fifth range is ignored. */
void cells_mpi_text(struct cells *cells, pid_t tgid, uint64_t from, uint64_t to);

/* Looks at one record: of processes and endpoints that end. */
void cells_record(struct cells *cells, const struct ub_hdr *record);

/* Whether cells_write() is due: enough time has passed, or a process or endpoint has ended. */
bool cells_due(const struct cells *cells);

/*
 * Writes new sums of processes and endpoints that have ended, and frees their cells. If last, or if
 * it is time, writes all new sums and returns true.
 */
bool cells_write(struct cells *cells, struct file_writer *writer, bool last);

/* Likewise, but never writes the sums of processes and endpoints that go on. */
void cells_write_ended(struct cells *cells, struct file_writer *writer);

/*
 * Live: writes what all cells have gained since the last call, those of the ended as well, as cells
 * of these sums: a file of its own then has the traffic of one interval. Numbers of cells are good
 * for that file alone.
 */
void cells_take(struct cells *cells, struct file_writer *writer);

/*
 * Entries counted so far: calls, operations, transfers and attempts at them. 0 without --count:
 * then they are of records, which are counted elsewhere.
 */
uint64_t cells_count(const struct cells *cells);

#endif
