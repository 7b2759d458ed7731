// SPDX-License-Identifier: BSD-3-Clause
/* Sections of a policy with checks of their own: expect, classes, rules, transports. */
#include <fnmatch.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/transport.h"
#include "site/policy/tree.h"
#include "site/policy/values.h"

/* ---- classes ---- */

#define CLASS(member) offsetof(struct policy_class, member)

struct pcie {
	int64_t gen, width;
};

static void bind_pcie(struct binder *binder, const struct policy_tree *tree, void *to)
{
	static const struct field fields[] = {
		{ "gen", FIELD_COUNT, offsetof(struct pcie, gen), true, NULL, 1, 7, NULL },
		{ "width", FIELD_COUNT, offsetof(struct pcie, width), true, NULL, 1, 32, NULL },
		{ 0 },
	};
	struct policy_class *class = to;
	struct pcie pcie = { 0 };

	bind_map(binder, tree, "pcie", fields, &pcie);
	class->pcie_gen = pcie.gen;
	class->pcie_width = pcie.width;
}

static bool lists(const texts *list, const char *text)
{
	for (size_t i = 0; i < list->len; i++)
		if (!strcmp(list->data[i], text))
			return true;
	return false;
}

static void bind_affinity(struct binder *binder, const struct policy_tree *tree, void *to)
{
	struct policy_class *class = to;
	size_t room = 0;

	if (!bind_is(binder, tree, NODE_MAP, "map"))
		return;
	class->map = vec_grow(NULL, &room, tree->entries.len + 1, sizeof(*class->map));
	for (size_t i = 0; i < tree->entries.len; i++) {
		const struct policy_entry *entry = &tree->entries.data[i];

		if (!bind_is(binder, entry->value, NODE_SCALAR, "map"))
			return;
		class->map[class->map_len].gpu = entry->key;
		class->map[class->map_len++].nic = entry->value->text;
	}
}

/* A GPU's NIC is one of the class, with or without its port. */
static void check_affinity(struct binder *binder, const struct policy_class *class, int line)
{
	for (size_t i = 0; class->nics.len && i < class->map_len; i++) {
		const char *nic = class->map[i].nic;
		bool found = lists(&class->nics, nic);

		for (size_t n = 0; !found && n < class->nics.len; n++)
			found = !strncmp(class->nics.data[n], nic, strlen(nic)) &&
				class->nics.data[n][strlen(nic)] == ':';
		if (!found)
			errors_add(binder->errors, line,
				   "map: '%.40s' is not one of the class's nics", nic);
	}
}

static const struct field class_fields[] = {
	{ "nodes", FIELD_NODES, CLASS(nodes), true, NULL, 0, 0, NULL },
	{ "features", FIELD_TEXTS, CLASS(features), false, NULL, 0, 0, NULL },
	{ "gpus", FIELD_COUNT, CLASS(gpus), false, NULL, 0, 1024, NULL },
	{ "nics", FIELD_TEXTS, CLASS(nics), false, NULL, 0, 0, NULL },
	{ "nic_rate", FIELD_RATE, CLASS(nic_rate), false, NULL, 0, 0, NULL },
	{ "pcie", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_pcie },
	{ "rails", FIELD_COUNT, CLASS(rails), false, NULL, 1, 64, NULL },
	{ "map", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_affinity },
	{ 0 },
};

static int by_node_name(const void *left, const void *right)
{
	const struct policy_node *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* A node that two classes name would be judged twice, by different measures. */
static void sort_nodes(struct binder *binder)
{
	struct policy *policy = binder->policy;

	for (size_t c = 0; c < policy->classes.len; c++)
		for (size_t i = 0; i < policy->classes.data[c].nodes.len; i++)
			vec_push(
				&policy->nodes,
				((struct policy_node){ policy->classes.data[c].nodes.data[i], c }));
	if (policy->nodes.len)
		qsort(policy->nodes.data, policy->nodes.len, sizeof(*policy->nodes.data),
		      by_node_name);
	for (size_t i = 1; i < policy->nodes.len; i++) {
		const struct policy_node *node = &policy->nodes.data[i];

		if (!by_node_name(node, node - 1))
			errors_add(binder->errors, policy->classes.data[node->class].line,
				   "classes: '%.60s' is named twice", node->name);
	}
}

void bind_classes(struct binder *binder, const struct policy_tree *tree, void *to)
{
	(void)to;
	if (!bind_is(binder, tree, NODE_MAP, "classes"))
		return;
	if (tree->entries.len > POLICY_MAX_CLASSES) {
		errors_add(binder->errors, tree->entries.data[POLICY_MAX_CLASSES].line,
			   "classes: more than %d", POLICY_MAX_CLASSES);
		return;
	}
	for (size_t i = 0; i < tree->entries.len; i++) {
		const struct policy_entry *entry = &tree->entries.data[i];
		struct policy_class *class = vec_add(&binder->policy->classes);

		class->name = entry->key;
		class->line = entry->line;
		bind_map(binder, entry->value, "class", class_fields, class);
		check_affinity(binder, class, entry->line);
	}
	sort_nodes(binder);
}

const struct policy_class *policy_class_of(const struct policy *policy, const char *node)
{
	const struct policy_node key = { .name = node }, *found = NULL;

	if (node && policy->nodes.len)
		found = bsearch(&key, policy->nodes.data, policy->nodes.len, sizeof(key),
				by_node_name);
	return found ? &policy->classes.data[found->class] : NULL;
}

/* ---- expect ---- */

#define EXPECT(member) offsetof(struct policy_expect, member)

static const char *const locs[] = { "self", "intra", "inter", NULL };
static const char *const memories[] = { "host", "cuda", "managed", "pinned",
					"rocm", "ze",   "any",     NULL };
static const char *const stagings[] = {
	[STAGING_ANY] = "any", [STAGING_NONE] = "none", [STAGING_HOST] = "host", NULL
};
static const char *const nics[] = { "any", "nearest", NULL };

static const char *memory_named(const char *text, size_t length)
{
	for (int i = 0; memories[i]; i++)
		if (strlen(memories[i]) == length && !strncmp(memories[i], text, length))
			return memories[i];
	return NULL;
}

static const char *unless_any(const char *memory)
{
	return strcmp(memory, "any") ? memory : NULL;
}

/* cuda-host: from, to */
static void bind_mem(struct binder *binder, const struct policy_tree *tree, void *to)
{
	struct policy_expect *expect = to;
	const char *dash = tree->text ? strchr(tree->text, '-') : NULL;
	const char *src = dash ? memory_named(tree->text, dash - tree->text) : NULL;
	const char *dst = dash ? memory_named(dash + 1, strlen(dash + 1)) : NULL;

	if (!bind_is(binder, tree, NODE_SCALAR, "mem"))
		return;
	if (!src || !dst) {
		errors_add(binder->errors, tree->line,
			   "mem: '%.40s' is no pair such as cuda-host, of host, cuda, managed, "
			   "pinned, rocm, ze, any",
			   tree->text);
		return;
	}
	expect->src_mem = unless_any(src);
	expect->dst_mem = unless_any(dst);
}

/* [from, to) */
static void bind_size(struct binder *binder, const struct policy_tree *tree, void *to)
{
	struct policy_expect *expect = to;
	const struct policy_tree *from, *until;

	if (tree->type != NODE_LIST || tree->entries.len != 2) {
		errors_add(binder->errors, tree->line,
			   "size: two sizes such as [0, 8K] are wanted");
		return;
	}
	from = tree->entries.data[0].value;
	until = tree->entries.data[1].value;
	if (!from->text || !until->text || !value_size(from->text, &expect->from) ||
	    !value_size(until->text, &expect->to) || expect->from >= expect->to)
		errors_add(binder->errors, tree->line,
			   "size: [FROM, TO] with FROM below TO, such as [0, 8K] or [64K, inf]");
}

static void bind_nic(struct binder *binder, const struct policy_tree *tree, void *to)
{
	struct policy_expect *expect = to;

	if (!bind_is(binder, tree, NODE_SCALAR, "nic"))
		return;
	expect->nearest_nic = !strcmp(tree->text, nics[1]);
	if (!expect->nearest_nic && strcmp(tree->text, nics[0]))
		errors_add(binder->errors, tree->line, "nic: '%.40s' is not one of any, nearest",
			   tree->text);
}

static void bind_dst_copy(struct binder *binder, const struct policy_tree *tree, void *to)
{
	struct policy_expect *expect = to;
	const struct transport *transport;
	char names[160] = "";

	if (!bind_is(binder, tree, NODE_SCALAR, "dst_copy"))
		return;
	transport = transport_named(tree->text);
	if (transport->copies) {
		expect->dst_copy = transport->name;
		return;
	}
	for (size_t i = 0; i < transport_count; i++) {
		size_t used = strlen(names);

		if (transports[i].copies)
			snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
				 transports[i].name);
	}
	errors_add(binder->errors, tree->line, "dst_copy: '%.40s' is not one of %s", tree->text,
		   names);
}

static const struct field expect_fields[] = {
	{ "loc", FIELD_CHOICE, EXPECT(loc), false, locs, 0, 0, NULL },
	{ "mem", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_mem },
	{ "size", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_size },
	{ "tl", FIELD_TEXTS, EXPECT(tl), false, NULL, 0, 0, NULL },
	{ "forbid", FIELD_TEXTS, EXPECT(forbid), false, NULL, 0, 0, NULL },
	{ "proto", FIELD_TEXTS, EXPECT(proto), false, NULL, 0, 0, NULL },
	{ "min_share", FIELD_NUMBER, EXPECT(min_share), false, NULL, 0, 1, NULL },
	{ "dst_copy", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_dst_copy },
	{ "staging", FIELD_ENUM, EXPECT(staging), false, stagings, 0, 0, NULL },
	{ "nic", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_nic },
	{ "sl", FIELD_COUNT, EXPECT(sl), false, NULL, 0, 15, NULL },
	{ 0 },
};

static void check_asks(struct binder *binder, const struct policy_expect *expect)
{
	if (!expect->tl.len && !expect->forbid.len && !expect->proto.len && !expect->dst_copy &&
	    expect->staging == STAGING_ANY && !expect->nearest_nic && expect->sl < 0)
		errors_add(binder->errors, expect->line,
			   "expect: asks for nothing: tl, forbid, proto, dst_copy, staging, nic or "
			   "sl is wanted");
}

void bind_expect(struct binder *binder, const struct policy_tree *tree, void *to)
{
	(void)to;
	if (!bind_is(binder, tree, NODE_LIST, "expect"))
		return;
	for (size_t i = 0; i < tree->entries.len; i++) {
		const struct policy_tree *item = tree->entries.data[i].value;
		struct policy_expect *expect = vec_add(&binder->policy->expect);

		*expect = (struct policy_expect){
			.line = item->line,
			.to = UINT64_MAX,
			.min_share = 1,
			.sl = -1,
		};
		bind_map(binder, item, "expect", expect_fields, expect);
		check_asks(binder, expect);
	}
}

/* ---- transports ---- */

/* Transports that lines of 'expect' name: a misspelt one would forbid nothing, or allow nothing. */

bool value_transport(const char *name)
{
	return transport_named(name)->name;
}

static bool fits_known(const struct policy *policy, const char *pattern)
{
	for (size_t i = 0; i < transport_count; i++)
		if (!fnmatch(pattern, transports[i].name, 0))
			return true;
	for (size_t i = 0; i < policy->transports.len; i++)
		if (!fnmatch(pattern, policy->transports.data[i], 0))
			return true;
	return false;
}

/* a+b: each is a name. */
static bool is_way(const struct policy *policy, const char *text)
{
	char part[64];

	for (;; text++) {
		size_t length = strcspn(text, "+");

		if (length >= sizeof(part))
			return false;
		memcpy(part, text, length);
		part[length] = '\0';
		if (strpbrk(part, "*?[\\") || !fits_known(policy, part))
			return false;
		text += length;
		if (!*text)
			return true;
	}
}

static void refuse_transport(struct binder *binder, const struct policy_expect *expect,
			     const char *key, const char *text)
{
	errors_add(binder->errors, expect->line,
		   "%s: '%.40s' is no transport of UCX, nor of this policy's 'transports'", key,
		   text);
}

static void check_names(struct binder *binder, const struct policy_expect *expect)
{
	const struct policy *policy = binder->policy;

	for (size_t i = 0; i < expect->tl.len; i++)
		if (!fits_known(policy, expect->tl.data[i]) && !is_way(policy, expect->tl.data[i]))
			refuse_transport(binder, expect, "tl", expect->tl.data[i]);
	for (size_t i = 0; i < expect->forbid.len; i++)
		if (!fits_known(policy, expect->forbid.data[i]) &&
		    strcmp(expect->forbid.data[i], "net"))
			refuse_transport(binder, expect, "forbid", expect->forbid.data[i]);
}

void check_transports(struct binder *binder)
{
	for (size_t i = 0; i < binder->policy->expect.len; i++)
		check_names(binder, &binder->policy->expect.data[i]);
}

/* ---- rules ---- */

/* Settings and severities of rules. */

static bool read_setting(enum param_type type, const char *text, void *to)
{
	double *number = to;
	bool *flag = to;

	switch (type) {
	case PARAM_SHARE:
		return value_number(text, number) && *number >= 0 && *number <= 1;
	case PARAM_COUNT:
		return value_count(text, to);
	case PARAM_SIZE:
		return value_size(text, to);
	case PARAM_BOOL:
		*flag = !strcmp(text, "true");
		return *flag || !strcmp(text, "false");
	default:
		return value_number(text, number) && *number >= 0;
	}
}

static const char *wanted(enum param_type type)
{
	static const char *const texts[] = {
		[PARAM_NONE] = "nothing",
		[PARAM_NUMBER] = "a number of at least 0",
		[PARAM_SHARE] = "a share of 0 to 1",
		[PARAM_COUNT] = "a whole number",
		[PARAM_SIZE] = "a size such as 64K",
		[PARAM_LIST] = "a list of words",
		[PARAM_BOOL] = "true or false",
	};

	return texts[type];
}

static void bind_param(struct binder *binder, const struct catalogue_param *param,
		       const struct policy_tree *value)
{
	void *to = policy_setting(binder->policy, param);

	if (param->type == PARAM_LIST) {
		bind_texts(binder, value, param->name, to);
		return;
	}
	if (!bind_is(binder, value, NODE_SCALAR, param->name))
		return;
	if (isnan(param->standard) && !strcmp(value->text, "auto"))
		*(double *)to = NAN;
	else if (!read_setting(param->type, value->text, to))
		errors_add(binder->errors, value->line, "%s: '%.40s' is not %s", param->name,
			   value->text, wanted(param->type));
}

static void bind_severity(struct binder *binder, const struct policy_tree *value,
			  struct policy_rule *rule)
{
	if (!bind_is(binder, value, NODE_SCALAR, "severity"))
		return;
	for (int i = 0; i < SEVERITIES; i++) {
		if (strcmp(severity_names[i], value->text))
			continue;
		rule->severity = i;
		return;
	}
	rule->off = !strcmp(value->text, "off");
	if (!rule->off)
		errors_add(binder->errors, value->line,
			   "severity: '%.40s' is not one of info, warning, critical, off",
			   value->text);
}

static void bind_setting(struct binder *binder, const struct catalogue_rule *of,
			 const struct policy_entry *entry, struct policy_rule *rule)
{
	if (!strcmp(entry->key, "severity")) {
		bind_severity(binder, entry->value, rule);
		return;
	}
	for (size_t i = 0; i < CATALOGUE_PARAMS; i++) {
		if (!of->params[i].name || strcmp(of->params[i].name, entry->key))
			continue;
		bind_param(binder, &of->params[i], entry->value);
		return;
	}
	errors_add(binder->errors, entry->line, "%s: has no setting '%.40s'", of->id, entry->key);
}

void bind_rules(struct binder *binder, const struct policy_tree *tree, void *to)
{
	(void)to;
	if (!bind_is(binder, tree, NODE_MAP, "rules"))
		return;
	for (size_t i = 0; i < tree->entries.len; i++) {
		const struct policy_entry *entry = &tree->entries.data[i];
		const struct catalogue_rule *of = catalogue_find(entry->key);

		if (!of) {
			errors_add(binder->errors, entry->line, "rules: there is no rule '%.40s'",
				   entry->key);
			continue;
		}
		if (!bind_is(binder, entry->value, NODE_MAP, of->id))
			continue;
		for (size_t k = 0; k < entry->value->entries.len; k++)
			bind_setting(binder, of, &entry->value->entries.data[k],
				     &binder->policy->rules[catalogue_index(of)]);
	}
}
