/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounds of the time and memory that a traced process can make the tracer use: its owner may be
 * hostile, and the thread that looks at it also serves all other processes. Things that a bound
 * leaves out are counted, and named in the capture.
 */
#ifndef UCXBPF_PROCESS_BOUNDS_H
#define UCXBPF_PROCESS_BOUNDS_H

#define BOUNDS_MS 1000000ull /* ns */

/* One process, or one worker of it. Enough for 10,000 endpoints, too short to be noticed. */
#define BOUNDS_PROCESS_MS 250
#define BOUNDS_PROCESS_NS (BOUNDS_PROCESS_MS * BOUNDS_MS)

/* All processes together: each kind of work in a step of the session, and once more at its end. */
#define BOUNDS_ROUND_NS (250 * BOUNDS_MS)
#define BOUNDS_END_NS (2000 * BOUNDS_MS)

/* A look at the stacks of all threads, for which many files are read. */
#define BOUNDS_LOOK_NS (5000 * BOUNDS_MS)

/* CPU time for all questions about a file, beside that for each byte of the answers. */
#define BOUNDS_FILE_NS (2000 * BOUNDS_MS)
#define BOUNDS_FILE_BYTE_NS 125 /* rows of unwinding take 30 to 60 */

/* No address of a process is higher: x86-64 with five levels of page tables, and arm64. */
#define BOUNDS_ADDRESS (1ull << 56)

/* Kept of a process: places in code that its records name, 80 bytes each. */
#define BOUNDS_ADDRESSES 16384

/* Kept of a process: UCX objects that have a record or were met in one, 64 bytes each. */
#define BOUNDS_OBJECTS 131072

/* Kept of a process: workers, each of which has a record of its queues in every look. */
#define BOUNDS_WORKERS 1024

/* Kept of a process: parts of its address space in which a buffer caused a look. */
#define BOUNDS_PARTS 65536

/* Kept of all processes of a user, where they are not chosen: as much as of this many. */
#define BOUNDS_USER 32

#endif
