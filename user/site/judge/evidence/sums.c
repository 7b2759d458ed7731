// SPDX-License-Identifier: BSD-3-Clause
/* Sums of messages, operations and calls, as lines of evidence. */
#include <string.h>

#include "site/judge/evidence/kinds.h"

static void write_process(const struct exhibits *exhibits, struct evidence_lines *lines,
			  int process)
{
	line_word(lines, process < 0 ? NULL : exhibits->members.data[process].id);
}

void write_sums(const struct judge *judge, struct evidence_lines *lines)
{
	const struct exhibits *exhibits = &judge->exhibits;

	for (size_t i = 0; i < exhibits->sums.list.len; i++) {
		const struct sum *sum = &exhibits->sums.list.data[i];

		line_begin(lines, "sum");
		line_word(lines, sum_kind_names[sum->kind]);
		write_process(exhibits, lines, sum->process);
		write_process(exhibits, lines, sum->peer);
		for (size_t k = 0; k < SUM_WORDS; k++)
			line_word(lines, sum->words[k]);
		line_number(lines, exhibits_class_from(exhibits, sum->size_class));
		line_number(lines, sum->count);
		line_number(lines, sum->bytes);
		line_number(lines, sum->extra);
		line_number(lines, sum->least);
		line_number(lines, sum->most);
	}
}

static bool read_kind(struct line_ref field, enum sum_kind *kind)
{
	for (int i = 0; i < SUM_KINDS; i++) {
		if (strlen(sum_kind_names[i]) != field.size ||
		    memcmp(sum_kind_names[i], field.text, field.size))
			continue;
		*kind = i;
		return true;
	}
	return false;
}

/* Only messages are told apart by size. */
static bool of_one_class(const struct exhibits *exhibits, struct sum *sum)
{
	if (sum->kind != SUM_WAY)
		return true;
	sum->size_class = exhibits_size_class(exhibits, sum->least);
	return sum->size_class == exhibits_size_class(exhibits, sum->most);
}

const char *read_sum(struct judge *judge, const struct line_ref *fields)
{
	struct exhibits *exhibits = &judge->exhibits;
	struct sum sum = { .process = field_process(exhibits, fields[1]),
			   .peer = field_process(exhibits, fields[2]) };

	for (size_t i = 0; i < SUM_WORDS; i++)
		sum.words[i] = field_kept(exhibits, fields[3 + i]);
	if (!read_kind(fields[0], &sum.kind) || !field_number(fields[9], &sum.count) ||
	    !field_number(fields[10], &sum.bytes) || !field_number(fields[11], &sum.extra) ||
	    !field_number(fields[12], &sum.least) || !field_number(fields[13], &sum.most))
		return FIELD_NO_NUMBER;
	if (!of_one_class(exhibits, &sum))
		return FIELD_CUT;
	sums_add(&exhibits->sums, &sum);
	return NULL;
}
