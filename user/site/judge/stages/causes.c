// SPDX-License-Identifier: BSD-3-Clause
/*
 * The cause of a failure, as far as other findings and inventories of the same node show it:
 * modules of UCX that do not load, settings, narrow or broken ports.
 */
#include "site/judge/stages/stages.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/library_role.h"
#include "base/transport.h"
#include "base/vec.h"
#include "site/judge/rules/rules.h"

/* ---- modules of UCX that would not load ---- */

#define NEEDS 4

/* The transports that a rule expects; rdmacm is no transport, but connects them. */
static const char *const needs[CATALOGUE_RULES][NEEDS] = {
	[RULE_PATH_02] = { "rc_verbs", "rc_mlx5", "rdmacm" },
	[RULE_PATH_03] = { "cma", "knem", "xpmem", "cuda_ipc" },
	[RULE_PATH_04] = { "cuda_ipc" },
	[RULE_PATH_05] = { "cma", "knem", "xpmem" },
	[RULE_PATH_06] = { "gdr_copy" },
	[RULE_PATH_08] = { "rc_verbs", "rc_mlx5" },
	[RULE_PATH_10] = { "cuda_copy" },
};

static bool is_module(const char *file, const char *name)
{
	static const char prefix[] = "libuct_";
	const size_t length = strlen(prefix) + strlen(name);

	return name[0] && library_stem(file) == length && !strncmp(file, prefix, strlen(prefix)) &&
	       !strncmp(file + strlen(prefix), name, strlen(name));
}

static const struct inventory_module *refused_of(const struct inventory_library *ucx,
						 const char *name)
{
	for (size_t i = 0; i < ucx->modules.len; i++)
		if (ucx->modules.data[i].missing &&
		    is_module(basename(ucx->modules.data[i].path), name))
			return &ucx->modules.data[i];
	return NULL;
}

static const struct inventory_module *refused(const struct inventory_library *ucx,
					      const char *const *transports)
{
	const struct inventory_module *found = NULL;

	for (size_t i = 0; i < NEEDS && transports[i] && !found; i++) {
		const struct transport *row = transport_named(transports[i]);

		if (!row->name)
			found = refused_of(ucx, transports[i]);
		for (size_t k = 0; k < ARRAY_SIZE(row->modules) && row->modules[k] && !found; k++)
			found = refused_of(ucx, row->modules[k]);
	}
	return found;
}

/*
 * Whether one of the node's processes used this copy: a broken copy that nobody uses does no harm.
 */
static bool in_use(const struct aggregates *aggregates, const char *node,
		   const struct inventory_library *ucx)
{
	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member *member = &aggregates->members.data[i];
		const struct node *own = aggregates_node(aggregates, i);

		if (!own || !own->name || strcmp(own->name, node))
			continue;
		for (size_t k = 0; k < member->ucx.len; k++)
			if (member->ucx.data[k].build_id && ucx->build_id &&
			    !strcmp(member->ucx.data[k].build_id, ucx->build_id))
				return true;
	}
	return false;
}

static const char *cause_on(struct judge *judge, const struct node_inventory *node,
			    const char *const *transports)
{
	for (size_t i = 0; i < node->last->ucx.len; i++) {
		const struct inventory_library *ucx = &node->last->ucx.data[i];
		const struct inventory_module *module = refused(ucx, transports);

		if (module && in_use(&judge->aggregates, node->name, ucx))
			return say(judge, "%s of UCX %s does not load on %s: %s",
				   basename(module->path), ucx->version ? ucx->version : "?",
				   node->name, module->missing);
	}
	return NULL;
}

void stage_modules(struct judge *judge)
{
	for (size_t i = 0; i < judge->findings.len; i++) {
		struct finding *finding = &judge->findings.data[i];
		const char *const *transports = needs[catalogue_index(finding->rule)];

		if (finding->verdict != VERDICT_FAIL || !*transports)
			continue;
		for (size_t k = 0; k < judge->inventories.list.len && !finding->cause; k++) {
			const struct node_inventory *node = &judge->inventories.list.data[k];

			if (node->name && subject_is(&finding->subject, node->name))
				finding->cause = cause_on(judge, node, transports);
		}
	}
}

/* ---- other findings, and ports ---- */

/*
 * A failure of one rule that explains a failure of another one on the same node. word: only where
 * the finding mentions it, since settings differ in much that is unrelated.
 */
static const struct cause_link {
	enum rule_id effect, cause;
	const char *word;
} links[] = {
	{ RULE_RAIL_01, RULE_RAIL_05, NULL },
	{ RULE_RAIL_02, RULE_RAIL_05, NULL },
	{ RULE_PATH_01, RULE_CFG_01, "UCX_TLS" },
	{ RULE_PATH_01, RULE_CFG_01, "UCX_NET_DEVICES" },
	{ RULE_PATH_03, RULE_CFG_01, "UCX_TLS" },
	{ RULE_PATH_05, RULE_CFG_01, "UCX_TLS" },
	{ RULE_PATH_05, RULE_CFG_01, "UCX_RNDV_THRESH" },
	{ RULE_PROTO_02, RULE_CFG_01, "UCX_RNDV_THRESH" },
	{ RULE_PROTO_02, RULE_CFG_01, "UCX_RNDV_SCHEME" },
	{ RULE_PROTO_02, RULE_COV_06, NULL },
	{ RULE_PERF_01, RULE_RAIL_05, NULL },
	{ RULE_PERF_01, RULE_FAB_04, NULL },
	{ RULE_PERF_02, RULE_RAIL_05, NULL },
	{ RULE_PERF_02, RULE_FAB_04, NULL },
	{ RULE_PERF_03, RULE_RAIL_05, NULL },
	{ RULE_PERF_03, RULE_FAB_04, NULL },
};

/* Failures of rules that are causes, sorted by node. */
struct known {
	const char *node;
	const struct finding *finding;
};

typedef VEC(struct known) known_list;

static bool is_cause(enum rule_id rule)
{
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		if (links[i].cause == rule)
			return true;
	return false;
}

static int by_node(const void *left, const void *right)
{
	const struct known *a = left, *b = right;
	int order = strcmp(a->node, b->node);

	return order ? order : strcmp(a->finding->subject.text, b->finding->subject.text);
}

static void find_known(const struct judge *judge, known_list *known)
{
	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];
		const char *nodes[SUBJECT_NODES];
		size_t count;

		if (finding->verdict != VERDICT_FAIL || !finding->seen ||
		    !is_cause(catalogue_index(finding->rule)))
			continue;
		count = subject_nodes(&finding->subject, &judge->names, nodes);
		while (count)
			vec_push(known, ((struct known){ nodes[--count], finding }));
	}
	if (known->len)
		qsort(known->data, known->len, sizeof(*known->data), by_node);
}

/* Position of the node's first one; known->len: the node has none. */
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

static const char *cause_by(struct judge *judge, const known_list *known,
			    const struct cause_link *link, const char *node)
{
	for (size_t i = first_of(known, node); i < known->len && !strcmp(known->data[i].node, node);
	     i++) {
		const struct finding *finding = known->data[i].finding;

		if (finding->rule == &catalogue[link->cause] &&
		    (!link->word || mentions(finding->seen, link->word)))
			return say(judge, "%s of %s: %s", finding->rule->id, finding->subject.text,
				   finding->seen);
	}
	return NULL;
}

/*
 * A port with fewer PCIe lanes than it could have limits goodput, even if all ports of the class
 * do.
 */
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
		if (finding->rule == &catalogue[links[i].effect])
			cause = cause_by(judge, known, &links[i], node);
	if (!cause && finding->rule == &catalogue[RULE_PERF_03])
		cause = narrow_port(judge, node);
	return cause;
}

void stage_causes(struct judge *judge)
{
	known_list known = { 0 };

	find_known(judge, &known);
	for (size_t i = 0; i < judge->findings.len; i++) {
		struct finding *finding = &judge->findings.data[i];
		const char *nodes[SUBJECT_NODES];
		size_t count = 0;

		if (finding->verdict == VERDICT_FAIL && !finding->cause)
			count = subject_nodes(&finding->subject, &judge->names, nodes);
		for (size_t k = 0; k < count && !finding->cause; k++)
			finding->cause = cause_of(judge, &known, finding, nodes[k]);
	}
	vec_release(&known);
}
