// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/input/unread.h"

#include <string.h>

#include "site/judge/judge.h"

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length > size && !strncmp(text + length - size, end, size);
}

/* Begin of the part of a path that ends before to; its length. */
static const char *part_before(const char *path, const char *to, size_t *length)
{
	const char *from = to;

	while (from > path && from[-1] != '/')
		from--;
	*length = to - from;
	return from;
}

static bool part_is(const char *part, size_t length, const char *name)
{
	return length == strlen(name) && !strncmp(part, name, length);
}

/* NODE.RANK.ndjson: a node's name may have dots. */
static char *of_ledger(const char *file, size_t length)
{
	const char *dot = memrchr(file, '.', length - strlen(".ndjson"));

	return dot && dot > file ? strndup(file, dot - file) : NULL;
}

char *unread_node(const char *path)
{
	size_t length, folder_length, above_length = 0;
	const char *file = part_before(path, path + strlen(path), &length), *folder, *above;

	if (file == path)
		return NULL;
	folder = part_before(path, file - 1, &folder_length);
	if (ends_with(file, length, ".ndjson"))
		return part_is(folder, folder_length, "ledger") ? of_ledger(file, length) : NULL;
	if (folder == path || !folder_length)
		return NULL;
	above = part_before(path, folder - 1, &above_length);
	if (!part_is(above, above_length, "nodes") ||
	    !(ends_with(file, length, ".ucxb") || ends_with(file, length, ".json")))
		return NULL;
	return strndup(folder, folder_length);
}

void unread_tell(struct judge *judge, const unread *paths)
{
	for (size_t i = 0; i < paths->len; i++) {
		char *node = unread_node(paths->data[i]);

		judge_loss(judge, &(struct judge_loss){ .node = node, .files = 1 });
		free(node);
	}
}
