// SPDX-License-Identifier: BSD-3-Clause
/* Through which memory messages go: of PATH-01, 'staging' and 'dst_copy'. */
#include <string.h>

#include "judge/rules.h"

/* The words of SUM_WAY. */
enum { SRC_MEM, DST_MEM, CHAIN, VIA, REASON };

/* What a line says of ways, and how much of what fits it goes so. */
struct inquiry {
	const struct policy_expect *expect;
	struct tallies known; /* the wrong ones, of those whose way is known */
	struct tallies unknown; /* those whose way is not, of all */
};

static struct cell cell_of_way(const struct exhibits *exhibits, const struct sum *way)
{
	const struct node *from = exhibits_node(exhibits, way->process);
	const struct node *to = exhibits_node(exhibits, way->peer);
	enum fact_locality locality = LOCALITY_UNKNOWN;

	if (way->process == way->peer)
		locality = LOCALITY_SELF;
	else if (from && to)
		locality = from == to ? LOCALITY_NODE : LOCALITY_REMOTE;
	return (struct cell){
		.process = way->process,
		.peer = way->peer,
		.src_mem = way->words[SRC_MEM],
		.dst_mem = way->words[DST_MEM],
		.locality = locality,
		.size_class = way->size_class,
	};
}

static bool begins(const char *at, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(at, word, length) && (!at[length] || at[length] == ',');
}

/* Host memory between both buffers: "gpu0,host,gpu1". */
static bool staged(const char *chain)
{
	for (const char *at = strchr(chain, ','); at && strchr(at + 1, ',');
	     at = strchr(at + 1, ','))
		if (begins(at + 1, "host") || begins(at + 1, "pinned"))
			return true;
	return false;
}

/* What brought it into the receiver's buffer, of several hops. */
static bool copied_by(const char *via, const char *transport)
{
	const char *last = strrchr(via, ',');

	return last && !strcmp(last + 1, transport);
}

static bool as_expected(const struct policy_expect *expect, const struct sum *way)
{
	if (expect->staging != STAGING_ANY &&
	    staged(way->words[CHAIN]) != (expect->staging == STAGING_HOST))
		return false;
	return !expect->dst_copy || copied_by(way->words[VIA], expect->dst_copy);
}

static struct tally *tally_of(const struct trial *trial, struct tallies *tallies,
			      const struct cell *cell)
{
	const struct node *from = exhibits_node(trial->exhibits, cell->process);
	const struct node *to = exhibits_node(trial->exhibits, cell->peer);

	if (cell_inter(cell))
		return tally_pair(trial, tallies, from, to);
	return tally_node(trial, tallies, from ? from : to);
}

static void count(struct tally *tally, const struct sum *way, bool wrong, const char *seen)
{
	tally->all_count += way->count;
	tally->all_bytes += way->bytes;
	if (!wrong)
		return;
	tally->count += way->count;
	tally->bytes += way->bytes;
	if (!tally->seen)
		tally->seen = seen;
}

static void add(const struct trial *trial, struct inquiry *inquiry, const struct sum *way,
		const struct cell *cell)
{
	bool known = way->words[CHAIN];
	bool wrong = known && !as_expected(inquiry->expect, way);
	const char *seen = NULL;

	if (wrong)
		seen = say(trial->judge, "%s over %s", way->words[CHAIN], way->words[VIA]);
	count(tally_of(trial, &inquiry->unknown, cell), way, !known, way->words[REASON]);
	count(tally_of(trial, &inquiry->known, cell), way, wrong, seen);
}

static const char *expect_text(const struct trial *trial, const struct policy_expect *expect)
{
	const char *copy = expect->dst_copy
				   ? say(trial->judge, "copied to the receiver's buffer by %s",
					 expect->dst_copy)
				   : NULL;
	const char *staging = expect->staging == STAGING_NONE ? "no host memory between the buffers"
			      : expect->staging == STAGING_HOST ? "staged through host memory"
								: NULL;

	return say(trial->judge, "%s%s%s (line %d)", staging ? staging : "",
		   staging && copy ? ", " : "", copy ? copy : "", expect->line);
}

/* Of what is not known too much may have gone another way. */
static void doubt(const struct trial *trial, const struct inquiry *inquiry, size_t before,
		  double allowed)
{
	for (size_t i = 0; i < inquiry->unknown.list.len; i++) {
		const struct tally *tally = &inquiry->unknown.list.data[i];
		struct finding *finding = &trial->judge->findings.data[before + i];

		if (finding->verdict != VERDICT_PASS || !tally->count ||
		    tally_share(tally) <= allowed)
			continue;
		finding->verdict = VERDICT_UNKNOWN;
		finding->why = say(trial->judge, "the way of %lu B of %lu is not known: %s",
				   (unsigned long)tally->bytes, (unsigned long)tally->all_bytes,
				   tally->seen);
	}
}

void judge_ways(const struct trial *trial, const struct policy_expect *expect)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;
	struct inquiry inquiry = { .expect = expect };

	for (size_t i = 0; i < exhibits->sums.list.len; i++) {
		const struct sum *way = &exhibits->sums.list.data[i];
		struct cell cell = cell_of_way(exhibits, way);

		if (way->kind == SUM_WAY && cell_placed(&cell) &&
		    expectation(exhibits, &cell) == expect)
			add(trial, &inquiry, way, &cell);
	}
	if (inquiry.known.list.len) {
		double allowed = 1 - expect->min_share;

		tallies_judge(trial, &inquiry.known, allowed, expect_text(trial, expect), NULL);
		doubt(trial, &inquiry, before, allowed);
	}
	tallies_release(&inquiry.unknown);
}
