// SPDX-License-Identifier: BSD-3-Clause
#include "site/sweep/lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void hand_over(struct lines *lines, void (*each)(void *context, char *line), void *context)
{
	char *start = lines->text, *end;

	while ((end = memchr(start, '\n', lines->text + lines->length - start))) {
		*end = '\0';
		each(context, start);
		start = end + 1;
	}
	lines->length -= start - lines->text;
	memmove(lines->text, start, lines->length);
	if (lines->length == sizeof(lines->text))
		lines->length = 0;
}

bool lines_read(struct lines *lines, void (*each)(void *context, char *line), void *context)
{
	for (;;) {
		ssize_t got = read(lines->fd, lines->text + lines->length,
				   sizeof(lines->text) - lines->length);

		if (got < 0)
			return errno == EAGAIN || errno == EINTR;
		if (!got)
			return false;
		lines->length += got;
		hand_over(lines, each, context);
	}
}
