// SPDX-License-Identifier: BSD-3-Clause
/* MPI's collective operations, where it is certain which calls belong together. */
#include <stdlib.h>

#include "show/export/worlds.h"
#include "show/export/otf2_lanes.h"
#include "show/export/span_notes.h"

/* With calls missing, the n-th of one rank is not the n-th of another. */
static const char *why_none(const struct otf2 *otf2, const struct fact_totals *totals)
{
	const struct filter *filter = otf2->target->request->filter;

	if (filter && filter_active(filter))
		return "a filter is set: calls may be left out";
	if (otf2->spans.windows.len)
		return "captured in windows: calls are missing";
	if (totals->calls_missing)
		return "records were lost";
	if (totals->captures > otf2->spans.hosts.len)
		return "several captures of a host: calls between them may be missing";
	return NULL;
}

int otf2_settle_worlds(struct otf2 *otf2, const struct fact_totals *totals)
{
	return worlds_settle(&otf2->worlds, otf2->spans.processes.data, otf2->spans.processes.len,
			     why_none(otf2, totals));
}

static void count_reason(struct otf2 *otf2, const char *reason)
{
	for (size_t i = 0; i < otf2->not_collective.len; i++)
		if (otf2->not_collective.data[i].reason == reason) {
			otf2->not_collective.data[i].count++;
			return;
		}
	vec_push(&otf2->not_collective, ((struct fact_reason){ reason, 1 }));
}

void otf2_collective_begin(struct writer *writer, struct lane *lane, const struct span *span)
{
	struct otf2 *otf2 = writer->otf2;
	const struct span_shape *shape = spans_shape(&otf2->spans, span);
	const struct collective *row;
	const char *reason;
	const struct world *world = worlds_of(&otf2->worlds, writer->process, shape->name,
					      shape->comm, span->start, &row, &reason);

	if (reason)
		count_reason(otf2, reason);
	if (!world)
		return;
	lane->collective = row;
	lane->comm = COMM_WORLDS + (OTF2_CommRef)(world - otf2->worlds.worlds.data);
	lane->events++;
	otf2->collectives++;
	otf2_check(&otf2->out, OTF2_EvtWriter_MpiCollectiveBegin(lane->writer, NULL,
								 otf2_time(writer, span->start)));
}

/* How much was given to the operation is in arguments that no record has. */
void otf2_collective_end(struct writer *writer, struct lane *lane)
{
	struct otf2_out *out = &writer->otf2->out;

	if (lane->collective->moves)
		otf2_check(out,
			   OTF2_AttributeList_AddUint64(out->attributes, NOTE_BYTES_UNKNOWN, 1));
	otf2_check(out, OTF2_EvtWriter_MpiCollectiveEnd(lane->writer, out->attributes, lane->leave,
							lane->collective->op, lane->comm,
							OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
	lane->collective = NULL;
	lane->events++;
}

static void define_world(struct otf2 *otf2, uint32_t number)
{
	struct otf2_out *out = &otf2->out;
	const struct world *world = &otf2->worlds.worlds.data[number];
	uint64_t *members = calloc(world->ranks.len + 1, sizeof(*members));
	const OTF2_StringRef name = world->job
					    ? otf2_text(out, "MPI_COMM_WORLD of job %s", world->job)
					    : otf2_word(out, "MPI_COMM_WORLD");

	if (!members)
		abort();
	for (size_t i = 0; i < world->ranks.len; i++)
		members[i] = otf2->ranks.data[world->ranks.data[i]];
	otf2_check(out, OTF2_GlobalDefWriter_WriteGroup(out->defs, GROUP_WORLDS + number, name,
							OTF2_GROUP_TYPE_COMM_GROUP,
							OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
							(uint32_t)world->ranks.len, members));
	free(members);
	otf2_check(out, OTF2_GlobalDefWriter_WriteComm(out->defs, COMM_WORLDS + number, name,
						       GROUP_WORLDS + number, OTF2_UNDEFINED_COMM,
						       OTF2_COMM_FLAG_NONE));
}

void otf2_define_worlds(struct otf2 *otf2)
{
	for (uint32_t i = 0; i < otf2->worlds.worlds.len; i++)
		if (!otf2->worlds.reason && !otf2->worlds.worlds.data[i].reason)
			define_world(otf2, i);
	otf2_define_number(otf2, "collectives", "told", otf2->collectives);
	for (size_t i = 0; i < otf2->not_collective.len; i++)
		otf2_define_number(otf2, "collectives", otf2->not_collective.data[i].reason,
				   otf2->not_collective.data[i].count);
}
