// SPDX-License-Identifier: BSD-3-Clause
/* The sections of the cube: keys, then sums. */
#include "show/page/internal.h"

static void put_keys(struct page_pack *pack, const struct page_cells *cells,
		     const struct page_shape *shape)
{
	size_t count = cells->keys.rows.len;

	for (int column = 0; column < PAGE_COLUMNS; column++) {
		uint64_t *values = page_pack_values(pack, count);

		if (!(shape->columns >> column & 1))
			continue;
		for (size_t i = 0; i < count; i++)
			values[i] = cells->keys.rows.data[i].code[column];
		page_pack_column(pack, page_column_names[column], count);
	}
}

/* Buckets count from the one that the host's trace begins in. */
static uint64_t bucket(const struct page *page, const struct page_cells *cells, enum page_sort sort,
		       const struct page_cell *cell)
{
	const struct page_key *key = &cells->keys.rows.data[cell->key];
	uint32_t who = key->code[sort == PAGE_MESSAGES ? COLUMN_SRC : COLUMN_PROCESS];
	const struct page_host *host = page_host_of(&page->hosts, (int)who - 1);

	if (!cell->time)
		return 0;
	return cell->time - (host ? host->first >> page->cube.shift : 0);
}

static void put_cells(struct page *page, enum page_sort sort)
{
	const struct page_cells *cells = &page->cube.of[sort];
	const struct page_shape *shape = &page_shapes[sort];
	size_t count = cells->cells.len;
	uint64_t *values = page_pack_values(&page->pack, count);

	for (size_t i = 0; i < count; i++)
		values[i] = cells->cells.data[i].key;
	page_pack_column(&page->pack, "key", count);
	for (size_t i = 0; i < count; i++)
		values[i] = bucket(page, cells, sort, &cells->cells.data[i]);
	page_pack_column(&page->pack, "time", count);
	for (size_t i = 0; i < count; i++)
		values[i] = cells->cells.data[i].size;
	page_pack_column(&page->pack, "size", count);
	for (int sum = 0; sum < PAGE_SUMS; sum++) {
		if (!shape->sums[sum])
			continue;
		for (size_t i = 0; i < count; i++)
			values[i] = cells->cells.data[i].sums.of[sum];
		page_pack_column(&page->pack, shape->sums[sum], count);
	}
	if (!shape->sums[SUM_TIMED])
		return;
	for (size_t i = 0; i < count; i++)
		values[i] = cells->cells.data[i].sums.precisions;
	page_pack_column(&page->pack, "precision", count);
}

static void put_all(struct page *page)
{
	page_cube_sort(&page->cube);
	for (int sort = 0; sort < PAGE_SORTS; sort++) {
		page_pack_begin(&page->pack, page_shapes[sort].name, true);
		put_keys(&page->pack, &page->cube.of[sort], &page_shapes[sort]);
		put_cells(page, sort);
		page_pack_end(&page->pack);
	}
}

void page_put_cube(struct page *page)
{
	size_t sections = page->pack.sections.len, before = page->pack.total;

	put_all(page);
	while (page->pack.total - before > page_shares(page).cube &&
	       page_cube_coarsen(&page->cube)) {
		page_pack_cut(&page->pack, sections);
		put_all(page);
	}
}
