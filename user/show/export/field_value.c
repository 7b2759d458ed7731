// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/fields.h"

const char *const *field_words(enum field_type type)
{
	switch (type) {
	case FIELD_PRECISION:
		return fact_precision_names + 1;
	case FIELD_LOCALITY:
		return fact_locality_names;
	case FIELD_KIND:
		return fact_kind_names;
	default:
		return NULL;
	}
}

static struct field_value integer(int64_t value, bool null)
{
	return (struct field_value){ .number = (uint64_t)value, .null = null };
}

static struct field_value word(const char *const *words, unsigned int value, bool null)
{
	return (struct field_value){ .text = words[value], .null = null };
}

struct field_value field_value(const struct field *field, const void *fact)
{
	const void *at = (const char *)fact + field->offset;
	uint64_t number;

	switch (field->type) {
	case FIELD_TEXT:
		return (struct field_value){ .text = *(const char *const *)at,
					     .null = !*(const char *const *)at };
	case FIELD_PLACE:
	case FIELD_STACK:
		return (struct field_value){ .pointer = *(const void *const *)at,
					     .null = !*(const void *const *)at };
	case FIELD_INT:
		return integer(*(const int *)at, false);
	case FIELD_INDEX:
		return integer(*(const int *)at, *(const int *)at < 0);
	case FIELD_U32:
		return integer(*(const uint32_t *)at, false);
	case FIELD_ID32:
		return integer(*(const uint32_t *)at, !*(const uint32_t *)at);
	case FIELD_BOOL:
		return integer(*(const bool *)at, false);
	case FIELD_PRECISION:
		number = *(const enum fact_precision *)at;
		return word(fact_precision_names, number, number == TIME_UNKNOWN);
	case FIELD_LOCALITY:
		return word(fact_locality_names, *(const enum fact_locality *)at, false);
	case FIELD_KIND:
		return word(fact_kind_names, *(const enum fact_kind *)at, false);
	case FIELD_U64:
	case FIELD_BITS:
	case FIELD_ID:
	case FIELD_TIME:
	case FIELD_NS:
	case FIELD_ADDRESS:
	case FIELD_SIZE:
	case FIELD_TYPES:
		break;
	}
	number = *(const uint64_t *)at;
	return (struct field_value){
		.number = number,
		.null = (number == UINT64_MAX && field->type == FIELD_SIZE) ||
			(!number && (field->type == FIELD_ID || field->type == FIELD_TIME ||
				     field->type == FIELD_ADDRESS)),
	};
}
