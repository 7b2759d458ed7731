// SPDX-License-Identifier: BSD-3-Clause
/* Patterns in which every member sends and receives in each step. */
#include "explain/pattern/internal.h"

static uint32_t partner(const struct view *view, uint32_t member, uint32_t step)
{
	return view_send(view, member, step)->to;
}

/* Bytes of one step, of all members that take part. */
static uint64_t step_bytes(const struct view *view, uint32_t step)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < view->members; i++)
		if (!view->parts[i].out)
			sum += view_send(view, i, step)->bytes;
	return sum;
}

/* Whether each member that takes part has so many steps. */
static bool all_have(const struct view *view, uint32_t steps)
{
	for (uint32_t i = 0; i < view->members; i++)
		if (!view->parts[i].out && view->parts[i].count != steps)
			return false;
	return true;
}

/* ---- rings ---- */

/* Whether the receivers of a step make one circle of all members. */
static bool is_circle(const struct view *view, uint32_t step)
{
	uint32_t at = 0, length = 0;

	do {
		at = partner(view, at, step);
		length++;
	} while (at && length < view->members);
	return !at && length == view->members;
}

/* Each member sends to one other alone, and receives from one other alone. */
static bool is_ring(const struct view *view)
{
	const uint32_t steps = view->parts[0].count;

	if (view->members < 3 || !steps || !all_have(view, steps))
		return false;
	for (uint32_t i = 0; i < view->members; i++)
		for (uint32_t k = 1; k < steps; k++)
			if (partner(view, i, k) != partner(view, i, 0) ||
			    view_post(view, i, k)->from != view_post(view, i, 0)->from)
				return false;
	return is_circle(view, 0);
}

/* Steps in which a block of each member goes round: once, or to be reduced and back. */
static uint32_t ring_steps(const struct view *view)
{
	if (view->kind == COLLECTIVE_BARRIER)
		return 2;
	return view->kind == COLLECTIVE_ALLREDUCE ? 2 * (view->members - 1) : view->members - 1;
}

bool fits_ring(struct view *view, unsigned int *rounds)
{
	*rounds = ring_steps(view);
	if (!part_all(view) || !is_ring(view))
		return false;
	/* a segmented one has several messages a step */
	view->in_parts = view->parts[0].count > *rounds;
	return view->kind == COLLECTIVE_ALLREDUCE ? view->parts[0].count >= *rounds
						  : view->parts[0].count == *rounds;
}

bool fits_scatter_ring(struct view *view, unsigned int *rounds)
{
	if (!part_tail(view, view->members - 1) || !is_ring(view) ||
	    !is_binomial_rest(view, true, rounds))
		return false;
	*rounds += view->members - 1;
	return true;
}

/* ---- hypercubes ---- */

/* Members exchange messages in pairs, in steps from first to last: a dimension of a cube each. */
static bool is_cube(const struct view *view, uint32_t first, uint32_t last)
{
	for (uint32_t i = 0; i < view->members; i++) {
		if (view->parts[i].out)
			continue;
		for (uint32_t k = first; k < last; k++) {
			const uint32_t other = partner(view, i, k);

			if (view->parts[other].out ||
			    view_post(view, other, k) != view_send(view, i, k) ||
			    partner(view, other, k) != i)
				return false;
		}
	}
	for (uint32_t i = 0; i < view->members; i++)
		for (uint32_t a = first; !view->parts[i].out && a < last; a++)
			for (uint32_t b = a + 1; b < last; b++)
				if (partner(view, i, a) == partner(view, i, b) ||
				    partner(view, partner(view, i, a), b) !=
					    partner(view, partner(view, i, b), a))
					return false;
	return true;
}

/* Whether each step from first on moves half as many bytes as the one before, or twice as many. */
static bool halves(const struct view *view, uint32_t first, uint32_t last)
{
	for (uint32_t k = first + 1; k < last; k++)
		if (step_bytes(view, k) * 2 != step_bytes(view, k - 1))
			return false;
	return true;
}

static bool doubles(const struct view *view, uint32_t first, uint32_t last)
{
	for (uint32_t k = first + 1; k < last; k++)
		if (step_bytes(view, k) != step_bytes(view, k - 1) * 2)
			return false;
	return true;
}

static bool is_even(const struct view *view)
{
	for (size_t i = 1; i < view->count; i++)
		if (view->messages[i].bytes != view->messages[0].bytes)
			return false;
	return true;
}

/* Handing over before and the result behind are rounds, too. */
static unsigned int cube_rounds(const struct view *view, uint32_t steps)
{
	return steps + (view->inside < view->members ? 2 : 0);
}

/* Blocks of equal size grow with each step of a gather; others may have any size. */
static bool doubling_bytes(const struct view *view, uint32_t steps)
{
	switch (view->kind) {
	case COLLECTIVE_ALLGATHER:
	case COLLECTIVE_BCAST:
		return doubles(view, 0, steps);
	case COLLECTIVE_ALLGATHERV:
		return true;
	default:
		return is_even(view);
	}
}

bool fits_doubling(struct view *view, unsigned int *rounds)
{
	uint32_t steps;

	if (!part_power_of_two(view))
		return false;
	steps = log2_up(view->inside);
	*rounds = cube_rounds(view, steps);
	return all_have(view, steps) && is_cube(view, 0, steps) && doubling_bytes(view, steps);
}

bool fits_halving(struct view *view, unsigned int *rounds)
{
	uint32_t steps;

	if (!part_power_of_two(view))
		return false;
	steps = log2_up(view->inside);
	*rounds = cube_rounds(view, steps);
	return steps > 1 && all_have(view, steps) && is_cube(view, 0, steps) &&
	       halves(view, 0, steps);
}

static bool goes_back(const struct view *view, uint32_t steps)
{
	for (uint32_t i = 0; i < view->members; i++)
		for (uint32_t k = 0; !view->parts[i].out && k < steps; k++)
			if (partner(view, i, k) != partner(view, i, 2 * steps - 1 - k))
				return false;
	return true;
}

bool fits_rabenseifner(struct view *view, unsigned int *rounds)
{
	uint32_t steps;

	if (!part_power_of_two(view))
		return false;
	steps = log2_up(view->inside);
	*rounds = cube_rounds(view, 2 * steps);
	return steps > 1 && all_have(view, 2 * steps) && is_cube(view, 0, steps) &&
	       is_cube(view, steps, 2 * steps) && goes_back(view, steps) &&
	       halves(view, 0, steps) && doubles(view, steps, 2 * steps);
}

static bool is_power_of_two(uint32_t number)
{
	return !(number & (number - 1));
}

bool fits_scatter_doubling(struct view *view, unsigned int *rounds)
{
	const uint32_t steps = log2_up(view->members);

	if (!is_power_of_two(view->members) || !part_tail(view, steps) ||
	    !is_cube(view, 0, steps) || !doubles(view, 0, steps) ||
	    !is_binomial_rest(view, true, rounds))
		return false;
	*rounds += steps;
	return true;
}

bool fits_halving_gather(struct view *view, unsigned int *rounds)
{
	const uint32_t steps = log2_up(view->members);

	if (!is_power_of_two(view->members) || !part_head(view, steps) ||
	    !is_cube(view, 0, steps) || !halves(view, 0, steps) ||
	    !is_binomial_rest(view, false, rounds))
		return false;
	*rounds += steps;
	return true;
}

/* ---- neighbours ---- */

static bool one_then_two_blocks(const struct view *view, uint32_t steps)
{
	const uint64_t block = step_bytes(view, 0);

	for (uint32_t k = 1; k < steps; k++)
		if (step_bytes(view, k) != block * 2)
			return false;
	return true;
}

/* Pairs with one neighbour and the other by turns, the first time with one block, then two. */
bool fits_neighbours(struct view *view, unsigned int *rounds)
{
	const uint32_t steps = view->members / 2;

	*rounds = steps;
	if (view->members % 2 || view->members < 4 || !part_all(view) || !all_have(view, steps))
		return false;
	for (uint32_t i = 0; i < view->members; i++)
		for (uint32_t k = 0; k < steps; k++) {
			const uint32_t other = partner(view, i, k);

			if (other != partner(view, i, k % 2) || partner(view, other, k) != i ||
			    view_post(view, other, k) != view_send(view, i, k) ||
			    partner(view, i, 0) == partner(view, i, 1))
				return false;
		}
	return view->kind != COLLECTIVE_ALLGATHER || one_then_two_blocks(view, steps);
}

/* ---- circles of growing distance ---- */

bool fits_bruck(struct view *view, unsigned int *rounds)
{
	const uint32_t steps = log2_up(view->members);
	uint32_t *place = view->other, at = 0;

	*rounds = steps;
	if (view->members < 3 || !part_all(view) || !all_have(view, steps) || !is_circle(view, 0))
		return false;
	for (uint32_t i = 0; i < view->members; i++, at = partner(view, at, 0))
		place[at] = i;
	for (uint32_t i = 0; i < view->members; i++)
		for (uint32_t k = 0; k < steps; k++)
			if (place[partner(view, i, k)] != (place[i] + (1u << k)) % view->members ||
			    view_post(view, partner(view, i, k), k) != view_send(view, i, k))
				return false;
	return true;
}

/* ---- each to each ---- */

/* Whether a member sends one message to each other one, and receives one. */
static bool is_each_to_each(struct view *view, uint32_t member)
{
	uint32_t *met = view->other;

	for (uint32_t i = 0; i < view->members; i++)
		met[i] = 0;
	for (uint32_t k = 0; k < view->parts[member].count; k++) {
		met[partner(view, member, k)] |= 1;
		met[view_post(view, member, k)->from] |= 2;
	}
	for (uint32_t i = 0; i < view->members; i++)
		if (met[i] != (i == member ? 0 : 3))
			return false;
	return true;
}

static bool are_each_to_each(struct view *view)
{
	if (!part_all(view) || !all_have(view, view->members - 1))
		return false;
	for (uint32_t i = 0; i < view->members; i++)
		if (!is_each_to_each(view, i))
			return false;
	return true;
}

/* A step begins once the one before is over. */
bool fits_pairwise(struct view *view, unsigned int *rounds)
{
	*rounds = view->members - 1;
	if (!are_each_to_each(view))
		return false;
	for (uint32_t i = 0; i < view->members; i++)
		for (uint32_t k = 0; k < *rounds; k++) {
			const struct pattern_message *send = view_send(view, i, k);

			if (view_post(view, send->to, k) != send)
				return false;
			if (k && (view_post(view, i, k)->posted < view_send(view, i, k - 1)->sent ||
				  send->sent < view_post(view, i, k - 1)->arrived))
				return false;
		}
	return true;
}

/* All receives are posted before the first send: nothing waits for anything. */
bool fits_all_at_once(struct view *view, unsigned int *rounds)
{
	*rounds = 1;
	if (!are_each_to_each(view))
		return false;
	for (uint32_t i = 0; i < view->members; i++)
		if (view_post(view, i, view->members - 2)->posted > view_send(view, i, 0)->sent)
			return false;
	return true;
}
