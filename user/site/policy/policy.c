// SPDX-License-Identifier: BSD-3-Clause
#include "site/policy/policy.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <nettle/sha2.h>
#include <string.h>

#include "base/alloc.h"
#include "base/readable.h"
#include "base/shape.h"
#include "base/text.h"
#include "site/policy/tree.h"
#include "site/policy/values.h"

#define SPEC "ucxbpf-policy-v1"
#define READ_STEP 65536
#define READ_MOST (4 << 20) /* the parser's limit is lower, with a message of its own */

static const char *const drains[] = { [DRAIN_PROPOSE] = "propose", [DRAIN_NEVER] = "never", NULL };

static void bind_topology(struct binder *binder, const struct policy_tree *tree, void *to)
{
	static const struct field fields[] = {
		{ "file", FIELD_TEXT, offsetof(struct policy, topology.file), true, NULL, 0, 0,
		  NULL },
		{ "levels", FIELD_TEXTS, offsetof(struct policy, topology.levels), false, NULL, 0,
		  0, NULL },
		{ 0 },
	};

	(void)to;
	bind_map(binder, tree, "topology", fields, binder->policy);
}

/* A bound, or null for none. */
static bool bound(const struct policy_tree *tree, double *to)
{
	*to = NAN;
	if (tree->type != NODE_SCALAR)
		return false;
	return (tree->plain && (!strcmp(tree->text, "null") || !strcmp(tree->text, "~"))) ||
	       value_number(tree->text, to);
}

/* [value, lower, upper, unit] */
static void bind_reference(struct binder *binder, const struct policy_entry *entry)
{
	struct policy_reference *reference = vec_add(&binder->policy->references);
	const struct policy_tree *list = entry->value;
	bool right = list->type == NODE_LIST && list->entries.len == 4;

	reference->name = entry->key;
	if (right) {
		const struct policy_tree *unit = list->entries.data[3].value;

		right = bound(list->entries.data[0].value, &reference->value) &&
			!isnan(reference->value) &&
			bound(list->entries.data[1].value, &reference->lower) &&
			bound(list->entries.data[2].value, &reference->upper) &&
			!(reference->lower > 0) && !(reference->upper < 0) &&
			unit->type == NODE_SCALAR && *unit->text;
		reference->unit = unit->text;
	}
	if (!right)
		errors_add(
			binder->errors, entry->line,
			"reference: [VALUE, LOWER, UPPER, UNIT] such as [95, -0.05, null, Gb/s]");
}

static void bind_references(struct binder *binder, const struct policy_tree *tree, void *to)
{
	(void)to;
	if (!bind_is(binder, tree, NODE_MAP, "reference"))
		return;
	for (size_t i = 0; i < tree->entries.len; i++)
		bind_reference(binder, &tree->entries.data[i]);
}

static void bind_rule_id(struct binder *binder, const struct policy_tree *tree, void *to)
{
	struct policy_waiver *waiver = to;

	if (!bind_is(binder, tree, NODE_SCALAR, "rule"))
		return;
	waiver->rule = catalogue_find(tree->text);
	if (!waiver->rule)
		errors_add(binder->errors, tree->line, "waive: there is no rule '%.40s'",
			   tree->text);
}

#define WAIVER(member) offsetof(struct policy_waiver, member)

static void bind_waivers(struct binder *binder, const struct policy_tree *tree, void *to)
{
	static const struct field fields[] = {
		{ "rule", FIELD_CUSTOM, 0, true, NULL, 0, 0, bind_rule_id },
		{ "subject", FIELD_TEXT, WAIVER(subject), true, NULL, 0, 0, NULL },
		{ "until", FIELD_DATE, WAIVER(until), true, NULL, 0, 0, NULL },
		{ "reason", FIELD_TEXT, WAIVER(reason), true, NULL, 0, 0, NULL },
		{ 0 },
	};

	(void)to;
	if (!bind_is(binder, tree, NODE_LIST, "waive"))
		return;
	for (size_t i = 0; i < tree->entries.len; i++) {
		struct policy_waiver *waiver = vec_add(&binder->policy->waivers);

		waiver->line = tree->entries.data[i].value->line;
		bind_map(binder, tree->entries.data[i].value, "waive", fields, waiver);
	}
}

static void bind_max_drain(struct binder *binder, const struct policy_tree *tree, void *to)
{
	static const struct field fields[] = {
		{ "nodes", FIELD_COUNT, offsetof(struct policy, act.max_nodes), false, NULL, 0, 0,
		  NULL },
		{ "share", FIELD_NUMBER, offsetof(struct policy, act.max_share), false, NULL, 0, 1,
		  NULL },
		{ 0 },
	};

	(void)to;
	bind_map(binder, tree, "max_drain", fields, binder->policy);
}

static void bind_act(struct binder *binder, const struct policy_tree *tree, void *to)
{
	static const struct field fields[] = {
		{ "drain", FIELD_ENUM, offsetof(struct policy, act.drain), false, drains, 0, 0,
		  NULL },
		{ "max_drain", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_max_drain },
		{ "reason_prefix", FIELD_TEXT, offsetof(struct policy, act.reason_prefix), false,
		  NULL, 0, 0, NULL },
		{ 0 },
	};

	(void)to;
	bind_map(binder, tree, "act", fields, binder->policy);
}

static void bind_spec(struct binder *binder, const struct policy_tree *tree, void *to)
{
	(void)to;
	if (bind_is(binder, tree, NODE_SCALAR, "spec") && strcmp(tree->text, SPEC))
		errors_add(binder->errors, tree->line, "spec: '%.40s' is not " SPEC, tree->text);
}

static const struct field fields[] = {
	{ "spec", FIELD_CUSTOM, 0, true, NULL, 0, 0, bind_spec },
	{ "site", FIELD_TEXT, offsetof(struct policy, site), false, NULL, 0, 0, NULL },
	{ "classes", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_classes },
	{ "topology", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_topology },
	{ "transports", FIELD_TEXTS, offsetof(struct policy, transports), false, NULL, 0, 0, NULL },
	{ "expect", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_expect },
	{ "reference", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_references },
	{ "rules", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_rules },
	{ "waive", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_waivers },
	{ "act", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_act },
	{ 0 },
};

void *policy_setting(struct policy *policy, const struct catalogue_param *param)
{
	return (char *)&policy->settings + param->offset;
}

static const void *setting_of(const struct policy *policy, const struct catalogue_param *param)
{
	return (const char *)&policy->settings + param->offset;
}

uint64_t policy_size(const struct policy *policy, const struct catalogue_param *param)
{
	return *(const uint64_t *)setting_of(policy, param);
}

static void set_standard(struct policy *policy, const struct catalogue_param *param)
{
	void *to = policy_setting(policy, param);

	if (param->type == PARAM_NUMBER || param->type == PARAM_SHARE)
		*(double *)to = param->standard;
	else if (param->type == PARAM_COUNT || param->type == PARAM_SIZE)
		*(uint64_t *)to = (uint64_t)param->standard;
	else if (param->type == PARAM_BOOL)
		*(bool *)to = param->standard > 0;
}

struct policy *policy_default(void)
{
	struct policy *policy = xcalloc(1, sizeof(*policy));

	policy->act.max_nodes = 10;
	policy->act.max_share = 0.02;
	policy->act.reason_prefix = "[node_problem] ucxbpf";
	for (size_t i = 0; i < CATALOGUE_RULES; i++) {
		policy->rules[i].severity = catalogue[i].severity;
		for (size_t k = 0; k < CATALOGUE_PARAMS; k++)
			set_standard(policy, &catalogue[i].params[k]);
	}
	return policy;
}

/* 'transports' may stand behind the lines that name them. */
static void order_errors(struct policy_errors *errors)
{
	struct policy_error *list = errors->list.data;

	for (size_t i = 1; i < errors->list.len; i++)
		for (size_t k = i; k && list[k - 1].line > list[k].line; k--) {
			struct policy_error later = list[k - 1];

			list[k - 1] = list[k];
			list[k] = later;
		}
}

int policy_parse(const char *text, size_t length, struct policy **policy,
		 struct policy_errors *errors)
{
	struct binder binder = { .errors = errors };

	*policy = NULL;
	binder.policy = policy_default();
	binder.policy->tree = tree_parse(text, length, errors);
	if (binder.policy->tree) {
		bind_map(&binder, binder.policy->tree, "policy", fields, binder.policy);
		check_transports(&binder);
		order_errors(errors);
	}
	if (errors->list.len) {
		policy_free(binder.policy);
		return -EINVAL;
	}
	*policy = binder.policy;
	return 0;
}

static int read_all(FILE *file, char **text, size_t *length)
{
	VEC(char) bytes = { 0 };
	size_t got;

	do {
		vec_reserve(&bytes, bytes.len + READ_STEP);
		got = fread(bytes.data + bytes.len, 1, READ_STEP, file);
		bytes.len += got;
	} while (got && bytes.len < READ_MOST);
	*text = bytes.data;
	*length = bytes.len;
	return ferror(file) ? -errno : 0;
}

int policy_read(const char *path, struct policy **policy, struct policy_errors *errors)
{
	FILE *file = readable_open(path);
	char *text = NULL;
	size_t length;
	int err;

	*policy = NULL;
	if (!file)
		return -errno;
	err = read_all(file, &text, &length);
	fclose(file);
	if (!err)
		err = policy_parse(text, length, policy, errors);
	free(text);
	return err;
}

static void free_class(struct policy_class *class)
{
	vec_release(&class->nodes);
	vec_release(&class->features);
	vec_release(&class->nics);
	free(class->map);
}

void policy_free(struct policy *policy)
{
	if (!policy)
		return;
	for (size_t i = 0; i < policy->classes.len; i++)
		free_class(&policy->classes.data[i]);
	for (size_t i = 0; i < policy->expect.len; i++) {
		vec_release(&policy->expect.data[i].tl);
		vec_release(&policy->expect.data[i].forbid);
		vec_release(&policy->expect.data[i].proto);
	}
	for (size_t i = 0; i < CATALOGUE_RULES; i++)
		for (size_t k = 0; k < CATALOGUE_PARAMS; k++)
			if (catalogue[i].params[k].type == PARAM_LIST)
				vec_release(
					(texts *)policy_setting(policy, &catalogue[i].params[k]));
	for (size_t i = 0; i < policy->made.len; i++)
		free(policy->made.data[i]);
	vec_release(&policy->made);
	vec_release(&policy->classes);
	vec_release(&policy->nodes);
	vec_release(&policy->expect);
	vec_release(&policy->references);
	vec_release(&policy->waivers);
	vec_release(&policy->topology.levels);
	vec_release(&policy->transports);
	tree_free(policy->tree);
	free(policy);
}

void policy_errors_release(struct policy_errors *errors)
{
	vec_release(&errors->list);
}

const struct policy_rule *policy_rule(const struct policy *policy,
				      const struct catalogue_rule *rule)
{
	return &policy->rules[catalogue_index(rule)];
}

bool policy_wants(const struct policy *policy, const struct catalogue_rule *rule, const char *name)
{
	for (int i = 0; i < CATALOGUE_PARAMS; i++)
		if (rule->params[i].name && !strcmp(rule->params[i].name, name))
			return *(const bool *)setting_of(policy, &rule->params[i]);
	return false;
}

/* ---- normal form ---- */

/*
 * A policy as one text, independent of the order in which it was written and of omitted defaults.
 */

#define LEFT_OUT .optional = true
#define TEXTS(type, member)                                                                        \
	SHAPE_TEXTS(#member, struct type, member, SHAPE_WHEN(struct type, member.len), LEFT_OUT)

static json_t *number_or_null(double number)
{
	return isnan(number) ? json_null() : json_real(number);
}

static json_t *affinity_of(const void *of)
{
	const struct policy_class *class = of;
	json_t *map = json_object();

	for (size_t i = 0; i < class->map_len; i++)
		json_object_set_new(map, class->map[i].gpu, shape_text(class->map[i].nic));
	return map;
}

static const struct shape pcie_shape[] = {
	SHAPE_AS("gen", struct policy_class, pcie_gen),
	SHAPE_AS("width", struct policy_class, pcie_width),
	{ 0 },
};

static const struct shape class_shape[] = {
	TEXTS(policy_class, nodes),
	TEXTS(policy_class, features),
	TEXTS(policy_class, nics),
	SHAPE_OF(struct policy_class, gpus, .null = SHAPE_ZERO, LEFT_OUT),
	SHAPE_OF(struct policy_class, rails, .null = SHAPE_ZERO, LEFT_OUT),
	SHAPE_AS("nic_rate_bits_per_s", struct policy_class, nic_rate,
		 SHAPE_WHEN(struct policy_class, nic_rate), LEFT_OUT),
	SHAPE_PART("pcie", pcie_shape, SHAPE_WHEN(struct policy_class, pcie_gen), LEFT_OUT),
	SHAPE_WHOLE("map", affinity_of),
	{ 0 },
};

static const char *const stagings[] = { NULL, "none", "host" };
static const char *const nics[] = { NULL, "nearest" };

#define EXPECT(member, ...) SHAPE_OF(struct policy_expect, member, ##__VA_ARGS__)

static const struct shape expect_shape[] = {
	EXPECT(loc, LEFT_OUT),
	EXPECT(src_mem, LEFT_OUT),
	EXPECT(dst_mem, LEFT_OUT),
	EXPECT(from),
	EXPECT(to, .null = SHAPE_MOST),
	TEXTS(policy_expect, tl),
	TEXTS(policy_expect, forbid),
	TEXTS(policy_expect, proto),
	EXPECT(min_share),
	EXPECT(dst_copy, LEFT_OUT),
	SHAPE_WORD("staging", struct policy_expect, staging, stagings, LEFT_OUT),
	SHAPE_WORD("nic", struct policy_expect, nearest_nic, nics, LEFT_OUT),
	EXPECT(sl, .null = SHAPE_NEGATIVE, LEFT_OUT),
	{ 0 },
};

static json_t *param_of(const struct policy *policy, const struct catalogue_param *param)
{
	const void *value = setting_of(policy, param);
	const texts *list = value;

	switch (param->type) {
	case PARAM_LIST:
		return shape_texts(list->data, list->len);
	case PARAM_BOOL:
		return json_boolean(*(const bool *)value);
	case PARAM_COUNT:
	case PARAM_SIZE:
		return json_real(policy_size(policy, param));
	default:
		return number_or_null(*(const double *)value);
	}
}

static json_t *rules_of(const void *of)
{
	const struct policy *policy = of;
	json_t *rules = json_object();

	for (size_t i = 0; i < CATALOGUE_RULES; i++) {
		const struct policy_rule *rule = &policy->rules[i];
		json_t *to = json_pack("{s:s}", "severity",
				       rule->off ? "off" : severity_names[rule->severity]);

		for (size_t k = 0; k < CATALOGUE_PARAMS && catalogue[i].params[k].name; k++)
			json_object_set_new(to, catalogue[i].params[k].name,
					    param_of(policy, &catalogue[i].params[k]));
		json_object_set_new(rules, catalogue[i].id, to);
	}
	return rules;
}

SHAPE_GETTER(rule_id_of, struct policy_waiver, waiver, json_string(waiver->rule->id));

static const struct shape waiver_shape[] = {
	SHAPE_WHOLE("rule", rule_id_of),
	SHAPE_OF(struct policy_waiver, subject),
	SHAPE_OF(struct policy_waiver, reason),
	SHAPE_AS("until_day", struct policy_waiver, until),
	{ 0 },
};

static json_t *references_of(const void *of)
{
	const struct policy *policy = of;
	json_t *to = json_object();

	for (size_t i = 0; i < policy->references.len; i++) {
		const struct policy_reference *reference = &policy->references.data[i];

		json_object_set_new(to, reference->name,
				    json_pack("[f,o,o,s]", reference->value,
					      number_or_null(reference->lower),
					      number_or_null(reference->upper), reference->unit));
	}
	return to;
}

static json_t *classes_of(const void *of)
{
	const struct policy *policy = of;
	json_t *to = json_object();

	for (size_t i = 0; i < policy->classes.len; i++)
		json_object_set_new(to, policy->classes.data[i].name,
				    shape_json(class_shape, &policy->classes.data[i], NULL));
	return to;
}

static const struct shape topology_shape[] = {
	SHAPE_AS("file", struct policy, topology.file),
	SHAPE_TEXTS("levels", struct policy, topology.levels),
	{ 0 },
};

static const struct shape act_shape[] = {
	SHAPE_WORD("drain", struct policy, act.drain, drains),
	SHAPE_AS("max_nodes", struct policy, act.max_nodes),
	SHAPE_AS("max_share", struct policy, act.max_share),
	SHAPE_AS("reason_prefix", struct policy, act.reason_prefix),
	{ 0 },
};

static const struct shape policy_shape[] = {
	SHAPE_SAYS("spec", SPEC),
	SHAPE_OF(struct policy, site, LEFT_OUT),
	SHAPE_WHOLE("classes", classes_of),
	SHAPE_LIST("expect", struct policy, expect, expect_shape),
	SHAPE_WHOLE("rules", rules_of),
	SHAPE_WHOLE("reference", references_of),
	SHAPE_LIST("waive", struct policy, waivers, waiver_shape),
	SHAPE_PART("topology", topology_shape),
	SHAPE_PART("act", act_shape),
	{ 0 },
};

char *policy_normal_form(const struct policy *policy)
{
	json_t *tree = shape_json(policy_shape, policy, NULL);
	char *text = text_json(tree, JSON_SORT_KEYS | JSON_INDENT(1) | JSON_REAL_PRECISION(15));

	json_decref(tree);
	return text;
}

void policy_hash(const struct policy *policy, char hash[65])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	char *text = policy_normal_form(policy);
	struct sha256_ctx context;

	sha256_init(&context);
	sha256_update(&context, strlen(text), (const uint8_t *)text);
	sha256_digest(&context, sizeof(digest), digest);
	free(text);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(hash + 2 * i, 3, "%02x", digest[i]);
}
