// SPDX-License-Identifier: BSD-3-Clause
/* Operations that never ended: which call waits for them. */
#include <string.h>

#include "site/judge/exhibits/watch.h"

/* It comes back only when what it is about is done. */
static bool blocks(const char *function)
{
	return function && strncmp(function, "MPI_I", 5) && strncmp(function, "MPI_Test", 8) &&
	       strncmp(function, "MPI_Start", 9) && !strstr(function, "_init");
}

/*
 * The call that an operation without an end keeps: its own, if nothing came behind it, or one that
 * waits for what was begun before. NULL: none, as far as was seen.
 */
static const char *kept_call(const struct watch *watch, const struct fact_op *op)
{
	const uint64_t *at = map_find(&watch->last_calls, (uint32_t)op->process, op->tid);
	const struct last_call *last = at ? &watch->threads.data[*at - 1] : NULL;

	if (!last || !last->function)
		return NULL;
	if (last->id == op->call)
		return blocks(last->function) ? last->function : NULL;
	return last->start > op->start && !strncmp(last->function, "MPI_Wait", 8) ? last->function
										  : NULL;
}

static void end_open(struct watch *watch, const struct fact_op *op)
{
	const struct life *life = watch_life(watch, op->process);
	const char *call = kept_call(watch, op);

	if (!life || !call || life->until <= life->last)
		return;
	sums_add(watch->sums, &(struct sum){
				      .kind = SUM_OPEN,
				      .process = op->process,
				      .peer = op->peer,
				      .words = { op->op, call },
				      .count = 1,
				      .bytes = op->bytes == UINT64_MAX ? 0 : op->bytes,
				      .least = life->until - life->last,
				      .most = life->until - op->start,
			      });
}

void watch_open_end(struct watch *watch)
{
	for (size_t i = 0; !watch->windows && i < watch->open.len; i++)
		end_open(watch, &watch->open.data[i]);
}
