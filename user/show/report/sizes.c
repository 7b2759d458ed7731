// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/sizes.h"

#include <stdlib.h>

#include "show/report/words.h"

void report_sizes_release(struct report_sizes *sizes)
{
	vec_release(&sizes->protocols);
	rowset_release(&sizes->index);
}

static int class_of(uint64_t bytes)
{
	return bytes ? 64 - __builtin_clzll(bytes) : 0;
}

uint64_t size_class_from(int number)
{
	return number ? 1ull << (number - 1) : 0;
}

void report_sizes_message(struct report_sizes *sizes, const struct fact_message *message)
{
	struct size_class *class;

	if (message->bytes == UINT64_MAX)
		return;
	class = &sizes->classes[class_of(message->bytes)];
	class->messages++;
	class->bytes += message->bytes;
	if (!message->arrival || !message->recv_start)
		return;
	class->known++;
	if (message->arrival >= message->recv_start)
		return;
	class->unexpected++;
	class->unexpected_bytes += message->bytes;
}

void report_sizes_op(struct report_sizes *sizes, const struct fact_op *op,
		     enum fact_locality locality)
{
	const struct protocol_key key = { word(op->op), word(op->function), word(op->memory),
					  word(op->protocol), locality };
	struct protocol_sizes *row;
	size_t at;

	if (!op->sends || !op->protocol || op->bytes == UINT64_MAX)
		return;
	at = rowset_add(&sizes->index, ROWSET_ROWS(&sizes->protocols, sizeof(key)), &key);
	if (at == sizes->protocols.len) {
		row = vec_add(&sizes->protocols);
		row->key = key;
		row->least = row->most = op->bytes;
	}
	row = &sizes->protocols.data[at];
	row->count++;
	row->bytes += op->bytes;
	row->least = op->bytes < row->least ? op->bytes : row->least;
	row->most = op->bytes > row->most ? op->bytes : row->most;
}

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_key(const void *left, const void *right)
{
	const struct protocol_sizes *a = left, *b = right;
	int order = by_word(a->key.function, b->key.function);

	order = order ? order : by_word(a->key.op, b->key.op);
	order = order ? order : by_number(a->key.locality, b->key.locality);
	order = order ? order : by_word(a->key.memory, b->key.memory);
	order = order ? order : by_number(a->least, b->least);
	order = order ? order : by_number(a->most, b->most);
	return order ? order : by_word(a->key.protocol, b->key.protocol);
}

void report_sizes_finish(struct report_sizes *sizes)
{
	if (sizes->protocols.len)
		qsort(sizes->protocols.data, sizes->protocols.len, sizeof(*sizes->protocols.data),
		      by_key);
}
