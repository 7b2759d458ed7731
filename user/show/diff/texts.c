// SPDX-License-Identifier: BSD-3-Clause
/* Several texts as one: a bounded part of them in full, and all of them in a digest. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "show/diff/internal.h"

/* Shown of a list; a text that is shown is never cut. */
#define TEXTS_MOST 64u
#define TEXTS_BYTES (8u << 10) /* no further text is shown from so many on */

void diff_texts_add(struct diff_texts *texts, const char *text)
{
	const size_t length = strlen(text);

	texts->count++;
	texts->digest = XXH3_64bits_withSeed(text, length, texts->digest);
	if (texts->shown.len != texts->count - 1 || texts->shown.len >= TEXTS_MOST ||
	    texts->bytes >= TEXTS_BYTES)
		return;
	texts->bytes += length;
	vec_push(&texts->shown, text);
}

/* All texts of a list go into it, so that equal joined texts are of equal lists. */
static const char *join(struct diff *diff, const struct diff_texts *texts, const char *between)
{
	const char *kept;
	char *joined = NULL;
	size_t size;
	FILE *out = xmemstream(&joined, &size);

	for (size_t i = 0; i < texts->shown.len; i++)
		fprintf(out, "%s%s", i ? between : "", texts->shown.data[i]);
	if (texts->count > texts->shown.len)
		fprintf(out, ", and %zu more (digest %016" PRIx64 " of all)",
			texts->count - texts->shown.len, texts->digest);
	fclose(out);
	kept = diff_keep(diff, joined);
	free(joined);
	return kept;
}

const char *diff_texts_join(struct diff *diff, struct diff_texts *texts, const char *between)
{
	const char *kept = NULL;

	if (texts->count == 1)
		kept = diff_keep(diff, texts->shown.data[0]);
	else if (texts->count)
		kept = join(diff, texts, between);
	vec_release(&texts->shown);
	*texts = (struct diff_texts){ 0 };
	return kept;
}
