// SPDX-License-Identifier: BSD-3-Clause
/* A policy as one text: what was written in another order or left to defaults reads the same. */
#include <jansson.h>
#include <math.h>
#include <nettle/sha2.h>
#include <string.h>

#include "site/policy/policy.h"

static void set_text(json_t *to, const char *key, const char *text)
{
	if (text)
		json_object_set_new(to, key, json_string(text));
}

static void set_count(json_t *to, const char *key, int64_t count)
{
	if (count)
		json_object_set_new(to, key, json_integer(count));
}

static json_t *number_or_null(double number)
{
	return isnan(number) ? json_null() : json_real(number);
}

static json_t *list_of(const texts *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->len; i++)
		json_array_append_new(array, json_string(list->data[i]));
	return array;
}

static void set_list(json_t *to, const char *key, const texts *list)
{
	if (list->len)
		json_object_set_new(to, key, list_of(list));
}

static json_t *class_of(const struct policy_class *class)
{
	json_t *to = json_object(), *map = json_object();

	set_list(to, "nodes", &class->nodes);
	set_list(to, "features", &class->features);
	set_list(to, "nics", &class->nics);
	set_count(to, "gpus", class->gpus);
	set_count(to, "rails", class->rails);
	if (class->nic_rate > 0)
		json_object_set_new(to, "nic_rate_bits_per_s", json_real(class->nic_rate));
	if (class->pcie_gen)
		json_object_set_new(to, "pcie",
				    json_pack("{s:I,s:I}", "gen", (json_int_t) class->pcie_gen,
					      "width", (json_int_t) class->pcie_width));
	for (size_t i = 0; i < class->map_len; i++)
		set_text(map, class->map[i].gpu, class->map[i].nic);
	json_object_set_new(to, "map", map);
	return to;
}

static json_t *expect_of(const struct policy_expect *expect)
{
	static const char *const stagings[] = { NULL, "none", "host" };
	json_t *to = json_object();

	set_text(to, "loc", expect->loc);
	set_text(to, "src_mem", expect->src_mem);
	set_text(to, "dst_mem", expect->dst_mem);
	json_object_set_new(to, "from", json_integer(expect->from));
	json_object_set_new(to, "to",
			    expect->to == UINT64_MAX ? json_null() : json_integer(expect->to));
	set_list(to, "tl", &expect->tl);
	set_list(to, "forbid", &expect->forbid);
	set_list(to, "proto", &expect->proto);
	json_object_set_new(to, "min_share", json_real(expect->min_share));
	set_text(to, "dst_copy", expect->dst_copy);
	set_text(to, "staging", stagings[expect->staging]);
	set_text(to, "nic", expect->nearest_nic ? "nearest" : NULL);
	if (expect->sl >= 0)
		json_object_set_new(to, "sl", json_integer(expect->sl));
	return to;
}

static json_t *param_of(const struct policy_rule *rule, const struct catalogue_rule *of, size_t at)
{
	if (of->params[at].type == PARAM_LIST)
		return list_of(&rule->list[at]);
	if (of->params[at].type == PARAM_BOOL)
		return json_boolean(rule->number[at] != 0);
	return number_or_null(rule->number[at]);
}

static json_t *rules_of(const struct policy *policy)
{
	json_t *rules = json_object();

	for (size_t i = 0; i < CATALOGUE_RULES; i++) {
		const struct policy_rule *rule = &policy->rules[i];
		json_t *to = json_object();

		set_text(to, "severity", rule->off ? "off" : severity_names[rule->severity]);
		for (size_t k = 0; k < CATALOGUE_PARAMS && catalogue[i].params[k].name; k++)
			json_object_set_new(to, catalogue[i].params[k].name,
					    param_of(rule, &catalogue[i], k));
		json_object_set_new(rules, catalogue[i].id, to);
	}
	return rules;
}

static json_t *waivers_of(const struct policy *policy)
{
	json_t *list = json_array();

	for (size_t i = 0; i < policy->waivers.len; i++) {
		const struct policy_waiver *waiver = &policy->waivers.data[i];

		json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:I}", "rule", waiver->rule->id,
						      "subject", waiver->subject, "reason",
						      waiver->reason, "until_day",
						      (json_int_t)waiver->until));
	}
	return list;
}

static json_t *references_of(const struct policy *policy)
{
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

static json_t *tree_of(const struct policy *policy)
{
	static const char *const drains[] = { "propose", "never" };
	json_t *to = json_object(), *classes = json_object(), *expect = json_array();

	set_text(to, "spec", "ucxbpf-policy-v1");
	set_text(to, "site", policy->site);
	for (size_t i = 0; i < policy->classes.len; i++)
		json_object_set_new(classes, policy->classes.data[i].name,
				    class_of(&policy->classes.data[i]));
	json_object_set_new(to, "classes", classes);
	for (size_t i = 0; i < policy->expect.len; i++)
		json_array_append_new(expect, expect_of(&policy->expect.data[i]));
	json_object_set_new(to, "expect", expect);
	json_object_set_new(to, "rules", rules_of(policy));
	json_object_set_new(to, "reference", references_of(policy));
	json_object_set_new(to, "waive", waivers_of(policy));
	json_object_set_new(to, "topology",
			    json_pack("{s:s?,s:o}", "file", policy->topology.file, "levels",
				      list_of(&policy->topology.levels)));
	json_object_set_new(to, "act",
			    json_pack("{s:s,s:I,s:f,s:s}", "drain", drains[policy->act.drain],
				      "max_nodes", (json_int_t)policy->act.max_nodes, "max_share",
				      policy->act.max_share, "reason_prefix",
				      policy->act.reason_prefix));
	return to;
}

char *policy_normal_form(const struct policy *policy)
{
	json_t *tree = tree_of(policy);
	char *text = json_dumps(tree, JSON_SORT_KEYS | JSON_INDENT(1) | JSON_REAL_PRECISION(15));

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
