// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/sieve.h"

#include <string.h>

enum word { WORD_SITE = 1, WORD_FUNCTION, WORD_OBJECT, WORD_BUFFER };

void sieve_begin(struct sieve *sieve, uint64_t generation, bool buffers)
{
	if (sieve->generation != generation)
		memset(sieve->slots, 0, sizeof(sieve->slots));
	sieve->generation = generation;
	sieve->buffers = buffers;
	sieve->pass++;
}

static bool is_new(struct sieve *sieve, const struct ub_hdr *h, enum word word, uint64_t what)
{
	uint64_t who = h->tgid | (uint64_t)word << 32;
	struct sieve_slot *slot;

	if (!what)
		return false;
	if (word == WORD_BUFFER)
		who |= (uint64_t)sieve->pass << 40;
	slot = &sieve->slots[(what ^ who * 0x9e3779b97f4a7c15ull) * 0x9e3779b97f4a7c15ull >>
			     (64 - __builtin_ctz(SIEVE_SLOTS))];
	if (slot->who == who && slot->what == what)
		return false;
	*slot = (struct sieve_slot){ who, what };
	return true;
}

static bool op_is_new(struct sieve *sieve, const struct ub_op *op)
{
	bool function = op->h.layout && is_new(sieve, &op->h, WORD_FUNCTION, op->cb);
	bool object = op->h.layout && is_new(sieve, &op->h, WORD_OBJECT, op->obj);
	bool buffer = sieve->buffers && is_new(sieve, &op->h, WORD_BUFFER, op->buffer);

	return function || object || buffer;
}

static bool xfer_is_new(struct sieve *sieve, const struct ub_xfer *xfer)
{
	const struct ub_hdr *h = &xfer->h;
	bool function = h->layout && xfer->req && is_new(sieve, h, WORD_FUNCTION, xfer->comp_func);
	bool object = h->layout && is_new(sieve, h, WORD_OBJECT, xfer->iface);
	bool buffer = sieve->buffers && is_new(sieve, h, WORD_BUFFER, xfer->laddr);

	return function || object || buffer;
}

bool sieve_passes(struct sieve *sieve, const struct ub_hdr *record)
{
	switch (record->kind) {
	case UB_CALL:
		return is_new(sieve, record, WORD_SITE, ((const struct ub_call *)record)->ret_addr);
	case UB_OP:
		return op_is_new(sieve, (const struct ub_op *)record);
	case UB_XFER:
		return xfer_is_new(sieve, (const struct ub_xfer *)record);
	case UB_OBJ:
	case UB_TASK:
	case UB_STACK:
		return true;
	default:
		return false;
	}
}
