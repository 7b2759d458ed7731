// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/named.h"

#include <string.h>

/* What separates the two nodes of a pair, and a node from its rank or device. */
#define SEPARATORS ">:<"

/* A name may have a separator in it: each one may be the end of the name. */
static size_t named_at(const struct words *names, const char *text, const char **found, size_t room)
{
	size_t count = 0, length = strcspn(text, SEPARATORS);

	for (;;) {
		const char *name = words_find(names, text, length);

		if (name && count < room)
			found[count++] = name;
		if (!text[length])
			return count;
		length += 1 + strcspn(text + length + 1, SEPARATORS);
	}
}

size_t named_in(const struct words *names, const char *subject, const char *found[NAMED_MOST])
{
	const char *other = strpbrk(subject, "<>");
	size_t count = named_at(names, subject, found, NAMED_MOST);

	if (!other)
		return count;
	other += strspn(other, "<>");
	return count + named_at(names, other, found + count, NAMED_MOST - count);
}
