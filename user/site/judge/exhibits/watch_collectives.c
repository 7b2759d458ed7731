// SPDX-License-Identifier: BSD-3-Clause
/* Of which memory the operations of a collective call are. */
#include <stdlib.h>
#include <string.h>

#include "site/judge/exhibits/cells.h"
#include "site/judge/exhibits/watch.h"

static const char *const collectives[] = {
	"Allreduce", "Reduce", "Bcast", "Alltoall", "Allgather", "Gather", "Scatter", "Scan",
};

static bool is_collective(const char *function)
{
	for (size_t i = 0; function && i < sizeof(collectives) / sizeof(*collectives); i++)
		if (strcasestr(function, collectives[i]))
			return true;
	return false;
}

static void end_call(struct watch *watch, struct watched_call *call)
{
	const char *memory = call->gpu && call->host ? "both" : call->gpu ? "gpu" : "host";

	if (call->gpu || call->host)
		sums_add(watch->sums, &(struct sum){
					      .kind = SUM_COLLECTIVE,
					      .process = call->process,
					      .peer = -1,
					      .words = { call->function, memory },
					      .count = 1,
					      .bytes = call->gpu + call->host,
					      .extra = call->host,
				      });
	*call = (struct watched_call){ 0 };
}

void watch_collective(struct watch *watch, const struct fact_op *op)
{
	struct watched_call *call;

	if (!op->call || !is_collective(op->function) || !op->memory || op->bytes == UINT64_MAX)
		return;
	if (!watch->calls)
		watch->calls = calloc(WATCH_ROOM, sizeof(*watch->calls));
	call = &watch->calls[op->call % WATCH_ROOM];
	if (call->id != op->call)
		end_call(watch, call);
	call->id = op->call;
	call->process = op->process;
	call->function = op->function;
	if (is_gpu(op->memory))
		call->gpu += op->bytes;
	else if (strcmp(op->memory, "managed"))
		call->host += op->bytes;
}

void watch_collectives_end(struct watch *watch)
{
	for (size_t i = 0; watch->calls && i < WATCH_ROOM; i++)
		end_call(watch, &watch->calls[i]);
}
