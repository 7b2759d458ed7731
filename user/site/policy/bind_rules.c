// SPDX-License-Identifier: BSD-3-Clause
/* What a policy says of the catalogue's rules. */
#include <math.h>
#include <string.h>

#include "site/policy/bind.h"
#include "site/policy/values.h"

static bool number_of(enum param_type type, const char *text, double *to)
{
	uint64_t bytes;
	int64_t count;

	switch (type) {
	case PARAM_SHARE:
		return value_number(text, to) && *to >= 0 && *to <= 1;
	case PARAM_COUNT:
		if (!value_count(text, &count))
			return false;
		*to = count;
		return true;
	case PARAM_SIZE:
		if (!value_size(text, &bytes))
			return false;
		*to = bytes;
		return true;
	case PARAM_BOOL:
		*to = !strcmp(text, "true");
		return *to || !strcmp(text, "false");
	default:
		return value_number(text, to) && *to >= 0;
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
		       const struct policy_tree *value, struct policy_rule *rule, size_t at)
{
	if (param->type == PARAM_LIST) {
		bind_texts(binder, value, param->name, &rule->list[at]);
		return;
	}
	if (!bind_is(binder, value, NODE_SCALAR, param->name))
		return;
	if (isnan(param->standard) && !strcmp(value->text, "auto"))
		rule->number[at] = NAN;
	else if (!number_of(param->type, value->text, &rule->number[at]))
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
			   "severity: '%.40s' is none of info, warning, critical, off",
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
		bind_param(binder, &of->params[i], entry->value, rule, i);
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
