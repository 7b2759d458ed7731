// SPDX-License-Identifier: BSD-3-Clause
/* What was judged, and what came of it in all. */
#include "site/judge/exhibits/nics.h"
#include "site/judge/verdict/footer.h"
#include "site/judge/verdict/json.h"

json_t *verdict_summary_json(const struct judge *judge, const struct judge_output *how)
{
	struct judge_summary summary = judge_summary(judge);
	json_t *to = json_object();

	for (int i = 0; i < VERDICTS; i++)
		json_object_set_new(to, verdict_word(i), json_integer(summary.verdicts[i]));
	json_object_set_new(to, "critical", json_integer(summary.critical));
	json_object_set_new(to, "warning", json_integer(summary.warning));
	json_object_set_new(to, "nodes", json_integer(summary.nodes));
	json_object_set_new(to, "failed_nodes", json_integer(summary.failed_nodes));
	json_object_set_new(to, "rules_judged", json_integer(rules_judged(judge)));
	json_object_set_new(to, "exit_status", json_integer(judge_status(judge, how->warn_ok)));
	return to;
}

json_t *verdict_evidence_json(const struct judge *judge)
{
	const struct fact_totals *totals = &judge->exhibits.totals;
	json_t *to = json_object(), *dropped = json_object();

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		if (totals->dropped[i].reason && totals->dropped[i].count)
			json_object_set_new(dropped, totals->dropped[i].reason,
					    verdict_exact_json(totals->dropped[i].count));
	json_object_set_new(to, "complete",
			    json_boolean(!judge->incomplete && !judge->captures_broken &&
					 !judge->losses.list.len));
	json_object_set_new(to, "captures", verdict_exact_json(totals->captures));
	json_object_set_new(to, "inventories", verdict_exact_json(judge->inventories.list.len));
	json_object_set_new(to, "records", verdict_exact_json(totals->stored));
	json_object_set_new(to, "dropped", dropped);
	json_object_set_new(to, "damaged_bytes", verdict_exact_json(totals->damaged_bytes));
	json_object_set_new(to, "transfers", verdict_exact_json(transfers_judged(judge)));
	json_object_set_new(to, "data_bytes", verdict_exact_json(totals->data_bytes));
	json_object_set_new(to, "unexplained_bytes", verdict_exact_json(totals->unexplained_bytes));
	return to;
}

static void add_node(json_t *list, const char *name, const struct policy_class *class)
{
	json_t *to = json_object();

	json_object_set_new(to, "name", verdict_text_json(name));
	json_object_set_new(to, "class", verdict_text_json(class ? class->name : NULL));
	json_array_append_new(list, to);
}

json_t *verdict_nodes_json(const struct judge *judge)
{
	struct words names = { 0 };
	json_t *list = json_array();

	for (size_t i = 0; i < judge->exhibits.nodes.len; i++)
		words_keep(&names, judge->exhibits.nodes.data[i].name);
	for (size_t i = 0; i < judge->inventories.list.len; i++)
		words_keep(&names, judge->inventories.list.data[i].name);
	for (size_t i = 0; i < names.list.len; i++)
		add_node(list, names.list.data[i],
			 policy_class_of(judge->policy, names.list.data[i]));
	words_release(&names);
	return list;
}

json_t *verdict_nics_json(const struct judge *judge)
{
	json_t *list = json_array();
	struct nics nics = { 0 };

	nics_make(&nics, judge);
	for (size_t i = 0; i < nics.list.len; i++) {
		const struct nic_traffic *nic = &nics.list.data[i];
		json_t *to = json_object();

		json_object_set_new(to, "node", verdict_text_json(nic->node));
		json_object_set_new(to, "device", verdict_text_json(nic->device));
		json_object_set_new(to, "sent", verdict_exact_json(nic->sent));
		json_object_set_new(to, "fetched", verdict_exact_json(nic->fetched));
		json_object_set_new(to, "transfers", verdict_exact_json(nic->transfers));
		json_array_append_new(list, to);
	}
	nics_release(&nics);
	return list;
}
