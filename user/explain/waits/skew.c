// SPDX-License-Identifier: BSD-3-Clause
/*
 * Times of one host on another's clock, by what the messages up to now tell. Each message bounds
 * the offset for certain, so an early estimate is wide and never wrong (clocks.h).
 */
#include "explain/waits/internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* The estimate is made anew once there are this many messages more, in percent, and at least. */
#define MORE_PERCENT 25
#define MORE_LEAST 4

static const struct clock_pair *pair_of(const struct waits *waits, int host, int other)
{
	const uint64_t *at = map_find(&waits->clocks.index, (uint64_t)host, (uint64_t)other);

	return at ? &waits->clocks.list.data[*at - 1] : NULL;
}

/* NULL: no message went between them. */
static const struct skew *skew_of(struct waits *waits, int host, int other)
{
	const struct clock_pair *pair = pair_of(waits, host, other);
	uint64_t messages, *at;
	struct skew *skew;

	if (!pair)
		return NULL;
	at = map_insert(&waits->skews, (uint64_t)host, (uint64_t)other, NULL);
	if (!*at)
		*at = (uintptr_t)xcalloc(1, sizeof(struct skew));
	skew = (struct skew *)(uintptr_t)*at;
	messages = pair->there.messages + pair->back.messages;
	if (skew->messages &&
	    messages < skew->messages + MORE_LEAST + skew->messages * MORE_PERCENT / 100)
		return skew;
	skew->messages = messages;
	skew->estimate = clocks_solve(pair);
	return skew;
}

/* How far the other clock has drifted since the estimate, ns. */
static double ahead(const struct clock_estimate *estimate, uint64_t ns, double *uncertainty)
{
	const double apart = (double)(int64_t)(ns - estimate->at) / 1e9;

	*uncertainty = (double)estimate->offset_uncertainty +
		       fabs(apart) * (double)estimate->drift_uncertainty;
	return (double)estimate->drift * apart;
}

struct instant skew_time(struct waits *waits, int host, uint64_t ns, int on)
{
	const int first = host < on ? host : on, other = host < on ? on : host;
	const struct skew *skew;
	uint64_t at = ns;
	double drift, uncertainty;
	int64_t offset;

	if (host == on)
		return (struct instant){ true, ns, 0 };
	skew = skew_of(waits, first, other);
	if (!skew || skew->estimate.reason)
		return (struct instant){ 0 };
	if (host == other)
		at = ns - (uint64_t)skew->estimate.offset;
	drift = ahead(&skew->estimate, at, &uncertainty);
	offset = skew->estimate.offset + llround(drift);
	return (struct instant){ true,
				 host == first ? ns + (uint64_t)offset : ns - (uint64_t)offset,
				 (uint64_t)llround(uncertainty) };
}

void skews_release(struct waits *waits)
{
	const struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&waits->skews, &pos)))
		free((void *)(uintptr_t)slot->value);
	map_release(&waits->skews);
	clocks_release(&waits->clocks);
}
