/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What facts have, as tables: names, types, meanings. What writes every field of every fact goes by
 * these, so that a new field is a new row.
 */
#ifndef UCXBPF_EXPORT_FIELDS_H
#define UCXBPF_EXPORT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/place.h"
#include "explain/match/facts.h"

enum field_type {
	FIELD_TEXT, /* const char *, NULL: null */
	FIELD_INT, /* int */
	FIELD_INDEX, /* int, -1: null */
	FIELD_U32,
	FIELD_ID32, /* uint32_t, 0: null */
	FIELD_U64,
	FIELD_ID, /* uint64_t, 0: null */
	FIELD_TIME, /* uint64_t ns, 0: null */
	FIELD_NS, /* uint64_t ns */
	FIELD_SIZE, /* uint64_t, UINT64_MAX: null */
	FIELD_BITS, /* uint64_t that is no amount: in hex where numbers are not of 64 bits */
	FIELD_ADDRESS, /* likewise, 0: null */
	FIELD_BOOL,
	FIELD_PRECISION, /* enum fact_precision, TIME_UNKNOWN: null */
	FIELD_LOCALITY,
	FIELD_KIND,
	FIELD_PLACE, /* const struct place *, by its number */
	FIELD_STACK, /* const struct stack *, likewise */
	FIELD_TYPES
};

struct field {
	const char *name; /* NULL ends a table */
	enum field_type type;
	size_t offset;
	const char *help;
	bool single; /* not what alike facts have in common: absent from sums */
};

/* What facts have several of, with what it belongs to. */
struct ucx_row {
	int process;
	struct fact_ucx ucx;
};

struct variable_row {
	int process;
	struct fact_variable variable;
};

struct place_row {
	uint64_t id;
	struct place place;
};

struct device_user_row {
	int host, device;
	struct fact_device_user user;
};

struct fact_info {
	const char *name, *help;
	const struct field *fields;
	const struct field *sums; /* of struct fact_sums; NULL: a single fact */
};

extern const struct fact_info fact_infos[FACT_TYPES];

/* A field's value, taken out of its struct. null: nothing else holds. */
struct field_value {
	bool null;
	uint64_t number; /* of all numbers; of FIELD_INT and FIELD_INDEX as int64_t */
	const char *text; /* of FIELD_TEXT and enums */
	const void *pointer; /* to a place or a stack */
};

struct field_value field_value(const struct field *field, const void *fact);

/* Words of an enum's field, NULL behind the last one; NULL for other types. */
const char *const *field_words(enum field_type type);

/* All facts by one function: for what writes every field of every fact, going by fact_infos. */
struct rows {
	void *arg;
	/* fact: of the type's struct; sums NULL: a single one */
	void (*add)(void *arg, enum fact_type type, const void *fact, const struct fact_sums *sums);
};

/* A sink that hands all to rows->add; valid as long as rows. */
struct fact_sink rows_sink(const struct rows *rows);

/* What is known only at the end: the GPUs, and who uses them. */
void rows_finish(const struct rows *rows, const struct fact_totals *totals);

#endif
