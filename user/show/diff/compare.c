// SPDX-License-Identifier: BSD-3-Clause
/* Runs all comparisons, and brings their rows in order. */
#include <stdlib.h>
#include <string.h>

#include "show/diff/internal.h"

const char *const diff_verdict_names[DIFF_VERDICTS] = {
	[DIFF_SAME] = "same",
	[DIFF_CHANGED] = "changed",
	[DIFF_VARIES] = "varies",
	[DIFF_UNCOMPARED] = "not_compared",
};

struct diff_row *diff_row_add(struct diff *diff, enum diff_table_id table, const char *const *keys)
{
	struct diff_row *row = vec_add(&diff->rows);

	row->table = &diff_tables[table];
	memcpy(row->keys, keys, sizeof(row->keys));
	return row;
}

/* The largest number of a row, so that large ones come first. */
static uint64_t weight(const struct diff_row *row)
{
	uint64_t most = row->order;

	for (enum diff_side side = DIFF_BEFORE; side < DIFF_SIDES; side++)
		for (int m = 0; m < DIFF_MEASURES; m++)
			if (row->values[side].numbers[m].median > most)
				most = row->values[side].numbers[m].median;
	return most;
}

static int in_order(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	int order =
		(a->table->section > b->table->section) - (a->table->section < b->table->section);

	order = order ? order : (b->verdict == DIFF_CHANGED) - (a->verdict == DIFF_CHANGED);
	order = order ? order : (a->table > b->table) - (a->table < b->table);
	order = order ? order : (weight(a) < weight(b)) - (weight(a) > weight(b));
	for (int i = 0; i < DIFF_KEYS && !order; i++)
		order = strcmp(a->keys[i] ? a->keys[i] : "", b->keys[i] ? b->keys[i] : "");
	return order ? order : strcmp(a->ranks ? a->ranks : "", b->ranks ? b->ranks : "");
}

struct diff_outcome diff_compare(struct diff *diff)
{
	diff_find_limits(diff);
	diff_compare_settings(diff);
	diff_compare_amounts(diff);
	diff_compare_switches(diff);
	if (diff->rows.len)
		qsort(diff->rows.data, diff->rows.len, sizeof(*diff->rows.data), in_order);
	for (size_t i = 0; i < diff->rows.len; i++) {
		if (diff->rows.data[i].verdict != DIFF_CHANGED)
			continue;
		diff->changed[diff->rows.data[i].table->section]++;
		diff->outcome.differences++;
	}
	diff->outcome.incomplete = diff->limits.incomplete;
	return diff->outcome;
}
