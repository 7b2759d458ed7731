// SPDX-License-Identifier: BSD-3-Clause
/*
 * OpenSHMEM, by its pshmem_ address: shmem_X is a weak alias of pshmem_X in Open MPI. The functions
 * are families, each for some types and most with and without a context (pshmem.h and pshmemx.h of
 * Open MPI 4.1.4: all that communicate, wait or make memory).
 *
 * ONE: makes one operation of UCP a call, and has no probe where that names it (UB_UNPROBED).
 */
#include "observe/probe/sites_tables.h"

#define NAMED(f, ...) SITE("p" f, f, LEVEL_MPI, .kind = UB_CALL, ##__VA_ARGS__)
#define CALL(f, ...) NAMED("shmem" f, ##__VA_ARGS__)
#define ONE(f) CALL(f, .derivable = UB_UNPROBED)
#define POLL(f) CALL(f, .what = UB_CALL_POLL)
#define ANY_CTX(row, f) row("_" f), row("_ctx_" f)

#define INTS(each) each("int"), each("long"), each("longlong")
#define UINTS(each) each("uint"), each("ulong"), each("ulonglong")
#define FLOATS(each) each("float"), each("double")
#define WIDE_BITS(each) each("int32"), each("int64"), each("uint32"), each("uint64")
#define TYPES(each)                                                                                \
	INTS(each), UINTS(each), FLOATS(each), WIDE_BITS(each), each("char"), each("schar"),       \
		each("uchar"), each("short"), each("ushort"), each("longdouble"), each("int8"),    \
		each("int16"), each("uint8"), each("uint16"), each("size"), each("ptrdiff")
#define SIZES(each) each("8"), each("16"), each("32"), each("64"), each("128")

/* Puts and gets; with a stride they make an operation for each element. */
#define TYPED(t)                                                                                   \
	ANY_CTX(ONE, t "_p"), ANY_CTX(ONE, t "_g"), ANY_CTX(ONE, t "_put"),                        \
		ANY_CTX(ONE, t "_get"), ANY_CTX(ONE, t "_put_nbi"), ANY_CTX(ONE, t "_get_nbi"),    \
		ANY_CTX(CALL, t "_iput"), ANY_CTX(CALL, t "_iget")
#define UNTYPED(n)                                                                                 \
	ANY_CTX(ONE, "put" n), ANY_CTX(ONE, "get" n), ANY_CTX(ONE, "put" n "_nbi"),                \
		ANY_CTX(ONE, "get" n "_nbi")
#define SIZED(n) UNTYPED(n), ANY_CTX(CALL, "iput" n), ANY_CTX(CALL, "iget" n)

/* Atomics; for integers, for these and floating point, bits. */
#define ADDS(t)                                                                                    \
	ANY_CTX(ONE, t "_atomic_add"), ANY_CTX(ONE, t "_atomic_inc"),                              \
		ANY_CTX(ONE, t "_atomic_fetch_add"), ANY_CTX(ONE, t "_atomic_fetch_inc"),          \
		ANY_CTX(ONE, t "_atomic_compare_swap")
#define SETS(t)                                                                                    \
	ANY_CTX(ONE, t "_atomic_fetch"), ANY_CTX(ONE, t "_atomic_set"),                            \
		ANY_CTX(ONE, t "_atomic_swap")
#define BITS(t)                                                                                    \
	ANY_CTX(ONE, t "_atomic_and"), ANY_CTX(ONE, t "_atomic_or"),                               \
		ANY_CTX(ONE, t "_atomic_xor"), ANY_CTX(ONE, t "_atomic_fetch_and"),                \
		ANY_CTX(ONE, t "_atomic_fetch_or"), ANY_CTX(ONE, t "_atomic_fetch_xor")

/* Before OpenSHMEM 1.4, and Open MPI's own. */
#define OLD_ADDS(t) ONE(t "_add"), ONE(t "_inc"), ONE(t "_fadd"), ONE(t "_finc"), ONE(t "_cswap")
#define OLD_SETS(t) ONE(t "_fetch"), ONE(t "_set"), ONE(t "_swap")
#define OLD_INTEGER(t) OLD_ADDS("_" t), OLD_SETS("_" t)
#define OLD_FLOAT(t) OLD_SETS("_" t)
#define EXTRA_INTEGER(t)                                                                           \
	OLD_ADDS("x_" t), OLD_SETS("x_" t), CALL("x_" t "_wait"), CALL("x_" t "_wait_until")
#define EXTRA_BITS(t)                                                                              \
	ONE("x_" t "_atomic_and"), ONE("x_" t "_atomic_or"), ONE("x_" t "_atomic_xor"),            \
		ONE("x_" t "_atomic_fetch_and"), ONE("x_" t "_atomic_fetch_or"),                   \
		ONE("x_" t "_atomic_fetch_xor")
#define EXTRA_TYPED(t)                                                                             \
	ONE("x_" t "_p"), ONE("x_" t "_g"), TO_ALL_BITS("x_" t), TO_ALL_MOST("x_" t),              \
		TO_ALL_SUMS("x_" t)

/* Reductions. */
#define TO_ALL_BITS(t) CALL(t "_and_to_all"), CALL(t "_or_to_all"), CALL(t "_xor_to_all")
#define TO_ALL_MOST(t) CALL(t "_max_to_all"), CALL(t "_min_to_all")
#define TO_ALL_SUMS(t) CALL(t "_sum_to_all"), CALL(t "_prod_to_all")
#define TO_ALL_COMPLEX(t) TO_ALL_SUMS("_" t)
#define TO_ALL_FLOAT(t) TO_ALL_MOST("_" t), TO_ALL_SUMS("_" t)
#define TO_ALL_INTEGER(t) TO_ALL_BITS("_" t), TO_ALL_FLOAT(t)

#define WAIT(t) CALL("_" t "_wait")
#define WAIT_UNTIL(t) CALL("_" t "_wait_until"), POLL("_" t "_test")
#define BOTH_SIZES(f) CALL("_" f "32"), CALL("_" f "64")

static const struct site rows[] = {
	/* clang-format off */
	TYPES(TYPED), SIZES(SIZED), UNTYPED("mem"),
	INTS(ADDS), UINTS(ADDS),
	INTS(SETS), UINTS(SETS), FLOATS(SETS),
	INTS(BITS), UINTS(BITS), WIDE_BITS(BITS),
	INTS(OLD_INTEGER), FLOATS(OLD_FLOAT),
	EXTRA_INTEGER("int32"), EXTRA_INTEGER("int64"), WIDE_BITS(EXTRA_BITS),
	EXTRA_TYPED("int16"), EXTRA_TYPED("int32"), EXTRA_TYPED("int64"),

	/* Collectives */
	CALL("_barrier"), CALL("_barrier_all"), CALL("_sync"), CALL("_sync_all"),
	BOTH_SIZES("broadcast"), BOTH_SIZES("collect"), BOTH_SIZES("fcollect"),
	BOTH_SIZES("alltoall"), BOTH_SIZES("alltoalls"),
	INTS(TO_ALL_INTEGER), TO_ALL_INTEGER("short"), FLOATS(TO_ALL_FLOAT),
	TO_ALL_FLOAT("longdouble"), TO_ALL_COMPLEX("complexf"), TO_ALL_COMPLEX("complexd"),

	/* Order, waiting */
	CALL("_wait"), INTS(WAIT), WAIT("short"),
	INTS(WAIT_UNTIL), UINTS(WAIT_UNTIL), WIDE_BITS(WAIT_UNTIL), WAIT_UNTIL("short"),
	WAIT_UNTIL("ushort"), WAIT_UNTIL("size"), WAIT_UNTIL("ptrdiff"),
	CALL("_set_lock"), CALL("_clear_lock"), POLL("_test_lock"),

	/* Contexts, symmetric memory, the library itself */
	CALL("_ctx_create"), CALL("_ctx_destroy"), CALL("_malloc"), CALL("_calloc"), CALL("_align"),
	CALL("align"), CALL("_realloc"), CALL("_free"), CALL("x_malloc_with_hint"), CALL("_init"),
	CALL("_init_thread"), CALL("_finalize"), CALL("_global_exit", .what = UB_CALL_NO_END),
	NAMED("start_pes"), NAMED("shmalloc"), NAMED("shrealloc"), NAMED("shfree"),
	/* clang-format on */
};

const struct site_table sites_shmem = { rows, ARRAY_SIZE(rows), LIB_SHMEM, NULL };

/*
 * shmem_fence() and shmem_ctx_fence() have no instruction that the kernel emulates, and both jump
 * on to this function, so that it is not known which of them was called. So do quiet's.
 */
static const struct site ordering_rows[] = {
	SITE("mca_spml_ucx_fence", "shmem_*fence", LEVEL_MPI, .kind = UB_CALL),
	SITE("mca_spml_ucx_quiet", "shmem_*quiet", LEVEL_MPI, .kind = UB_CALL),
};

const struct site_table sites_shmem_ordering = { ordering_rows, ARRAY_SIZE(ordering_rows), 0,
						 NULL };
