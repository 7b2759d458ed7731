// SPDX-License-Identifier: BSD-3-Clause
/* Rules about operations: what they wait for, whose memory they move, how they are divided. */
#include <math.h>
#include <string.h>

#include "judge/rules.h"

#define FIRST 0
#define SECOND 1

static const struct node *node_of(const struct trial *trial, const struct sum *sum)
{
	return exhibits_node(trial->exhibits, sum->process);
}

static const char *or_unknown(const char *word)
{
	return word ? word : "?";
}

static const char *rank_text(const struct trial *trial, int process)
{
	const struct exhibits *exhibits = trial->exhibits;
	const struct node *node = exhibits_node(exhibits, process);
	const struct member *member = node ? &exhibits->members.data[process] : NULL;

	if (!member)
		return NULL;
	return member->fact.rank < 0
		       ? say(trial->judge, "%s:pid%u", node->name, member->fact.pid)
		       : say(trial->judge, "%s:rank%d", node->name, member->fact.rank);
}

/* What a rule counts of a node: sums of one kind, some of them wrong. */
struct count {
	VEC(struct tally) nodes; /* by node */
};

static void count_init(struct count *count, const struct exhibits *exhibits)
{
	*count = (struct count){ 0 };
	for (size_t i = 0; i < exhibits->nodes.len; i++)
		vec_push(&count->nodes, (struct tally){ .subject = exhibits->nodes.data[i].name });
}

static struct tally *count_at(struct count *count, const struct exhibits *exhibits,
			      const struct node *node)
{
	return &count->nodes.data[node - exhibits->nodes.data];
}

static void add(struct tally *tally, const struct sum *sum, bool wrong)
{
	tally->all_count += sum->count;
	tally->all_bytes += sum->bytes;
	if (!wrong)
		return;
	tally->count += sum->count;
	tally->bytes += sum->bytes;
}

/* A finding of a node of which something was counted. */
static struct finding *found_count(const struct trial *trial, const struct tally *tally, bool fails,
				   const char *expected)
{
	struct finding *finding = found(trial, fails ? VERDICT_FAIL : VERDICT_PASS, tally->subject);

	finding->expected = expected;
	finding->count = fails ? tally->count : tally->all_count;
	finding->bytes = fails ? tally->bytes : tally->all_bytes;
	finding->seen = fails ? tally->seen : NULL;
	finding->share = tally_share(tally);
	return finding;
}

/* ---- COV-04: operations that never end ---- */

#define NS 1e9

void judge_open(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;

	for (size_t i = 0; i < exhibits->sums.list.len; i++) {
		const struct sum *sum = &exhibits->sums.list.data[i];
		const char *rank = rank_text(trial, sum->process);
		const char *peer = rank_text(trial, sum->peer);
		struct finding *finding;

		if (sum->kind != SUM_OPEN || !rank ||
		    sum->least < trial->setting->number[SECOND] * NS)
			continue;
		/* its end may be among what was lost */
		finding = found(trial, trial->judge->incomplete ? VERDICT_UNKNOWN : VERDICT_FAIL,
				rank);
		if (trial->judge->incomplete)
			finding->why = "it may have ended: records were lost (COV-01)";
		finding->count = sum->count;
		finding->bytes = sum->bytes;
		finding->expected = say(trial->judge, "no operation open for %g s",
					trial->setting->number[SECOND]);
		finding->seen =
			say(trial->judge,
			    "%s in %s%s%s: open for %.1f s, nothing else for the last %.1f s",
			    or_unknown(sum->words[0]), or_unknown(sum->words[1]),
			    peer ? ", other end " : "", peer ? peer : "", sum->most / NS,
			    sum->least / NS);
	}
}

/* ---- PATH-10 ---- */

/* GPU memory that UCX takes for the host's is read by the CPU, and the other way round. */
static bool mistaken(const char *memory, const char *taken_as)
{
	bool host = !strcmp(memory, "host") || !strcmp(memory, "pinned");

	return host ? strcmp(taken_as, "host") != 0 : !strcmp(taken_as, "host");
}

void rule_memory_type(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;
	struct count count;

	count_init(&count, exhibits);
	for (size_t i = 0; i < exhibits->sums.list.len; i++) {
		const struct sum *sum = &exhibits->sums.list.data[i];
		const struct node *node = node_of(trial, sum);
		struct tally *tally;
		bool wrong;

		if (sum->kind != SUM_TAKEN || !node || !sum->words[0] || !sum->words[1])
			continue;
		tally = count_at(&count, exhibits, node);
		wrong = mistaken(sum->words[0], sum->words[1]);
		add(tally, sum, wrong);
		if (wrong && !tally->seen)
			tally->seen = say(trial->judge, "%s (by %s) taken for %s, %s in %s",
					  sum->words[0], or_unknown(sum->words[4]), sum->words[1],
					  or_unknown(sum->words[2]),
					  sum->words[3] ? sum->words[3] : "no MPI call");
	}
	for (size_t i = 0; i < count.nodes.len; i++)
		if (count.nodes.data[i].all_count)
			found_count(trial, &count.nodes.data[i], count.nodes.data[i].count,
				    "what the GPU's library made, as UCX takes it");
	vec_release(&count.nodes);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP,
			      "of no buffer both are told: what it is, and what UCX took it for");
}

/* ---- PROTO-03 ---- */

static void judge_collectives(const struct trial *trial, struct tally *tally)
{
	if (tally->seen)
		tally->seen =
			say(trial->judge, "%lu B of host memory beside %lu B of GPU memory, in %s",
			    (unsigned long)tally->bytes,
			    (unsigned long)(tally->all_bytes - tally->bytes), tally->seen);
	found_count(trial, tally, tally_share(tally) > trial->setting->number[FIRST],
		    "a collective of GPU buffers moves GPU memory");
}

/*
 * A collective whose operations are of both memories: it has a GPU's buffer, and goes by the
 * host's. Where all are the host's, the program's own buffer may be, too: MPI's arguments are not
 * captured.
 */
void rule_collective_memory(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;
	struct count count;

	count_init(&count, exhibits);
	for (size_t i = 0; i < exhibits->sums.list.len; i++) {
		const struct sum *sum = &exhibits->sums.list.data[i];
		const struct node *node = node_of(trial, sum);
		struct tally *tally;

		if (sum->kind != SUM_COLLECTIVE || !node || !strcmp(sum->words[1], "host"))
			continue;
		tally = count_at(&count, exhibits, node);
		tally->all_count += sum->count;
		tally->all_bytes += sum->bytes;
		tally->bytes += sum->extra;
		tally->count += sum->extra ? sum->count : 0;
		if (sum->extra && !tally->seen)
			tally->seen = sum->words[0];
	}
	for (size_t i = 0; i < count.nodes.len; i++)
		if (count.nodes.data[i].all_count)
			judge_collectives(trial, &count.nodes.data[i]);
	vec_release(&count.nodes);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "no collective was seen to move GPU memory");
}

/* ---- RAIL-03 ---- */

static double over_mean(const struct tally *tally)
{
	return tally->all_bytes ? (double)tally->bytes / tally->all_bytes : 1;
}

void rule_fragments(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;
	struct count count;

	count_init(&count, exhibits);
	for (size_t i = 0; i < exhibits->sums.list.len; i++) {
		const struct sum *sum = &exhibits->sums.list.data[i];
		const struct node *node = node_of(trial, sum);
		double own = sum->bytes ? (double)sum->extra / sum->bytes : 1;
		struct tally *tally;

		if (sum->kind != SUM_SPREAD || !node)
			continue;
		tally = count_at(&count, exhibits, node);
		tally->all_count += sum->count;
		tally->all_bytes += sum->bytes;
		tally->bytes += sum->extra;
		if (own <= trial->setting->number[FIRST])
			continue;
		tally->count += sum->count;
		if (!tally->seen)
			tally->seen = say(trial->judge, "fragments over %s", sum->words[0]);
	}
	for (size_t i = 0; i < count.nodes.len; i++) {
		const struct tally *tally = &count.nodes.data[i];
		double ratio = over_mean(tally);
		struct finding *finding;

		if (!tally->all_count)
			continue;
		finding = found_count(
			trial, tally, ratio > trial->setting->number[FIRST],
			say(trial->judge, "max/mean at most %.2f", trial->setting->number[FIRST]));
		finding->bytes = tally->all_bytes;
		finding->share = NAN;
		if (finding->verdict == VERDICT_FAIL)
			finding->seen = say(trial->judge, "max/mean %.2f: %s", ratio,
					    or_unknown(tally->seen));
	}
	vec_release(&count.nodes);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "no message went over several devices");
}
