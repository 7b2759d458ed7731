// SPDX-License-Identifier: BSD-3-Clause
/*
 * Pairs of processes, and the paths of messages from memory to memory, the latter only if GPU
 * memory may be involved.
 */
#include "show/report/text.h"

#include <string.h>

#include "base/units.h"
#include "base/vec.h"

static const struct cube_shape pair_shape = {
	2,
	{ { "src", CUBE_PROCESS, NULL }, { "dst", CUBE_PROCESS, NULL } },
};

static const struct cube_shape carried_shape = {
	3,
	{
		{ "src", CUBE_PROCESS, NULL },
		{ "dst", CUBE_PROCESS, NULL },
		{ "transport", CUBE_STRING, "unknown" },
	},
};

static const struct cube_shape memory_shape = {
	4,
	{
		{ "src", CUBE_PROCESS, NULL },
		{ "dst", CUBE_PROCESS, NULL },
		{ "src_mem", CUBE_STRING, "unknown" },
		{ "dst_mem", CUBE_STRING, "unknown" },
	},
};

struct pairs {
	const struct text_report *text;
	struct cube rows; /* data transfers */
	struct cube messages; /* matched messages */
	struct text_carried carried; /* data transfers by transport */
	struct text_carried memory; /* messages by the memory of both ends */
};

static const struct cube_sums *pair_messages(const void *row, const struct pairs *pairs)
{
	static const struct cube_sums none;
	const struct cube_row *found =
		cube_find(&pairs->messages, ((const struct cube_row *)row)->key);

	return found ? &found->sums : &none;
}

static bool pairs_exact(const void *context)
{
	return ((const struct pairs *)context)->text->options->exact;
}

static void print_pair(char *cell, size_t size, const void *row, const void *context)
{
	const struct pairs *pairs = context;
	const struct cube_row *pair = row;
	char from[32], to[32];

	text_process(pairs->text, from, sizeof(from), pair->key[0]);
	text_process(pairs->text, to, sizeof(to), pair->key[1]);
	snprintf(cell, size, "%s %s %s", from, pairs->text->arrow, to);
}

static void pairs_print_messages(char *cell, size_t size, const void *row, const void *context)
{
	const struct pairs *pairs = context;

	if (report_only_counts(pairs->text->report))
		snprintf(cell, size, "unknown");
	else
		unit_count(cell, size, pair_messages(row, context)->count, pairs_exact(context));
}

static void print_message_bytes(char *cell, size_t size, const void *row, const void *context)
{
	const struct pairs *pairs = context;

	if (report_only_counts(pairs->text->report))
		snprintf(cell, size, "unknown");
	else
		unit_bytes(cell, size, pair_messages(row, context)->bytes, pairs_exact(context));
}

static void print_transfers(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, text_row_sums(row)->count, pairs_exact(context));
}

static void pairs_print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, text_row_sums(row)->bytes, pairs_exact(context));
}

static void print_transports(char *cell, size_t size, const void *row, const void *context)
{
	text_shares(cell, size, &((const struct pairs *)context)->carried,
		    ((const struct cube_row *)row)->key);
	if (!*cell)
		snprintf(cell, size, "-");
}

static void print_memory(char *cell, size_t size, const void *row, const void *context)
{
	text_shares(cell, size, &((const struct pairs *)context)->memory,
		    ((const struct cube_row *)row)->key);
	if (!*cell)
		snprintf(cell, size, "-");
}

/* The last column only if there is more than one kind of memory. */
static const struct table_column pairs_columns[] = {
	{ "PAIRS (rank)", true, 12, 0, print_pair },
	{ "messages", false, 0, 0, pairs_print_messages },
	{ "of bytes", false, 0, 2, print_message_bytes },
	{ "data transfers", false, 0, 1, print_transfers },
	{ "bytes", false, 0, 0, pairs_print_bytes },
	{ "by transport", true, 12, 0, print_transports },
	{ "by memory", true, 12, 0, print_memory },
};

/* The initiator of a transfer need not be its sender: a get moves data from the peer. */
static void pairs_collect(struct pairs *pairs, const struct cube_row *row)
{
	const char *op = (const char *)(uintptr_t)row->key[T_OP];
	bool get = fact_fetches(op, (const char *)(uintptr_t)row->key[T_TRANSPORT]);
	uint64_t key[] = { row->key[get ? T_PEER : T_PROCESS], row->key[get ? T_PROCESS : T_PEER],
			   row->key[T_TRANSPORT] };

	if (row->key[T_KIND] != KIND_DATA)
		return;
	cube_sums_add(&cube_at(&pairs->rows, key)->sums, &row->sums);
	cube_sums_add(&cube_at(&pairs->carried.cube, key)->sums, &row->sums);
}

void text_pairs(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 3, 40 };
	const struct cube *transfers = &text->report->transfers;
	struct pairs pairs = { .text = text, .memory.between = text->arrow };
	const struct cube_row **rows;
	size_t shown;

	cube_init(&pairs.rows, &pair_shape);
	cube_init(&pairs.messages, &pair_shape);
	cube_init(&pairs.carried.cube, &carried_shape);
	cube_init(&pairs.memory.cube, &memory_shape);
	for (size_t i = 0; i < transfers->rows.len; i++)
		pairs_collect(&pairs, &transfers->rows.data[i]);
	cube_rollup(&pairs.messages, &text->report->messages);
	cube_rollup(&pairs.memory.cube, &text->report->messages);
	for (size_t i = 0; i < pairs.messages.rows.len; i++)
		cube_at(&pairs.rows, pairs.messages.rows.data[i].key);
	pairs.carried.sorted = cube_sorted(&pairs.carried.cube, CUBE_BY_KEYS);
	pairs.memory.sorted = cube_sorted(&pairs.memory.cube, CUBE_BY_KEYS);
	rows = cube_sorted(&pairs.rows, CUBE_BY_BYTES);
	shown = text_limit(text, pairs.rows.rows.len, limits);
	if (shown) {
		table_print(text->out, text->options,
			    &(struct report_table){ pairs_columns,
						    report_knows_memory(text->report) ? 7 : 6,
						    &pairs, (const void *const *)rows, shown });
		text_end(text, shown, pairs.rows.rows.len);
	}
	free(rows);
	free(pairs.carried.sorted);
	free(pairs.memory.sorted);
	cube_release(&pairs.rows);
	cube_release(&pairs.messages);
	cube_release(&pairs.carried.cube);
	cube_release(&pairs.memory.cube);
}

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
	const struct text_report *text;
	struct cube rows;
	uint64_t bytes;
};

static const char *word(const void *row, int key)
{
	return cube_key_text(&way_shape.keys[key], ((const struct cube_row *)row)->key[key]);
}

static bool ways_exact(const void *context)
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

static void ways_print_messages(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, text_row_sums(row)->count, ways_exact(context));
}

static void ways_print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, text_row_sums(row)->bytes, ways_exact(context));
}

static void print_share(char *cell, size_t size, const void *row, const void *context)
{
	unit_share(cell, size, text_row_sums(row)->bytes, ((const struct ways *)context)->bytes);
}

static void print_copies(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, text_row_sums(row)->copies, ways_exact(context));
}

static void print_copied(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, text_row_sums(row)->copy_bytes, ways_exact(context));
}

static const struct table_column ways_columns[] = {
	{ "MEMORY WAYS", true, 18, 0, print_chain },
	{ "via", true, 12, 0, print_via },
	{ "messages", false, 0, 0, ways_print_messages },
	{ "bytes", false, 0, 0, ways_print_bytes },
	{ "share", false, 0, 0, print_share },
	{ "copies", false, 0, 2, print_copies },
	{ "copied", false, 0, 1, print_copied },
};

/* A known chain includes the memory of both ends; otherwise only the ends are known. */
static void ways_collect(struct ways *ways, const struct cube_row *row)
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

void text_ways(const struct text_report *text)
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
		ways_collect(&ways, &messages->rows.data[i]);
	rows = cube_sorted(&ways.rows, CUBE_BY_BYTES);
	shown = text_limit(text, ways.rows.rows.len, limits);
	table_print(text->out, text->options,
		    &(struct report_table){ ways_columns, ARRAY_SIZE(ways_columns), &ways,
					    (const void *const *)rows, shown });
	text_end(text, shown, ways.rows.rows.len);
	free(rows);
	cube_release(&ways.rows);
}
