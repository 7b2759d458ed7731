// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/text.h"
#include "base/units.h"

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
	const struct text *text;
	struct cube rows; /* data transfers */
	struct cube messages; /* matched messages */
	struct text_carried carried; /* data transfers by transport */
	struct text_carried memory; /* messages by the memory of both ends */
};

static const struct cube_sums *sums(const void *row)
{
	return &((const struct cube_row *)row)->sums;
}

static const struct cube_sums *messages(const void *row, const struct pairs *pairs)
{
	static const struct cube_sums none;
	const struct cube_row *found =
		cube_find(&pairs->messages, ((const struct cube_row *)row)->key);

	return found ? &found->sums : &none;
}

static bool exact(const void *context)
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

static void print_messages(char *cell, size_t size, const void *row, const void *context)
{
	const struct pairs *pairs = context;

	if (report_only_counts(pairs->text->report))
		snprintf(cell, size, "unknown");
	else
		unit_count(cell, size, messages(row, context)->count, exact(context));
}

static void print_message_bytes(char *cell, size_t size, const void *row, const void *context)
{
	const struct pairs *pairs = context;

	if (report_only_counts(pairs->text->report))
		snprintf(cell, size, "unknown");
	else
		unit_bytes(cell, size, messages(row, context)->bytes, exact(context));
}

static void print_transfers(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, sums(row)->count, exact(context));
}

static void print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, sums(row)->bytes, exact(context));
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

/* The last one only where there is more than one kind of memory. */
static const struct table_column columns[] = {
	{ "PAIRS (rank)", true, 12, 0, print_pair },
	{ "messages", false, 0, 0, print_messages },
	{ "of bytes", false, 0, 2, print_message_bytes },
	{ "data transfers", false, 0, 1, print_transfers },
	{ "bytes", false, 0, 0, print_bytes },
	{ "by transport", true, 12, 0, print_transports },
	{ "by memory", true, 12, 0, print_memory },
};

/* Who starts a transfer is not who sends: a get moves data from the peer to the process. */
static void collect(struct pairs *pairs, const struct cube_row *row)
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

void text_pairs(const struct text *text)
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
		collect(&pairs, &transfers->rows.data[i]);
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
			    &(struct table){ columns, report_knows_memory(text->report) ? 7 : 6,
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
