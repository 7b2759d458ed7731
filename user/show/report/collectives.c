// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/collectives.h"

#include <string.h>

#include "show/report/words.h"

void report_collectives_release(struct report_collectives *collectives)
{
	vec_release(&collectives->rows);
	rowset_release(&collectives->index);
}

static void widen(struct collective_row *row, const struct fact_collective *fact)
{
	if (fact->bytes < row->least)
		row->least = fact->bytes;
	if (fact->bytes > row->most)
		row->most = fact->bytes;
	if (fact->rounds > row->rounds)
		row->rounds = fact->rounds;
	if (fact->most_sent > row->most_sent)
		row->most_sent = fact->most_sent;
	row->rounds_bound = row->rounds_bound || fact->rounds_bound;
	row->bytes_bound = row->bytes_bound || fact->bytes_bound;
}

static void add_number(struct collective_row *row, const struct fact_collective *fact)
{
	if (row->context != fact->context)
		row->context = -1;
	if (!fact->sequence)
		return;
	if (!row->numbered++ || fact->sequence < row->first_sequence)
		row->first_sequence = fact->sequence;
	if (fact->sequence > row->last_sequence)
		row->last_sequence = fact->sequence;
}

void report_collectives_add(struct report_collectives *collectives,
			    const struct fact_collective *fact)
{
	const struct collective_key key = { word(fact->function), word(fact->comm),
					    word(fact->algorithm), word(fact->reason),
					    fact->ranks };
	const size_t at =
		rowset_add(&collectives->index, ROWSET_ROWS(&collectives->rows, sizeof(key)), &key);
	struct collective_row *row = at == collectives->rows.len ? vec_add(&collectives->rows)
								 : &collectives->rows.data[at];

	if (!row->count++) {
		row->key = key;
		row->least = UINT64_MAX;
		row->context = fact->context;
	}
	row->messages += fact->messages;
	row->bytes += fact->bytes;
	widen(row, fact);
	add_number(row, fact);
}

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int in_order(const void *left, const void *right)
{
	const struct collective_row *a = left, *b = right;
	int order = by_word(a->key.function, b->key.function);

	order = order ? order : (a->key.ranks > b->key.ranks) - (a->key.ranks < b->key.ranks);
	order = order ? order : by_word(a->key.comm, b->key.comm);
	order = order ? order : by_number(a->least, b->least);
	order = order ? order : by_word(a->key.algorithm, b->key.algorithm);
	return order ? order : by_word(a->key.reason, b->key.reason);
}

void report_collectives_finish(struct report_collectives *collectives)
{
	if (collectives->rows.len)
		qsort(collectives->rows.data, collectives->rows.len,
		      sizeof(*collectives->rows.data), in_order);
}
