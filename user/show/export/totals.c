// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/totals.h"

/* What is nested: reasons with their counts, lists of words. */
static void nested(const struct totals_sink *sink, const char *section, const char *name,
		   const json_t *value)
{
	const char *reason;
	json_t *inner;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach((json_t *)value, reason, inner)
			sink->row(sink->arg, section, name, reason, inner);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, inner)
			sink->row(sink->arg, section, name, NULL, inner);
	} else {
		sink->row(sink->arg, section, name, NULL, value);
	}
}

void totals_rows(const struct totals_sink *sink, const char *section, const json_t *value)
{
	const char *name;
	json_t *inner;

	if (!json_is_object(value)) {
		sink->row(sink->arg, section, NULL, NULL, value);
		return;
	}
	json_object_foreach((json_t *)value, name, inner) nested(sink, section, name, inner);
}
