// SPDX-License-Identifier: BSD-3-Clause
/* Sorts and filters the rows of a pane. */
#include "show/top/panes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pane_order {
	int column;
	bool up;
};

/* By key, or by text if neither has a key; a cell without a key comes last. */
static int compare_cells(const struct pane_cell *a, const struct pane_cell *b, bool up)
{
	int order;

	if (isnan(a->key) != isnan(b->key))
		return isnan(a->key) ? 1 : -1;
	order = isnan(a->key) ? strcmp(a->text, b->text) : (a->key > b->key) - (a->key < b->key);
	return up ? order : -order;
}

static int compare_rows(const void *left, const void *right, void *arg)
{
	const struct pane_row *a = *(struct pane_row *const *)left,
			      *b = *(struct pane_row *const *)right;
	const struct pane_order *by = arg;
	int order = compare_cells(&a->cells[by->column], &b->cells[by->column], by->up);

	return order ? order : (a > b) - (a < b);
}

void pane_sort(struct pane *pane, int column, bool up)
{
	struct pane_order order = { column, up };
	VEC(struct pane_row *) places = { 0 };
	VEC(struct pane_row) sorted = { 0 };

	for (size_t i = 0; i < pane->rows.len; i++)
		vec_push(&places, &pane->rows.data[i]);
	if (places.len)
		qsort_r(places.data, places.len, sizeof(*places.data), compare_rows, &order);
	for (size_t i = 0; i < places.len; i++)
		vec_push(&sorted, *places.data[i]);
	vec_release(&places);
	vec_release(&pane->rows);
	pane->rows.data = sorted.data;
	pane->rows.len = sorted.len;
	pane->rows.cap = sorted.cap;
}

void pane_filter(struct pane *pane, const char *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < pane->rows.len; i++) {
		bool found = !*text;

		for (int k = 0; k < pane->count && !found; k++)
			found = strcasestr(pane->rows.data[i].cells[k].text, text);
		if (found)
			pane->rows.data[kept++] = pane->rows.data[i];
	}
	pane->rows.len = kept;
}
