// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/words.h"

#include <string.h>
#include <xxhash.h>

void page_words_release(struct page_words *words)
{
	vec_release(&words->texts);
	map_release(&words->by_pointer);
	map_release(&words->by_text);
}

static uint32_t by_text(struct page_words *words, const char *text)
{
	uint64_t hash = XXH3_64bits(text, strlen(text)), *number;
	bool fresh;

	for (uint64_t i = 0;; i++) {
		number = map_insert(&words->by_text, hash, i, &fresh);
		if (fresh)
			break;
		if (!strcmp(words->texts.data[*number - 1], text))
			return (uint32_t)*number;
	}
	vec_push(&words->texts, text);
	*number = words->texts.len;
	return (uint32_t)*number;
}

uint32_t page_word(struct page_words *words, const char *text)
{
	size_t at = ((uintptr_t)text >> 4 ^ (uintptr_t)text >> 12) % PAGE_WORDS_RECENT;
	uint64_t *number;
	bool fresh;

	if (!text)
		return 0;
	if (words->recent[at].text == text)
		return words->recent[at].number;
	number = map_insert(&words->by_pointer, (uintptr_t)text, 0, &fresh);
	if (fresh)
		*number = by_text(words, text);
	words->recent[at].text = text;
	words->recent[at].number = (uint32_t)*number;
	return (uint32_t)*number;
}
