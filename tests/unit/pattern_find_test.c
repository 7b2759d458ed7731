// SPDX-License-Identifier: BSD-3-Clause
/* Algorithms of collective operations, made message by message for many numbers of ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "explain/pattern/pattern.h"

#define MOST 33u /* ranks */
#define BLOCK 840u /* bytes of a rank */

struct made {
	VEC(struct pattern_message) messages;
	uint64_t now;
};

/* Members have other numbers than ranks. */
static uint32_t member(uint32_t rank, uint32_t ranks)
{
	return ranks - 1 - rank;
}

/* Sent in this step: the receive is posted at its beginning, and the message arrives at its end. */
static void pass(struct made *made, uint32_t ranks, uint32_t from, uint32_t to, uint64_t bytes)
{
	vec_push(&made->messages,
		 ((struct pattern_message){ member(from, ranks), member(to, ranks), bytes,
					    made->now + 10, made->now, made->now + 20 }));
}

static void step(struct made *made)
{
	made->now += 100;
}

static struct algorithm found(struct made *made, enum collective_kind kind, uint32_t ranks)
{
	struct patterns *patterns = patterns_new();
	const struct algorithm pattern =
		pattern_find(patterns, kind, ranks, made->messages.data, made->messages.len);

	patterns_free(patterns);
	vec_release(&made->messages);
	made->now = 0;
	return pattern;
}

static void is(struct algorithm pattern, const char *algorithm, uint32_t rounds)
{
	assert_string_equal(pattern.name ? pattern.name : pattern.reason, algorithm);
	assert_int_equal(pattern.rounds, rounds);
}

static void is_unknown(struct algorithm pattern, const char *reason)
{
	assert_null(pattern.name);
	assert_string_equal(pattern.reason, reason);
	assert_int_equal(pattern.rounds, 0);
}

static uint32_t power_below(uint32_t ranks)
{
	uint32_t power = 1;

	while (2 * power <= ranks)
		power *= 2;
	return power;
}

static uint32_t log2_of(uint32_t power)
{
	uint32_t log = 0;

	while (1u << log < power)
		log++;
	return log;
}

static void ring(struct made *made, uint32_t ranks, uint32_t steps)
{
	for (uint32_t k = 0; k < steps; k++, step(made))
		for (uint32_t i = 0; i < ranks; i++)
			pass(made, ranks, i, (i + 1) % ranks, BLOCK);
}

static void rings(void **state)
{
	struct made made = { 0 };

	(void)state;
	for (uint32_t n = 3; n <= MOST; n++) {
		ring(&made, n, n - 1);
		is(found(&made, COLLECTIVE_ALLGATHER, n), "ring", n - 1);
		ring(&made, n, 2 * (n - 1));
		is(found(&made, COLLECTIVE_ALLREDUCE, n), "ring", 2 * (n - 1));
		ring(&made, n, 2 * (n - 1) - 1);
		is_unknown(found(&made, COLLECTIVE_ALLREDUCE, n), "no known pattern");
		ring(&made, n, 2);
		is(found(&made, COLLECTIVE_BARRIER, n), "double ring", 2);
	}
}

/* A large message that is sent in two parts takes more rounds than the algorithm has. */
static void parts_make_more_rounds(void **state)
{
	struct algorithm pattern;
	struct made made = { 0 };

	(void)state;
	ring(&made, 5, 2 * 4);
	assert_false(found(&made, COLLECTIVE_ALLREDUCE, 5).in_parts);
	ring(&made, 5, 2 * 4 + 4);
	pattern = found(&made, COLLECTIVE_ALLREDUCE, 5);
	is(pattern, "ring", 2 * 4);
	assert_true(pattern.in_parts);
	for (int parts = 1; parts <= 2; parts++) {
		for (uint32_t i = 0; i < 4; i++, step(&made))
			for (int k = 0; k < parts; k++)
				pass(&made, 5, i, i + 1, BLOCK);
		pattern = found(&made, COLLECTIVE_BCAST, 5);
		is(pattern, "chain", 4);
		assert_int_equal(pattern.in_parts, parts > 1);
	}
}

/* Ranks beyond the power of two hand over to, and hear from, the one at their side. */
static void fold(struct made *made, uint32_t ranks, bool before)
{
	for (uint32_t i = power_below(ranks); i < ranks; i++)
		pass(made, ranks, before ? i : i - power_below(ranks),
		     before ? i - power_below(ranks) : i, BLOCK);
	step(made);
}

static void exchange(struct made *made, uint32_t ranks, uint32_t distance, uint64_t bytes)
{
	for (uint32_t i = 0; i < power_below(ranks); i++)
		pass(made, ranks, i, i ^ distance, bytes);
	step(made);
}

static void doubling(struct made *made, uint32_t ranks)
{
	fold(made, ranks, true);
	for (uint32_t k = 1; k < power_below(ranks); k *= 2)
		exchange(made, ranks, k, BLOCK);
	fold(made, ranks, false);
}

static void rabenseifner(struct made *made, uint32_t ranks)
{
	const uint32_t power = power_below(ranks);

	fold(made, ranks, true);
	for (uint32_t k = 1; k < power; k *= 2)
		exchange(made, ranks, k, (uint64_t)BLOCK * power / (2 * k));
	for (uint32_t k = power / 2; k; k /= 2)
		exchange(made, ranks, k, (uint64_t)BLOCK * power / (2 * k));
	fold(made, ranks, false);
}

static void cubes(void **state)
{
	struct made made = { 0 };

	(void)state;
	for (uint32_t n = 4; n <= MOST; n++) {
		const uint32_t steps = log2_of(power_below(n));
		const uint32_t folds = n > power_below(n) ? 2 : 0;

		doubling(&made, n);
		is(found(&made, COLLECTIVE_ALLREDUCE, n), "recursive doubling", steps + folds);
		doubling(&made, n);
		is(found(&made, COLLECTIVE_BARRIER, n), "recursive doubling", steps + folds);
		rabenseifner(&made, n);
		is(found(&made, COLLECTIVE_ALLREDUCE, n), "Rabenseifner", 2 * steps + folds);
	}
}

static void not_quite_a_cube(void **state)
{
	struct made made = { 0 };

	(void)state;
	doubling(&made, 8);
	for (size_t i = 8; i < 16; i++)
		made.messages.data[i].bytes++;
	is_unknown(found(&made, COLLECTIVE_ALLREDUCE, 8), "no known pattern");
	exchange(&made, 8, 1, BLOCK);
	exchange(&made, 8, 2, BLOCK);
	for (uint32_t i = 0; i < 8; i++)
		pass(&made, 8, i, 7 - i, BLOCK);
	is(found(&made, COLLECTIVE_ALLREDUCE, 8), "recursive doubling", 3); /* another base */
	exchange(&made, 8, 1, BLOCK);
	exchange(&made, 8, 2, BLOCK);
	for (uint32_t i = 0; i < 8; i++)
		pass(&made, 8, i, i < 2 ? 7 - i : i > 5 ? 7 - i : i ^ 6, BLOCK);
	is_unknown(found(&made, COLLECTIVE_ALLREDUCE, 8), "no known pattern");
}

static void gathering(void **state)
{
	struct made made = { 0 };

	(void)state;
	for (uint32_t n = 4; n <= MOST; n++) {
		uint32_t rounds = 0;

		for (uint32_t k = 1; k < n; k *= 2, rounds++, step(&made))
			for (uint32_t i = 0; i < n; i++)
				pass(&made, n, i, (i + n - k) % n,
				     (uint64_t)BLOCK * (2 * k <= n ? k : n - k));
		is(found(&made, COLLECTIVE_ALLGATHER, n), "Bruck", rounds);
		if (power_below(n) != n)
			continue;
		for (uint32_t k = 1; k < n; k *= 2)
			exchange(&made, n, k, (uint64_t)BLOCK * k);
		if (n == 4)
			is_unknown(found(&made, COLLECTIVE_ALLGATHER, n),
				   "recursive doubling or neighbour exchange fit");
		else
			is(found(&made, COLLECTIVE_ALLGATHER, n), "recursive doubling", rounds);
	}
	for (uint32_t n = 6; n <= MOST; n += 2) {
		for (uint32_t k = 0; k < n / 2; k++, step(&made))
			for (uint32_t i = 0; i < n; i++)
				pass(&made, n, i, (i + ((i + k) % 2 ? n - 1 : 1)) % n,
				     k ? 2 * BLOCK : BLOCK);
		is(found(&made, COLLECTIVE_ALLGATHER, n), "neighbour exchange", n / 2);
	}
}

static void each_to_each(struct made *made, uint32_t ranks, bool stepwise)
{
	for (uint32_t k = 1; k < ranks; k++) {
		for (uint32_t i = 0; i < ranks; i++)
			pass(made, ranks, i, (i + k) % ranks, BLOCK);
		if (stepwise)
			step(made);
		else
			for (uint32_t i = 0; i < ranks; i++)
				made->messages.data[made->messages.len - 1 - i].sent += k;
	}
}

static void alltoalls(void **state)
{
	struct made made = { 0 };

	(void)state;
	for (uint32_t n = 4; n <= MOST; n++) {
		each_to_each(&made, n, true);
		is(found(&made, COLLECTIVE_ALLTOALL, n), "pairwise", n - 1);
		each_to_each(&made, n, true);
		is(found(&made, COLLECTIVE_REDUCE_SCATTER, n), "pairwise", n - 1);
		each_to_each(&made, n, false);
		is(found(&made, COLLECTIVE_ALLTOALLV, n), "linear", 1);
	}
	each_to_each(&made, 3, true);
	is_unknown(found(&made, COLLECTIVE_ALLTOALL, 3), "Bruck or pairwise fit");
}

/* ---- trees ---- */

static uint32_t without_lowest(uint32_t node)
{
	return node & (node - 1);
}

static uint32_t without_highest(uint32_t node)
{
	return node - power_below(node);
}

static uint32_t half(uint32_t node)
{
	return (node - 1) / 2;
}

static uint32_t before(uint32_t node)
{
	return node - 1;
}

static uint32_t none(uint32_t node)
{
	(void)node;
	return 0;
}

static void tree(struct made *made, uint32_t ranks, uint32_t (*parent)(uint32_t), bool up,
		 uint64_t bytes)
{
	for (uint32_t i = 1; i < ranks; i++, step(made))
		if (up)
			pass(made, ranks, ranks - i, parent(ranks - i), bytes);
		else
			pass(made, ranks, parent(i), i, bytes);
}

static void trees(void **state)
{
	static const struct {
		const char *name;
		uint32_t (*parent)(uint32_t);
		uint32_t from; /* fewest ranks that tell it apart */
	} made_of[] = {
		{ "linear", none, 6 },
		{ "binomial tree", without_lowest, 5 },
		{ "binomial tree", without_highest, 5 },
		{ "binary tree", half, 5 },
		{ "chain", before, 4 }, /* a chain of 3 is a fold, too */
	};
	struct made made = { 0 };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(made_of); k++)
		for (uint32_t n = made_of[k].from; n <= MOST; n++) {
			tree(&made, n, made_of[k].parent, false, BLOCK);
			assert_string_equal(found(&made, COLLECTIVE_BCAST, n).name,
					    made_of[k].name);
			tree(&made, n, made_of[k].parent, true, BLOCK);
			assert_string_equal(found(&made, COLLECTIVE_REDUCE, n).name,
					    made_of[k].name);
			tree(&made, n, made_of[k].parent, true, BLOCK);
			tree(&made, n, made_of[k].parent, false, BLOCK);
			assert_string_equal(found(&made, COLLECTIVE_ALLREDUCE, n).name,
					    made_of[k].name);
			tree(&made, n, made_of[k].parent, true, BLOCK);
			tree(&made, n, made_of[k].parent, false, BLOCK);
			made.messages.len--; /* one rank has no result */
			assert_null(found(&made, COLLECTIVE_ALLREDUCE, n).name);
		}
	tree(&made, 8, without_lowest, false, BLOCK);
	is(found(&made, COLLECTIVE_BCAST, 8), "binomial tree", 3);
	tree(&made, 4, without_lowest, false, BLOCK);
	is_unknown(found(&made, COLLECTIVE_BCAST, 4), "binomial tree or binary tree fit");
	tree(&made, 4, none, true, BLOCK);
	is_unknown(found(&made, COLLECTIVE_REDUCE, 4), "linear or chain fit");
	tree(&made, 4, none, true, BLOCK);
	is(found(&made, COLLECTIVE_GATHER, 4), "linear", 1);
}

/* Edges of a tree that carry different amounts are no broadcast. */
static void uneven_tree(void **state)
{
	struct made made = { 0 };

	(void)state;
	tree(&made, 8, without_lowest, false, BLOCK);
	made.messages.data[3].bytes++;
	is_unknown(found(&made, COLLECTIVE_BCAST, 8), "no known pattern");
}

static void scatter_then(struct made *made, uint32_t ranks)
{
	for (uint32_t k = power_below(ranks - 1); k; k /= 2, step(made))
		for (uint32_t i = 0; i + k < ranks; i += 2 * k)
			pass(made, ranks, i, i + k, (uint64_t)BLOCK * k);
}

static void scatters(void **state)
{
	struct made made = { 0 };

	(void)state;
	for (uint32_t n = 4; n <= MOST; n++) {
		scatter_then(&made, n);
		ring(&made, n, n - 1);
		assert_string_equal(found(&made, COLLECTIVE_BCAST, n).name, "scatter and ring");
	}
	for (uint32_t n = 4; n <= MOST; n *= 2) {
		scatter_then(&made, n);
		for (uint32_t k = 1; k < n; k *= 2)
			exchange(&made, n, k, (uint64_t)BLOCK * k);
		is(found(&made, COLLECTIVE_BCAST, n), "scatter and recursive doubling",
		   2 * log2_of(n));
		for (uint32_t k = 1; k < n; k *= 2)
			exchange(&made, n, k, (uint64_t)BLOCK * n / (2 * k));
		for (uint32_t k = 1; k < n; k *= 2, step(&made))
			for (uint32_t i = k; i < n; i += 2 * k)
				pass(&made, n, i, i - k, (uint64_t)BLOCK * k);
		is(found(&made, COLLECTIVE_REDUCE, n), "Rabenseifner", 2 * log2_of(n));
	}
}

static void little_is_known(void **state)
{
	struct made made = { 0 };

	(void)state;
	ring(&made, 2, 1);
	is_unknown(found(&made, COLLECTIVE_ALLGATHER, 2), "two ranks: all algorithms are the same");
	ring(&made, 4, 3);
	made.messages.data[5].bytes = UINT64_MAX;
	is_unknown(found(&made, COLLECTIVE_ALLGATHER, 4), "sizes of messages are not known");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings),     cmocka_unit_test(parts_make_more_rounds),
		cmocka_unit_test(cubes),     cmocka_unit_test(not_quite_a_cube),
		cmocka_unit_test(gathering), cmocka_unit_test(alltoalls),
		cmocka_unit_test(trees),     cmocka_unit_test(uneven_tree),
		cmocka_unit_test(scatters),  cmocka_unit_test(little_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
