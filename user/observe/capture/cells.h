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

/* A process, or one of its endpoints, that will add no more to its cells. */
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
	/* live, else NULL: by cell, the sums already taken; descriptions and sums to write */
	struct cell_sums *taken;
	json_t *told, *rows;
	uint64_t since; /* side_now() ns: when sums were last taken */
	uint64_t given_back; /* entries in freed cells */
	uint64_t started, next_write;
};

/* skel: loaded, and outlives *cells; count: --count. 0 or -errno. */
int cells_open(struct cells *cells, struct ucxbpf *skel, bool count);
void cells_release(struct cells *cells);

/* From now on sums go where cells_take() writes them, not to the capture's file. -ENOMEM. */
int cells_live(struct cells *cells);

/* Address range of an MPI library's code in a process; a fifth range is ignored. */
void cells_mpi_text(struct cells *cells, pid_t tgid, uint64_t from, uint64_t to);

/* Examines one record, for ends of processes and endpoints. */
void cells_record(struct cells *cells, const struct ub_hdr *record);

/*
 * A process ended at or before that time (CLOCK_MONOTONIC ns): frees its cells and endpoint numbers
 * even if the record of its end was lost.
 */
void cells_process_ended(struct cells *cells, pid_t tgid, uint64_t ts);

/* Whether cells_write() is due: enough time has passed, or a process or endpoint has ended. */
bool cells_due(const struct cells *cells);

/*
 * Writes new sums of processes and endpoints that have ended, and frees their cells. If last, or if
 * it is time, writes all new sums and returns true.
 */
bool cells_write(struct cells *cells, struct file_writer *writer, bool last);

/* Likewise, but never writes the sums of live processes and endpoints. */
void cells_write_ended(struct cells *cells, struct file_writer *writer);

/*
 * Live: writes the growth of all cells since the last call, also of ended ones, as cells with these
 * sums: a separate file then has the traffic of one interval. Cell numbers hold for that file only.
 */
void cells_take(struct cells *cells, struct file_writer *writer);

/*
 * Entries counted so far: calls, operations, transfers and attempts at them. 0 without --count,
 * when records are counted elsewhere.
 */
uint64_t cells_count(const struct cells *cells);

#endif
