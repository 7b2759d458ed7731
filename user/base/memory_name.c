// SPDX-License-Identifier: BSD-3-Clause
#include "base/memory_name.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[MEMORY_KINDS] = {
	[MEMORY_HOST] = "host",
	[MEMORY_PINNED] = "pinned",
	[MEMORY_MANAGED] = "managed",
	[MEMORY_GPU] = "gpu",
};

const char *memory_kind_name(enum memory_kind kind)
{
	return kind_names[kind];
}

struct memory_name memory_name_read(const char *text)
{
	struct memory_name name = { MEMORY_UNKNOWN, -1 };
	const size_t prefix = strlen(kind_names[MEMORY_GPU]);
	char *end;
	long device;

	if (!text)
		return name;
	for (int kind = MEMORY_HOST; kind < MEMORY_GPU; kind++)
		if (!strcmp(text, kind_names[kind]))
			name.kind = kind;
	if (strncmp(text, kind_names[MEMORY_GPU], prefix) != 0)
		return name;
	text += prefix;
	device = strtol(text, &end, 10);
	if (!*text || (*text >= '0' && *text <= '9' && !*end && device <= INT_MAX))
		name.kind = MEMORY_GPU;
	if (*text && name.kind == MEMORY_GPU)
		name.device = (int)device;
	return name;
}

void memory_gpu_name(char name[MEMORY_NAME_MAX], int device)
{
	snprintf(name, MEMORY_NAME_MAX, "%s%d", kind_names[MEMORY_GPU], device);
}
