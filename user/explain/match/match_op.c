// SPDX-License-Identifier: BSD-3-Clause
/* The notes of matching on an operation, apart from those of attribution. */
#include "explain/match/internal.h"

#include <string.h>

#include "base/alloc.h"

struct match_op *match_op_of(struct matcher *matcher, struct op *op)
{
	struct match_op *match = op->match;

	if (match)
		return match;
	if ((match = matcher->free_ops))
		matcher->free_ops = match->next;
	else
		match = xmalloc(sizeof(*match));
	memset(match, 0, sizeof(*match));
	match->bytes = UINT64_MAX;
	op->match = match;
	return match;
}

void matcher_op_over(struct matcher *matcher, struct op *op)
{
	struct match_op *match = op->match;

	offer_forget(match);
	way_drop(match->way);
	match->next = matcher->free_ops;
	matcher->free_ops = match;
	op->match = NULL;
}

void match_ops_release(struct matcher *matcher)
{
	while (matcher->free_ops) {
		struct match_op *match = matcher->free_ops;

		matcher->free_ops = match->next;
		free(match);
	}
}

struct way *matched_way(const struct op *op)
{
	return op && op->match ? op->match->way : NULL;
}

const struct other_end *matched_other(const struct op *op)
{
	return op && op->match && op->match->other.bytes ? &op->match->other : NULL;
}

struct process *matched_peer(const struct op *op)
{
	return op->match ? op->match->peer : NULL;
}

const char *matched_protocol(const struct op *op)
{
	return !op->protocol && op->match ? op->match->protocol : op->protocol;
}

uint64_t matched_tag(const struct op *op)
{
	return op->match && op->match->tagged ? op->match->tag : op->tag;
}

uint64_t matched_bytes(const struct op *op)
{
	return op->bytes == UINT64_MAX && op->match ? op->match->bytes : op->bytes;
}

struct moment matched_end(const struct op *op)
{
	bool own = op->end.precision == PRECISION_EXACT || !op->match ||
		   op->match->end.precision == PRECISION_UNKNOWN;

	return own ? op->end : op->match->end;
}
