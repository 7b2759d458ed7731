// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/subjects.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fold.h"
#include "base/vec.h"

/* What stands between the two nodes of a pair, and a node and what is below it. */
#define BETWEEN "<>:"

/* A subject taken apart: n0 > n1, n0 : mlx5_0; a node alone has nothing between. */
struct part {
	const char *node, *between, *rest;
};

struct parts {
	VEC(struct part) list;
	VEC(char *) made;
};

static const char *keep(struct parts *parts, char *text)
{
	if (!text)
		abort();
	vec_push(&parts->made, text);
	return text;
}

static void take_apart(struct parts *parts, const char *subject)
{
	size_t node = strcspn(subject, BETWEEN), between = strspn(subject + node, BETWEEN);

	vec_push(&parts->list, ((struct part){
				       .node = keep(parts, strndup(subject, node)),
				       .between = keep(parts, strndup(subject + node, between)),
				       .rest = subject + node + between,
			       }));
}

static int by_node(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	int order = strcmp(a->between, b->between);

	order = order ? order : strcmp(a->node, b->node);
	return order ? order : strcmp(a->rest, b->rest);
}

static int by_rest(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	int order = strcmp(a->between, b->between);

	order = order ? order : strcmp(a->rest, b->rest);
	return order ? order : strcmp(a->node, b->node);
}

static bool same_frame(const struct part *a, const struct part *b, bool nodes)
{
	return !strcmp(a->between, b->between) &&
	       !(nodes ? strcmp(a->rest, b->rest) : strcmp(a->node, b->node));
}

/* Those that differ in their nodes alone become one, or those that differ in what is below. */
static void fold_alike(struct parts *parts, bool nodes)
{
	struct part *list = parts->list.data;
	size_t kept = 0, to;

	qsort(list, parts->list.len, sizeof(*list), nodes ? by_rest : by_node);
	for (size_t from = 0; from < parts->list.len; from = to) {
		VEC(const char *) names = { 0 };
		struct part one = list[from];

		for (to = from; to < parts->list.len && same_frame(&list[from], &list[to], nodes);
		     to++)
			vec_push(&names, nodes ? list[to].node : list[to].rest);
		if (names.len > 1)
			*(nodes ? &one.node : &one.rest) =
				keep(parts, fold_names(names.data, names.len));
		vec_release(&names);
		list[kept++] = one;
	}
	parts->list.len = kept;
}

static int by_text(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Each of some nodes with each other one: nobody needs to read which. */
static void fold_all_pairs(struct parts *parts)
{
	const struct part *list = parts->list.data;
	VEC(const char *) nodes = { 0 };
	size_t pairs = parts->list.len, kinds = 0, both;

	for (size_t i = 0; i < pairs && strpbrk(list[i].between, "<>") &&
			   !strcmp(list[i].between, list[0].between);
	     i++) {
		vec_push(&nodes, list[i].node);
		vec_push(&nodes, list[i].rest);
	}
	if (nodes.len)
		qsort(nodes.data, nodes.len, sizeof(*nodes.data), by_text);
	for (size_t i = 0; i < nodes.len; i++)
		kinds += !i || strcmp(nodes.data[i - 1], nodes.data[i]) != 0;
	both = kinds * (kinds - !!kinds);
	if (pairs > 2 && nodes.len == 2 * pairs &&
	    pairs == (strlen(list[0].between) > 1 ? both / 2 : both)) {
		const char *all = keep(parts, fold_names(nodes.data, nodes.len));

		parts->list.data[0].node = parts->list.data[0].rest = all;
		parts->list.len = 1;
	}
	vec_release(&nodes);
}

static char *join(const struct parts *parts, size_t most)
{
	size_t bytes, count = parts->list.len;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		abort();
	for (size_t i = 0; i < count; i++) {
		const struct part *part = &parts->list.data[i];

		if (most && i == most) {
			fprintf(out, " and %zu more", count - i);
			break;
		}
		fprintf(out, "%s%s%s%s", i ? "," : "", part->node, part->between, part->rest);
	}
	if (fclose(out))
		abort();
	return text;
}

char *subjects_fold(const char *const *subjects, size_t count, size_t most)
{
	struct parts parts = { 0 };
	char *text;

	for (size_t i = 0; i < count; i++)
		take_apart(&parts, subjects[i]);
	if (count) {
		fold_all_pairs(&parts);
		fold_alike(&parts, false);
		fold_alike(&parts, true);
		qsort(parts.list.data, parts.list.len, sizeof(*parts.list.data), by_node);
	}
	text = join(&parts, most);
	for (size_t i = 0; i < parts.made.len; i++)
		free(parts.made.data[i]);
	vec_release(&parts.made);
	vec_release(&parts.list);
	return text;
}
