// SPDX-License-Identifier: BSD-3-Clause
/* Rounds of a stage, that is, which nodes meet, by the name of a variant. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/readable.h"
#include "site/plan/internal.h"

#define MAX_PARTNERS (1u << 22) /* rounds x nodes that a stage lists: 16 MiB, and 200 as JSON */

static bool is_full(const struct plan *plan, const struct plan_stage *stage)
{
	return stage->partners.len + plan->nodes.len > MAX_PARTNERS;
}

/* ---- groups ---- */

/* Rounds in which the nodes of a group meet, all groups at once: below a switch, or in a part. */

/* A node of a group of nodes, and of a branch of that group. */
struct placed {
	int above, below; /* a switch and the one below it, or the node; a part and a chunk */
	int node;
};

static int by_group(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	if (a->above != b->above)
		return (a->above > b->above) - (a->above < b->above);
	return (a->below > b->below) - (a->below < b->below);
}

static size_t end_of_group(const struct placed *list, size_t count, size_t from)
{
	size_t to = from;

	while (to < count && list[to].above == list[from].above)
		to++;
	return to;
}

/*
 * Nodes of a group, those of its branches side by side: the first half meets the second one,
 * each round shifted by one; who has the same branch, as some have that are in the middle, is idle.
 */
static void meet_across(int32_t *partners, const struct placed *list, size_t count, uint32_t round)
{
	size_t half = count / 2;

	for (size_t i = 0; i < half; i++) {
		const struct placed *a = &list[i], *b = &list[count - half + (i + round) % half];

		if (a->below != b->below)
			plan_pair(partners, a->node, b->node);
	}
}

static void meet_on_circle(int32_t *partners, const struct placed *list, size_t count,
			   uint32_t round)
{
	if (round >= circle_rounds(count))
		return;
	for (size_t i = 0; i < count; i++) {
		int other = circle_partner(count, round, i);

		if (other > (int)i)
			plan_pair(partners, list[i].node, list[other].node);
	}
}

/*
 * Up to k rounds in which nodes of a group meet: across, those of different branches, else all. As
 * many rounds as the largest group has, at most. Sorts the list.
 */
static void plan_meet(const struct plan *plan, struct plan_stage *stage, struct placed *list,
		      size_t count, bool across, uint32_t k)
{
	size_t to, rounds = 0;

	qsort(list, count, sizeof(*list), by_group);
	for (size_t from = 0; from < count; from = to) {
		size_t own;

		to = end_of_group(list, count, from);
		own = across ? (to - from) / 2 : circle_rounds(to - from);
		rounds = own > rounds ? own : rounds;
	}
	for (uint32_t round = 0; round < k && round < rounds && !is_full(plan, stage); round++) {
		int32_t *partners = plan_round(plan, stage);

		for (size_t from = 0; from < count; from = to) {
			to = end_of_group(list, count, from);
			if (across)
				meet_across(partners, list + from, to - from, round);
			else
				meet_on_circle(partners, list + from, to - from, round);
		}
	}
}

/* ---- lists ---- */

/* Rounds that do not follow the circle: listed partner by partner. */

int32_t *plan_round(const struct plan *plan, struct plan_stage *stage)
{
	size_t from = stage->partners.len;

	for (size_t i = 0; i < plan->nodes.len; i++)
		vec_push(&stage->partners, PLAN_IDLE);
	stage->rounds++;
	return stage->partners.data + from;
}

void plan_pair(int32_t *partners, int a, int b)
{
	partners[a] = b;
	partners[b] = a;
}

/* ---- custom:FILE ---- */

static int custom_line(const struct plan *plan, struct plan_stage *stage, char *line, long *last,
		       char why[PLAN_WHY])
{
	char one[256], other[256];
	int32_t *partners;
	int a, b, end = 0;
	long round;

	line[strcspn(line, "#\n")] = '\0';
	if (!line[strspn(line, " \t\r")])
		return 0;
	if (sscanf(line, "%ld %255s %255s %n", &round, one, other, &end) != 3 || line[end])
		return plan_refuse(why, "not 'ROUND NODE NODE'");
	a = plan_node(plan, one);
	b = plan_node(plan, other);
	if (a < 0 || b < 0)
		return plan_refuse(why, "node '%.100s' is not of this sweep", a < 0 ? one : other);
	if (round < *last)
		return plan_refuse(why, "round %ld comes behind round %ld", round, *last);
	partners = round > *last ? plan_round(plan, stage)
				 : stage->partners.data + stage->partners.len - plan->nodes.len;
	*last = round;
	if (a == b || partners[a] != PLAN_IDLE || partners[b] != PLAN_IDLE)
		return plan_refuse(why, "a node may meet one other node in a round");
	plan_pair(partners, a, b);
	return 0;
}

/*
 * Rounds of the stage: as the file at path lists them, between classes, or k for each level of the
 * topology. -EINVAL with why.
 */
static int plan_custom(const struct plan *plan, struct plan_stage *stage, const char *path,
		       char why[PLAN_WHY])
{
	FILE *file = readable_open(path);
	char *line = NULL, wrong[PLAN_WHY];
	size_t room = 0, number = 0;
	long last = -1;
	int err = 0;

	if (!file)
		return plan_refuse(why, "%.180s: %s", path, readable_why(-errno));
	while (!err && !is_full(plan, stage) && xgetline(&line, &room, file) >= 0) {
		number++;
		err = custom_line(plan, stage, line, &last, wrong);
	}
	if (err)
		plan_refuse(why, "%.100s:%zu: %.120s", path, number, wrong);
	else if (!stage->rounds)
		err = plan_refuse(why, "%.180s: no round in it", path);
	free(line);
	fclose(file);
	return err;
}

/* ---- two groups, each node of one meets those of the other one in turn ---- */

struct group {
	VEC(int) nodes;
};

static void add_meetings(const struct plan *plan, struct plan_stage *stage, const struct group *few,
			 const struct group *many)
{
	if (!few->nodes.len)
		return;
	for (size_t round = 0; round < many->nodes.len && !is_full(plan, stage); round++) {
		int32_t *partners = plan_round(plan, stage);

		for (size_t i = 0; i < few->nodes.len; i++)
			plan_pair(partners, few->nodes.data[i],
				  many->nodes.data[(i + round) % many->nodes.len]);
	}
}

/* All pairs of nodes of different classes, once each. */
static int plan_cross_class(const struct plan *plan, struct plan_stage *stage, char why[PLAN_WHY])
{
	struct group *groups = xcalloc(plan->classes.len, sizeof(*groups));

	for (size_t i = 0; i < plan->order.len; i++) {
		int node = plan->order.data[i];

		vec_push(&groups[plan->nodes.data[node].class].nodes, node);
	}
	for (size_t a = 0; a < plan->classes.len; a++)
		for (size_t b = a + 1; b < plan->classes.len; b++) {
			bool more = groups[a].nodes.len > groups[b].nodes.len;

			add_meetings(plan, stage, &groups[more ? b : a], &groups[more ? a : b]);
		}
	for (size_t i = 0; i < plan->classes.len; i++)
		vec_release(&groups[i].nodes);
	free(groups);
	return stage->rounds ? 0 : plan_refuse(why, "cross-class: all nodes are of one class");
}

/* ---- topo:K ---- */

static void add_level(const struct plan *plan, struct plan_stage *stage, int level, uint32_t k,
		      struct placed *list)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->order.len; i++) {
		int node = plan->order.data[i];
		const struct placed placed = {
			.above = plan_above(plan, node, level),
			.below = level > 1 ? plan_above(plan, node, level - 1) : node,
			.node = node,
		};

		if (placed.above >= 0)
			list[count++] = placed;
	}
	plan_meet(plan, stage, list, count, level > 1, k);
}

static int plan_topo(const struct plan *plan, struct plan_stage *stage, uint32_t k,
		     char why[PLAN_WHY])
{
	struct placed *list = xcalloc(plan->nodes.len, sizeof(*list));

	for (int level = 1; level <= plan_levels(plan); level++)
		add_level(plan, stage, level, k, list);
	free(list);
	return stage->rounds ? 0
			     : plan_refuse(why, "topo: the policy's topology puts no two nodes "
						"below one switch");
}

/* ---- parts ---- */

/*
 * A plan in parts, each of which is carried out by a job of its own: chunks of nodes that follow
 * each other by name, then as many parts again with nodes of all chunks, so that chunks are
 * compared.
 */

/* Parts differ in size by one node at most. In the second wave the nodes of a part are dealt out to
 * all parts.
 */
void plan_divide(struct plan *plan, uint32_t most)
{
	size_t nodes = plan->nodes.len, chunks = (nodes + most - 1) / most;
	uint32_t *dealt; /* of each chunk: nodes up to it, and its own that were dealt out */

	if (chunks < 2)
		return;
	dealt = xcalloc(chunks, sizeof(*dealt));
	for (size_t i = 0; i < PLAN_WAVES * nodes; i++)
		vec_push(&plan->parts, i * chunks / nodes);
	for (size_t i = nodes; i--;)
		dealt[plan->parts.data[i]] = i;
	for (size_t i = 0; i < nodes; i++) {
		uint32_t node = plan->order.data[i], chunk = plan->parts.data[node];

		plan->parts.data[nodes + node] = chunks + dealt[chunk]++ % chunks;
	}
	free(dealt);
}

/*
 * Rounds within parts: up to k, the first half of them within chunks, the rest across. k: at least
 * one of each; UINT32_MAX: all there are.
 */
static void plan_chunks(const struct plan *plan, struct plan_stage *stage, uint32_t k)
{
	size_t nodes = plan->nodes.len;
	struct placed *list = xcalloc(nodes, sizeof(*list));
	uint32_t own = k / 2 + k % 2;

	for (size_t wave = 0; wave < PLAN_WAVES; wave++) {
		for (size_t i = 0; i < nodes; i++) {
			int node = plan->order.data[i];

			list[i] = (struct placed){ plan_part_in(plan, wave, node),
						   plan_part_in(plan, 0, node), node };
		}
		plan_meet(plan, stage, list, nodes, wave, wave && k > 1 ? k - own : own);
		if (!wave)
			stage->own = stage->rounds;
	}
	free(list);
}

/* ---- variants ---- */

/* All rounds of the circle, so many times. */
static void plan_repeat(const struct plan *plan, struct plan_stage *stage, uint32_t times)
{
	uint32_t all = circle_rounds(plan->nodes.len);

	for (uint32_t i = 0; all && i < times * all && i < PLAN_MAX_NODES; i++)
		vec_push(&stage->circle, i % all);
	stage->rounds = stage->circle.len;
}

/*
 * Which k of the circle's rounds, none twice, ascending; all where there are no more. Each round is
 * taken with the chance that is left for it.
 */
static void plan_sample(const struct plan *plan, struct plan_stage *stage, uint32_t k)
{
	uint32_t all = circle_rounds(plan->nodes.len);
	uint64_t state = ~plan->seed;

	k = k < all ? k : all;
	for (uint32_t round = 0; round < all && k; round++) {
		if (plan_random(&state) % (all - round) >= k)
			continue;
		vec_push(&stage->circle, round);
		k--;
	}
	stage->rounds = stage->circle.len;
}

/* ---- variants, by their names ---- */

/* The number behind NAME:, or the default without one; 0: malformed. */
static bool variant_is(const char *variant, const char *name, uint32_t standard, uint32_t *k)
{
	size_t length = strlen(name);
	char *end;

	*k = standard;
	if (strncmp(variant, name, length) || (variant[length] && variant[length] != ':'))
		return false;
	if (!variant[length])
		return true;
	*k = strtoul(variant + length + 1, &end, 10);
	if (*end || variant[length + 1] < '1' || variant[length + 1] > '9' || *k > PLAN_MAX_NODES)
		*k = 0;
	return true;
}

/* Variants that pair nodes by their properties have no parts: parts are made by name. */
static int refuse_parts(const char *variant, char why[PLAN_WHY])
{
	bool counts = !strncmp(variant, "sample", 6) || !strncmp(variant, "all-pairs", 9);

	return plan_refuse(why, "variant '%.60s': in parts, sample:K or all-pairs%s", variant,
			   counts ? ""
				  : "; nodes of different parts never meet, and parts are made by "
				    "name: leave --chunk, and name fewer nodes by -w");
}

/* In parts: as many rounds, half of them within chunks. */
static int pair_off_parts(const struct plan *plan, struct plan_stage *stage, const char *variant,
			  char why[PLAN_WHY])
{
	uint32_t k;

	stage->pairing = PAIRING_LIST;
	if (variant_is(variant, "all-pairs", 1, &k) && k == 1)
		plan_chunks(plan, stage, UINT32_MAX);
	else if (variant_is(variant, "sample", PLAN_SAMPLE, &k) && k)
		plan_chunks(plan, stage, k);
	else
		return refuse_parts(variant, why);
	return 0;
}

static int pair_off(const struct plan *plan, struct plan_stage *stage, const char *variant,
		    char why[PLAN_WHY])
{
	uint32_t k;

	if (plan->parts.len)
		return pair_off_parts(plan, stage, variant, why);
	stage->pairing = PAIRING_LIST;
	if (variant_is(variant, "all-pairs", 1, &k)) {
		stage->pairing = PAIRING_CIRCLE;
		plan_repeat(plan, stage, k);
	} else if (variant_is(variant, "sample", PLAN_SAMPLE, &k)) {
		stage->pairing = PAIRING_CIRCLE;
		plan_sample(plan, stage, k);
	} else if (variant_is(variant, "topo", PLAN_SAMPLE, &k)) {
		return k ? plan_topo(plan, stage, k, why)
			 : plan_refuse(why, "variant '%.60s': topo:K wants a number", variant);
	} else if (!strncmp(variant, "custom:", 7)) {
		return plan_custom(plan, stage, variant + 7, why);
	} else if (!strcmp(variant, "cross-class")) {
		return plan_cross_class(plan, stage, why);
	} else {
		return plan_refuse(
			why,
			"variant '%.60s': not all-pairs:K, sample:K, topo:K, custom:FILE "
			"or cross-class",
			variant);
	}
	return k ? 0 : plan_refuse(why, "variant '%.60s': K is no number of rounds", variant);
}

int plan_pair_off(struct plan *plan, struct plan_stage *stage, const char *variant,
		  char why[PLAN_WHY])
{
	int err = pair_off(plan, stage, variant, why);

	if (err || !is_full(plan, stage))
		return err;
	return plan_refuse(why,
			   "variant '%.60s': its rounds list over %u nodes: name fewer nodes by "
			   "-w, or fewer rounds",
			   variant, MAX_PARTNERS);
}

const char *plan_variant_once(const char *variant)
{
	uint32_t k;

	if (variant_is(variant, "sample", 1, &k))
		return "sample:1";
	if (variant_is(variant, "all-pairs", 1, &k))
		return "all-pairs:1";
	return variant;
}
