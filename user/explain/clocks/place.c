// SPDX-License-Identifier: BSD-3-Clause
/*
 * Hosts on one clock: a tree of pairs whose offset is known, the most certain ones first, from the
 * lowest-numbered host of each group that messages join.
 */
#include "explain/clocks/clocks.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* The parent's clock less the child's, at a time of the child's. */
static struct clock_place step_from(const struct clock_pair *pair,
				    const struct clock_estimate *pair_is, int child)
{
	struct clock_place place = { .offset = pair_is->offset,
				     .at = pair_is->at,
				     .drift = pair_is->drift,
				     .uncertainty = pair_is->offset_uncertainty };

	if (child == pair->other) {
		place.at += (uint64_t)place.offset;
		place.offset = -place.offset;
		place.drift = -place.drift;
	}
	return place;
}

/* The offset when its own clock shows this time. */
static int64_t offset_at(const struct clock_place *place, uint64_t time)
{
	const double since = (double)(int64_t)(time - place->at);

	return place->offset + llround(since * (double)place->drift / 1e9);
}

int64_t clock_place_offset(const struct clock_place *place, bool known, int64_t by_day)
{
	const uint64_t apart = by_day > place->offset ? (uint64_t)by_day - (uint64_t)place->offset
						      : (uint64_t)place->offset - (uint64_t)by_day;

	return known && apart <= place->uncertainty ? by_day : place->offset;
}

/* The child joins its parent's group. */
static void join(struct clock_place *places, int parent, int child, struct clock_place place)
{
	place.offset += offset_at(&places[parent], place.at + (uint64_t)place.offset);
	place.drift += places[parent].drift;
	place.uncertainty += places[parent].uncertainty;
	place.reference = places[parent].reference;
	places[child] = place;
}

/* The host of a pair that is in the group while the other one is in none; -1: neither is. */
static int parent_in(const struct clock_pair *pair, int hosts, const bool *placed,
		     const struct clock_place *places, int reference)
{
	const int host = pair->host, other = pair->other;

	if (host >= hosts || other >= hosts)
		return -1;
	if (placed[host] && !placed[other] && places[host].reference == reference)
		return host;
	if (placed[other] && !placed[host] && places[other].reference == reference)
		return other;
	return -1;
}

/* Adds the host that is reached with most certainty. */
static bool grow(const struct clocks *clocks, const struct clock_estimate *estimates, int hosts,
		 bool *placed, struct clock_place *places, int reference)
{
	size_t best = clocks->list.len;
	int parent = -1, child;

	for (size_t i = 0; i < clocks->list.len; i++) {
		const int from = estimates[i].reason ? -1
						     : parent_in(&clocks->list.data[i], hosts,
								 placed, places, reference);

		if (from < 0 ||
		    (best < clocks->list.len &&
		     estimates[i].offset_uncertainty >= estimates[best].offset_uncertainty))
			continue;
		best = i;
		parent = from;
	}
	if (parent < 0)
		return false;
	child = clocks->list.data[best].host == parent ? clocks->list.data[best].other
						       : clocks->list.data[best].host;
	join(places, parent, child, step_from(&clocks->list.data[best], &estimates[best], child));
	placed[child] = true;
	return true;
}

void clocks_place(const struct clocks *clocks, size_t hosts, struct clock_place *places)
{
	struct clock_estimate *estimates = xcalloc(clocks->list.len + 1, sizeof(*estimates));
	bool *placed = xcalloc(hosts + 1, sizeof(*placed));

	for (size_t i = 0; i < clocks->list.len; i++)
		estimates[i] = clocks_solve(&clocks->list.data[i]);
	for (size_t i = 0; i < hosts; i++) {
		if (placed[i])
			continue;
		places[i] = (struct clock_place){ .reference = (int)i };
		placed[i] = true;
		while (grow(clocks, estimates, (int)hosts, placed, places, (int)i))
			;
	}
	free(estimates);
	free(placed);
}
