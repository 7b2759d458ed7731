// SPDX-License-Identifier: BSD-3-Clause
/* Captures, and what was counted over all of them, as lines of evidence. */
#include <string.h>

#include "site/judge/evidence/kinds.h"
#include "site/judge/exhibits/totals.h"

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

/* Where captures say it: of others, all levels may be there. */
void write_levels(const struct judge *judge, struct evidence_lines *lines)
{
	const struct fact_self *self = &judge->exhibits.totals.self;

	for (int i = 0; self->known && i < FACT_LEVELS; i++) {
		if (!self->levels[i])
			continue;
		line_begin(lines, "level");
		line_word(lines, fact_level_names[i]);
	}
}

const char *read_level(struct judge *judge, const struct line_ref *fields)
{
	const char *name = field_kept(&judge->exhibits, fields[0]);
	struct fact_self *self = &judge->exhibits.totals.self;

	for (int i = 0; name && i < FACT_LEVELS; i++)
		if (!strcmp(name, fact_level_names[i])) {
			self->levels[i] = true;
			self->known++;
			return NULL;
		}
	return "none that this version knows";
}

void write_losses(const struct judge *judge, struct evidence_lines *lines)
{
	for (size_t i = 0; i < judge->losses.list.len; i++) {
		const struct node_loss *loss = &judge->losses.list.data[i];

		for (int kind = 0; kind < LOSS_KINDS; kind++) {
			if (!loss->of[kind])
				continue;
			line_begin(lines, "loss");
			line_word(lines, loss->node);
			line_word(lines, loss_names[kind]);
			line_number(lines, loss->of[kind]);
		}
	}
}

const char *read_loss(struct judge *judge, const struct line_ref *fields)
{
	const char *node = field_kept(&judge->exhibits, fields[0]);
	const char *name = field_kept(&judge->exhibits, fields[1]);
	uint64_t count;

	if (!node || !field_number(fields[2], &count))
		return FIELD_NO_NUMBER;
	for (int kind = 0; name && kind < LOSS_KINDS; kind++)
		if (!strcmp(name, loss_names[kind])) {
			losses_add(&judge->losses, node, kind, count);
			return NULL;
		}
	return "of a kind that this version does not know";
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
