// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/span_notes.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"

const struct note_info note_infos[NOTES] = {
	[NOTE_FUNCTION] = { "function", "enclosing MPI function; none: outside MPI" },
	[NOTE_COMMUNICATOR] = { "communicator", "MPI_COMM_WORLD, or another" },
	[NOTE_CALL_SITE] = { "call_site", "where the function was called" },
	[NOTE_CALLER] = { "caller", "who called UCP outside MPI: a library, or what the file is" },
	[NOTE_STACK] = { "stack", "its call stack, outermost function first" },
	[NOTE_UCP_OP] = { "ucp_op", "UCP operation that caused it" },
	[NOTE_PROTOCOL] = { "protocol", "UCX's protocol" },
	[NOTE_TRANSPORT] = { "transport", "UCX's transport" },
	[NOTE_DEVICE] = { "device", "UCX's device" },
	[NOTE_LOCALITY] = { "locality", "location of the peer: self, node, remote" },
	[NOTE_KIND] = { "kind",
			"data: payload; control: UCX's own traffic; copy: within a process" },
	[NOTE_DATA_PATH] = { "data_path",
			     "direct, buffered, staged, emulated (by active messages) or control" },
	[NOTE_INITIATOR] = { "initiator", "sender, receiver, origin or target: who started it" },
	[NOTE_SRC_MEM] = { "src_mem", "source memory" },
	[NOTE_DST_MEM] = { "dst_mem", "destination memory" },
	[NOTE_SRC_REASON] = { "src_reason", "why src_mem is unknown" },
	[NOTE_DST_REASON] = { "dst_reason", "why dst_mem is unknown" },
	[NOTE_MEMORY] = { "memory", "memory of its buffer" },
	[NOTE_MEMORY_REASON] = { "memory_reason", "why memory is unknown" },
	[NOTE_UNEXPLAINED] = { "unexplained", "why its operation is unknown" },
	[NOTE_CHAIN] = { "chain", "all memory that the message passed through" },
	[NOTE_VIA] = { "via", "transports between these" },
	[NOTE_CHAIN_REASON] = { "chain_reason", "why chain and via are unknown" },
	[NOTE_PRECISION] = { "precision",
			     "precision of its end: exact, lower_bound, upper_bound, unknown" },
	[NOTE_FETCHES] = { "fetches", "its data moves from peer to process" },
	[NOTE_SEEN] = { "seen",
			"derived: from its operation, its probe was away; none: by its probe" },
	[NOTE_RETRIED] = { "retried", "no resources: nothing was sent" },
	[NOTE_CONTEXT] = { "context", "MPI's number of its communicator" },
	[NOTE_SEQUENCE] = { "sequence", "number among the blocking collectives of that" },
	[NOTE_PEER] = { "peer", "process at the other end" },
	[NOTE_ERROR] = { "error", "absolute value of its ucs_status_t" },
	[NOTE_BYTES] = { "bytes", "payload" },
	[NOTE_BYTES_UNKNOWN] = { "bytes_unknown", "how many are of unknown size" },
	[NOTE_WIRE_BYTES] = { "wire_bytes", "as given to UCT, with UCP's header" },
	[NOTE_OPS] = { "ops", "UCP operations below it" },
	[NOTE_TAG] = { "tag", "UCP's tag" },
	[NOTE_ID] = { "id", "number of the call or operation" },
	[NOTE_CALL] = { "call", "id of the call that made it" },
	[NOTE_CAUSED_BY] = { "caused_by", "id of the operation that caused it" },
	[NOTE_COUNT] = { "count", "how many it stands for" },
	[NOTE_TIME] = { "time", "ns, sum of their times" },
	[NOTE_TIMED] = { "timed", "how many the time is of" },
	[NOTE_RETRIES] = { "retries", "attempts without resources" },
	[NOTE_MESSAGE] = { "message", "number of the message" },
	[NOTE_COPIES] = { "copies", "copies made for it within a process" },
	[NOTE_COPY_BYTES] = { "copy_bytes", "bytes of these copies" },
	[NOTE_ARRIVAL] = { "arrival", "ns, arrival time on the receiver's clock" },
};

#define LAYER(l) (1u << LEVEL_##l)
#define MESSAGE (1u << LEVELS)

/* Strings of a shape; otherwise: the text for a value that is expected but unknown. */
static const struct {
	enum note_column note;
	unsigned int layers;
	size_t offset;
	const char *otherwise;
} words[] = {
#define WORD(f, l, member, o)                                                                      \
	{                                                                                          \
		f, l, offsetof(struct span_shape, member), o                                       \
	}
	WORD(NOTE_FUNCTION, LAYER(UCP) | LAYER(UCT), function, NULL),
	WORD(NOTE_COMMUNICATOR, LAYER(MPI), comm, NULL),
	WORD(NOTE_UCP_OP, LAYER(UCT), ucp_op, NULL),
	WORD(NOTE_CALLER, LAYER(UCP) | LAYER(UCT), caller, NULL),
	WORD(NOTE_PROTOCOL, LAYER(UCP) | LAYER(UCT), protocol, "unknown"),
	WORD(NOTE_TRANSPORT, LAYER(UCT), transport, "unknown"),
	WORD(NOTE_DEVICE, LAYER(UCT), device, "unknown"),
	WORD(NOTE_DATA_PATH, LAYER(UCT), data_path, "unknown"),
	WORD(NOTE_INITIATOR, LAYER(UCT), initiator, "unknown"),
	WORD(NOTE_SRC_MEM, LAYER(UCT), src_mem, "unknown"),
	WORD(NOTE_DST_MEM, LAYER(UCT), dst_mem, "unknown"),
	WORD(NOTE_SRC_REASON, LAYER(UCT), src_reason, NULL),
	WORD(NOTE_DST_REASON, LAYER(UCT), dst_reason, NULL),
	WORD(NOTE_MEMORY, LAYER(UCP), memory, "unknown"),
	WORD(NOTE_MEMORY_REASON, LAYER(UCP), memory_reason, NULL),
	WORD(NOTE_UNEXPLAINED, LAYER(UCT), unexplained, NULL),
	WORD(NOTE_SRC_MEM, MESSAGE, src_mem, NULL),
	WORD(NOTE_DST_MEM, MESSAGE, dst_mem, NULL),
	WORD(NOTE_SRC_REASON, MESSAGE, src_reason, NULL),
	WORD(NOTE_DST_REASON, MESSAGE, dst_reason, NULL),
	WORD(NOTE_CHAIN, MESSAGE, chain, NULL),
	WORD(NOTE_VIA, MESSAGE, via, NULL),
	WORD(NOTE_CHAIN_REASON, MESSAGE, chain_reason, NULL),
#undef WORD
};

struct list {
	struct span_note *values;
	size_t len;
};

static void put_text(struct list *list, enum note_column note, const char *text)
{
	if (text)
		list->values[list->len++] = (struct span_note){ note, text, 0 };
}

static void put_number(struct list *list, enum note_column note, uint64_t number)
{
	list->values[list->len++] = (struct span_note){ note, NULL, number };
}

static void put_some(struct list *list, enum note_column note, uint64_t number)
{
	if (number)
		put_number(list, note, number);
}

/* "main;solve", formatted once per stack. */
static const char *stack_text(struct spans *spans, const struct stack *stack)
{
	bool fresh;
	uint64_t *known = map_insert(&spans->stack_texts, (uintptr_t)stack, 0, &fresh);
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!fresh)
		return (const char *)(uintptr_t)*known;
	out = xmemstream(&text, &size);
	if (stack->end)
		fprintf(out, "[%s]", stack->end);
	for (int i = stack->depth; i-- > 0;)
		fprintf(out, "%s%s", stack->end || i < stack->depth - 1 ? ";" : "",
			stack->frames[i]->frame);
	fclose(out);
	*known = (uintptr_t)text;
	return text;
}

static void put_words(struct list *list, const struct span_shape *shape, unsigned int row)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *word = *(const char *const *)((const char *)shape + words[i].offset);

		if (words[i].layers & row)
			put_text(list, words[i].note, word ? word : words[i].otherwise);
	}
}

size_t notes_of_shape(struct spans *spans, const struct span_shape *shape,
		      struct span_note values[NOTES])
{
	struct list list = { values, 0 };

	if (shape->message) {
		put_text(&list, NOTE_FUNCTION, shape->function);
	} else {
		put_words(&list, shape, 1u << shape->layer);
		put_text(&list, NOTE_PRECISION, fact_precision_names[shape->precision]);
	}
	if (shape->place)
		put_text(&list, NOTE_CALL_SITE, shape->place->label);
	if (shape->stack)
		put_text(&list, NOTE_STACK, stack_text(spans, shape->stack));
	if (shape->layer == LEVEL_UCT) {
		put_text(&list, NOTE_LOCALITY, fact_locality_names[shape->locality]);
		put_text(&list, NOTE_KIND, fact_kind_names[shape->kind]);
	}
	put_text(&list, NOTE_RETRIED, shape->retried ? "yes" : NULL);
	put_text(&list, NOTE_FETCHES, shape->fetches ? "yes" : NULL);
	put_text(&list, NOTE_SEEN, shape->derived ? "derived" : NULL);
	if (shape->peer >= 0)
		put_number(&list, NOTE_PEER, (uint64_t)shape->peer);
	if (shape->context >= 0)
		put_number(&list, NOTE_CONTEXT, (uint64_t)shape->context);
	if (shape->status < 0)
		put_number(&list, NOTE_ERROR, (uint64_t) - (int64_t)shape->status);
	return list.len;
}

static void put_bytes(struct list *list, uint64_t bytes)
{
	if (bytes == UINT64_MAX)
		put_number(list, NOTE_BYTES_UNKNOWN, 1);
	else
		put_number(list, NOTE_BYTES, bytes);
}

static void put_fact(struct list *list, const struct span *span)
{
	static const enum note_column details[LEVELS] = { NOTE_OPS, NOTE_TAG, NOTE_WIRE_BYTES };
	static const enum note_column causes[LEVELS] = { NOTE_CALL, NOTE_CALL, NOTE_CAUSED_BY };
	enum level layer = span_layer(span);

	put_bytes(list, span->bytes);
	put_some(list, details[layer], span->detail);
	put_some(list, NOTE_ID, span->id);
	put_some(list, causes[layer], span->cause);
	if (layer == LEVEL_MPI)
		put_some(list, NOTE_SEQUENCE, span->number);
	if (span->count == 1)
		return;
	put_number(list, NOTE_COUNT, span->count);
	put_some(list, NOTE_TIME, span->time);
}

static void put_sums(struct list *list, const struct fact_sums *sums)
{
	put_number(list, NOTE_COUNT, sums->count);
	put_number(list, NOTE_BYTES, sums->bytes);
	put_some(list, NOTE_BYTES_UNKNOWN, sums->bytes_unknown);
	put_some(list, NOTE_WIRE_BYTES, sums->wire_bytes);
	put_some(list, NOTE_OPS, sums->ops);
	put_some(list, NOTE_RETRIES, sums->retries);
	put_some(list, NOTE_TIMED, sums->timed);
	put_some(list, NOTE_TIME, sums->time);
}

static void put_message(struct list *list, const struct spans *spans, const struct span *span)
{
	put_words(list, spans_shape(spans, span), MESSAGE);
	put_number(list, NOTE_MESSAGE, span->cause);
	put_some(list, NOTE_ARRIVAL, span->time);
	put_some(list, NOTE_COPIES, span->count);
	put_some(list, NOTE_COPY_BYTES, span->end);
}

size_t notes_of_span(const struct spans *spans, const struct span *span,
		     struct span_note values[NOTES])
{
	struct list list = { values, 0 };

	switch ((enum span_what)span->what) {
	case SPAN_SEND:
	case SPAN_RECEIVE:
		put_message(&list, spans, span);
		put_bytes(&list, span->bytes);
		put_some(&list, NOTE_TAG, span->detail);
		break;
	case SPAN_FACT:
		put_fact(&list, span);
		break;
	case SPAN_SUMS:
		put_sums(&list, spans_sums(spans, span));
		break;
	}
	return list.len;
}

size_t notes_of_message(const struct spans *spans, const struct span *end,
			struct span_note values[NOTES])
{
	struct list list = { values, 0 };

	put_message(&list, spans, end);
	return list.len;
}
