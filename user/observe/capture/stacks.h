/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data for stack walks in the kernel: unwinding rows of every file whose code a traced process
 * runs, and the addresses where each process maps it.
 *
 * A file's rows are kept once for all processes, and charged to the user whose process first needed
 * them (read ahead: to the tracer's user). Chosen processes may take all rows. If those of all
 * users are traced, a user may not hold more rows than are still free: the first user can get half
 * of the table, and later users always find some. One file then gets at most three quarters of its
 * user's remaining share, all of its rows or none. Rows are never released.
 */
#ifndef UCXBPF_CAPTURE_STACKS_H
#define UCXBPF_CAPTURE_STACKS_H

#include "base/map.h"
#include "base/vec.h"
#include "file/file.h"
#include "observe/capture/kernel.h"
#include "observe/process/code.h"
#include "observe/process/unwind.h"

/* A file's rows in the kernel's array. */
struct unwind_table {
	bool ready; /* read, or found to have none */
	uint32_t first, count;
	uint32_t lacks; /* at least so many rows found no room; 0: none is missing */
	struct unwind *unwind; /* while it is being read */
	unwind_rows rows;
};

struct stacked {
	pid_t tgid;
	uint32_t owner; /* real user id */
	code_ranges ranges;
	bool stale; /* rows are missing from the kernel's array */
	uint64_t next_read; /* mappings are not read before for the sake of a walk; side_now() ns */
};

/* A place where a walk stopped for lack of rows. */
struct wanted_code {
	pid_t tgid;
	uint64_t address;
};

struct stacks {
	bool on;
	int rows_fd, ranges_fd;
	struct ub_row *rows; /* the kernel's, mapped */
	uint32_t used;
	bool shared; /* among owners */
	struct map held; /* by owner: how many of them */
	bool warned; /* that a file found no room */
	struct code_files *files;
	VEC(struct unwind_table) tables; /* by file number */
	VEC(struct stacked) processes;
	VEC(struct wanted_code) wanted;
	struct ub_process_ranges scratch;
};

/* kernel was opened for stacks; files outlive this. -ENOMEM. */
/* shared: processes of all users are traced, so each gets a share of the rows. */
int stacks_init(struct stacks *stacks, struct kernel *kernel, struct code_files *files,
		bool shared);
void stacks_release(struct stacks *stacks);

/* Reads the rows of a file ahead of time; they are the tracer's own. */
void stacks_file(struct stacks *stacks, const struct code_file *file);

/* Examines one record: processes end or run another program, walks stop for lack of rows. */
void stacks_record(struct stacks *stacks, const struct ub_hdr *record);

/* The process's mappings have changed. */
void stacks_process(struct stacks *stacks, pid_t tgid);

/*
 * Reads missing rows, for about ns at most; UINT64_MAX: all of them. Code that a walk lacked comes
 * first. A walk that finds no code leads to a new look at the mappings of its process, which takes
 * long if there are many: then later walks lead to none for a while.
 */
void stacks_work(struct stacks *stacks, uint64_t ns);

/* Writes a note where files found no room. */
void stacks_finish(const struct stacks *stacks, struct file_writer *writer);

#endif
