// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct unit_size {
	double size;
	const char *name;
};

/* Three significant digits, in the largest unit that is not above the value. */
static void scaled(char *out, size_t size, double value, const struct unit_size *units, int count)
{
	int i = count - 1;

	/* 999.5 would be printed as 1000: it belongs to the next unit. */
	while (i > 0 && value < units[i].size * 0.9995)
		i--;
	value /= units[i].size;
	snprintf(out, size, "%.*f %s",
		 value < 9.995   ? 2
		 : value < 99.95 ? 1
				 : 0,
		 value, units[i].name);
}

static void grouped(char *out, size_t size, uint64_t value, const char *suffix)
{
	char digits[24], text[40];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value), at = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	snprintf(out, size, "%s%s", text, suffix);
}

void unit_count(char *out, size_t size, uint64_t count, bool exact)
{
	static const struct unit_size units[] = { { 1e6, "M" }, { 1e9, "G" }, { 1e12, "T" } };

	if (exact || count < 10000000)
		grouped(out, size, count, "");
	else
		scaled(out, size, count, units, 3);
}

void unit_bytes(char *out, size_t size, uint64_t bytes, bool exact)
{
	static const struct unit_size units[] = {
		{ 0x1p10, "KiB" }, { 0x1p20, "MiB" }, { 0x1p30, "GiB" },
		{ 0x1p40, "TiB" }, { 0x1p50, "PiB" },
	};

	if (exact || bytes < 1024)
		grouped(out, size, bytes, " B");
	else
		scaled(out, size, bytes, units, 5);
}

void unit_time(char *out, size_t size, uint64_t ns, bool exact)
{
	static const struct unit_size units[] = { { 1e3, "us" }, { 1e6, "ms" }, { 1e9, "s" } };

	if (exact || ns < 1000)
		grouped(out, size, ns, " ns");
	else
		scaled(out, size, ns, units, 3);
}

void unit_share(char *out, size_t size, uint64_t part, uint64_t whole)
{
	double share = whole ? 100.0 * part / whole : 0;

	if (!whole)
		snprintf(out, size, "-");
	else if (part && share < 0.05)
		snprintf(out, size, "<0.1 %%");
	else if (part < whole && share >= 99.95)
		snprintf(out, size, ">99.9 %%");
	else
		snprintf(out, size, "%.*f %%", part == whole || !part ? 0 : 1, share);
}

#define LONGEST_NS 1e18

static const struct {
	const char *name;
	double ns;
} durations[] = {
	{ "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 },
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
	for (size_t i = 0; i < ARRAY_SIZE(durations); i++) {
		if (strlen(durations[i].name) != length ||
		    strncmp(durations[i].name, unit, length) != 0)
			continue;
		value *= durations[i].ns;
		if (!(value < LONGEST_NS))
			return -ERANGE;
		*ns = (uint64_t)llround(value);
		*end = unit + length;
		return 0;
	}
	return -EINVAL;
}

int seconds_parse(const char *text, double *seconds)
{
	const char *end = text + strlen(text);
	char with_unit[32];
	uint64_t ns;
	int err;

	/* without a unit they are seconds */
	if (end > text && strchr("0123456789.", end[-1])) {
		if (snprintf(with_unit, sizeof(with_unit), "%ss", text) >= (int)sizeof(with_unit))
			return -EINVAL;
		text = with_unit;
	}
	err = duration_parse(text, &end, &ns);
	if (err || *end)
		return err ? err : -EINVAL;
	*seconds = ns / 1e9;
	return 0;
}
