// SPDX-License-Identifier: BSD-3-Clause
/* A plan as JSON (docs/sweep-files.md). */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <xxhash.h>

#include "site/plan/internal.h"

const char *const plan_pairing_names[PAIRINGS] = { "local", "circle", "list" };

static json_t *works_of(const struct plan_stage *stage)
{
	json_t *list = json_array();

	for (size_t i = 0; i < stage->works.len; i++) {
		const struct plan_work *work = &stage->works.data[i];

		json_array_append_new(
			list, json_pack("{s:s,s:s,s:s,s:I,s:I}", "op", plan_op_names[work->op],
					"src_mem", plan_memory_names[work->src_mem], "dst_mem",
					plan_memory_names[work->dst_mem], "size",
					(json_int_t)work->size, "count", (json_int_t)work->count));
	}
	return list;
}

/* A list for each row, of a number for each node. */
static json_t *rows_of(const struct plan *plan, const int32_t *numbers, size_t rows)
{
	json_t *list = json_array();

	for (size_t r = 0; r < rows; r++) {
		json_t *row = json_array();

		for (size_t n = 0; n < plan->nodes.len; n++)
			json_array_append_new(row, json_integer(numbers[r * plan->nodes.len + n]));
		json_array_append_new(list, row);
	}
	return list;
}

static json_t *stage_of(const struct plan *plan, const struct plan_stage *stage)
{
	json_t *to = json_pack("{s:s,s:s,s:I,s:b,s:o}", "stage", plan_stage_names[stage->kind],
			       "pairing", plan_pairing_names[stage->pairing], "rounds",
			       (json_int_t)stage->rounds, "all_subs", stage->all_subs, "work",
			       works_of(stage));

	if (stage->pairing == PAIRING_LIST)
		json_object_set_new(to, "partners",
				    rows_of(plan, stage->partners.data, stage->rounds));
	if (stage->pairing == PAIRING_CIRCLE) {
		json_t *circle = json_array();

		for (size_t i = 0; i < stage->circle.len; i++)
			json_array_append_new(circle, json_integer(stage->circle.data[i]));
		json_object_set_new(to, "circle", circle);
	}
	if (plan->parts.len)
		json_object_set_new(to, "own", json_integer(stage->own));
	return to;
}

static json_t *nodes_of(const struct plan *plan)
{
	json_t *list = json_array();

	for (size_t i = 0; i < plan->nodes.len; i++)
		json_array_append_new(list, json_pack("[s,i,i]", plan->nodes.data[i].name,
						      plan->nodes.data[i].class,
						      plan->nodes.data[i].leaf));
	return list;
}

static json_t *tree_of(const struct plan *plan)
{
	json_t *classes = json_array(), *switches = json_array(), *stages = json_array();

	for (size_t i = 0; i < plan->classes.len; i++)
		json_array_append_new(
			classes, json_pack("{s:s,s:i,s:f}", "name", plan->classes.data[i].name,
					   "gpus", plan->classes.data[i].gpus,
					   "nic_rate_bits_per_s", plan->classes.data[i].nic_rate));
	for (size_t i = 0; i < plan->switches.len; i++)
		json_array_append_new(switches, json_pack("[s,i,f]", plan->switches.data[i].name,
							  plan->switches.data[i].parent,
							  plan->switches.data[i].uplink));
	for (size_t i = 0; i < plan->stages.len; i++)
		json_array_append_new(stages, stage_of(plan, &plan->stages.data[i]));
	return json_pack("{s:s,s:s?,s:s,s:s,s:i,s:o,s:o,s:o,s:o}", "schema", PLAN_SCHEMA, "site",
			 plan->site, "policy_sha256", plan->policy, "seed", "", "ranks_per_node",
			 plan->ranks, "classes", classes, "switches", switches, "nodes",
			 nodes_of(plan), "stages", stages);
}

void plan_identify(struct plan *plan, const char *text, size_t length)
{
	snprintf(plan->id, sizeof(plan->id), "%016" PRIx64, (uint64_t)XXH64(text, length, 0));
}

char *plan_json(const struct plan *plan)
{
	json_t *tree = tree_of(plan);
	char seed[24], *text;

	/* 64 bits, which JSON's numbers are not for everybody */
	snprintf(seed, sizeof(seed), "%" PRIu64, plan->seed);
	json_object_set_new(tree, "seed", json_string(seed));
	if (*plan->base)
		json_object_set_new(tree, "extends", json_string(plan->base));
	if (plan->parts.len)
		json_object_set_new(tree, "parts",
				    rows_of(plan, (const int32_t *)plan->parts.data, PLAN_WAVES));
	text = json_dumps(tree, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(tree);
	return text;
}

char *plan_text(struct plan *plan)
{
	char *text = plan_json(plan);

	plan_identify(plan, text, strlen(text));
	return text;
}

int plan_write(struct plan *plan, FILE *out)
{
	char *text = plan_text(plan);
	int err = 0;

	errno = EIO;
	if (fputs(text, out) < 0 || fputc('\n', out) < 0 || fflush(out))
		err = -errno;
	free(text);
	return err;
}
