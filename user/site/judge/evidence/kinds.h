/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of lines in an evidence file: a row each. */
#ifndef UCXBPF_JUDGE_EVIDENCE_KINDS_H
#define UCXBPF_JUDGE_EVIDENCE_KINDS_H

#include "site/judge/evidence/lines.h"
#include "site/judge/internal.h"

struct evidence_kind {
	const char *name;
	unsigned int keys; /* fields behind the name that tell a line from all others */
	/*
	 * The fields behind those, a letter each, which says how two become one: '+' sum, '<' the
	 * lesser, '>' the greater, 'w' a word: the one that is known, of two the first in byte
	 * order, '3' the three first of all pairs of numbers ("7:8,9:1").
	 */
	const char *values;
	const char *twice; /* error text for a key that comes twice; NULL: allowed */
	/* All lines of the kind; a key may be written twice. */
	void (*write)(const struct judge *judge, struct evidence_lines *lines);
	/* A line's fields: keys, then values. Returns NULL or a static error text. */
	const char *(*read)(struct judge *judge, const struct line_ref *fields);
};

/* NULL: unknown name */
const struct evidence_kind *evidence_kind(struct line_ref line);

/* A field as a word that lives as long as the aggregates; NULL: not known. */
const char *field_kept(struct aggregates *aggregates, struct line_ref field);

/* A number that fits an int; -1: not known. */
bool field_index(struct line_ref field, int *index);

/* A process by its id, new if need be; -1: not known. */
int field_process(struct aggregates *aggregates, struct line_ref field);

#define FIELD_NO_NUMBER "malformed number"
#define FIELD_CUT                                                                                  \
	"the policy draws a line within a sum of messages: gather it with that policy (-P)"

/* ---- the rows' functions ---- */
void write_captures(const struct judge *judge, struct evidence_lines *lines);
const char *read_capture(struct judge *judge, const struct line_ref *fields);
void write_cells(const struct judge *judge, struct evidence_lines *lines);
const char *read_cell(struct judge *judge, const struct line_ref *fields);
void write_lanes(const struct judge *judge, struct evidence_lines *lines);
const char *read_lanes(struct judge *judge, const struct line_ref *fields);
void write_cpus(const struct judge *judge, struct evidence_lines *lines);
const char *read_cpus(struct judge *judge, const struct line_ref *fields);
void write_deaths(const struct judge *judge, struct evidence_lines *lines);
const char *read_death(struct judge *judge, const struct line_ref *fields);
void write_environment(const struct judge *judge, struct evidence_lines *lines);
const char *read_environment(struct judge *judge, const struct line_ref *fields);
void write_inventories(const struct judge *judge, struct evidence_lines *lines);
const char *read_inventory(struct judge *judge, const struct line_ref *fields);
void write_levels(const struct judge *judge, struct evidence_lines *lines);
const char *read_level(struct judge *judge, const struct line_ref *fields);
void write_libraries(const struct judge *judge, struct evidence_lines *lines);
const char *read_library(struct judge *judge, const struct line_ref *fields);
void write_losses(const struct judge *judge, struct evidence_lines *lines);
const char *read_loss(struct judge *judge, const struct line_ref *fields);
void write_processes(const struct judge *judge, struct evidence_lines *lines);
const char *read_process(struct judge *judge, const struct line_ref *fields);
void write_collectives(const struct judge *judge, struct evidence_lines *lines);
const char *read_collective(struct judge *judge, const struct line_ref *fields);
void write_met(const struct judge *judge, struct evidence_lines *lines);
const char *read_met(struct judge *judge, const struct line_ref *fields);
void write_sent(const struct judge *judge, struct evidence_lines *lines);
const char *read_sent(struct judge *judge, const struct line_ref *fields);
void write_plans(const struct judge *judge, struct evidence_lines *lines);
const char *read_plan(struct judge *judge, const struct line_ref *fields);
void write_ranks(const struct judge *judge, struct evidence_lines *lines);
const char *read_rank(struct judge *judge, const struct line_ref *fields);
void write_transfers(const struct judge *judge, struct evidence_lines *lines);
const char *read_transfer(struct judge *judge, const struct line_ref *fields);
void write_starts(const struct judge *judge, struct evidence_lines *lines);
const char *read_start(struct judge *judge, const struct line_ref *fields);
void write_strays(const struct judge *judge, struct evidence_lines *lines);
const char *read_stray(struct judge *judge, const struct line_ref *fields);
void write_reasons(const struct judge *judge, struct evidence_lines *lines);
const char *read_reason(struct judge *judge, const struct line_ref *fields);
void write_sums(const struct judge *judge, struct evidence_lines *lines);
const char *read_sum(struct judge *judge, const struct line_ref *fields);
void write_waits(const struct judge *judge, struct evidence_lines *lines);
const char *read_waits(struct judge *judge, const struct line_ref *fields);
void write_totals(const struct judge *judge, struct evidence_lines *lines);
const char *read_total(struct judge *judge, const struct line_ref *fields);

#endif
