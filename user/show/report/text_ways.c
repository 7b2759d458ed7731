// SPDX-License-Identifier: BSD-3-Clause
/* Which ways messages took from memory to memory; only where a GPU's may be involved. */
#include <string.h>

#include "show/report/text.h"
#include "base/units.h"

enum { W_CHAIN, W_VIA, W_REASON, W_SRC, W_DST };

static const struct cube_shape way_shape = {
	5,
	{
		[W_CHAIN] = { "chain", CUBE_LIST, NULL },
		[W_VIA] = { "via", CUBE_LIST, NULL },
		[W_REASON] = { "chain_reason", CUBE_STRING, NULL },
		[W_SRC] = { "src_mem", CUBE_STRING, "unknown" },
		[W_DST] = { "dst_mem", CUBE_STRING, "unknown" },
	},
};

struct ways {
	const struct text *text;
	struct cube rows;
	uint64_t bytes;
};

static const struct cube_sums *sums(const void *row)
{
	return &((const struct cube_row *)row)->sums;
}

static const char *word(const void *row, int key)
{
	return cube_key_text(&way_shape.keys[key], ((const struct cube_row *)row)->key[key]);
}

static bool exact(const void *context)
{
	return ((const struct ways *)context)->text->options->exact;
}

static void print_list(char *cell, size_t size, const char *names, const char *between)
{
	size_t used = 0, length;

	*cell = '\0';
	for (; *names && used < size; names += length + (names[length] == ',')) {
		length = strcspn(names, ",");
		used += (size_t)snprintf(cell + used, size - used, "%s%.*s", used ? between : "",
					 (int)length, names);
	}
}

static void print_chain(char *cell, size_t size, const void *row, const void *context)
{
	const struct ways *ways = context;
	const char *names = word(row, W_CHAIN);
	char between[16];

	snprintf(between, sizeof(between), " %s ", ways->text->arrow);
	if (names)
		print_list(cell, size, names, between);
	else
		snprintf(cell, size, "%s%s%s", word(row, W_SRC), between, word(row, W_DST));
}

static void print_via(char *cell, size_t size, const void *row, const void *context)
{
	const char *names = word(row, W_VIA), *reason = word(row, W_REASON);

	(void)context;
	if (names)
		print_list(cell, size, names, ", ");
	else
		snprintf(cell, size, "unknown: %s", reason ? reason : "no way was looked for");
}

static void print_messages(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, sums(row)->count, exact(context));
}

static void print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, sums(row)->bytes, exact(context));
}

static void print_share(char *cell, size_t size, const void *row, const void *context)
{
	unit_share(cell, size, sums(row)->bytes, ((const struct ways *)context)->bytes);
}

static void print_copies(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, sums(row)->copies, exact(context));
}

static void print_copied(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, sums(row)->copy_bytes, exact(context));
}

static const struct table_column columns[] = {
	{ "MEMORY WAYS", true, 18, 0, print_chain }, { "via", true, 12, 0, print_via },
	{ "messages", false, 0, 0, print_messages }, { "bytes", false, 0, 0, print_bytes },
	{ "share", false, 0, 0, print_share },       { "copies", false, 0, 2, print_copies },
	{ "copied", false, 0, 1, print_copied },
};

/* The memory of both ends is in a known way; where it is not known, it is all there is. */
static void collect(struct ways *ways, const struct cube_row *row)
{
	bool known = row->key[M_CHAIN];
	const uint64_t key[CUBE_MAX_KEYS] = {
		[W_CHAIN] = row->key[M_CHAIN],
		[W_VIA] = row->key[M_VIA],
		[W_REASON] = row->key[M_CHAIN_REASON],
		[W_SRC] = known ? 0 : row->key[M_SRC_MEM],
		[W_DST] = known ? 0 : row->key[M_DST_MEM],
	};

	cube_sums_add(&cube_at(&ways->rows, key)->sums, &row->sums);
	ways->bytes += row->sums.bytes;
}

void text_ways(const struct text *text)
{
	static const size_t limits[TEXT_LIMITS] = { 6, 40 };
	const struct cube *messages = &text->report->messages;
	struct ways ways = { .text = text };
	const struct cube_row **rows;
	size_t shown;

	if (!report_knows_memory(text->report) || !messages->rows.len)
		return;
	cube_init(&ways.rows, &way_shape);
	for (size_t i = 0; i < messages->rows.len; i++)
		collect(&ways, &messages->rows.data[i]);
	rows = cube_sorted(&ways.rows, CUBE_BY_BYTES);
	shown = text_limit(text, ways.rows.rows.len, limits);
	table_print(text->out, text->options,
		    &(struct table){ columns, sizeof(columns) / sizeof(*columns), &ways,
				     (const void *const *)rows, shown });
	text_end(text, shown, ways.rows.rows.len);
	free(rows);
	cube_release(&ways.rows);
}
