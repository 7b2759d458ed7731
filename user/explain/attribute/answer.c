// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rendezvous control messages go out with nothing but the peer's request id (am_short of
 * UCX 1.13.1, src/ucp/rndv/rndv.c): an ATS or RTR answers an RTS, an ATP answers an RTR.
 */
#include "explain/attribute/internal.h"

void answer_learn(struct attribute *attribute, const struct process *process, uint64_t id,
		  struct op *op, uint64_t ep)
{
	bool fresh;
	uint64_t *slot = map_insert(&attribute->answers, id, process->id, &fresh);
	struct answer *answer;

	if (fresh) {
		answer = calloc(1, sizeof(*answer));
		if (!answer)
			abort();
		*slot = (uintptr_t)answer;
		vec_push(&owned_by(attribute, process)->answers, answer);
	}
	answer = (struct answer *)(uintptr_t)*slot;
	if (op)
		op_hold(op);
	op_drop(attribute, answer->op);
	*answer = (struct answer){ id, op, ep };
}

const struct answer *answer_to(const struct attribute *attribute, const struct process *process,
			       uint64_t id)
{
	uint64_t *slot = map_find(&attribute->answers, id, process->id);

	return slot ? (const struct answer *)(uintptr_t)*slot : NULL;
}

const struct answer *answer_find(const struct attribute *attribute, const struct event *event)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;

	if (event->site->verb != VERB_AM || !(xfer->h.flags & UB_F_WIRE) ||
	    (xfer->am_id != AM_ATS && xfer->am_id != AM_RTR && xfer->am_id != AM_ATP))
		return NULL;
	return answer_to(attribute, event->process, xfer->w[0]);
}

static void cut(struct attribute *attribute, const struct process *process)
{
	struct owned *owned = owned_by(attribute, process);

	for (size_t i = 0; i < owned->answers.len; i++) {
		struct answer *answer = owned->answers.data[i];

		map_remove(&attribute->answers, answer->id, process->id);
		op_drop(attribute, answer->op);
		free(answer);
	}
	owned->answers.len = 0;
}

void answers_cut(struct attribute *attribute)
{
	for (size_t i = 0; i < attribute->decoder->ending.len; i++)
		cut(attribute, attribute->decoder->ending.data[i]);
}
