/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts of two nodes, two ranks each, for tests of rules: rank r is on node r / 2. */
#ifndef UCXBPF_JUDGE_BED_H
#define UCXBPF_JUDGE_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "findings.h"
#include "site/judge/judge.h"

#define RANKS 4
#define BED_CHAINS 16 /* as many messages of GPU memory at most, one after the other */
#define BED_VARIABLES 4

static const char *const node_names[] = { "n0", "n1" };

struct bed {
	struct policy *policy;
	struct judge *judge;
	struct fact_sink sink;
	struct fact_totals totals;
	struct fact_ucx ucx[RANKS][2];
	struct fact_variable variables[RANKS][BED_VARIABLES];
	int variable_count[RANKS], cut[RANKS]; /* cut -1: not known */
	const char *cpus[RANKS];
	uint64_t ops;
	char chains[BED_CHAINS][32];
};

/* What a test says of a transfer; what it leaves out is a host message over shared memory. */
struct moved {
	int from, to;
	const char *transport, *device, *op, *protocol, *src_mem, *dst_mem;
	uint64_t bytes, count;
	bool sums; /* fragments of messages of any size, as of --count */
};

static inline void bed_rank(struct bed *bed, int rank, int copies)
{
	const struct fact_process process = {
		.index = rank,
		.host = rank / 2,
		.host_id = node_names[rank / 2],
		.host_name = node_names[rank / 2],
		.pid = 100 + rank,
		.mpi = "Open MPI 4.1.4",
		.rank = rank,
		.size = RANKS,
		.from_start = true,
		.ucx = bed->ucx[rank],
		.ucx_count = copies,
		.environment = bed->variables[rank],
		.environment_count = bed->variable_count[rank],
		.environment_cut = bed->cut[rank],
		.cpus = bed->cpus[rank],
	};

	fact_put(&bed->sink, FACT_PROCESS, &process);
}

static inline void bed_begin(struct bed *bed, const char *policy)
{
	struct policy_errors errors = { 0 };

	*bed = (struct bed){ 0 };
	if (policy_parse(policy, strlen(policy), &bed->policy, &errors))
		fail_msg("line %d: %s", errors.list.data[0].line, errors.list.data[0].text);
	bed->judge = judge_new(bed->policy);
	bed->sink = judge_sink(bed->judge);
	for (int rank = 0; rank < RANKS; rank++) {
		for (int i = 0; i < 2; i++)
			bed->ucx[rank][i] = (struct fact_ucx){
				.path = i ? "/opt/lib/libucp.so.0" : "/usr/lib/libucp.so.0",
				.build_id = "b1",
				.version = "1.13.1",
			};
		bed->cut[rank] = -1;
		bed_rank(bed, rank, 1);
	}
}

/* One more variable of a rank, in order of name; NULL: it has none but those told of. */
static inline void bed_variable(struct bed *bed, int rank, const char *name, const char *value)
{
	bed->cut[rank] = 0;
	if (name)
		bed->variables[rank][bed->variable_count[rank]++] =
			(struct fact_variable){ rank, name, value };
	bed_rank(bed, rank, 1);
}

static inline void bed_cpus(struct bed *bed, int rank, const char *cpus)
{
	bed->cpus[rank] = cpus;
	bed_rank(bed, rank, 1);
}

static inline void bed_end(struct bed *bed)
{
	judge_free(bed->judge);
	policy_free(bed->policy);
}

static inline void bed_call(struct bed *bed, int rank, const char *function)
{
	fact_put(&bed->sink, FACT_CALL,
		 &(struct fact_call){ .process = rank, .function = function });
}

/* To process -1: to one that no capture is of. */
static inline enum fact_locality locality(const struct moved *moved)
{
	if (moved->to < 0)
		return LOCALITY_UNKNOWN;
	return moved->from / 2 == moved->to / 2 ? LOCALITY_NODE : LOCALITY_REMOTE;
}

/* "none": not known */
static inline const char *transport(const struct moved *moved)
{
	if (!moved->transport)
		return "posix";
	return strcmp(moved->transport, "none") ? moved->transport : NULL;
}

/*
 * Of a GPU's memory, messages tell their way: from one buffer to the other by the transport,
 * through host memory where that one cannot leave the node.
 */
static inline void bed_tell_way(struct bed *bed, const struct moved *moved)
{
	const char *src = moved->src_mem ? moved->src_mem : "host";
	const char *dst = moved->dst_mem ? moved->dst_mem : "host";
	char *chain = bed->chains[bed->ops % BED_CHAINS];
	bool staged = locality(moved) == LOCALITY_REMOTE && moved->transport &&
		      !strcmp(moved->transport, "cuda_copy");

	if (moved->to < 0 || (strncmp(src, "gpu", 3) && strncmp(dst, "gpu", 3)))
		return;
	snprintf(chain, sizeof(bed->chains[0]), "%s,%s%s", src, staged ? "host," : "", dst);
	fact_put(&bed->sink, FACT_MESSAGE,
		 &(struct fact_message){
			 .src = moved->from,
			 .dst = moved->to,
			 .bytes = moved->bytes,
			 .src_mem = src,
			 .dst_mem = dst,
			 .chain = chain,
			 .via = staged ? "cuda_copy,rc_mlx5" : transport(moved),
		 });
}

static inline void bed_move(struct bed *bed, const struct moved *moved)
{
	const char *op = moved->op ? moved->op : "am_zcopy";
	/* the receiver makes a transfer that fetches */
	int own = fact_fetches(op, transport(moved)) ? moved->to : moved->from;
	struct fact_op ucp = {
		.id = ++bed->ops,
		.process = own,
		.op = "tag_send",
		.bytes = moved->bytes,
	};
	struct fact_transfer transfer = {
		.caused_by = ucp.id,
		.process = own,
		.peer = own == moved->from ? moved->to : moved->from,
		.op = op,
		.fetches = fact_fetches(op, transport(moved)),
		.transport = transport(moved),
		.device = moved->device ? moved->device : "memory",
		.locality = locality(moved),
		.kind = KIND_DATA,
		.function = "MPI_Send",
		.protocol = moved->protocol,
		.src_mem = moved->src_mem ? moved->src_mem : "host",
		.dst_mem = moved->dst_mem ? moved->dst_mem : "host",
		.start = 1000,
		.bytes = moved->bytes,
		.wire_bytes = moved->bytes,
	};

	bed_call(bed, own, "MPI_Send");
	if (moved->sums) {
		const struct fact_sums sums = { .count = 1, .bytes = moved->bytes, .least = 8 };

		transfer.caused_by = 0;
		fact_put_sums(&bed->sink, FACT_TRANSFERS, &transfer, &sums);
		return;
	}
	bed_tell_way(bed, moved);
	/* either may come first */
	if (bed->ops % 2)
		fact_put(&bed->sink, FACT_OP, &ucp);
	for (uint64_t i = 0; i < (moved->count ? moved->count : 1); i++)
		fact_put(&bed->sink, FACT_TRANSFER, &transfer);
	if (bed->ops % 2 == 0)
		fact_put(&bed->sink, FACT_OP, &ucp);
}

static inline void bed_judge(struct bed *bed)
{
	judge_finish(bed->judge, &bed->totals, 20000);
}

static inline const struct finding *bed_finding(const struct bed *bed, const char *rule,
						const char *subject)
{
	return finding_of(bed->judge, rule, subject);
}

static inline void bed_expect(const struct bed *bed, const char *rule, const char *subject,
			      enum verdict verdict)
{
	const struct finding *finding = bed_finding(bed, rule, subject);

	rule_expected(rule, verdict);
	if (finding->verdict != verdict)
		fail_msg("%s of %s: %s (%s), not %s", rule, finding->subject.text,
			 verdict_words[finding->verdict].name,
			 finding->seen  ? finding->seen
			 : finding->why ? finding->why
					: "-",
			 verdict_words[verdict].name);
}

#endif
