// SPDX-License-Identifier: BSD-3-Clause
#include "base/rowset.h"

#include <stdlib.h>

#include "base/alloc.h"

void rowset_release(struct rowset *set)
{
	free(set->slots);
	*set = (struct rowset){ 0 };
}

void rowset_grow(struct rowset *set, const struct rowset_rows *rows)
{
	free(set->slots);
	do
		set->slot_count = set->slot_count ? set->slot_count * 2 : 256;
	while (rows->len * 2 >= set->slot_count);
	set->slots = xcalloc(set->slot_count, sizeof(*set->slots));
	for (size_t i = 0; i < rows->len; i++)
		rowset_at(set, rows, rowset_row(rows, i))->row = (uint32_t)i + 1;
}
