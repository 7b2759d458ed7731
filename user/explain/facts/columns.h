/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The members of facts as tables: name, type, meaning. Outputs that write every member of every
 * fact loop over these tables, and so does the schema: a new member is a new row.
 */
#ifndef UCXBPF_FACTS_COLUMNS_H
#define UCXBPF_FACTS_COLUMNS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explain/facts/facts.h"

enum column_type {
	COLUMN_TEXT, /* const char *, NULL: null */
	COLUMN_INT, /* int */
	COLUMN_INDEX, /* int, -1: null */
	COLUMN_U32,
	COLUMN_ID32, /* uint32_t, 0: null */
	COLUMN_U64,
	COLUMN_ID, /* uint64_t, 0: null */
	COLUMN_TIME, /* uint64_t ns, 0: null */
	COLUMN_NS, /* uint64_t ns */
	COLUMN_SIZE, /* uint64_t, UINT64_MAX: null */
	COLUMN_BITS, /* uint64_t that is no amount: in hex where numbers have fewer than 64 bits */
	COLUMN_ADDRESS, /* likewise, 0: null */
	COLUMN_BOOL,
	COLUMN_PRECISION, /* enum fact_precision, TIME_UNKNOWN: null */
	COLUMN_LOCALITY,
	COLUMN_KIND,
	COLUMN_PLACE, /* const struct place *, by its number */
	COLUMN_STACK, /* const struct stack *, likewise */
	COLUMN_TYPES
};

/*
 * The columns that facts are selected and summed up by. One key means the same in all facts,
 * whatever their column is called.
 */
enum fact_key {
	KEY_PROCESS,
	KEY_PEER,
	KEY_SRC,
	KEY_DST,
	KEY_FUNCTION,
	KEY_PLACE,
	KEY_UCP_OP,
	KEY_OP,
	KEY_PROTOCOL,
	KEY_TRANSPORT,
	KEY_DEVICE,
	KEY_SRC_MEM,
	KEY_DST_MEM,
	KEY_SRC_REASON,
	KEY_DST_REASON,
	KEY_MEMORY,
	KEY_MEMORY_REASON,
	KEY_MEMORY_KNOWN_BY,
	KEY_CHAIN,
	KEY_VIA,
	KEY_CHAIN_REASON,
	KEY_LOCALITY,
	KEY_KIND,
	KEY_DATA_PATH,
	KEY_INITIATOR,
	FACT_KEYS
};

extern const char *const fact_key_names[FACT_KEYS];

struct fact_column {
	const char *name; /* NULL ends a table */
	enum column_type type;
	size_t offset;
	const char *help;
	enum fact_key key; /* FACT_KEYS: none */
	bool single; /* differs between equal facts: absent from sums */
};

struct fact_info {
	const char *name, *help;
	const struct fact_column *columns;
	const struct fact_column *sums; /* of struct fact_sums; NULL: a single fact */
};

extern const struct fact_info fact_infos[FACT_TYPES];

/* The value of a column. null: the other members mean nothing. */
struct column_value {
	bool null;
	uint64_t number; /* of all numbers; of COLUMN_INT and COLUMN_INDEX as int64_t */
	const char *text; /* of COLUMN_TEXT and enums */
	const void *pointer; /* to a place or a stack */
};

struct column_value column_value(const struct fact_column *column, const void *fact);

/* Where a fact has a key's value: a pointer to a name or a place, or a number as an int. */
struct key_at {
	uint16_t offset;
	bool pointer;
};

static inline struct key_at key_at(const struct fact_column *column)
{
	const enum column_type type = column->type;
	const bool pointer = type == COLUMN_TEXT || type == COLUMN_PLACE || type == COLUMN_STACK;

	assert(pointer || type == COLUMN_INT || type == COLUMN_INDEX || type == COLUMN_LOCALITY ||
	       type == COLUMN_KIND);
	return (struct key_at){ (uint16_t)column->offset, pointer };
}

/* A key's value in one word. */
static inline uint64_t key_word(struct key_at at, const void *fact)
{
	const char *value = (const char *)fact + at.offset;

	return at.pointer ? (uintptr_t) * (const void *const *)value
			  : (uint64_t)(int64_t) * (const int *)value;
}

/* Words of an enum's column, NULL behind the last one; NULL for other types. */
const char *const *column_words(enum column_type type);

#endif
