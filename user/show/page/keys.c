// SPDX-License-Identifier: BSD-3-Clause
/* Facts as keys of the sums: combinations of codes. */
#include "show/page/internal.h"

uint32_t page_code(int process)
{
	return (uint32_t)(process + 1);
}

uint32_t page_word_code(struct page *page, const char *text)
{
	return page_word(&page->words, text);
}

/* The same in the scan and after it, where all strings of the place lie elsewhere. */
uint32_t page_place_code(struct page *page, const struct place *place)
{
	uint64_t *code;
	bool fresh;

	if (!place)
		return 0;
	code = map_insert(&page->place_codes, (uintptr_t)place->key, 0, &fresh);
	if (fresh)
		*code = strings_number(&page->place_keys, place->key) + 1;
	while (page->places.len < *code)
		vec_push(&page->places, NULL);
	page->places.data[*code - 1] = place;
	return (uint32_t)*code;
}

static uint32_t page_key_code(struct page *page, const struct fact_column *column, const void *fact)
{
	const uint64_t value = key_word(key_at(column), fact);

	switch (column->type) {
	case COLUMN_INDEX:
		return page_code((int)value);
	case COLUMN_TEXT:
		return page_word_code(page, (const char *)(uintptr_t)value);
	case COLUMN_PLACE:
		return page_place_code(page, (const struct place *)(uintptr_t)value);
	default:
		return (uint32_t)value;
	}
}

struct page_key page_key_of(struct page *page, enum page_sort sort, const void *fact)
{
	struct page_key key = { 0 };

	for (int i = 0; i < FACT_KEYS; i++)
		if (page->cube.columns[sort][i])
			key.code[i] = page_key_code(page, page->cube.columns[sort][i], fact);
	return key;
}

struct page_key page_transfer_key(struct page *page, const struct fact_transfer *transfer)
{
	struct page_key key = page_key_of(page, PAGE_TRANSFERS, transfer);
	const bool fetches = fact_fetches(transfer->op, transfer->transport);

	key.code[KEY_SRC] = key.code[fetches ? KEY_PEER : KEY_PROCESS];
	key.code[KEY_DST] = key.code[fetches ? KEY_PROCESS : KEY_PEER];
	return key;
}

void page_forget_names(struct page *page)
{
	page_words_forget(&page->words);
	map_release(&page->place_codes);
	for (size_t i = 0; i < page->places.len; i++)
		page->places.data[i] = NULL;
}
