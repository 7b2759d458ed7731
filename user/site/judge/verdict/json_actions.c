// SPDX-License-Identifier: BSD-3-Clause
/* What is proposed: which nodes to drain. */
#include <stdlib.h>

#include "site/judge/verdict/drain.h"
#include "site/judge/verdict/json.h"

static json_t *drain_of(const struct drain *drain)
{
	json_t *to = json_object(), *command = json_array();
	char *words[DRAIN_WORDS + 1];

	drain_command(drain, words);
	for (char **word = words; *word; word++) {
		json_array_append_new(command, json_string(*word));
		free(*word);
	}
	json_object_set_new(to, "nodes", json_string(drain->nodes));
	json_object_set_new(to, "count", json_integer(drain->count));
	json_object_set_new(to, "reason", json_string(drain->reason));
	json_object_set_new(to, "command", command);
	return to;
}

json_t *verdict_actions_json(const struct judge *judge)
{
	json_t *to = json_object(), *list = json_array(), *refused = json_array();
	struct drains drains;

	drains_make(&drains, judge);
	for (size_t i = 0; i < drains.list.len; i++)
		json_array_append_new(list, drain_of(&drains.list.data[i]));
	for (size_t i = 0; i < drains.refused.len; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "nodes", verdict_text_json(drains.refused.data[i].nodes));
		json_object_set_new(one, "why", json_string(drains.refused.data[i].why));
		json_array_append_new(refused, one);
	}
	json_object_set_new(to, "drain", list);
	json_object_set_new(to, "refused", refused);
	json_object_set_new(to, "nodes", json_integer(drains.nodes));
	json_object_set_new(to, "most", json_integer(drains.most));
	json_object_set_new(to, "allowed", json_boolean(drains_allowed(&drains)));
	drains_release(&drains);
	return to;
}
