// SPDX-License-Identifier: BSD-3-Clause
#include "base/lists.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"

#define MAX_DIGITS 9

/* A name taken apart at its last number; digits 0: it has none, prefix is all of it. */
struct name_part {
	const char *name;
	int prefix, digits; /* bytes */
	const char *suffix;
	unsigned long value;
};

static struct name_part part_of(const char *name)
{
	struct name_part part = { .name = name, .prefix = strlen(name) };
	int end = part.prefix, from;

	part.suffix = name + end;
	for (int i = 0; i < end; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return part;
	while (end && !isdigit((unsigned char)name[end - 1]))
		end--;
	for (from = end; from && isdigit((unsigned char)name[from - 1]);)
		from--;
	if (from == end || end - from > MAX_DIGITS)
		return part;
	part.prefix = from;
	part.digits = end - from;
	part.suffix = name + end;
	part.value = strtoul(name + from, NULL, 10);
	return part;
}

static int by_frame(const struct name_part *a, const struct name_part *b)
{
	int least = a->prefix < b->prefix ? a->prefix : b->prefix;
	int order = memcmp(a->name, b->name, least);

	order = order ? order : (a->prefix > b->prefix) - (a->prefix < b->prefix);
	order = order ? order : !!a->digits - !!b->digits;
	return order ? order : strcmp(a->suffix, b->suffix);
}

static int by_part(const void *left, const void *right)
{
	const struct name_part *a = left, *b = right;
	int order = by_frame(a, b);

	order = order ? order : (a->value > b->value) - (a->value < b->value);
	return order ? order : (a->digits > b->digits) - (a->digits < b->digits);
}

/* n08 and n09 are n[08-09], n9 and n10 are n[9-10]; n09 and n10 too, but not n010. */
static bool follows(const struct name_part *first, const struct name_part *last,
		    const struct name_part *next)
{
	char number[24];

	return next->value == last->value + 1 &&
	       snprintf(number, sizeof(number), "%0*lu", first->digits, next->value) ==
		       next->digits;
}

/* One or more ranges of parts with the same frame; returns behind the last one. */
static size_t put_frame(const struct name_part *parts, size_t from, size_t count, FILE *out)
{
	size_t end = from, to;

	while (end < count && !by_frame(&parts[from], &parts[end]))
		end++;
	fprintf(out, "%.*s", parts[from].prefix, parts[from].name);
	if (!parts[from].digits)
		return from + 1;
	if (end - from > 1)
		putc('[', out);
	for (size_t i = from; i < end; i = to) {
		for (to = i + 1; to < end && follows(&parts[i], &parts[to - 1], &parts[to]);)
			to++;
		fprintf(out, "%s%0*lu", i == from ? "" : ",", parts[i].digits, parts[i].value);
		if (to - i > 1)
			fprintf(out, "-%0*lu", parts[i].digits, parts[to - 1].value);
	}
	fprintf(out, "%s%s", end - from > 1 ? "]" : "", parts[from].suffix);
	return end;
}

char *fold_names(const char *const *names, size_t count)
{
	VEC(struct name_part) parts = { 0 };
	size_t kept = 0, bytes;
	char *text = NULL;
	FILE *out = xmemstream(&text, &bytes);

	for (size_t i = 0; i < count; i++)
		vec_push(&parts, part_of(names[i]));
	if (count)
		qsort(parts.data, count, sizeof(*parts.data), by_part);
	for (size_t i = 0; i < count; i++)
		if (!kept || by_part(&parts.data[kept - 1], &parts.data[i]))
			parts.data[kept++] = parts.data[i];
	for (size_t i = 0; i < kept;) {
		if (i)
			putc(',', out);
		i = put_frame(parts.data, i, kept, out);
	}
	vec_release(&parts);
	fclose(out);
	return text;
}

#define MOST_CPUS (1 << 20) /* far beyond the kernel's NR_CPUS */

struct cpu_range {
	long first, last;
};

static bool cpu_number(const char **at, long *value)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*value = strtol(*at, &end, 10);
	*at = end;
	return *value <= MOST_CPUS;
}

/* Takes the range that begins at a point, and the comma behind it. */
static bool next_cpus(const char **at, struct cpu_range *range)
{
	if (!cpu_number(at, &range->first))
		return false;
	range->last = range->first;
	if (**at == '-') {
		++*at;
		if (!cpu_number(at, &range->last) || range->last < range->first)
			return false;
	}
	if (**at != ',')
		return !**at;
	++*at;
	return **at;
}

int64_t cpus_count(const char *list)
{
	struct cpu_range range;
	int64_t count = 0;
	long before = -1;

	if (!list || !*list)
		return -1;
	while (*list) {
		if (!next_cpus(&list, &range) || range.first <= before)
			return -1;
		count += range.last - range.first + 1;
		before = range.last;
	}
	return count;
}

int64_t cpus_shared(const char *a, const char *b)
{
	struct cpu_range left = { 0, -1 }, right = { 0, -1 };
	int64_t count = 0;

	if (cpus_count(a) < 0 || cpus_count(b) < 0)
		return -1;
	next_cpus(&a, &left);
	next_cpus(&b, &right);
	for (;;) {
		long first = left.first > right.first ? left.first : right.first;
		long last = left.last < right.last ? left.last : right.last;

		count += last >= first ? last - first + 1 : 0;
		if (!(left.last < right.last ? next_cpus(&a, &left) : next_cpus(&b, &right)))
			return count;
	}
}
