/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* --count, a part of ucxbpf.h: the sums that the kernel keeps instead of records. */
#ifndef UCXBPF_CELLS_H
#define UCXBPF_CELLS_H

/*
 * A cell is for one combination of process, MPI call, operation, transfer, endpoint, active-message
 * id, size class and error. Rows are those of the site table, 0 = none. The kernel writes what the
 * cell is for, then ts, then nothing but its sums.
 */
struct ub_cell {
	__u64 count; /* entries; transfers: only those sent */
	__u64 bytes; /* operation: payload; transfer: as given to UCT, with UCP's header */
	__u64 headers; /* of bytes, the user's own active-message headers */
	__u64 refused; /* attempts that sent nothing */
	__u64 timed; /* of count, those whose time was taken: one in UB_TIMED_EVERY, at random */
	__u64 time; /* ns, of the timed ones */
	__u64 pad;
	__u32 ep; /* number of the endpoint */
	__u32 pad2;
	__u64 ts; /* CLOCK_MONOTONIC at the first entry; 0 = not in use */
	__u64 space; /* names the address space */
	__u64 uct_ep;
	__u64 iface;
	__u64 obj; /* first argument of the operation */
	__u64 ucp_ep; /* of the transfer's request, 0 = not known */
	__u32 tgid;
	__u16 call;
	__u16 op;
	__u16 xfer;
	__u8 am_id;
	__u8 size_class; /* 0: no bytes; n: 2^(n-1) bytes and more, below 2^n unless beyond */
	__u8 flags; /* enum ub_cell_flags */
	__u8 layout; /* slot of the layout map */
	__u8 status; /* all events counted here failed with -status; 0: no errors */
	__u8 reserved;
};

_Static_assert(sizeof(struct ub_cell) == 128, "cell size");

/* The rows of a cell in one word: all of its key but process and endpoint. */
enum {
	UB_ROW_BITS = 11,
	UB_ROWS_OP_AT = UB_ROW_BITS,
	UB_ROWS_XFER_AT = 2 * UB_ROW_BITS,
	UB_ROWS_AM_AT = 3 * UB_ROW_BITS,
	UB_ROWS_CLASS_AT = UB_ROWS_AM_AT + 8,
	UB_ROWS_FLAGS_AT = UB_ROWS_CLASS_AT + 6,
	UB_ROWS_STATUS_AT = UB_ROWS_FLAGS_AT + 8,
};
#define UB_ROWS_CALL(row) ((__u64)(row))
#define UB_ROWS_OP(row) ((__u64)(row) << UB_ROWS_OP_AT)
#define UB_ROWS_XFER(row) ((__u64)(row) << UB_ROWS_XFER_AT)
#define UB_ROWS_AM(id) ((__u64)(id) << UB_ROWS_AM_AT)
#define UB_ROWS_CLASS(class) ((__u64)(class) << UB_ROWS_CLASS_AT)
#define UB_ROWS_FLAGS(flags) ((__u64)(flags) << UB_ROWS_FLAGS_AT)
#define UB_ROWS_STATUS(status) ((__u64)(status) << UB_ROWS_STATUS_AT)
#define UB_STATUS_MAX 100 /* -UCS_ERR_LAST */

_Static_assert(UB_MAX_SITES <= 1 << UB_ROW_BITS, "a row fits its bits");

/* Key of the map of cell numbers. */
struct ub_cell_key {
	__u32 tgid;
	__u32 ep; /* number, 0 = none */
	__u64 rows;
};

/* Key of the map of endpoint numbers. */
struct ub_ep_key {
	__u64 uct_ep;
	__u64 space; /* address of the mm_struct */
};

#define UB_MAX_EPS_OVER 65536

/* Key of the map of endpoints that are over. */
struct ub_over_key {
	__u32 tgid;
	__u32 pad;
	__u64 ep;
};

enum ub_cell_flags {
	UB_CELL_UNSIZED = 1 << 0, /* lengths are not known: not in bytes */
	UB_CELL_HEADER = 1 << 1, /* the user's headers in bytes are of unknown length */
	UB_CELL_BEYOND = 1 << 2, /* beyond its process's share: no endpoint, nothing around it */
};

/* The first cells are for events without a free one: calls, operations, transfers. */
enum ub_cell_other { UB_OTHER_CALLS, UB_OTHER_OPS, UB_OTHER_XFERS, UB_CELL_OTHERS };

#define UB_MAX_CELLS 65536

/*
 * A process may hold as many cells as are free, these left aside: one alone gets a half, n greedy
 * ones an (n + 1)th each, and there is always some for the next. Events beyond go to cells of their
 * process by their innermost function alone, which come from those left aside. Each endpoint number
 * is made with a cell, so that the share limits these as well.
 */
#define UB_CELLS_ASIDE 8192
#define UB_CELLS_BEYOND 128 /* of a process, at the most */

/*
 * Counts of a process: cells taken from its share, taken beyond it, returned to the share, and
 * endpoints that are over.
 */
enum ub_share {
	UB_SHARE_TAKEN,
	UB_SHARE_BEYOND,
	UB_SHARE_RETURNED,
	UB_SHARE_OVER,
	UB_SHARES,
};
struct ub_share_key {
	__u32 tgid;
	__u32 share; /* enum ub_share */
};

#define UB_TIMED_EVERY 32

/* Addresses of MPI libraries' code in a process: calls from there are the library's own. */
#define UB_MAX_TEXTS 8
struct ub_mpi_text {
	__u64 from[UB_MAX_TEXTS];
	__u64 to[UB_MAX_TEXTS];
};

#endif
