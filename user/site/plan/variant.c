// SPDX-License-Identifier: BSD-3-Clause
/* Who meets whom in a stage, as a variant's name says. */
#include <stdlib.h>
#include <string.h>

#include "site/plan/internal.h"

/* The number behind NAME:, or what is standard where there is none; 0: no number. */
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

/* Those that pair nodes by what they are have no parts: these are made by name. */
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

int plan_pair_off(struct plan *plan, struct plan_stage *stage, const char *variant,
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

const char *plan_variant_once(const char *variant)
{
	uint32_t k;

	if (variant_is(variant, "sample", 1, &k))
		return "sample:1";
	if (variant_is(variant, "all-pairs", 1, &k))
		return "all-pairs:1";
	return variant;
}
