// SPDX-License-Identifier: BSD-3-Clause
/* What is defined beside events: the clock, attributes, locations, communicators. */
#include <stdlib.h>

#include "show/export/otf2.h"
#include "show/export/span_notes.h"

#define NS_PER_S 1000000000u

static void define_attributes(struct otf2 *otf2)
{
	struct otf2_out *out = &otf2->out;

	for (int i = 0; i < NOTES; i++)
		otf2_check(out, OTF2_GlobalDefWriter_WriteAttribute(
					out->defs, (OTF2_AttributeRef)i,
					otf2_word(out, note_infos[i].name),
					otf2_word(out, note_infos[i].what),
					i < NOTE_TEXTS ? OTF2_TYPE_STRING : OTF2_TYPE_UINT64));
}

void otf2_define(struct otf2 *otf2, const struct fact_totals *totals)
{
	struct otf2_out *out = &otf2->out;
	const struct placing *placing = &otf2->placing;

	otf2_check(out, OTF2_GlobalDefWriter_WriteClockProperties(
				out->defs, NS_PER_S, placing->begin, placing->end - placing->begin,
				placing->begin));
	otf2_define_hosts(otf2, totals);
	otf2_define_processes(otf2);
	define_attributes(otf2);
}

void otf2_define_location(struct otf2 *otf2, OTF2_LocationRef id, OTF2_StringRef name,
			  OTF2_LocationGroupRef group, uint64_t events)
{
	struct otf2_out *out = &otf2->out;

	otf2_check(out, OTF2_GlobalDefWriter_WriteLocation(
				out->defs, id, name, OTF2_LOCATION_TYPE_CPU_THREAD, events, group));
	vec_push(&out->locations, id);
}

/* Readers look for such a file of each location. */
static void write_local_definitions(struct otf2_out *out)
{
	otf2_check(out, OTF2_Archive_OpenDefFiles(out->archive));
	for (size_t i = 0; i < out->locations.len; i++) {
		OTF2_DefWriter *writer =
			OTF2_Archive_GetDefWriter(out->archive, out->locations.data[i]);

		if (writer)
			otf2_check(out, OTF2_Archive_CloseDefWriter(out->archive, writer));
	}
	otf2_check(out, OTF2_Archive_CloseDefFiles(out->archive));
}

static void define_comms(struct otf2 *otf2)
{
	struct otf2_out *out = &otf2->out;
	const uint32_t count = (uint32_t)otf2->ranks.len;
	uint64_t *members = calloc(count + 1, sizeof(*members));
	const OTF2_StringRef name = otf2_word(out, "all traced processes");

	if (!members)
		abort();
	/* the first location of each process has the process's number */
	for (uint32_t i = 0; i < count; i++)
		members[otf2->ranks.data[i]] = i;
	otf2_check(out, OTF2_GlobalDefWriter_WriteGroup(
				out->defs, GROUP_LOCATIONS, name, OTF2_GROUP_TYPE_COMM_LOCATIONS,
				OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, members));
	for (uint32_t i = 0; i < count; i++)
		members[i] = i;
	otf2_check(out, OTF2_GlobalDefWriter_WriteGroup(
				out->defs, GROUP_MEMBERS, name, OTF2_GROUP_TYPE_COMM_GROUP,
				OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, members));
	free(members);
	otf2_check(out, OTF2_GlobalDefWriter_WriteComm(
				out->defs, COMM_MPI,
				otf2_word(out, "all traced processes: messages of MPI"),
				GROUP_MEMBERS, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
	otf2_check(out, OTF2_GlobalDefWriter_WriteComm(
				out->defs, COMM_OUTSIDE,
				otf2_word(out, "all traced processes: messages of UCP outside MPI"),
				GROUP_MEMBERS, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
}

void otf2_define_rest(struct otf2 *otf2)
{
	otf2_check(&otf2->out, OTF2_Archive_CloseEvtFiles(otf2->out.archive));
	write_local_definitions(&otf2->out);
	define_comms(otf2);
	otf2_define_worlds(otf2);
}
