/* SPDX-License-Identifier: BSD-3-Clause */
/* Interned words: each is kept once, so that words compare by pointer. NULL is unknown. */
#ifndef UCXBPF_JUDGE_WORDS_WORDS_H
#define UCXBPF_JUDGE_WORDS_WORDS_H

#include "base/strings.h"

struct words {
	struct strings kept;
	struct map known; /* where a word lies elsewhere -> where it lies here */
};

void words_release(struct words *words);

/* The word kept, which lives as long as the words. */
const char *words_keep(struct words *words, const char *word);

/* The kept word with these bytes; NULL: unknown. */
const char *words_find(const struct words *words, const char *text, size_t length);

/* The same for a word that stays where it is until words_forget(): found by its place. */
const char *words_of(struct words *words, const char *word);
void words_forget(struct words *words);

/* As strcmp(), for kept words; unknown comes first. */
int words_compare(const char *a, const char *b);

#endif
