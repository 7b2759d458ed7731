// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/verdict/lines.h"

#include <ctype.h>
#include <string.h>

#include "site/judge/subjects.h"

/* Parts of a subject that do not fold, in a table that is to be read at a glance. */
#define MOST_PARTS 3

typedef VEC(const struct finding *) findings;

const char *finding_mark(const struct finding *finding)
{
	static const char *const failures[SEVERITIES] = { "INFO", "WARN", "FAIL C" };
	static const char *const others[VERDICTS] = { "pass", "FAIL", "UNKN", "skip", "waived" };

	return finding->verdict == VERDICT_FAIL ? failures[finding->severity]
						: others[finding->verdict];
}

/* What needs somebody comes first. */
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
 * Behind the number that begins at a point of a text; NULL: none does. What counts or measures is
 * one ("12 B", "2.13"), a part of a name is not (mlx5_0:1, gpu0), nor is a version (1.13.1).
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
		count += !before || strcmp(before->subject, finding->subject) != 0;
		before = finding;
	}
	return count;
}

static struct line line_of(const struct finding *const *list, size_t count, bool verbose)
{
	struct line line = { .finding = list[0] };
	VEC(const char *) subjects = { 0 };

	for (size_t i = 0; i < count; i++) {
		line.count += list[i]->count;
		line.bytes += list[i]->bytes;
		line.differs = line.differs || !same_text(list[i]->seen, list[0]->seen) ||
			       !same_text(list[i]->why, list[0]->why);
		if (list[i]->bytes > line.finding->bytes)
			line.finding = list[i];
		vec_push(&line.findings, list[i]);
		line.subjects += !i || strcmp(list[i - 1]->subject, list[i]->subject) != 0;
		vec_push(&subjects, list[i]->subject);
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
		line->of = subjects_of(judge, line->finding->rule);
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
