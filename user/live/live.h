/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live view: what traced processes moved in the last interval and since the view began, and what
 * their threads are in. It is fed with the facts of one interval after the other
 * (analysis_add_interval()), whose sums are those of that interval alone: nothing is subtracted, so
 * a name that becomes known later moves no traffic from one row to another.
 *
 * Texts are interned by the view: they live as long, and equal ones are one pointer. NULL and
 * negative numbers mean unknown or none.
 */
#ifndef UCXBPF_LIVE_LIVE_H
#define UCXBPF_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "explain/facts/facts.h"

/* Sums of calls, operations or transfers that are alike. */
struct live_sums {
	uint64_t count;
	uint64_t bytes; /* payload */
	uint64_t unsized; /* of count, those whose bytes are not known: in no other number */
	uint64_t retries; /* attempts that found no resource; not in count */
	uint64_t timed, ns; /* of count, those whose time was taken, and the sum of their times */
};

/* Sums of the last interval, and of all since the view began. */
struct live_amount {
	struct live_sums now, total;
};

struct live_process {
	uint64_t id; /* never given twice */
	uint64_t seen; /* number of the last interval whose facts have it */
	uint32_t pid, tgid; /* in its own pid namespace, and as the tracer sees it */
	uint64_t start_time;
	const char *host, *comm, *job, *mpi;
	const char *batch_job, *step; /* as struct fact_process */
	const char *cpus; /* as struct fact_process */
	int rank, size;
	bool ended;
	int exit_status; /* once it has ended, as in struct fact_lifetime */
	uint32_t exit_signal;
	struct live_amount calls; /* of MPI; bytes are in sends */
	struct live_amount sends, receives; /* operations; bytes of receives are not known */
	/* data transfers, whoever made them: payload that left, that came */
	struct live_amount out, in;
	uint64_t strange; /* data transfers of it whose peer is not known, since the view began */
	/*
	 * "in" and "out" have all there is: all ranks of its job are traced here, and each of their
	 * data transfers names its peer. Else they are lower bounds: a rank that is not traced puts
	 * data here, and fetches it, unseen.
	 */
	bool whole;
	/* looks at its first thread, the last one in bit 0: it is known where it was... */
	uint64_t looks, in_mpi; /* ...and that was in an MPI call, */
	uint64_t waiting; /* in one that awaits an operation */
	/*
	 * ns in which it had mapped libraries without probes, and nothing was counted: in this
	 * interval, and since the view began. They count once the probes are there.
	 */
	uint64_t unprobed, all_unprobed;
};

/* Transfers of a process that are alike. */
struct live_path {
	const struct live_process *process, *peer; /* peer: NULL: not known */
	const char *transport, *device;
	const char *locality; /* "self", "node", "remote"; NULL: unknown */
	const char *kind; /* "data", "copy", "control" */
	const char *way; /* fact_data_path(); NULL: unknown */
	const char *initiator; /* fact_initiator(); NULL: unknown */
	const char *memory; /* of the process's side: "host"; NULL: sums do not tell */
	uint64_t fetches; /* 1: from the peer, 0: to it */
	struct live_amount amount; /* must follow the members of the key */
};

/* Equal errors of a process (struct fact_error), and their count. */
struct live_error {
	const struct live_process *process;
	const char *what, *status, *op, *function, *transport, *device;
	struct live_amount amount; /* must follow the members of the key */
};

/* Calls of an MPI function. */
struct live_function {
	const struct live_process *process;
	const char *function; /* NULL: outside MPI */
	struct live_amount calls, sends; /* must follow the members of the key */
};

/* Looks that found a thread in a call from one place. */
struct live_site {
	const char *function, *place;
	uint64_t now, total; /* looks */
};

/* Where a thread was when it was looked at in this interval. */
struct live_thread {
	const struct live_process *process;
	uint32_t tid;
	const char *state;
	const char *function; /* MPI function; NULL: none, or not known */
	const char *place;
	bool outside; /* of MPI */
	const char *reason; /* why it is not known whether */
	/* ns, CLOCK_MONOTONIC: it has been in this call since then at the latest; 0: in none */
	uint64_t since;
	uint64_t at; /* when it was looked at */
	/* what the call waits for, as in struct fact_open */
	const char *op, *comm;
	const struct live_process *peer;
	int peer_rank, tag, context;
	uint64_t sequence;
	const char *sequence_by;
	const char *step, *step_reason;
	uint64_t bytes, moved;
};

/* The tracer's half of an interval. */
struct live_tracer {
	uint64_t from, to; /* ns, CLOCK_MONOTONIC */
	uint64_t real; /* ns, CLOCK_REALTIME at to */
	uint64_t watched; /* ns of it with all probes in place: rates are of that time */
	bool away; /* a budget has taken them away for a part of the interval */
	double budget; /* a share; 0: none */
	double paid; /* what the thread that paid most did for the tracer, a share; NAN unknown */
	double cpu; /* CPUs that the tracer used; NAN unknown */
	uint64_t memory; /* resident bytes; 0 unknown */
	uint64_t hits; /* of probes, in the interval */
	double trap_ns; /* that a hit costs besides the programs; NAN unknown */
	double program_ns; /* in BPF programs per hit; NAN unknown */
	uint64_t lost; /* records of objects and processes, since the view began */
	uint64_t missed; /* processes that mapped UCX and ended before a look, likewise */
};

struct live;

struct live *live_new(void);
void live_free(struct live *live);

/*
 * Begins the next interval; then the facts of its analysis go to live_sink(); then live_end(). An
 * interval in which nothing with UCX ran or ended has no facts: totals are NULL.
 */
void live_begin(struct live *live, const struct live_tracer *tracer);
struct fact_sink live_sink(struct live *live);
void live_end(struct live *live, const struct fact_totals *totals);

/*
 * For views that are left on: frees texts that no row has any more, once they are many, and forgets
 * places of calls. Texts of the view that the caller has are gone.
 */
void live_forget(struct live *live);

/* How many texts the view has. */
size_t live_texts(const struct live *live);

/* Adds sums to others. */
void live_add(struct live_sums *to, const struct live_sums *sums);

/* A number per second of the watched time; NAN: nothing was watched. */
double live_rate(const struct live_tracer *tracer, uint64_t amount);

/*
 * Whether rates are lower bounds: a part of the interval was not watched, in which a job that
 * mainly communicates is faster than under probes.
 */
bool live_rates_least(const struct live_tracer *tracer);

/* How long the thread had been in its call, at least, when it was looked at; ns. */
uint64_t live_age(const struct live_thread *thread);

/* CPUs that traps of probes, and the programs behind them, took of the job; NAN: unknown. */
double live_trap_cpus(const struct live_tracer *tracer);
double live_program_cpus(const struct live_tracer *tracer);

/* How many of the last looks (64 at most) are in a mask: popcount. */
unsigned int live_looks(uint64_t mask);

/* ---- after live_end(), until the next live_begin() ---- */

const struct live_tracer *live_tracer(const struct live *live);
/* Intervals so far. */
uint64_t live_count(const struct live *live);
/* CLOCK_MONOTONIC at the begin of the first one, ns. */
uint64_t live_began(const struct live *live);

size_t live_processes(const struct live *live, struct live_process *const **all);
size_t live_paths(const struct live *live, const struct live_path **all);
size_t live_functions(const struct live *live, const struct live_function **all);
size_t live_errors(const struct live *live, const struct live_error **all);
size_t live_threads(const struct live *live, const struct live_thread **all);
size_t live_sites(const struct live *live, const struct live_site **all);

/* Calls, operations and transfers of no known process, since the view began: in no row. */
uint64_t live_unattributed(const struct live *live);

/* Notes of the analysis about this interval: what its numbers lack, FACT_MAX_REASONS rows. */
const struct fact_reason *live_notes(const struct live *live);

#endif
