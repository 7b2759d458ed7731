// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/totals.h"

#include <stdlib.h>
#include <string.h>

#define MEMBER(name)                                                                               \
	{                                                                                          \
#name, offsetof(struct fact_totals, name)                                          \
	}

const struct totals_member totals_numbers[TOTALS_NUMBERS] = {
	MEMBER(produced),          MEMBER(stored),      MEMBER(sends),
	MEMBER(receives),          MEMBER(matched),     MEMBER(ambiguous),
	MEMBER(data_bytes),        MEMBER(to_op_bytes), MEMBER(to_call_bytes),
	MEMBER(unexplained_bytes), MEMBER(captures),    MEMBER(damaged_bytes),
};

const struct totals_member totals_lists[TOTALS_LISTS] = {
	MEMBER(dropped),     MEMBER(unmatched_sends), MEMBER(unmatched_receives),
	MEMBER(unexplained), MEMBER(notes),
};

static void *member_of(struct fact_totals *totals, const struct totals_member *members,
		       size_t count, const char *name)
{
	for (size_t i = 0; name && i < count; i++)
		if (!strcmp(members[i].name, name))
			return (char *)totals + members[i].offset;
	return NULL;
}

uint64_t *totals_number(struct fact_totals *totals, const char *name)
{
	return member_of(totals, totals_numbers, TOTALS_NUMBERS, name);
}

struct fact_reason *totals_list(struct fact_totals *totals, const char *name)
{
	return member_of(totals, totals_lists, TOTALS_LISTS, name);
}

void totals_reason(struct fact_reason *list, const char *reason, uint64_t count)
{
	int i = 0;

	while (i < FACT_MAX_REASONS - 1 && list[i].reason && strcmp(list[i].reason, reason))
		i++;
	if (!list[i].reason)
		list[i].reason = reason;
	list[i].count += count;
}

static int by_count(const void *left, const void *right)
{
	const struct fact_reason *a = left, *b = right;

	if (!a->reason || !b->reason)
		return !a->reason - !b->reason;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return strcmp(a->reason, b->reason);
}

void totals_order(struct fact_totals *totals)
{
	for (size_t i = 0; i < TOTALS_LISTS; i++)
		qsort((char *)totals + totals_lists[i].offset, FACT_MAX_REASONS,
		      sizeof(struct fact_reason), by_count);
}

uint64_t reasons_sum(const struct fact_reason *reasons)
{
	uint64_t sum = 0;

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		sum += reasons[i].reason ? reasons[i].count : 0;
	return sum;
}
