// SPDX-License-Identifier: BSD-3-Clause
/* Sizes of messages, and the protocols that each function uses, by size. */
#include "show/report/text.h"

#include <inttypes.h>

#include "base/units.h"

#define LINE 512

/* ---- sizes ---- */

struct text_size {
	int number;
	const struct size_class *class;
};

static const struct text_size *text_size(const void *row)
{
	return row;
}

static void print_size(char *cell, size_t size, const void *row, const void *context)
{
	const int number = text_size(row)->number;
	char from[40], to[40];

	(void)context;
	unit_bytes(from, sizeof(from), size_class_from(number), false);
	if (number < SIZE_CLASSES - 1)
		unit_bytes(to, sizeof(to), size_class_from(number + 1), false);
	if (number == SIZE_CLASSES - 1)
		snprintf(cell, size, "%s and more", from);
	else if (number < 2)
		snprintf(cell, size, "%s", from);
	else
		snprintf(cell, size, "%s to below %s", from, to);
}

static void print_messages(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, text_size(row)->class->messages, text_exact(context));
}

static void print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, text_size(row)->class->bytes, text_exact(context));
}

/* The share of messages of which it is known. */
static void print_unexpected(char *cell, size_t size, const void *row, const void *context)
{
	const struct size_class *class = text_size(row)->class;
	char of[40];

	if (!class->known) {
		snprintf(cell, size, "?");
		return;
	}
	unit_count(cell, size, class->unexpected, text_exact(context));
	unit_count(of, sizeof(of), class->known, text_exact(context));
	if (class->known < class->messages)
		text_append(cell, size, " (of %s)", of);
}

static void print_unexpected_bytes(char *cell, size_t size, const void *row, const void *context)
{
	if (text_size(row)->class->known)
		unit_bytes(cell, size, text_size(row)->class->unexpected_bytes,
			   text_exact(context));
	else
		snprintf(cell, size, "?");
}

static const struct table_column size_columns[] = {
	{ "MESSAGE SIZES", true, 0, 0, print_size },
	{ "messages", false, 0, 0, print_messages },
	{ "bytes", false, 0, 0, print_bytes },
	{ "arrived before their receive", false, 0, 0, print_unexpected },
	{ "of bytes", false, 0, 1, print_unexpected_bytes },
};

static void print_sizes(const struct text_report *text)
{
	struct text_size rows[SIZE_CLASSES];
	const void *shown[SIZE_CLASSES];
	size_t count = 0;

	for (int i = 0; i < SIZE_CLASSES; i++) {
		if (!text->report->sizes.classes[i].messages)
			continue;
		rows[count] = (struct text_size){ i, &text->report->sizes.classes[i] };
		shown[count] = &rows[count];
		count++;
	}
	if (!count)
		return;
	table_print(text->out, text->options,
		    &(struct report_table){ size_columns, ARRAY_SIZE(size_columns), text, shown,
					    count });
	text_end(text, count, count);
}

/* ---- protocols ---- */

static bool alike(const struct protocol_sizes *a, const struct protocol_sizes *b)
{
	return a->key.function == b->key.function && a->key.op == b->key.op &&
	       a->key.locality == b->key.locality && a->key.memory == b->key.memory;
}

static const char *name_of(uint64_t word, const char *instead)
{
	return word ? (const char *)(uintptr_t)word : instead;
}

static void add_bytes(char *line, uint64_t bytes)
{
	char number[40];

	unit_count(number, sizeof(number), bytes, true);
	text_append(line, LINE, "%s", number);
}

static void print_protocols_of(const struct text_report *text, const struct protocol_sizes *first,
			       const struct protocol_sizes *end)
{
	char line[LINE * 4] = "";

	text_append(line, LINE, "%s, %s, %s", name_of(first->key.function, text->outside),
		    (const char *)(uintptr_t)first->key.op,
		    fact_locality_names[first->key.locality]);
	if (report_knows_memory(text->report))
		text_append(line, LINE, ", %s memory", name_of(first->key.memory, "unknown"));
	text_append(line, LINE, ":");
	for (const struct protocol_sizes *row = first; row < end; row++) {
		text_append(line, LINE, "%s %s ", row == first ? "" : ",",
			    (const char *)(uintptr_t)row->key.protocol);
		add_bytes(line, row->least);
		if (row->most > row->least) {
			text_append(line, LINE, " to ");
			add_bytes(line, row->most);
		}
	}
	text_append(line, LINE, " B");
	fputs("  ", text->out);
	text_paragraph(text, 4, line, STYLE_PLAIN);
}

static void print_protocols(const struct text_report *text)
{
	const struct protocol_sizes *rows = text->report->sizes.protocols.data;
	const size_t count = text->report->sizes.protocols.len;
	size_t end;

	if (!count)
		return;
	fputs("PROTOCOLS by the sizes that were sent\n", text->out);
	for (size_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count && alike(&rows[i], &rows[end]); end++)
			;
		print_protocols_of(text, &rows[i], &rows[end]);
	}
	text_end(text, count, count);
}

void text_sizes(const struct text_report *text)
{
	/* without -v the report is one screen */
	if (!text->options->verbose)
		return;
	print_sizes(text);
	print_protocols(text);
}
