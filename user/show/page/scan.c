// SPDX-License-Identifier: BSD-3-Clause
/* Finds what operations and calls caused, from all facts before those of the page. */
#include "show/page/internal.h"

static void scan_transfer(struct page *page, const struct fact_transfer *transfer)
{
	struct page_key key = page_transfer_key(page, transfer);

	if (transfer->caused_in == transfer->process)
		key.code[KEY_PROCESS] = 0;
	page_causes_add(&page->causes, transfer->caused_by, CAUSES_TRANSFER, key.code);
}

static void scan_op(struct page *page, const struct fact_op *op)
{
	struct page_key key = page_key_of(page, PAGE_OPS, op);

	key.code[KEY_PROCESS] = 0;
	key.code[KEY_SRC_MEM] = key.code[KEY_DST_MEM] = key.code[KEY_MEMORY];
	page_causes_add(&page->causes, op->id, CAUSES_OP, key.code);
	page_causes_made(&page->causes, op->call, op->id);
}

static void scan_fact(void *arg, enum fact_type type, const void *fact,
		      const struct fact_sums *sums)
{
	struct page *page = arg;
	const struct fact_call *call = fact;

	(void)sums;
	if (!selection_passes(&page->scanned, type, fact))
		return;
	switch (type) {
	case FACT_CALL:
		return page_causes_call(&page->causes, call->id, page_size(call->bytes));
	case FACT_OP:
		return scan_op(page, fact);
	case FACT_TRANSFER:
	case FACT_TRANSFERS:
		return scan_transfer(page, fact);
	default:
		return;
	}
}

struct fact_sink page_scan(struct page *page)
{
	return (struct fact_sink){ page, scan_fact };
}

void page_scan_end(struct page *page)
{
	page_causes_end(&page->causes);
	if (page->causes.known)
		page_cube_know_causes(&page->cube);
	page_forget_names(page);
	selection_release(&page->scanned);
}
