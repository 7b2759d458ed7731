// SPDX-License-Identifier: BSD-3-Clause
/* Modules of UCX that would not load on a node, as the cause of its wrong paths. */
#include <string.h>

#include "site/judge/outcome/outcome.h"

#define MODULES 4

/* The modules that carry what a rule wants: libuct_cuda.so.0. */
static const struct need {
	const char *rule, *modules[MODULES];
} needs[] = {
	{ "PATH-02", { "ib", "ib_mlx5", "rdmacm" } },
	{ "PATH-03", { "cma", "knem", "xpmem", "cuda" } },
	{ "PATH-04", { "cuda" } },
	{ "PATH-05", { "cma", "knem", "xpmem" } },
	{ "PATH-06", { "cuda_gdrcopy", "cuda" } },
	{ "PATH-08", { "ib", "ib_mlx5" } },
	{ "PATH-10", { "cuda" } },
};

static const struct need *need_of(const char *rule)
{
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (!strcmp(needs[i].rule, rule))
			return &needs[i];
	return NULL;
}

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_module(const char *file, const char *name)
{
	static const char prefix[] = "libuct_";
	size_t length = strlen(name);

	return name[0] && !strncmp(file, prefix, strlen(prefix)) &&
	       !strncmp(file + strlen(prefix), name, length) &&
	       file[strlen(prefix) + length] == '.';
}

static const struct inventory_module *refused(const struct inventory_library *ucx,
					      const struct need *need)
{
	for (size_t i = 0; i < MODULES && need->modules[i]; i++)
		for (size_t k = 0; k < ucx->modules.len; k++)
			if (ucx->modules.data[k].missing &&
			    is_module(file_of(ucx->modules.data[k].path), need->modules[i]))
				return &ucx->modules.data[k];
	return NULL;
}

/* Whether one of the node's processes had this copy: others may be broken, it hurts nobody. */
static bool in_use(const struct exhibits *exhibits, const char *node,
		   const struct inventory_library *ucx)
{
	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];
		const struct node *own = exhibits_node(exhibits, i);

		if (!own || !own->name || strcmp(own->name, node))
			continue;
		for (size_t k = 0; k < member->ucx.len; k++)
			if (member->ucx.data[k].build_id && ucx->build_id &&
			    !strcmp(member->ucx.data[k].build_id, ucx->build_id))
				return true;
	}
	return false;
}

/* Of a node that the subject names, alone or at either end of a pair. */
static bool is_about(const char *subject, const char *node)
{
	static const char separators[] = ">:<";
	size_t length = strlen(node), first = strcspn(subject, separators);
	const char *second = subject + first + strspn(subject + first, "<>");

	if (first == length && !strncmp(subject, node, length))
		return true;
	return second != subject + first && strcspn(second, separators) == length &&
	       !strncmp(second, node, length);
}

static const char *cause_on(struct judge *judge, const struct node_inventory *node,
			    const struct need *need)
{
	for (size_t i = 0; i < node->last->ucx.len; i++) {
		const struct inventory_library *ucx = &node->last->ucx.data[i];
		const struct inventory_module *module = refused(ucx, need);

		if (module && in_use(&judge->exhibits, node->name, ucx))
			return say(judge, "%s of UCX %s does not load on %s: %s",
				   file_of(module->path), ucx->version ? ucx->version : "?",
				   node->name, module->missing);
	}
	return NULL;
}

void judge_modules(struct judge *judge)
{
	for (size_t i = 0; i < judge->findings.len; i++) {
		struct finding *finding = &judge->findings.data[i];
		const struct need *need = need_of(finding->rule->id);

		if (finding->verdict != VERDICT_FAIL || !need)
			continue;
		for (size_t k = 0; k < judge->inventories.list.len && !finding->cause; k++) {
			const struct node_inventory *node = &judge->inventories.list.data[k];

			if (node->name && is_about(finding->subject, node->name))
				finding->cause = cause_on(judge, node, need);
		}
	}
}
