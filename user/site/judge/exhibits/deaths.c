// SPDX-License-Identifier: BSD-3-Clause
/*
 * Who died first. Open MPI 4.1 gives ranks two milliseconds between SIGTERM and SIGKILL, so that
 * some that it ends cannot write so; but it waits for a second before that, which the one that died
 * has not.
 */

#include "site/judge/exhibits/deaths.h"

/* Of each host and job: when the first rank ended that no signal ended. */
static void find_first_ends(const struct exhibits *exhibits, struct map *first)
{
	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];
		bool fresh;
		uint64_t *at;

		if (!member->ended_at || member->exit_signal || member->fact.rank < 0)
			continue;
		at = map_insert(first, map_text(member->fact.host_id), map_text(member->fact.job),
				&fresh);
		*at = fresh || member->ended_at < *at ? member->ended_at : *at;
	}
}

void deaths_compare(struct exhibits *exhibits)
{
	struct map first = { 0 };

	find_first_ends(exhibits, &first);
	for (size_t i = 0; i < exhibits->members.len; i++) {
		struct member *member = &exhibits->members.data[i];
		const uint64_t *at = map_find(&first, map_text(member->fact.host_id),
					      map_text(member->fact.job));

		if (at && member->ended_at && member->exit_signal && *at > member->ended_at)
			member->outlived_ns = *at - member->ended_at;
	}
	map_release(&first);
}
