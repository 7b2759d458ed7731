// SPDX-License-Identifier: BSD-3-Clause
#include "site/policy/values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

struct unit {
	const char *name;
	double factor;
};

/* A number and one of the units; a unit of no name stands for itself. */
static bool with_unit(const char *text, const struct unit *units, double *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	*value = strtod(text, &end);
	for (; units->name; units++) {
		if (strcmp(end, units->name))
			continue;
		*value *= units->factor;
		return isfinite(*value);
	}
	return false;
}

bool value_number(const char *text, double *number)
{
	char *end;

	if (!isdigit((unsigned char)text[*text == '-']))
		return false;
	*number = strtod(text, &end);
	return !*end && isfinite(*number) && !strpbrk(text, "xXpP");
}

bool value_count(const char *text, int64_t *count)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*count = strtoll(text, &end, 10);
	return !*end && !errno;
}

bool value_size(const char *text, uint64_t *bytes)
{
	static const struct unit units[] = {
		{ "", 1 },
		{ "K", 1024. },
		{ "M", 1024. * 1024 },
		{ "G", 1024. * 1024 * 1024 },
		{ "T", 1024. * 1024 * 1024 * 1024 },
		{ NULL, 0 },
	};
	double value;

	if (!strcmp(text, "inf")) {
		*bytes = UINT64_MAX;
		return true;
	}
	if (strpbrk(text, ".eExX") || !with_unit(text, units, &value) || value > 0x1p53)
		return false;
	*bytes = value;
	return true;
}

bool value_rate(const char *text, double *rate)
{
	static const struct unit units[] = {
		{ "Mb/s", 1e6 },   { "Gb/s", 1e9 }, { "Tb/s", 1e12 }, { "Gbit/s", 1e9 },
		{ "Mbit/s", 1e6 }, { "MB/s", 8e6 }, { "GB/s", 8e9 },  { NULL, 0 },
	};

	return !strpbrk(text, "xX") && with_unit(text, units, rate) && *rate > 0;
}

bool value_date(const char *text, int64_t *days)
{
	struct tm date = { 0 }, again;
	const char *end;
	time_t time;
	int day;

	if (strlen(text) != 10)
		return false;
	end = strptime(text, "%Y-%m-%d", &date);
	if (!end || *end)
		return false;
	day = date.tm_mday;
	time = timegm(&date); /* takes 30 February for 2 March, and says so */
	gmtime_r(&time, &again);
	if (again.tm_mday != day)
		return false;
	*days = time / 86400;
	return true;
}
