// SPDX-License-Identifier: BSD-3-Clause
/* What each process uses: how many queue pairs, PATH-09; UCX at all, PATH-11. */
#include <string.h>

#include "site/judge/rules/rules.h"

#define MOST_PEERS 0 /* setting of PATH-09 */

/* Peers that each process reached over rc; it keeps a queue pair for each. */
static void rc_peers(const struct exhibits *exhibits, struct map *counts)
{
	struct map seen = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		bool fresh;

		if (!cell->transport || strncmp(cell->transport, "rc", 2))
			continue;
		map_insert(&seen, (uint32_t)cell->process, (uint32_t)cell->peer, &fresh);
		if (fresh)
			++*map_insert(counts, (uint32_t)cell->process, 0, NULL);
	}
	map_release(&seen);
}

void rule_scale(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;
	struct map counts = { 0 };

	rc_peers(exhibits, &counts);
	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct node *node = exhibits_node(exhibits, i);
		const uint64_t *count = map_find(&counts, (uint32_t)i, 0);
		size_t peers = count ? *count : 0;
		struct finding *finding;

		if (!peers || !node)
			continue;
		finding = found(trial,
				peers > trial->setting->number[MOST_PEERS] ? VERDICT_FAIL
									   : VERDICT_PASS,
				process_text(trial, i));
		finding->count = peers;
		finding->expected = "dc beyond the limit of endpoints";
		finding->seen = say(trial->judge, "rc to %zu peer%s", peers, peers == 1 ? "" : "s");
	}
	map_release(&counts);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "rc was not used");
}

void rule_ucx_in_use(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;

	if (level_missing(exhibits, LEVEL_UCP)) {
		found_nothing(trial, VERDICT_SKIP, "operations were not traced (--level)");
		return;
	}
	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];
		const struct node *node = exhibits_node(exhibits, i);
		bool alone = member->fact.size == 1; /* calls that have nothing to send */
		bool fails = member->data_calls && !member->ops;
		struct finding *finding;
		bool unseen;

		if (!member->known || !node || (!member->data_calls && !member->ops) ||
		    (fails && alone))
			continue;
		/* its operations may not have been recorded */
		unseen = fails && losses_has(&trial->judge->losses, node->name);
		finding = found(trial,
				unseen  ? VERDICT_UNKNOWN
				: fails ? VERDICT_FAIL
					: VERDICT_PASS,
				process_text(trial, i));
		if (unseen)
			finding->why = say(trial->judge, "something of %s is missing (COV-01)",
					   node->name);
		finding->count = fails ? member->data_calls : member->ops;
		finding->expected = "UCP operations below MPI's calls";
		if (fails)
			finding->seen = say(trial->judge, "%lu calls, no operation",
					    (unsigned long)member->data_calls);
	}
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "no process called MPI");
}
