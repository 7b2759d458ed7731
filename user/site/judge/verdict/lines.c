// SPDX-License-Identifier: BSD-3-Clause
/* Findings that say the same of several subjects, as one line; and many subjects as one word. */
#include "site/judge/verdict/lines.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lists.h"
#include "base/vec.h"

/* ---- many subjects as one word ---- */

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
	vec_push(&parts->made, text);
	return text;
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

/* Merges subjects that differ only in their nodes, or only in the rest. */
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

/* All pairs of some nodes: shown by the nodes alone. */
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

static char *join_parts(const struct parts *parts, size_t most)
{
	size_t bytes, count = parts->list.len;
	char *text = NULL;
	FILE *out = xmemstream(&text, &bytes);

	for (size_t i = 0; i < count; i++) {
		const struct part *part = &parts->list.data[i];

		if (most && i == most) {
			fprintf(out, " and %zu more", count - i);
			break;
		}
		fprintf(out, "%s%s%s%s", i ? "," : "", part->node, part->between, part->rest);
	}
	fclose(out);
	return text;
}

char *subjects_fold(const struct subject *const *subjects, size_t count, size_t most)
{
	struct parts parts = { 0 };
	char *text;

	for (size_t i = 0; i < count; i++) {
		const struct subject *subject = subjects[i];

		vec_push(&parts.list, ((struct part){
					      .node = subject_first(subject),
					      .between = subject_between(subject),
					      .rest = subject_rest(subject),
				      }));
	}
	if (count) {
		fold_all_pairs(&parts);
		fold_alike(&parts, false);
		fold_alike(&parts, true);
		qsort(parts.list.data, parts.list.len, sizeof(*parts.list.data), by_node);
	}
	text = join_parts(&parts, most);
	for (size_t i = 0; i < parts.made.len; i++)
		free(parts.made.data[i]);
	vec_release(&parts.made);
	vec_release(&parts.list);
	return text;
}

/* ---- many findings as one line ---- */

/*
 * The number of parts of a subject that are listed when they do not fold into a range: a table is
 * read at a glance.
 */
#define MOST_PARTS 3

typedef VEC(const struct finding *) findings;

const char *finding_mark(const struct finding *finding)
{
	static const char *const failures[SEVERITIES] = { "INFO", "WARN", "FAIL C" };

	return finding->verdict == VERDICT_FAIL ? failures[finding->severity]
						: verdict_words[finding->verdict].mark;
}

/* Findings that need attention come first. */
static int urgency(const struct finding *finding)
{
	static const int of[VERDICTS] = {
		[VERDICT_UNKNOWN] = SEVERITIES,
		[VERDICT_WAIVED] = SEVERITIES + 1,
		[VERDICT_PASS] = SEVERITIES + 2,
		[VERDICT_SKIP] = SEVERITIES + 3,
	};

	return finding->verdict == VERDICT_FAIL ? SEVERITY_CRITICAL - (int)finding->severity
						: of[finding->verdict];
}

/*
 * The end of the number that begins at a point of a text; NULL: no number does. Amounts are numbers
 * ("12 B", "2.13"); parts of names (mlx5_0:1, gpu0) and versions (1.13.1) are not.
 */
static const char *behind_number(const char *text, const char *at)
{
	int points = 0;

	if (!isdigit((unsigned char)*at) || (at > text && !strchr(" (", at[-1])))
		return NULL;
	for (; isdigit((unsigned char)*at) ||
	       ((*at == '.' || *at == ',') && isdigit((unsigned char)at[1]));
	     at++)
		points += *at == '.';
	return points > 1 || isalnum((unsigned char)*at) || *at == '_' ? NULL : at;
}

/* Compares texts as if all numbers were one. */
static int but_for_numbers(const char *left, const char *right)
{
	const char *a = left, *b = right;

	if (!a || !b)
		return !!a - !!b;
	while (*a && *b) {
		const char *a_end = behind_number(left, a), *b_end = behind_number(right, b);

		if (!a_end != !b_end)
			return a_end ? -1 : 1;
		if (!a_end && *a != *b)
			break;
		a = a_end ? a_end : a + 1;
		b = b_end ? b_end : b + 1;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

static int same_line(const struct finding *a, const struct finding *b)
{
	int order = urgency(a) - urgency(b);

	order = order ? order : (a->rule > b->rule) - (a->rule < b->rule);
	order = order ? order : but_for_numbers(a->expected, b->expected);
	order = order ? order : but_for_numbers(a->seen, b->seen);
	order = order ? order : but_for_numbers(a->why, b->why);
	return order ? order : but_for_numbers(a->cause, b->cause);
}

static int by_line(const void *left, const void *right)
{
	const struct finding *a = *(const struct finding *const *)left;
	const struct finding *b = *(const struct finding *const *)right;
	int order = same_line(a, b);

	return order ? order : (a > b) - (a < b);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Findings of a rule are in order of their subjects. */
static size_t subjects_of(const struct judge *judge, const struct catalogue_rule *rule)
{
	const struct finding *before = NULL;
	size_t count = 0;

	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];

		if (finding->rule != rule || finding->verdict == VERDICT_SKIP)
			continue;
		count += !before || strcmp(before->subject.text, finding->subject.text) != 0;
		before = finding;
	}
	return count;
}

static struct line line_of(const struct finding *const *list, size_t count, bool verbose)
{
	struct line line = { .finding = list[0] };
	VEC(const struct subject *) subjects = { 0 };

	for (size_t i = 0; i < count; i++) {
		line.count += list[i]->count;
		line.bytes += list[i]->bytes;
		line.differs = line.differs || !same_text(list[i]->seen, list[0]->seen) ||
			       !same_text(list[i]->why, list[0]->why);
		if (list[i]->bytes > line.finding->bytes)
			line.finding = list[i];
		vec_push(&line.findings, list[i]);
		line.subjects +=
			!i || strcmp(list[i - 1]->subject.text, list[i]->subject.text) != 0;
		vec_push(&subjects, &list[i]->subject);
	}
	line.subject = subjects_fold(subjects.data, subjects.len, verbose ? 0 : MOST_PARTS);
	vec_release(&subjects);
	return line;
}

void lines_make(struct lines *lines, const struct judge *judge, bool verbose)
{
	findings wanted = { 0 };
	size_t to;

	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];

		if (verbose ||
		    (finding->verdict != VERDICT_PASS && finding->verdict != VERDICT_SKIP))
			vec_push(&wanted, finding);
	}
	if (wanted.len)
		qsort(wanted.data, wanted.len, sizeof(*wanted.data), by_line);
	for (size_t from = 0; from < wanted.len; from = to) {
		struct line *line;

		for (to = from + 1;
		     to < wanted.len && !same_line(wanted.data[from], wanted.data[to]);)
			to++;
		line = vec_add(&lines->list);
		*line = line_of(wanted.data + from, to - from, verbose);
		line->judged = subjects_of(judge, line->finding->rule);
	}
	vec_release(&wanted);
}

void lines_release(struct lines *lines)
{
	for (size_t i = 0; i < lines->list.len; i++) {
		free(lines->list.data[i].subject);
		vec_release(&lines->list.data[i].findings);
	}
	vec_release(&lines->list);
}
