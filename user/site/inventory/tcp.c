// SPDX-License-Identifier: BSD-3-Clause
/*
 * What TCP did in this network namespace, RFC 4022 (retransmitted segments above all): two lines of
 * /proc/self/net/snmp, one of names and one of numbers.
 */
#include <string.h>

#include "base/text.h"
#include "site/inventory/collect.h"

#define MAX_TEXT (1 << 16)

/* The next line from *rest that begins so, behind that; NULL: none. */
static char *line_with(char **rest, const char *label)
{
	size_t length = strlen(label);
	char *line;

	while ((line = strsep(rest, "\n")))
		if (!strncmp(line, label, length))
			return line + length;
	return NULL;
}

static void add(struct look *look, const char *name, const char *number)
{
	struct inventory_counter *counter = vec_add(&look->inventory->tcp);
	char *end;

	counter->name = text_plain(name);
	counter->value = strtoll(number, &end, 10);
	if (*end || end == number || counter->value < 0)
		counter->value = INVENTORY_UNKNOWN;
}

void collect_tcp(struct look *look)
{
	char path[LOOK_PATH], *text, *rest, *names, *numbers, *name, *number;
	size_t size;

	look_path(path, "%s/self/net/snmp", look->proc);
	text = rest = look_whole(path, MAX_TEXT, &size);
	names = line_with(&rest, "Tcp: ");
	numbers = line_with(&rest, "Tcp: ");
	while ((name = strsep(&names, " ")) && (number = strsep(&numbers, " ")))
		add(look, name, number);
	free(text);
}
