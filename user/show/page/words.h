/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for words: 0 is none, equal texts have equal numbers. */
#ifndef UCXBPF_PAGE_WORDS_H
#define UCXBPF_PAGE_WORDS_H

#include "base/map.h"
#include "base/vec.h"

#define PAGE_WORDS_RECENT 256

struct page_words {
	VEC(const char *) texts; /* text of number n at n - 1 */
	struct map by_pointer, by_text; /* to numbers; by_text: hash and a count from 0 */
	struct {
		const char *text;
		uint32_t number;
	} recent[PAGE_WORDS_RECENT];
};

void page_words_release(struct page_words *words);

/* text: lives as long as words, never changes. */
uint32_t page_word(struct page_words *words, const char *text);

#endif
