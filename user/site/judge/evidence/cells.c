// SPDX-License-Identifier: BSD-3-Clause
/* Sums of transfers, messages, operations and calls, as lines of evidence. */
#include "site/judge/evidence/kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- transfers ---- */

#define UNSIZED UINT64_MAX /* in the place of a class's first size */

static void write_examples(const struct traffic_cell *cell, struct evidence_lines *lines)
{
	char text[CELL_EXAMPLES * 44] = "";
	size_t used = 0;

	for (size_t i = 0; i < cell->example_count; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%" PRIu64 ":%" PRIu64,
				 i ? "," : "", cell->examples[i].start, cell->examples[i].bytes);
	line_word(lines, text);
}

static const char *name_of(const struct aggregates *aggregates, int process)
{
	return process < 0 ? NULL : aggregates->members.data[process].id;
}

/* The first words of the key of a cell, and of the line of its lanes. */
static void write_way(const struct aggregates *aggregates, const struct traffic_cell *cell,
		      struct evidence_lines *lines)
{
	line_word(lines, name_of(aggregates, cell->process));
	line_word(lines, name_of(aggregates, cell->peer));
	line_word(lines, cell->op);
	line_word(lines, cell->transport);
	line_word(lines, cell->device);
	line_word(lines, cell->protocol);
}

static struct traffic_cell read_way(struct aggregates *aggregates, const struct line_ref *fields)
{
	return (struct traffic_cell){
		.process = field_process(aggregates, fields[0]),
		.peer = field_process(aggregates, fields[1]),
		.op = field_kept(aggregates, fields[2]),
		.transport = field_kept(aggregates, fields[3]),
		.device = field_kept(aggregates, fields[4]),
		.protocol = field_kept(aggregates, fields[5]),
	};
}

void write_cells(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];

		line_begin(lines, "cell");
		write_way(aggregates, cell, lines);
		line_word(lines, cell->function);
		line_word(lines, cell->src_mem);
		line_word(lines, cell->dst_mem);
		line_word(lines, fact_locality_names[cell->locality]);
		line_number(lines, cell->size_class == CELL_UNSIZED
					   ? UNSIZED
					   : aggregates_class_from(aggregates, cell->size_class));
		line_number(lines, cell->count);
		line_number(lines, cell->bytes);
		line_number(lines, cell->least);
		line_number(lines, cell->most);
		write_examples(cell, lines);
	}
}

static bool read_locality(struct line_ref field, enum fact_locality *locality)
{
	for (int i = 0; fact_locality_names[i]; i++) {
		if (strlen(fact_locality_names[i]) != field.size ||
		    memcmp(fact_locality_names[i], field.text, field.size))
			continue;
		*locality = i;
		return true;
	}
	return false;
}

/* "START:BYTES,START:BYTES" */
static bool read_examples(struct traffic_cell *cell, struct line_ref field)
{
	const char *at = field.text, *end = field.text + field.size;

	while (at < end && cell->example_count < CELL_EXAMPLES) {
		struct cell_example *example = &cell->examples[cell->example_count++];
		const char *comma = memchr(at, ',', end - at), *to = comma ? comma : end;
		const char *colon = memchr(at, ':', to - at);

		if (!colon ||
		    !field_number((struct line_ref){ at, (size_t)(colon - at) }, &example->start) ||
		    !field_number((struct line_ref){ colon + 1, (size_t)(to - colon - 1) },
				  &example->bytes))
			return false;
		at = comma ? comma + 1 : end;
	}
	return at >= end;
}

const char *read_cell(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;
	struct traffic_cell cell = read_way(aggregates, fields);
	uint64_t from;

	cell.function = field_kept(aggregates, fields[6]);
	cell.src_mem = field_kept(aggregates, fields[7]);
	cell.dst_mem = field_kept(aggregates, fields[8]);
	cell.fetches = fact_fetches(cell.op, cell.transport);
	if (!read_locality(fields[9], &cell.locality) || !read_examples(&cell, fields[15]) ||
	    !field_number(fields[11], &cell.count) || !field_number(fields[12], &cell.bytes) ||
	    !field_number(fields[13], &cell.least) || !field_number(fields[14], &cell.most))
		return FIELD_NO_NUMBER;
	if (!field_number(fields[10], &from))
		return FIELD_NO_NUMBER;
	cell.size_class =
		from == UNSIZED ? CELL_UNSIZED : aggregates_size_class(aggregates, cell.least);
	if (from != UNSIZED && cell.size_class != aggregates_size_class(aggregates, cell.most))
		return FIELD_CUT;
	vec_push(&aggregates->cells, cell);
	return NULL;
}

/* ---- messages, operations and calls ---- */

void write_sums(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < aggregates->sums.list.len; i++) {
		const struct sum *sum = &aggregates->sums.list.data[i];

		line_begin(lines, "sum");
		line_word(lines, sum_kind_names[sum->kind]);
		line_word(lines, name_of(aggregates, sum->process));
		line_word(lines, name_of(aggregates, sum->peer));
		for (size_t k = 0; k < SUM_WORDS; k++)
			line_word(lines, sum->words[k]);
		line_number(lines, aggregates_class_from(aggregates, sum->size_class));
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

/* Only messages have size classes. */
static bool of_one_class(const struct aggregates *aggregates, struct sum *sum)
{
	if (sum->kind != SUM_WAY)
		return true;
	sum->size_class = aggregates_size_class(aggregates, sum->least);
	return sum->size_class == aggregates_size_class(aggregates, sum->most);
}

const char *read_sum(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;
	struct sum sum = { .process = field_process(aggregates, fields[1]),
			   .peer = field_process(aggregates, fields[2]) };

	for (size_t i = 0; i < SUM_WORDS; i++)
		sum.words[i] = field_kept(aggregates, fields[3 + i]);
	if (!read_kind(fields[0], &sum.kind) || !field_number(fields[9], &sum.count) ||
	    !field_number(fields[10], &sum.bytes) || !field_number(fields[11], &sum.extra) ||
	    !field_number(fields[12], &sum.least) || !field_number(fields[13], &sum.most))
		return FIELD_NO_NUMBER;
	if (!of_one_class(aggregates, &sum))
		return FIELD_CUT;
	sums_add(&aggregates->sums, &sum);
	return NULL;
}

void write_lanes(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];

		if (!cell->lanes)
			continue;
		line_begin(lines, "lanes");
		write_way(aggregates, cell, lines);
		line_word(lines, cell->lanes);
	}
}

static bool alike(const struct traffic_cell *a, const struct traffic_cell *b)
{
	return a->process == b->process && a->peer == b->peer && a->op == b->op &&
	       a->transport == b->transport && a->device == b->device && a->protocol == b->protocol;
}

/* All lines of cells have been read before, in the same order. */
const char *read_lanes(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;
	const struct traffic_cell cell = read_way(aggregates, fields);
	size_t *at = &aggregates->cells_with_lanes;

	while (*at < aggregates->cells.len && !alike(&aggregates->cells.data[*at], &cell))
		++*at;
	for (; *at < aggregates->cells.len && alike(&aggregates->cells.data[*at], &cell); ++*at)
		cell_lanes(&aggregates->cells.data[*at], field_kept(aggregates, fields[6]));
	return NULL;
}
