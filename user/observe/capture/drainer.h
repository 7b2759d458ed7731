/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One draining thread (drain.h): its rings, its stream, and the records for the session. Private to
 * drain.c; all functions are for the session's thread.
 */
#ifndef UCXBPF_CAPTURE_DRAINER_H
#define UCXBPF_CAPTURE_DRAINER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "observe/capture/drain.h"
#include "observe/capture/ring.h"
#include "ucxbpf.h"

/*
 * The sieve selects the few records that the session needs: all lives of processes and objects, all
 * stacks, and of calls, operations and transfers those with a new address (call site, completion
 * function, endpoint or interface, buffer). There is one per draining thread. It forgets, so that
 * an address may pass again: the session keeps its own record.
 */

#define SIEVE_SETS 256 /* 16 KiB: enough for the ranks of one thread */
#define SIEVE_WAYS 4 /* two addresses in use do not evict each other for good */

struct sieve {
	struct sieve_slot {
		uint64_t who, what;
	} sets[SIEVE_SETS][SIEVE_WAYS]; /* newest first */
	uint64_t generation;
	uint32_t pass;
	bool buffers; /* whether the session looks at buffers */
};

/*
 * Begins a pass over a ring. Everything seen is forgotten when the generation is another one: the
 * session has forgotten a process. Buffers are forgotten with each pass, since memory comes and
 * goes.
 */
void sieve_begin(struct sieve *sieve, uint64_t generation, bool buffers);

/*
 * The words that it looks at, for file_stream_spare(); not for buffers, which are forgotten with
 * each pass.
 */
extern const uint64_t sieve_words[UB_KIND_MAX];

/* Whether the session gets the record. */
bool sieve_passes(struct sieve *sieve, const struct ub_hdr *record);

/* Shared by all threads; atomic. */
struct drain_shared {
	uint64_t generation; /* of sieves */
	int buffers; /* whether addresses of buffers pass */
	uint64_t pause; /* longest pause of threads bound to a CPU, ns; 0: as each needs */
	uint32_t most; /* records of a chunk; 0: FILE_STREAM_RECORDS */
	int resting; /* nothing is traced: rings are looked at now and then */
	int error; /* -EBADMSG: a batch was malformed; its records count as refused */
};

struct held_ring {
	struct ring ring;
	int cpu;
	int crowded; /* set by the thread, cleared by the session: atomic */
	bool retired; /* a larger ring replaces it; atomic */
	uint64_t quiet_since; /* retired: without data since then; 0 = data came */
};

struct drainer {
	struct drain_shared *shared;
	int cpu; /* bound to it, in gang mode; -1: floating, with the rings of a group of CPUs */
	int node;
	unsigned int group; /* of CPUs on that node */
	pthread_t thread;

	/*
	 * The thread holds the lock during a pass. Mutexes are not fair: the session holds the gate
	 * until it gets the lock, so that a busy thread lets it in between two passes.
	 */
	pthread_mutex_t gate, lock;
	pthread_cond_t wake, idle;
	VEC(struct held_ring *) rings; /* oldest first; changed by the session only */
	uint64_t asked, done; /* passes that the session waits for, by number */
	bool end, ended;

	struct file_stream *stream;
	struct sieve sieve;
	VEC(uint8_t) passed; /* records of this pass */
	double fullest; /* of its rings at the last pass */
	uint64_t pause; /* ns that its rings allow; atomic */
	uint64_t next_flush;
	uint64_t others, records; /* atomic */
	uint64_t tasks; /* records of starts and ends of processes, in the present batch */
	bool forgot; /* the sieve passed some, since the chunk began */
	uint64_t cpu_ns;

	pthread_mutex_t queue_lock;
	VEC(uint8_t) queue; /* records that the session has not taken yet */
	VEC(uint8_t) taken; /* of the session */
};

static inline bool held_is_retired(const struct held_ring *held)
{
	return __atomic_load_n(&held->retired, __ATOMIC_RELAXED);
}

static inline void held_retire(struct held_ring *held)
{
	__atomic_store_n(&held->retired, true, __ATOMIC_RELAXED);
}

/*
 * A thread for a CPU, bound to it, or (cpu -1) for a group of CPUs on a node, which runs on those
 * of cpus. NULL: no memory, or no thread.
 */
struct drainer *drainer_new(struct drain_shared *shared, struct file_writer *writer, int cpu,
			    int node, unsigned int group, const struct cpu_bits *cpus);

/*
 * Adds a ring to the thread, or removes one. Another thread may own it from then on. A pass drains
 * rings in the order in which they were added: a retired one before its successor.
 */
void drainer_add(struct drainer *t, struct held_ring *held);
void drainer_remove(struct drainer *t, size_t i);

/* Passes the records that the sieve selected to fn. */
void drainer_take(struct drainer *t, drain_fn fn, void *arg);

/* Asks for a pass that starts after this call, and waits until all requested ones are done. */
void drainer_ask(struct drainer *t);
void drainer_await(struct drainer *t);

/* Completes the chunk of its stream; does not write it. */
void drainer_end_chunk(struct drainer *t);

/* Ends the thread after a last pass; its stream is not flushed. */
void drainer_end(struct drainer *t);

/* Frees it with its rings; the thread has ended, or was never started. */
void drainer_free(struct drainer *t);

#endif
