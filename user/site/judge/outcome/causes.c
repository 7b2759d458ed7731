// SPDX-License-Identifier: BSD-3-Clause
/* What other findings and inventories of the same node tell of the cause of a failure. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "site/judge/exhibits/named.h"
#include "site/judge/outcome/outcome.h"
#include "site/judge/rules/rules.h"

/*
 * Failures of one rule that another one's failure of the same node brings about. word: only where
 * that is in what was seen, as settings differ in much that has nothing to do with it.
 */
static const struct link {
	const char *effect, *cause, *word;
} links[] = {
	{ "RAIL-01", "RAIL-05", NULL },
	{ "RAIL-02", "RAIL-05", NULL },
	{ "PATH-01", "CFG-01", "UCX_TLS" },
	{ "PATH-01", "CFG-01", "UCX_NET_DEVICES" },
	{ "PATH-03", "CFG-01", "UCX_TLS" },
	{ "PATH-05", "CFG-01", "UCX_TLS" },
	{ "PATH-05", "CFG-01", "UCX_RNDV_THRESH" },
	{ "PROTO-02", "CFG-01", "UCX_RNDV_THRESH" },
	{ "PROTO-02", "CFG-01", "UCX_RNDV_SCHEME" },
	{ "PROTO-02", "COV-06", NULL },
	{ "PERF-01", "RAIL-05", NULL },
	{ "PERF-01", "FAB-04", NULL },
	{ "PERF-02", "RAIL-05", NULL },
	{ "PERF-02", "FAB-04", NULL },
	{ "PERF-03", "RAIL-05", NULL },
	{ "PERF-03", "FAB-04", NULL },
};

/* Those that failed, of rules that are causes, by node: a node's come one after the other. */
struct known {
	const char *node;
	const struct finding *finding;
};

typedef VEC(struct known) known_list;

static bool is_cause(const struct catalogue_rule *rule)
{
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		if (!strcmp(links[i].cause, rule->id))
			return true;
	return false;
}

static int by_node(const void *left, const void *right)
{
	const struct known *a = left, *b = right;
	int order = strcmp(a->node, b->node);

	return order ? order : strcmp(a->finding->subject, b->finding->subject);
}

static void find_known(const struct judge *judge, const struct words *names, known_list *known)
{
	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];
		const char *nodes[NAMED_MOST];
		size_t count;

		if (finding->verdict != VERDICT_FAIL || !finding->seen || !is_cause(finding->rule))
			continue;
		count = named_in(names, finding->subject, nodes);
		while (count)
			vec_push(known, ((struct known){ nodes[--count], finding }));
	}
	if (known->len)
		qsort(known->data, known->len, sizeof(*known->data), by_node);
}

/* The first one of a node; known->len: there is none. */
static size_t first_of(const known_list *known, const char *node)
{
	size_t low = 0, high = known->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(known->data[middle].node, node) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Not as a part of another name. */
static bool mentions(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (text = strstr(text, word); text; text = strstr(text + length, word))
		if (!isalnum((unsigned char)text[length]) && text[length] != '_')
			return true;
	return false;
}

static const char *cause_by(struct judge *judge, const known_list *known, const struct link *link,
			    const char *node)
{
	for (size_t i = first_of(known, node); i < known->len && !strcmp(known->data[i].node, node);
	     i++) {
		const struct finding *finding = known->data[i].finding;

		if (!strcmp(finding->rule->id, link->cause) &&
		    (!link->word || mentions(finding->seen, link->word)))
			return say(judge, "%s of %s: %s", finding->rule->id, finding->subject,
				   finding->seen);
	}
	return NULL;
}

/* A port that could have more lanes than it has: of goodput, whatever its like have. */
static const char *narrow_port(struct judge *judge, const char *name)
{
	for (size_t i = 0; i < judge->inventories.list.len; i++) {
		const struct node_inventory *node = &judge->inventories.list.data[i];

		for (size_t k = 0; !strcmp(node->name, name) && k < node->last->nics.len; k++) {
			const struct inventory_nic *nic = &node->last->nics.data[k];

			if (nic_watched(node, nic) && nic->pci.width > 0 &&
			    nic->pci.width < nic->pci.max_width)
				return say(judge, "%s:%s has %" PRId64 " of %" PRId64 " PCIe lanes",
					   name, nic->name, nic->pci.width, nic->pci.max_width);
		}
	}
	return NULL;
}

static const char *cause_of(struct judge *judge, const known_list *known,
			    const struct finding *finding, const char *node)
{
	const char *cause = NULL;

	for (size_t i = 0; !cause && i < sizeof(links) / sizeof(*links); i++)
		if (!strcmp(links[i].effect, finding->rule->id))
			cause = cause_by(judge, known, &links[i], node);
	if (!cause && !strcmp(finding->rule->id, "PERF-03"))
		cause = narrow_port(judge, node);
	return cause;
}

void judge_causes(struct judge *judge)
{
	struct words names = { 0 };
	known_list known = { 0 };

	for (size_t i = 0; i < judge->exhibits.nodes.len; i++)
		words_keep(&names, judge->exhibits.nodes.data[i].name);
	for (size_t i = 0; i < judge->inventories.list.len; i++)
		words_keep(&names, judge->inventories.list.data[i].name);
	find_known(judge, &names, &known);
	for (size_t i = 0; i < judge->findings.len; i++) {
		struct finding *finding = &judge->findings.data[i];
		const char *nodes[NAMED_MOST];
		size_t count = 0;

		if (finding->verdict == VERDICT_FAIL && !finding->cause)
			count = named_in(&names, finding->subject, nodes);
		for (size_t k = 0; k < count && !finding->cause; k++)
			finding->cause = cause_of(judge, &known, finding, nodes[k]);
	}
	vec_release(&known);
	words_release(&names);
}
