/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plan of a sweep: which rank sends what to which rank in which round (docs/sweep-files.md).
 * Partners are computed from the order of the nodes (the circle method: all pairs once in n - 1
 * rounds), so that a plan of thousands of nodes stays small. The traffic program carries it out,
 * the judge looks for it in ledgers and captures: both call plan_steps().
 */
#ifndef UCXBPF_PLAN_PLAN_H
#define UCXBPF_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"

#define PLAN_SCHEMA "ucxbpf.plan/1"
#define PLAN_IDLE (-1)
#define PLAN_WHY 256
#define PLAN_MAX_NODES 65536
#define PLAN_MAX_RANKS 64
/* Seconds that a timed-out rank waits so that its peers can log their positions. */
#define PLAN_GRACE_S 8
#define PLAN_WAVES 2 /* each node is in one part of each */

enum plan_op {
	PLAN_P2P,
	PLAN_BIDIRECTIONAL,
	PLAN_PERSISTENT,
	PLAN_ALLTOALL,
	PLAN_ALLREDUCE,
	PLAN_OPS
};
enum plan_memory { PLAN_HOST, PLAN_CUDA, PLAN_MEMORIES };
enum plan_stage_kind {
	STAGE_INTRA,
	STAGE_PATH,
	STAGE_TIME,
	STAGE_CONFIRM,
	STAGE_COLLECTIVE,
	STAGES
};
enum plan_pairing {
	PAIRING_LOCAL, /* the ranks of each node among themselves */
	PAIRING_CIRCLE, /* rounds of the circle method */
	PAIRING_LIST, /* as written */
	PAIRINGS
};

extern const char *const plan_op_names[PLAN_OPS]; /* "p2p", "bidirectional"... */
extern const char *const plan_memory_names[PLAN_MEMORIES]; /* "host", "cuda" */

/*
 * Why the traffic is ended early: the sweep writes that word into the file that ranks waited for
 * before they began, and they log it.
 */
enum plan_ender { PLAN_BY_SOMEBODY, PLAN_BY_LIMIT, PLAN_BY_INTERRUPT, PLAN_ENDERS };

extern const char *const plan_ender_names[PLAN_ENDERS];
extern const char *const plan_stage_names[STAGES]; /* "intra", "path", "time"... */

/* Index of a name in one of these tables of count names, -1: not found. */
int plan_name(const char *const *names, int count, const char *name);

/*
 * A message that is sent count times, by each direction of each pair; the first one is not timed.
 */
struct plan_work {
	enum plan_op op;
	enum plan_memory src_mem, dst_mem;
	uint64_t size; /* bytes; of an alltoall, to each rank */
	uint32_t count;
};

struct plan_class {
	char *name;
	int gpus;
	double nic_rate; /* bit/s, of one NIC; 0: not given */
};

struct plan_node {
	char *name;
	int class;
	int leaf; /* of switches; -1: unknown */
};

struct plan_switch {
	char *name;
	int parent; /* -1: at the top */
	double uplink; /* bit/s to it; 0: not given */
};

struct plan_stage {
	enum plan_stage_kind kind;
	enum plan_pairing pairing;
	uint32_t rounds;
	bool all_subs; /* GPU i meets all others, not only GPU i */
	VEC(uint32_t) circle; /* of PAIRING_CIRCLE: which of its rounds */
	VEC(int32_t) partners; /* of PAIRING_LIST: rounds x nodes */
	uint32_t own; /* rounds of the first wave, which come first; of a plan in parts */
	VEC(struct plan_work) works;
};

struct plan {
	char *site; /* NULL: not given */
	char policy[65]; /* SHA-256 of its normal form */
	char id[17]; /* hash of the plan's text; ledgers repeat it */
	char base[17]; /* of the plan without its confirming stage, carried out before */
	uint64_t seed;
	int ranks; /* per node, on every node */
	VEC(struct plan_class) classes;
	VEC(struct plan_node) nodes; /* by name */
	VEC(struct plan_switch) switches;
	VEC(struct plan_stage) stages;
	VEC(uint32_t) parts; /* PLAN_WAVES x nodes: the chunk of each; empty: there is only one */
	VEC(uint32_t) order, place; /* node at a position of the circle; the other way round */
};

void plan_free(struct plan *plan);

/* Index of a node, -1: the plan has no node with that name. */
int plan_node(const struct plan *plan, const char *name);

/* NULL: the plan has no stage of that kind. */
const struct plan_stage *plan_stage(const struct plan *plan, enum plan_stage_kind kind);

/*
 * The partner of a node in a round; itself in a stage within nodes; PLAN_IDLE: none. The relation
 * is symmetric.
 */
int plan_partner(const struct plan *plan, const struct plan_stage *stage, uint32_t round, int node);

/*
 * A plan may be carried out in parts, each by a job of its own: those of the first wave are
 * chunks of nodes, those of the second one have nodes of several chunks. Parts are numbered through
 * both. Every round is of one wave, and in it each part's nodes meet among themselves. A plan that
 * is not divided is one part, 0.
 */
size_t plan_parts(const struct plan *plan);
uint32_t plan_part_in(const struct plan *plan, size_t wave, int node);
uint32_t plan_part(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
		   int node);
bool plan_has(const struct plan *plan, uint32_t part, int node);

/* Whether the round is of that part's wave; the confirming stage belongs to no part. */
bool plan_round_of(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
		   uint32_t part);

/* Number of a node's ranks that pair off with another node's: its GPUs, or one. */
int plan_lanes(const struct plan *plan, int node, int other);

/* The next step of one rank: its own end of count messages. */
struct plan_step {
	const struct plan_work *work;
	uint32_t sub; /* GPU i with (i + sub) */
	int src, src_local, dst, dst_local; /* nodes, and ranks among those of the node */
	bool sends; /* else it receives; of a bidirectional one, both sides send */
	bool world; /* a collective of all ranks: src is this rank, dst -1 */
};

typedef VEC(struct plan_step) plan_steps_t;

/* All steps of a node's rank in a round, in order: both ends get the same order. */
void plan_steps(const struct plan *plan, const struct plan_stage *stage, uint32_t round, int node,
		int local, plan_steps_t *steps);

/* Switches between two nodes, counted as levels: 0 the node itself, 1 the same switch; -1 unknown.
 */
int plan_distance(const struct plan *plan, int a, int b);

/* bit/s, of a NIC with unknown rate: slow for a cluster, so that time is overestimated. */
#define PLAN_UNKNOWN_RATE 10e9

/*
 * Estimated seconds, all nodes busy at once. Each round takes as long as it would if nodes of the
 * two classes that take the longest met in it. rate: bit/s of one NIC, for classes without a rate;
 * 0: not known.
 */
double plan_seconds(const struct plan *plan, double rate);

/* ---- json.c ---- */

/* As text; the caller frees it. */
char *plan_json(const struct plan *plan);

/* Likewise, and sets plan->id. */
char *plan_text(struct plan *plan);

/* Returns 0 or -errno of a failed write. */
int plan_write(struct plan *plan, FILE *out);

/* -EINVAL: not a plan, or a damaged one (why); else 0 or -errno. */
int plan_read(const char *path, struct plan **plan, char why[PLAN_WHY]);
int plan_parse(const char *text, size_t length, struct plan **plan, char why[PLAN_WHY]);

#endif
