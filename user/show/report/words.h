/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of keys: interned texts and numbers, and their order. */
#ifndef UCXBPF_REPORT_WORDS_H
#define UCXBPF_REPORT_WORDS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t word(const char *interned)
{
	return (uintptr_t)interned;
}

/* By their texts, NULL as an empty one. */
static inline int by_word(uint64_t left, uint64_t right)
{
	const char *a = (const char *)(uintptr_t)left, *b = (const char *)(uintptr_t)right;

	return a == b ? 0 : strcmp(a ? a : "", b ? b : "");
}

/* The larger one first. */
static inline int descending(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

#endif
