// SPDX-License-Identifier: BSD-3-Clause
/*
 * shmem_calls ROUNDS CONTEXTS [GO [late]]: OpenSHMEM's families of functions, several types of
 * each. The ledger has each function's calls, and as its messages the operations that it makes.
 * CONTEXTS: 0: the default one alone. Over tcp, Open MPI 4.1.4 does not return from
 * shmem_finalize() once another was made.
 * Fences and quiets of all kinds are counted together, as the tracer sees them.
 * GO: each PE writes $TRUTH/PE.ready and waits for that file; "late": there the ledger begins.
 */
#include <shmem.h>
#include <stdint.h>

#include "truth.h"

#define ELEMENTS 300
#define STRIDED 7
#define POLLS 5

static long longs[ELEMENTS], to_longs[ELEMENTS], all_longs[8 * ELEMENTS];
static int ints[ELEMENTS], to_ints[ELEMENTS];
static double doubles[ELEMENTS], to_doubles[ELEMENTS];
static char chars[8 * ELEMENTS], to_chars[8 * ELEMENTS];
static uint64_t word;
static long flag, never, lock;
static long sync_words[SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE +
		       SHMEM_BCAST_SYNC_SIZE + SHMEM_BARRIER_SYNC_SIZE];
static long work_longs[ELEMENTS + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int work_ints[ELEMENTS + SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static int me, pes, next;

/* R(shmem_long_put, bytes)(...): makes the call, and counts its operation as well. */
#define R(function, bytes) (truth_message(#function, next, bytes), T(function))
#define R_EACH(function, count, bytes)                                                             \
	(truth_add_many(&truth.messages, #function, next, count, (count) * (bytes)), T(function))

static void puts_and_gets(shmem_ctx_t ctx)
{
	R(shmem_long_put, sizeof(longs))(to_longs, longs, ELEMENTS, next);
	R(shmem_int_put, sizeof(ints))(to_ints, ints, ELEMENTS, next);
	R(shmem_double_put, 40)(to_doubles, doubles, 5, next);
	R(shmem_char_put, 3)(to_chars, chars, 3, next);
	R(shmem_long_put, 0)(to_longs, longs, 0, next);
	R(shmem_putmem, 100)(to_chars, chars, 100, next);
	R(shmem_put64, 80)(to_longs, longs, 10, next);
	R(shmem_put16, 2)(to_chars, chars, 1, next);
	R(shmem_long_p, 8)(to_longs, me, next);
	R(shmem_float_p, 4)((float *)to_ints, 1.5f, next);
	R(shmem_ctx_int_put, 20)(ctx, to_ints, ints, 5, next);
	R(shmem_ctx_putmem, 9)(ctx, to_chars, chars, 9, next);
	R(shmem_long_put_nbi, 64)(to_longs, longs, 8, next);
	R(shmem_putmem_nbi, 50)(to_chars, chars, 50, next);
	truth_call("shmem_*fence");
	shmem_fence();
	truth_call("shmem_*quiet");
	shmem_quiet();
	truth_call("shmem_*quiet");
	shmem_ctx_quiet(ctx);
	R(shmem_long_get, sizeof(longs))(longs, to_longs, ELEMENTS, next);
	R(shmem_double_get, 16)(doubles, to_doubles, 2, next);
	R(shmem_get32, 12)(ints, to_ints, 3, next);
	R(shmem_getmem, 77)(chars, to_chars, 77, next);
	R(shmem_int_g, 4)(to_ints, next);
	R(shmem_ctx_long_g, 8)(ctx, to_longs, next);
	R(shmem_int_get_nbi, 28)(ints, to_ints, 7, next);
	truth_call("shmem_*quiet");
	shmem_quiet();
}

static void strided(void)
{
	R_EACH(shmem_long_iput, STRIDED, 8)(to_longs, longs, 2, 3, STRIDED, next);
	R_EACH(shmem_int_iget, STRIDED, 4)(ints, to_ints, 1, 2, STRIDED, next);
	R_EACH(shmem_iput32, STRIDED, 4)(to_ints, ints, 2, 1, STRIDED, next);
}

static void atomics(shmem_ctx_t ctx)
{
	R(shmem_int_atomic_add, 4)(to_ints, 1, next);
	R(shmem_long_atomic_inc, 8)(to_longs, next);
	R(shmem_long_atomic_fetch_add, 8)(to_longs, 2, next);
	R(shmem_uint_atomic_fetch_inc, 4)((unsigned int *)to_ints, next);
	R(shmem_long_atomic_compare_swap, 8)(to_longs, 0, 1, next);
	R(shmem_double_atomic_swap, 8)(to_doubles, 1.0, next);
	R(shmem_int_atomic_fetch, 4)(to_ints, next);
	R(shmem_long_atomic_set, 8)(to_longs, 3, next);
	R(shmem_uint64_atomic_or, 8)(&word, 1, next);
	R(shmem_uint64_atomic_fetch_xor, 8)(&word, 3, next);
	R(shmem_ctx_long_atomic_add, 8)(ctx, to_longs, 1, next);
	R(shmem_long_fadd, 8)(to_longs, 1, next);
	truth_call("shmem_*quiet");
	shmem_quiet();
}

static void waits(int round)
{
	R(shmem_long_p, 8)(&flag, round, next);
	T(shmem_long_wait_until)(&flag, SHMEM_CMP_GE, round);
	for (int i = 0; i < POLLS; i++)
		T(shmem_long_test)(&never, SHMEM_CMP_NE, 0);
	T(shmem_set_lock)(&lock);
	T(shmem_clear_lock)(&lock);
}

static void collectives(void)
{
	T(shmem_barrier_all)();
	T(shmem_barrier)(0, 0, pes, sync_words);
	T(shmem_sync_all)();
	T(shmem_broadcast64)(to_longs, longs, 10, 0, 0, 0, pes, sync_words);
	T(shmem_barrier_all)();
	T(shmem_fcollect64)(all_longs, longs, 5, 0, 0, pes, sync_words);
	T(shmem_barrier_all)();
	T(shmem_collect32)(all_longs, ints, me + 1, 0, 0, pes, sync_words);
	T(shmem_barrier_all)();
	T(shmem_alltoall64)(all_longs, longs, 3, 0, 0, pes, sync_words);
	T(shmem_barrier_all)();
	T(shmem_long_sum_to_all)(to_longs, longs, 20, 0, 0, pes, work_longs, sync_words);
	T(shmem_barrier_all)();
	T(shmem_int_max_to_all)(to_ints, ints, 1, 0, 0, pes, work_ints, sync_words);
	T(shmem_barrier_all)();
}

static void wait_for(const char *go)
{
	fclose(truth_open("ready"));
	while (access(go, F_OK))
		usleep(1000);
}

int main(int argc, char **argv)
{
	shmem_ctx_t ctx;
	void *memory;

	for (size_t i = 0; i < sizeof(sync_words) / sizeof(*sync_words); i++)
		sync_words[i] = SHMEM_SYNC_VALUE;
	T(shmem_init)();
	ctx = SHMEM_CTX_DEFAULT;
	me = shmem_my_pe();
	pes = shmem_n_pes();
	next = (me + 1) % pes;
	truth_begin("shmem_calls", me, pes);
	memory = T(shmem_malloc)(4096);
	if (atoi(argv[2]) && T(shmem_ctx_create)(0, &ctx))
		return 1;
	if (argc > 3)
		wait_for(argv[3]);
	if (argc > 4)
		truth.calls.used = 0;
	for (int i = 1; i <= atoi(argv[1]); i++) {
		puts_and_gets(ctx);
		strided();
		atomics(ctx);
		waits(i);
		collectives();
	}
	if (atoi(argv[2]))
		T(shmem_ctx_destroy)(ctx);
	T(shmem_free)(memory);
	T(shmem_barrier_all)();
	truth_end();
	shmem_finalize();
	return 0;
}
