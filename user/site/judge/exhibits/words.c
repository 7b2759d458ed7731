// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/words.h"

#include <string.h>

void words_release(struct words *words)
{
	for (size_t i = 0; i < words->list.len; i++)
		free(words->list.data[i]);
	vec_release(&words->list);
	vec_release(&words->next);
	map_release(&words->index);
	map_release(&words->known);
}

/* FNV-1a */
static uint64_t hash_of(const char *word, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)word[i]) * 0x100000001b3u;
	return hash;
}

const char *words_find(const struct words *words, const char *text, size_t length)
{
	const uint64_t *first = map_find(&words->index, hash_of(text, length), 0);

	for (uint32_t i = first ? *first : 0; i; i = words->next.data[i - 1]) {
		const char *word = words->list.data[i - 1];

		if (!strncmp(word, text, length) && !word[length])
			return word;
	}
	return NULL;
}

const char *words_keep(struct words *words, const char *word)
{
	uint64_t *first;
	char *copy;

	if (!word)
		return NULL;
	first = map_insert(&words->index, hash_of(word, strlen(word)), 0, NULL);
	for (uint32_t i = *first; i; i = words->next.data[i - 1])
		if (!strcmp(words->list.data[i - 1], word))
			return words->list.data[i - 1];
	copy = strdup(word);
	if (!copy)
		abort();
	vec_push(&words->list, copy);
	vec_push(&words->next, *first);
	*first = words->list.len;
	return copy;
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
