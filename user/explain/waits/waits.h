/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wait states (docs/waits.md): which MPI calls waited, how long, for whom, and what that one did.
 * Takes results of attribution and matching in their order, and hands on each wait as soon as it is
 * known. The last TURNS calls of each thread are kept, operations that are under way, and a count
 * for each communicator handle of a process.
 *
 * Layers: turns.c; skew.c; tell.c; number.c; shown.c; instance.c, point.c; waits.c, which feeds the
 * others.
 */
#ifndef UCXBPF_WAITS_WAITS_H
#define UCXBPF_WAITS_WAITS_H

#include "explain/attribute/attribute.h"
#include "explain/facts/facts.h"
#include "explain/match/match.h"

struct waits;

struct waits_sink {
	void *arg;
	void (*wait)(void *arg, const struct fact_wait *wait);
	void (*collective)(void *arg, const struct fact_collective *collective);
	struct fact_reason *unknown; /* FACT_MAX_REASONS rows, filled at the end at the latest */
	struct fact_hidden *hidden; /* likewise */
	struct fact_joins *joins; /* likewise */
	/* whether calls of a capture may be missing, without a time until which they are */
	bool (*lacks_calls)(const struct capture *capture);
};

/* The sink is copied, the decoder outlives it. */
struct waits *waits_new(struct decoder *decoder, const struct waits_sink *sink);
void waits_free(struct waits *waits);

void waits_call_start(struct waits *waits, const struct call *call);
/* until: it was over by then, for certain; 0: not known. */
void waits_call(struct waits *waits, const struct call *call, uint64_t until);
void waits_op_start(struct waits *waits, const struct op *op);
/* Before its match is freed. */
void waits_op_done(struct waits *waits, const struct op *op);
void waits_transfer(struct waits *waits, const struct transfer *transfer);
/* As match_sink.joined. */
void waits_message(struct waits *waits, const struct message *message);

/*
 * From now on operations end because the captures do. A call that still waits for one stays open.
 */
void waits_ending(struct waits *waits);

/* The operation that an open call waits for, as far as its records show. */
struct awaited_state {
	uint64_t request; /* its address; 0: not known */
	uint64_t start;
	uint64_t bytes, moved; /* its payload, UINT64_MAX unknown; what transports took of it */
	bool own; /* the call made it, and returns only once it is done */
	bool receives;
	bool refused; /* nothing was sent, as there was no room */
	bool announced; /* its RTS was sent */
	bool matched; /* its other end is known, or an RTS has met it */
};

/*
 * Whether the last call of a thread had not returned when its process was last seen. Fills in *open
 * but for until and the step, and *state.
 */
bool waits_open(struct waits *waits, const struct call *call, struct fact_open *open,
		struct awaited_state *state);

/* Which collective operation a call is, as far as its own process tells. */
struct collective_identity {
	int context; /* as in struct fact_call */
	uint64_t sequence;
	const char *unnumbered; /* why a blocking collective has no sequence; NULL */
};

/* Before waits_call() of that call. */
struct collective_identity waits_identity(struct waits *waits, const struct call *call);

/* Number of blocking collectives of MPI_COMM_WORLD that a process has entered; 0: unknown. */
uint64_t waits_entered(struct waits *waits, const struct process *process);

/* Whether any call of a thread has come. */
bool waits_knows(struct waits *waits, const struct process *process, uint32_t tid);

/* Call once, after the last call is over: closes the collectives that are left. */
void waits_finish(struct waits *waits);

#endif
