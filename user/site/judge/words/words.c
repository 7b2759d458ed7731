// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/words/words.h"

#include <string.h>

void words_release(struct words *words)
{
	strings_release(&words->kept);
	map_release(&words->known);
}

const char *words_find(const struct words *words, const char *text, size_t length)
{
	return strings_find(&words->kept, text, length);
}

const char *words_keep(struct words *words, const char *word)
{
	return strings_keep(&words->kept, word);
}

const char *words_of(struct words *words, const char *word)
{
	uint64_t *kept;

	if (!word)
		return NULL;
	kept = map_insert(&words->known, (uintptr_t)word, 0, NULL);
	if (!*kept)
		*kept = (uintptr_t)words_keep(words, word);
	return (const char *)(uintptr_t)*kept;
}

void words_forget(struct words *words)
{
	map_release(&words->known);
}

int words_compare(const char *a, const char *b)
{
	if (a == b)
		return 0;
	if (!a || !b)
		return a ? 1 : -1;
	return strcmp(a, b);
}
