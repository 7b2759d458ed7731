// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/gpus.h"

#include <stdio.h>
#include <stdlib.h>

struct gpu_text gpu_text(const struct fact_device *device)
{
	struct gpu_text text = { 0 };
	size_t size;
	FILE *out = open_memstream(&text.users, &size);

	if (!out || asprintf(&text.name, "gpu%d", device->number) < 0)
		abort();
	for (int i = 0; i < device->user_count; i++)
		fprintf(out, "%sprocess %d as %d", i ? ", " : "", device->users[i].process,
			device->users[i].ordinal);
	if (!device->user_count)
		fputs("none that was seen", out);
	fclose(out);
	return text;
}
