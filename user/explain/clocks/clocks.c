// SPDX-License-Identifier: BSD-3-Clause
#include "explain/clocks/clocks.h"

#include <math.h>
#include <string.h>

#include "base/order.h"

/* Clocks of working machines differ less than this: Linux slews by at most 500 ppm. */
#define MOST_DRIFT 1e-3
#define STEPS 200 /* steps of a search that keeps two thirds each time */

void clocks_release(struct clocks *clocks)
{
	vec_release(&clocks->list);
	map_release(&clocks->index);
}

static void keep_tighter(struct clock_bounds *bounds, struct clock_point point)
{
	struct clock_point *own = &bounds->points[(point.at >> bounds->shift) % CLOCKS_POINTS];

	if (!own->at || point.apart < own->apart ||
	    (point.apart == own->apart && point.at < own->at))
		*own = point;
}

/* Makes room for the stretches from the first to the last time. */
static void widen(struct clock_bounds *bounds)
{
	struct clock_point points[CLOCKS_POINTS];
	unsigned int shift = bounds->shift;

	while ((bounds->last >> shift) - (bounds->first >> shift) >= CLOCKS_POINTS)
		shift++;
	if (shift == bounds->shift)
		return;
	bounds->shift = shift;
	memcpy(points, bounds->points, sizeof(points));
	memset(bounds->points, 0, sizeof(points));
	for (size_t i = 0; i < CLOCKS_POINTS; i++)
		if (points[i].at)
			keep_tighter(bounds, points[i]);
}

static void add_point(struct clock_bounds *bounds, struct clock_point point)
{
	if (!bounds->messages++)
		bounds->first = bounds->last = point.at;
	if (point.at < bounds->first)
		bounds->first = point.at;
	if (point.at > bounds->last)
		bounds->last = point.at;
	widen(bounds);
	keep_tighter(bounds, point);
}

static struct clock_pair *pair_at(struct clocks *clocks, int host, int other)
{
	uint64_t *at = map_insert(&clocks->index, host, other, NULL);

	if (!*at) {
		vec_push(&clocks->list, ((struct clock_pair){ .host = host, .other = other }));
		*at = clocks->list.len;
	}
	return &clocks->list.data[*at - 1];
}

void clocks_add(struct clocks *clocks, int src, int dst, uint64_t sent, uint64_t arrived)
{
	const int64_t apart = (int64_t)(arrived - sent);

	if (src < 0 || dst < 0 || src == dst || !sent || !arrived)
		return;
	if (src < dst)
		add_point(&pair_at(clocks, src, dst)->there, (struct clock_point){ sent, apart });
	else
		add_point(&pair_at(clocks, dst, src)->back, (struct clock_point){ arrived, apart });
}

/* ---- clocks that satisfy all bounds ---- */

/*
 * A bound at a time, both relative to the origin of the estimate, where doubles are exact enough.
 */
struct bound {
	double x, y;
};

struct bounds {
	struct bound list[CLOCKS_POINTS];
	size_t count;
};

static struct bounds bounds_of(const struct clock_bounds *from, int sign, uint64_t at, int64_t zero)
{
	struct bounds bounds = { .count = 0 };

	for (size_t i = 0; i < CLOCKS_POINTS; i++) {
		const struct clock_point *point = &from->points[i];

		if (point->at)
			bounds.list[bounds.count++] = (struct bound){
				(double)(int64_t)(point->at - at),
				(double)(sign * point->apart - zero),
			};
	}
	return bounds;
}

struct rate_range {
	double least, most;
};

/* The range of rates for which a line fits between the upper and lower bounds. */
static struct rate_range rates(const struct bounds *upper, const struct bounds *lower)
{
	struct rate_range range = { -MOST_DRIFT, MOST_DRIFT };

	for (size_t i = 0; i < upper->count; i++) {
		for (size_t k = 0; k < lower->count; k++) {
			double x = upper->list[i].x - lower->list[k].x;
			double y = upper->list[i].y - lower->list[k].y;

			if (x > 0)
				range.most = fmin(range.most, y / x);
			else if (x < 0)
				range.least = fmax(range.least, y / x);
			else if (y < 0)
				return (struct rate_range){ 1, -1 };
		}
	}
	return range;
}

/* The greatest offset at x = 0 of a line with that rate below all upper bounds. */
static double height(const struct bounds *upper, double rate)
{
	double least = INFINITY;

	for (size_t i = 0; i < upper->count; i++)
		least = fmin(least, upper->list[i].y - rate * upper->list[i].x);
	return least;
}

/* The maximum over all rates: the offset is concave in the rate. */
static double highest(const struct bounds *upper, struct rate_range rates)
{
	for (int i = 0; i < STEPS; i++) {
		double third = (rates.most - rates.least) / 3;

		if (height(upper, rates.least + third) < height(upper, rates.most - third))
			rates.least += third;
		else
			rates.most -= third;
	}
	return height(upper, (rates.least + rates.most) / 2);
}

/* A lower bound is a mirrored upper bound. */
static double lowest(const struct bounds *lower, struct rate_range rates)
{
	struct bounds upper = *lower;

	for (size_t i = 0; i < upper.count; i++)
		upper.list[i].y = -upper.list[i].y;
	return -highest(&upper, (struct rate_range){ -rates.most, -rates.least });
}

/* Any start near the result works. */
static int64_t some_apart(const struct clock_bounds *bounds)
{
	size_t i = 0;

	while (!bounds->points[i].at)
		i++;
	return bounds->points[i].apart;
}

struct clock_estimate clocks_solve(const struct clock_pair *pair)
{
	const struct clock_bounds *there = &pair->there, *back = &pair->back;
	struct clock_estimate estimate = { .reason = "messages went one way alone" };
	struct bounds upper, lower;
	struct rate_range drift, offset;
	uint64_t first;
	int64_t zero;

	if (!there->messages || !back->messages)
		return estimate;
	first = order_earlier(there->first, back->first);
	estimate.at = first + (order_later(there->last, back->last) - first) / 2;
	zero = some_apart(there);
	upper = bounds_of(there, 1, estimate.at, zero);
	lower = bounds_of(back, -1, estimate.at, zero);
	drift = rates(&upper, &lower);
	estimate.reason = "no two clocks of constant rates fit: one of them was set";
	if (drift.least > drift.most)
		return estimate;
	offset = (struct rate_range){ lowest(&lower, drift), highest(&upper, drift) };
	estimate.reason = NULL;
	estimate.offset = zero + llround((offset.least + offset.most) / 2);
	/* and the rounding error */
	estimate.offset_uncertainty = llround((offset.most - offset.least) / 2) + 2;
	estimate.drift = llround((drift.least + drift.most) / 2 * 1e9);
	estimate.drift_uncertainty = llround((drift.most - drift.least) / 2 * 1e9) + 2;
	return estimate;
}

static int by_hosts(const void *left, const void *right)
{
	const struct clock_pair *a = left, *b = right;

	return a->host != b->host ? a->host - b->host : a->other - b->other;
}

void clocks_order(struct clocks *clocks)
{
	if (clocks->list.len)
		qsort(clocks->list.data, clocks->list.len, sizeof(struct clock_pair), by_hosts);
	map_release(&clocks->index);
}
