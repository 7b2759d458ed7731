// SPDX-License-Identifier: BSD-3-Clause
/* How data is addressed on the fabric: FAB-01. */
#include <stdlib.h>
#include <string.h>

#include "site/judge/rules/tally.h"

#define MAX_LEVEL 15

/*
 * Which variables set a transport's service level, the one that counts first: a transport's table
 * has those of its kind within, and that of all InfiniBand (src/uct/ib, UCX 1.10 to 1.22).
 */
static const struct {
	const char *transport;
	const char *names[5];
} settings[] = {
	{ "rc_verbs", { "RC_VERBS_SL", "RC_SL", "IB_SL" } },
	{ "rc_mlx5", { "RC_MLX5_SL", "RC_SL", "IB_SL" } },
	{ "dc_mlx5", { "DC_MLX5_SL", "DC_SL", "RC_SL", "IB_SL" } },
	{ "ud_verbs", { "UD_VERBS_SL", "UD_SL", "IB_SL" } },
	{ "ud_mlx5", { "UD_MLX5_SL", "UD_SL", "IB_SL" } },
};

static const char *value_of(const struct member *member, const char *prefix, const char *name)
{
	for (size_t i = 0; i < member->environment.len; i++) {
		const char *own = member->environment.data[i].name;

		if (!strncmp(own, prefix, strlen(prefix)) && !strcmp(own + strlen(prefix), name))
			return member->environment.data[i].value;
	}
	return NULL;
}

/* Of the transport's variables the one that counts; NULL: none is set, or it is no InfiniBand. */
static const char *level_text(const struct member *member, const char *transport)
{
	bool open_mpi = member->fact.mpi && !strncmp(member->fact.mpi, "Open MPI", 8);
	const char *value = NULL;

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		const char *const *names = settings[i].names;

		if (strcmp(settings[i].transport, transport) != 0)
			continue;
		for (int k = 0; open_mpi && !value && names[k]; k++)
			value = value_of(member, "MPI_UCX_", names[k]);
		for (int k = 0; !value && names[k]; k++)
			value = value_of(member, "UCX_", names[k]);
	}
	return value;
}

static bool is_infiniband(const char *transport)
{
	for (size_t i = 0; transport && i < sizeof(settings) / sizeof(*settings); i++)
		if (!strcmp(settings[i].transport, transport))
			return true;
	return false;
}

/* -1: not told */
static int64_t level_of(const char *text)
{
	char *end;
	long level = text ? strtol(text, &end, 10) : -1;

	return !text || end == text || *end || level < 0 || level > MAX_LEVEL ? -1 : level;
}

struct levels {
	struct tallies wrong, unknown;
};

static void add(const struct trial *trial, struct levels *levels, const struct cell *cell,
		enum fits fits, int64_t expected)
{
	const struct member *member = &trial->exhibits->members.data[cell->process];
	const struct node *node = exhibits_node(trial->exhibits, cell->process);
	const char *text = level_text(member, cell->transport);
	int64_t level = level_of(text);
	struct tally *tally = tally_node(trial, &levels->wrong, node);
	bool wrong = level >= 0 && level != expected;

	tally_fits(tally, cell, fits, wrong);
	if (fits == FITS && wrong && !tally->seen)
		tally->seen =
			say(trial->judge, "service level %ld for %s", (long)level, cell->transport);
	tally = tally_node(trial, &levels->unknown, node);
	tally_fits(tally, cell, fits, level < 0);
	if (level < 0 && !tally->seen)
		tally->seen = member->fact.environment_cut < 0
				      ? "the variables of its processes are not known"
			      : text ? say(trial->judge, "UCX_IB_SL is '%s'", text)
				     : "UCX_IB_SL is not set: UCX chooses";
}

static void doubt(const struct trial *trial, const struct levels *levels, size_t before)
{
	for (size_t i = 0; i < levels->unknown.list.len; i++) {
		struct finding *finding = &trial->judge->findings.data[before + i];
		const struct tally *unknown = &levels->unknown.list.data[i];

		if (finding->verdict != VERDICT_PASS || !(unknown->count + unknown->maybe.count))
			continue;
		finding->verdict = VERDICT_UNKNOWN;
		finding->why = unknown->seen;
	}
}

/* By what the sender was set to: a queue pair's data goes on the level of its own end. */
static void judge_line(const struct trial *trial, const struct policy_expect *expect)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;
	struct levels levels = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		enum fits fits = expectation_fits(exhibits, cell, expect);

		if (fits != FITS_NOT && is_infiniband(cell->transport) &&
		    exhibits_node(exhibits, cell->process))
			add(trial, &levels, cell, fits, expect->sl);
	}
	if (levels.wrong.list.len) {
		tallies_judge(trial, &levels.wrong, 1 - expect->min_share,
			      say(trial->judge, "service level %ld (line %d)", (long)expect->sl,
				  expect->line),
			      NULL);
		doubt(trial, &levels, before);
	}
	tallies_release(&levels.unknown);
}

void rule_service_level(const struct trial *trial)
{
	const struct policy *policy = trial->judge->policy;
	size_t before = trial->judge->findings.len;

	for (size_t i = 0; i < policy->expect.len; i++)
		if (policy->expect.data[i].sl >= 0)
			judge_line(trial, &policy->expect.data[i]);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP,
			      "no line under 'expect' with 'sl' fits what went over InfiniBand");
}
