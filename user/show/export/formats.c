// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/formats.h"

#include <string.h>

static const struct export_format *const formats[] = {
	&export_json,   &export_html,     &export_ndjson, &export_csv,
	&export_sqlite, &export_perfetto, &export_otf2,   &export_folded,
};

const struct export_format *export_format_at(size_t i)
{
	return i < sizeof(formats) / sizeof(formats[0]) ? formats[i] : NULL;
}

const struct export_format *export_format_find(const char *name)
{
	for (size_t i = 0; export_format_at(i); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}
