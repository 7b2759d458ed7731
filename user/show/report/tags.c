// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/tags.h"

#include <stdlib.h>

#include "show/report/words.h"

void report_tags_release(struct report_tags *tags)
{
	vec_release(&tags->rows);
	vec_release(&tags->senders);
	rowset_release(&tags->index);
	rowset_release(&tags->sender_index);
	map_release(&tags->seen);
}

enum of_row { SENDERS, NUMBERS };

/* Whether a row has this sender or number for the first time. */
static bool is_fresh(struct report_tags *tags, size_t row, enum of_row what, int value)
{
	bool fresh;

	if (value < 0)
		return false;
	map_insert(&tags->seen, row * 2 + what, (uint64_t)value, &fresh);
	return fresh;
}

static void add_sender(struct report_tags *tags, const struct fact_message *message)
{
	const struct tag_sender key = { word(message->library), word(message->team),
					message->sender, message->src, 0 };
	const size_t size = offsetof(struct tag_sender, messages);
	const size_t at = rowset_add(&tags->sender_index, ROWSET_ROWS(&tags->senders, size), &key);

	if (at == tags->senders.len)
		vec_push(&tags->senders, key);
	tags->senders.data[at].messages++;
}

void report_tags_add(struct report_tags *tags, const struct fact_message *message)
{
	const struct tag_key key = { word(message->library), word(message->kind),
				     word(message->team) };
	struct tag_row *row;
	size_t at;

	if (!message->library)
		return;
	at = rowset_add(&tags->index, ROWSET_ROWS(&tags->rows, sizeof(key)), &key);
	row = at == tags->rows.len ? vec_add(&tags->rows) : &tags->rows.data[at];
	row->key = key;
	row->messages++;
	row->bytes += message->bytes == UINT64_MAX ? 0 : message->bytes;
	row->senders += is_fresh(tags, at, SENDERS, message->sender);
	row->numbers += is_fresh(tags, at, NUMBERS, message->number);
	if (message->sender >= 0)
		add_sender(tags, message);
}

static int by_key(const void *left, const void *right)
{
	const struct tag_row *a = left, *b = right;
	int order = by_word(a->key.library, b->key.library);

	order = order ? order : by_word(a->key.team, b->key.team);
	return order ? order : by_word(a->key.kind, b->key.kind);
}

static int by_sender(const void *left, const void *right)
{
	const struct tag_sender *a = left, *b = right;
	int order = by_word(a->library, b->library);

	order = order ? order : by_word(a->team, b->team);
	order = order ? order : (a->sender > b->sender) - (a->sender < b->sender);
	return order ? order : (a->process > b->process) - (a->process < b->process);
}

void report_tags_finish(struct report_tags *tags)
{
	if (tags->rows.len)
		qsort(tags->rows.data, tags->rows.len, sizeof(*tags->rows.data), by_key);
	if (tags->senders.len)
		qsort(tags->senders.data, tags->senders.len, sizeof(*tags->senders.data),
		      by_sender);
}
