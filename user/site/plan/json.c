// SPDX-License-Identifier: BSD-3-Clause
/* A plan as JSON (docs/sweep-files.md), and back. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/readable.h"
#include "base/shape.h"
#include "base/text.h"
#include "site/plan/internal.h"

const char *const plan_pairing_names[PAIRINGS] = { "local", "circle", "list" };

static const struct shape work_shape[] = {
	SHAPE_WORD("op", struct plan_work, op, plan_op_names),
	SHAPE_WORD("src_mem", struct plan_work, src_mem, plan_memory_names),
	SHAPE_WORD("dst_mem", struct plan_work, dst_mem, plan_memory_names),
	SHAPE_OF(struct plan_work, size),
	SHAPE_OF(struct plan_work, count),
	{ 0 },
};

static json_t *numbers_of(const void *numbers, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer(((const int32_t *)numbers)[i]));
	return list;
}

/* For each row, a list with a number for each node. */
static json_t *rows_of(const struct plan *plan, const int32_t *numbers, size_t rows)
{
	json_t *list = json_array();

	for (size_t r = 0; r < rows; r++)
		json_array_append_new(list,
				      numbers_of(numbers + r * plan->nodes.len, plan->nodes.len));
	return list;
}

SHAPE_GETTER_WITH(partners_of, struct plan_stage, stage, struct plan, plan,
		  stage->pairing == PAIRING_LIST
			  ? rows_of(plan, stage->partners.data, stage->rounds)
			  : NULL);
SHAPE_GETTER(circle_of, struct plan_stage, stage,
	     stage->pairing == PAIRING_CIRCLE ? numbers_of(stage->circle.data, stage->circle.len)
					      : NULL);
SHAPE_GETTER_WITH(own_of, struct plan_stage, stage, struct plan, plan,
		  plan->parts.len ? json_integer(stage->own) : NULL);

static const struct shape stage_shape[] = {
	SHAPE_WORD("stage", struct plan_stage, kind, plan_stage_names),
	SHAPE_WORD("pairing", struct plan_stage, pairing, plan_pairing_names),
	SHAPE_OF(struct plan_stage, rounds),
	SHAPE_OF(struct plan_stage, all_subs),
	SHAPE_LIST("work", struct plan_stage, works, work_shape),
	SHAPE_WHOLE("partners", partners_of, .optional = true),
	SHAPE_WHOLE("circle", circle_of, .optional = true),
	SHAPE_WHOLE("own", own_of, .optional = true),
	{ 0 },
};

static const struct shape class_shape[] = {
	SHAPE_OF(struct plan_class, name),
	SHAPE_OF(struct plan_class, gpus),
	SHAPE_AS("nic_rate_bits_per_s", struct plan_class, nic_rate),
	{ 0 },
};

static json_t *switches_of(const void *of)
{
	const struct plan *plan = of;
	json_t *list = json_array();

	for (size_t i = 0; i < plan->switches.len; i++)
		json_array_append_new(list, json_pack("[s,i,f]", plan->switches.data[i].name,
						      plan->switches.data[i].parent,
						      plan->switches.data[i].uplink));
	return list;
}

static json_t *nodes_of(const void *of)
{
	const struct plan *plan = of;
	json_t *list = json_array();

	for (size_t i = 0; i < plan->nodes.len; i++)
		json_array_append_new(list, json_pack("[s,i,i]", plan->nodes.data[i].name,
						      plan->nodes.data[i].class,
						      plan->nodes.data[i].leaf));
	return list;
}

/* 64 bits do not fit into the numbers of all JSON readers */
SHAPE_GETTER(seed_of, struct plan, plan, json_sprintf("%" PRIu64, plan->seed));
SHAPE_GETTER(parts_of, struct plan, plan,
	     plan->parts.len ? rows_of(plan, (const int32_t *)plan->parts.data, PLAN_WAVES) : NULL);

static const struct shape plan_shape[] = {
	SHAPE_SAYS("schema", PLAN_SCHEMA),
	SHAPE_OF(struct plan, site),
	SHAPE_CHARS("policy_sha256", struct plan, policy, .instead = ""),
	SHAPE_WHOLE("seed", seed_of),
	SHAPE_AS("ranks_per_node", struct plan, ranks),
	SHAPE_LIST("classes", struct plan, classes, class_shape),
	SHAPE_WHOLE("switches", switches_of),
	SHAPE_WHOLE("nodes", nodes_of),
	SHAPE_LIST("stages", struct plan, stages, stage_shape),
	SHAPE_CHARS("extends", struct plan, base, .optional = true),
	SHAPE_WHOLE("parts", parts_of, .optional = true),
	{ 0 },
};

static void plan_identify(struct plan *plan, const char *text, size_t length)
{
	snprintf(plan->id, sizeof(plan->id), "%016" PRIx64, (uint64_t)XXH64(text, length, 0));
}

char *plan_json(const struct plan *plan)
{
	json_t *tree = shape_json(plan_shape, plan, plan);
	char *text = text_json(tree, JSON_COMPACT | JSON_REAL_PRECISION(15));

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

/* ---- and back ---- */

/*
 * Reads a plan from its JSON. Any contradiction is refused, since ranks that disagree would hang.
 */

#define READ_STEP 65536

int plan_refuse(char why[PLAN_WHY], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, PLAN_WHY, format, args);
	va_end(args);
	return -EINVAL;
}

struct reading {
	struct plan *plan;
	char *why;
	bool bad;
};

static void refuse(struct reading *reading, const char *what)
{
	if (!reading->bad)
		plan_refuse(reading->why, "%s is missing, of another kind or out of its range",
			    what);
	reading->bad = true;
}

static int64_t number(struct reading *reading, const json_t *from, int64_t least, int64_t most,
		      const char *what)
{
	if (json_is_integer(from) && json_integer_value(from) >= least &&
	    json_integer_value(from) <= most)
		return json_integer_value(from);
	refuse(reading, what);
	return least;
}

static char *text(struct reading *reading, const json_t *from, const char *what)
{
	if (json_is_string(from))
		return xstrdup(json_string_value(from));
	refuse(reading, what);
	return xstrdup("");
}

static int choice(struct reading *reading, const json_t *from, const char *const *names, int count,
		  const char *what)
{
	int at = plan_name(names, count, json_string_value(from));

	if (at < 0)
		refuse(reading, what);
	return at < 0 ? 0 : at;
}

static void read_classes(struct reading *reading, const json_t *list)
{
	struct plan *plan = reading->plan;
	const json_t *from;
	size_t i;

	/* those of a policy, and the one of nodes that it does not name */
	if (json_array_size(list) > POLICY_MAX_CLASSES + 1) {
		refuse(reading, "classes");
		return;
	}
	json_array_foreach(list, i, from)
	{
		struct plan_class *class = vec_add(&plan->classes);

		class->name = text(reading, json_object_get(from, "name"), "a class's name");
		class->gpus =
			number(reading, json_object_get(from, "gpus"), 0, 1024, "a class's gpus");
		class->nic_rate = json_number_value(json_object_get(from, "nic_rate_bits_per_s"));
	}
}

static void read_switches(struct reading *reading, const json_t *list)
{
	const json_t *from;
	size_t i;

	json_array_foreach(list, i, from)
	{
		struct plan_switch *to = vec_add(&reading->plan->switches);

		to->name = text(reading, json_array_get(from, 0), "a switch's name");
		/* below itself: no cycles */
		to->parent = number(reading, json_array_get(from, 1), -1, (int64_t)i - 1,
				    "a switch's parent");
		to->uplink = json_number_value(json_array_get(from, 2));
	}
}

static void read_nodes(struct reading *reading, const json_t *list)
{
	struct plan *plan = reading->plan;
	const json_t *from;
	size_t i;

	if (!json_array_size(list) || json_array_size(list) > PLAN_MAX_NODES)
		refuse(reading, "nodes");
	json_array_foreach(list, i, from)
	{
		struct plan_node *node = vec_add(&plan->nodes);

		node->name = text(reading, json_array_get(from, 0), "a node's name");
		node->class = number(reading, json_array_get(from, 1), 0,
				     (int64_t)plan->classes.len - 1, "a node's class");
		node->leaf = number(reading, json_array_get(from, 2), -1,
				    (int64_t)plan->switches.len - 1, "a node's switch");
		if (i && strcmp(node[-1].name, node->name) >= 0)
			refuse(reading, "the order of nodes by name");
	}
}

static void read_works(struct reading *reading, struct plan_stage *stage, const json_t *list)
{
	const json_t *from;
	size_t i;

	json_array_foreach(list, i, from)
	{
		struct plan_work *work = vec_add(&stage->works);

		work->op =
			choice(reading, json_object_get(from, "op"), plan_op_names, PLAN_OPS, "op");
		work->src_mem = choice(reading, json_object_get(from, "src_mem"), plan_memory_names,
				       PLAN_MEMORIES, "src_mem");
		work->dst_mem = choice(reading, json_object_get(from, "dst_mem"), plan_memory_names,
				       PLAN_MEMORIES, "dst_mem");
		work->size =
			number(reading, json_object_get(from, "size"), 1, PLAN_MAX_SIZE, "size");
		work->count =
			number(reading, json_object_get(from, "count"), 1, PLAN_MAX_COUNT, "count");
	}
}

static void read_circle(struct reading *reading, struct plan_stage *stage, const json_t *list)
{
	int64_t most = circle_rounds(reading->plan->nodes.len);

	for (uint32_t i = 0; i < stage->rounds; i++)
		vec_push(&stage->circle, number(reading, json_array_get(list, i), 0,
						most ? most - 1 : 0, "a round of the circle"));
}

static void read_partners(struct reading *reading, struct plan_stage *stage, const json_t *list)
{
	int64_t nodes = reading->plan->nodes.len;

	for (uint32_t r = 0; r < stage->rounds && !reading->bad; r++) {
		const json_t *round = json_array_get(list, r);
		const int32_t *row;

		for (int64_t n = 0; n < nodes; n++)
			vec_push(&stage->partners, number(reading, json_array_get(round, n), -1,
							  nodes - 1, "a partner"));
		row = stage->partners.data + r * nodes;
		for (int64_t n = 0; n < nodes; n++)
			if (row[n] >= 0 && (row[n] == n || row[row[n]] != n))
				refuse(reading, "a partner's partner");
	}
}

static void read_stages(struct reading *reading, const json_t *list)
{
	const json_t *from;
	size_t i;

	json_array_foreach(list, i, from)
	{
		struct plan_stage *stage = vec_add(&reading->plan->stages);

		stage->kind = choice(reading, json_object_get(from, "stage"), plan_stage_names,
				     STAGES, "stage");
		if (plan_stage(reading->plan, stage->kind) != stage)
			refuse(reading, "one stage of each name");
		stage->pairing = choice(reading, json_object_get(from, "pairing"),
					plan_pairing_names, PAIRINGS, "pairing");
		stage->rounds = number(reading, json_object_get(from, "rounds"), 0, PLAN_MAX_NODES,
				       "rounds");
		stage->all_subs = json_is_true(json_object_get(from, "all_subs"));
		read_works(reading, stage, json_object_get(from, "work"));
		if (reading->bad)
			return;
		if (stage->pairing == PAIRING_CIRCLE)
			read_circle(reading, stage, json_object_get(from, "circle"));
		if (stage->pairing == PAIRING_LIST)
			read_partners(reading, stage, json_object_get(from, "partners"));
		if (reading->plan->parts.len)
			stage->own = number(reading, json_object_get(from, "own"), 0, stage->rounds,
					    "own");
	}
}

/* Numbered through the waves, each with at most as many as there are nodes. */
static void read_parts(struct reading *reading, const json_t *list)
{
	size_t nodes = reading->plan->nodes.len;

	for (size_t w = 0; list && w < PLAN_WAVES; w++)
		for (size_t n = 0; n < nodes; n++)
			vec_push(&reading->plan->parts,
				 number(reading, json_array_get(json_array_get(list, w), n), 0,
					PLAN_WAVES * (int64_t)nodes - 1, "a node's part"));
}

static void read_tree(struct reading *reading, const json_t *tree)
{
	struct plan *plan = reading->plan;
	const char *policy = json_string_value(json_object_get(tree, "policy_sha256"));
	const char *seed = json_string_value(json_object_get(tree, "seed"));

	if (!policy || !seed)
		refuse(reading, "policy_sha256 or seed");
	if (reading->bad)
		return;
	if (json_is_string(json_object_get(tree, "extends")))
		snprintf(plan->base, sizeof(plan->base), "%s",
			 json_string_value(json_object_get(tree, "extends")));
	snprintf(plan->policy, sizeof(plan->policy), "%s", policy);
	plan->seed = strtoull(seed, NULL, 10);
	if (json_is_string(json_object_get(tree, "site")))
		plan->site = text(reading, json_object_get(tree, "site"), "site");
	plan->ranks = number(reading, json_object_get(tree, "ranks_per_node"), 1, PLAN_MAX_RANKS,
			     "ranks_per_node");
	read_classes(reading, json_object_get(tree, "classes"));
	read_switches(reading, json_object_get(tree, "switches"));
	read_nodes(reading, json_object_get(tree, "nodes"));
	read_parts(reading, json_object_get(tree, "parts"));
	if (!reading->bad)
		read_stages(reading, json_object_get(tree, "stages"));
	if (!reading->bad)
		plan_shuffle(plan);
}

static size_t without_newline(const char *text, size_t length)
{
	return length && text[length - 1] == '\n' ? length - 1 : length;
}

int plan_parse(const char *from, size_t length, struct plan **plan, char why[PLAN_WHY])
{
	struct reading reading = { .why = why };
	json_error_t error;
	json_t *tree = json_loadb(from, length, JSON_REJECT_DUPLICATES, &error);
	const char *schema = json_string_value(json_object_get(tree, "schema"));

	*plan = NULL;
	if (!tree)
		return plan_refuse(why, "line %d: %s", error.line, error.text);
	reading.plan = xcalloc(1, sizeof(*reading.plan));
	if (!schema || strcmp(schema, PLAN_SCHEMA)) {
		plan_refuse(why, "no plan: its schema is not " PLAN_SCHEMA);
		reading.bad = true;
	}
	if (!reading.bad)
		read_tree(&reading, tree);
	json_decref(tree);
	if (reading.bad) {
		plan_free(reading.plan);
		return -EINVAL;
	}
	plan_identify(reading.plan, from, without_newline(from, length));
	*plan = reading.plan;
	return 0;
}

int plan_read(const char *path, struct plan **plan, char why[PLAN_WHY])
{
	FILE *file = readable_open(path);
	VEC(char) bytes = { 0 };
	size_t got;
	int err;

	*plan = NULL;
	if (!file) {
		err = -errno;
		plan_refuse(why, "%s", readable_why(err));
		return err;
	}
	do {
		vec_reserve(&bytes, bytes.len + READ_STEP);
		got = fread(bytes.data + bytes.len, 1, READ_STEP, file);
		bytes.len += got;
	} while (got);
	err = ferror(file) ? -EIO : 0;
	fclose(file);
	if (err)
		plan_refuse(why, "%s", strerror(-err));
	else
		err = plan_parse(bytes.data, bytes.len, plan, why);
	vec_release(&bytes);
	return err;
}
