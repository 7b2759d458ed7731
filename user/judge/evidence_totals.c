// SPDX-License-Identifier: BSD-3-Clause
/* Captures, and what was counted over all of them, as lines of evidence. */
#include <string.h>

#include "judge/evidence_kinds.h"
#include "judge/totals.h"

void write_captures(const struct judge *judge, struct evidence_lines *lines)
{
	const struct exhibits *exhibits = &judge->exhibits;

	for (size_t i = 0; i < exhibits->captures.len; i++) {
		const struct exhibit_capture *capture = &exhibits->captures.data[i];

		line_begin(lines, "capture");
		line_word(lines, capture->host_name);
		line_number(lines, capture->start);
		line_word(lines, capture->host_id);
	}
}

const char *read_capture(struct judge *judge, const struct line_ref *fields)
{
	struct exhibits *exhibits = &judge->exhibits;
	struct exhibit_capture capture = {
		.host_id = field_kept(exhibits, fields[2]),
		.host_name = field_kept(exhibits, fields[0]),
	};

	if (!field_number(fields[1], &capture.start))
		return FIELD_NO_NUMBER;
	vec_push(&exhibits->captures, capture);
	return NULL;
}

void write_reasons(const struct judge *judge, struct evidence_lines *lines)
{
	const struct exhibits *exhibits = &judge->exhibits;

	for (size_t i = 0; i < TOTALS_LISTS; i++) {
		const struct fact_reason *list =
			totals_list((struct fact_totals *)&exhibits->totals, totals_lists[i].name);

		for (int k = 0; k < FACT_MAX_REASONS && list[k].reason; k++) {
			line_begin(lines, "reason");
			line_word(lines, totals_lists[i].name);
			line_word(lines, list[k].reason);
			line_number(lines, list[k].count);
		}
	}
}

const char *read_reason(struct judge *judge, const struct line_ref *fields)
{
	struct exhibits *exhibits = &judge->exhibits;
	struct fact_reason *list = totals_list(&exhibits->totals, field_kept(exhibits, fields[0]));
	const char *reason = field_kept(exhibits, fields[1]);
	uint64_t count;

	if (!list || !reason)
		return "a list of reasons that this version does not know";
	if (!field_number(fields[2], &count))
		return FIELD_NO_NUMBER;
	totals_reason(list, reason, count);
	return NULL;
}

#define BROKEN "broken" /* gatherings of which a capture lacked something */

void write_totals(const struct judge *judge, struct evidence_lines *lines)
{
	const struct exhibits *exhibits = &judge->exhibits;

	for (size_t i = 0; i < TOTALS_NUMBERS; i++) {
		uint64_t *number = totals_number((struct fact_totals *)&exhibits->totals,
						 totals_numbers[i].name);

		if (!*number)
			continue;
		line_begin(lines, "total");
		line_word(lines, totals_numbers[i].name);
		line_number(lines, *number);
	}
	if (!judge->captures_broken)
		return;
	line_begin(lines, "total");
	line_word(lines, BROKEN);
	line_number(lines, 1);
}

const char *read_total(struct judge *judge, const struct line_ref *fields)
{
	struct exhibits *exhibits = &judge->exhibits;
	const char *name = field_kept(exhibits, fields[0]);
	uint64_t *number = totals_number(&exhibits->totals, name), broken;

	if (name && !strcmp(name, BROKEN)) {
		number = &broken;
		judge->captures_broken = true;
	}
	if (!number)
		return "a total that this version does not know";
	return field_number(fields[1], number) ? NULL : FIELD_NO_NUMBER;
}
