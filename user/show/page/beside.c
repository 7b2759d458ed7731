// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/beside.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

bool page_beside(const char *path)
{
	char *safe = text_utf8(path);
	bool same = safe && !strcmp(safe, path);

	free(safe);
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f || *c == ':' || *c == '\\')
			return false;
	return same && *path && *path != '/';
}
