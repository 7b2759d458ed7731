// SPDX-License-Identifier: BSD-3-Clause
#include "site/policy/values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"

struct value_unit {
	const char *name;
	double factor;
};

/* A number and one of the units; a unit of no name stands for itself. */
static bool with_unit(const char *text, const struct value_unit *units, double *value)
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
	static const struct value_unit units[] = {
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
	static const struct value_unit units[] = {
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
	time = timegm(&date); /* accepts 30 February as 2 March, and sets the date to that */
	gmtime_r(&time, &again);
	if (again.tm_mday != day)
		return false;
	*days = time / 86400;
	return true;
}

/* ---- nodes ---- */

/* Lists of nodes as resource managers write them. */

#define MAX_NODES 65536
#define MAX_NAMES (4 * MAX_NODES) /* in all lists */
#define MAX_DIGITS 9

static bool add_name(struct policy *policy, texts *nodes, const char *prefix, size_t prefix_len,
		     const char *number, const char *suffix, size_t suffix_len)
{
	char *name;

	if (nodes->len >= MAX_NODES || policy->made.len >= MAX_NAMES)
		return false;
	name = xasprintf("%.*s%s%.*s", (int)prefix_len, prefix, number, (int)suffix_len, suffix);
	vec_push(&policy->made, name);
	vec_push(nodes, name);
	/* it becomes the name of a file, and an argument of the command that reaches the node */
	return *name && *name != '-' && *name != '.' && !strchr(name, '/');
}

/* Digits at *at, which is moved behind them. */
static bool digits(const char **at, unsigned long *value, int *width)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*value = strtoul(*at, &end, 10);
	*width = end - *at;
	*at = end;
	return *width <= MAX_DIGITS;
}

struct pattern {
	const char *prefix, *suffix;
	size_t prefix_len, suffix_len;
};

/* One of 3, 0-7, 08-10 between the brackets. */
static bool add_range(struct policy *policy, texts *nodes, const struct pattern *pattern,
		      const char **at)
{
	unsigned long from, to;
	char number[24];
	int width, end_width;

	if (!digits(at, &from, &width))
		return false;
	to = from;
	if (**at == '-') {
		++*at;
		if (!digits(at, &to, &end_width) || to < from || to - from >= MAX_NODES)
			return false;
	}
	for (; from <= to; from++) {
		snprintf(number, sizeof(number), "%0*lu", width, from);
		if (!add_name(policy, nodes, pattern->prefix, pattern->prefix_len, number,
			      pattern->suffix, pattern->suffix_len))
			return false;
	}
	return true;
}

/* One name with at most one pair of brackets, length bytes of it. */
static bool add_pattern(struct policy *policy, texts *nodes, const char *text, size_t length)
{
	const char *open = memchr(text, '[', length), *close = memchr(text, ']', length), *at;
	struct pattern pattern;

	if (!open && !close)
		return add_name(policy, nodes, text, length, "", "", 0);
	if (!open || !close || close < open)
		return false;
	pattern = (struct pattern){
		.prefix = text,
		.prefix_len = open - text,
		.suffix = close + 1,
		.suffix_len = text + length - close - 1,
	};
	if (memchr(pattern.suffix, '[', pattern.suffix_len) ||
	    memchr(pattern.suffix, ']', pattern.suffix_len))
		return false;
	for (at = open + 1;; at++) {
		if (!add_range(policy, nodes, &pattern, &at))
			return false;
		if (at == close)
			return true;
		if (*at != ',')
			return false;
	}
}

/* Up to the next comma outside of brackets. */
static size_t name_length(const char *text)
{
	bool inside = false;
	size_t i;

	for (i = 0; text[i] && (inside || text[i] != ','); i++)
		inside = text[i] == '[' || (inside && text[i] != ']');
	return i;
}

bool value_nodes(const char *text, struct policy *policy, texts *nodes)
{
	size_t length;

	if (strpbrk(text, " \t\n"))
		return false;
	for (;; text += length + 1) {
		length = name_length(text);
		if (!length || !add_pattern(policy, nodes, text, length))
			return false;
		if (!text[length])
			return true;
	}
}
