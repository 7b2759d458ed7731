// SPDX-License-Identifier: BSD-3-Clause
#include "base/duration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NS 1e18

static const struct {
	const char *name;
	double ns;
} units[] = {
	{ "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "min", 60e9 }, { "h", 3600e9 },
};

int duration_parse(const char *text, const char **end, uint64_t *ns)
{
	size_t length;
	char *unit;
	double value;

	value = strtod(text, &unit);
	if (unit == text || unit != text + strspn(text, "0123456789.")) /* no 0x1, nan, 1e9 */
		return -EINVAL;
	length = strspn(unit, "abcdefghijklmnopqrstuvwxyz");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) != length || strncmp(units[i].name, unit, length) != 0)
			continue;
		value *= units[i].ns;
		if (!(value < LONGEST_NS))
			return -ERANGE;
		*ns = (uint64_t)llround(value);
		*end = unit + length;
		return 0;
	}
	return -EINVAL;
}
