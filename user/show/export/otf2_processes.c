// SPDX-License-Identifier: BSD-3-Clause
/* Processes are location groups of an archive, and have ranks in its communicators. */
#include <stdlib.h>

#include "show/export/otf2.h"

OTF2_LocationGroupRef otf2_host_group(struct otf2 *otf2, OTF2_StringRef name, int host)
{
	struct otf2_out *out = &otf2->out;
	OTF2_LocationGroupRef group = out->last_group++;

	otf2_check(out, OTF2_GlobalDefWriter_WriteLocationGroup(
				out->defs, group, name, OTF2_LOCATION_GROUP_TYPE_PROCESS,
				(OTF2_SystemTreeNodeRef)(host + 1), OTF2_UNDEFINED_LOCATION_GROUP));
	return group;
}

static void group_number(struct otf2 *otf2, OTF2_LocationGroupRef group, OTF2_StringRef name,
			 uint64_t number)
{
	otf2_check(&otf2->out, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
				       otf2->out.defs, group, name, OTF2_TYPE_UINT64,
				       (OTF2_AttributeValue){ .uint64 = number }));
}

static void group_word(struct otf2 *otf2, OTF2_LocationGroupRef group, const char *name,
		       const char *word)
{
	struct otf2_out *out = &otf2->out;
	OTF2_AttributeValue value = { .stringRef = otf2_word(out, otf2_or_unknown(word)) };

	otf2_check(out, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
				out->defs, group, otf2_word(out, name), OTF2_TYPE_STRING, value));
}

/* "memory: gpu, plain, by cudaMalloc, device 0": all that tells rows of a process apart. */
static const char *memory_text(struct otf2 *otf2, const struct fact_memory *memory)
{
	char device[32] = "", exporter[32] = "";

	if (memory->device >= 0)
		snprintf(device, sizeof(device), ", device %d", memory->device);
	if (memory->exporter >= 0)
		snprintf(exporter, sizeof(exporter), ", of process %d", memory->exporter);
	return otf2_keep(&otf2->out, "memory: %s, %s, by %s%s%s%s%s", otf2_or_unknown(memory->kind),
			 otf2_or_unknown(memory->sort), otf2_or_unknown(memory->function), device,
			 exporter, memory->reason ? ", " : "",
			 memory->reason ? memory->reason : "");
}

static void put_memory(struct otf2 *otf2, OTF2_LocationGroupRef group,
		       const struct fact_memory *memory)
{
	const struct {
		const char *name;
		uint64_t number;
	} sums[] = {
		{ "allocations", memory->allocations },
		{ "bytes", memory->bytes },
		{ "unsized", memory->unsized },
		{ "live_peak", memory->live_peak },
	};

	const char *what = memory_text(otf2, memory);

	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		group_number(otf2, group, otf2_text(&otf2->out, "%s: %s", what, sums[i].name),
			     sums[i].number);
}

/* Processes and location groups have the same numbers. */
static void define_process(struct otf2 *otf2, int index)
{
	const struct fact_process *fact = spans_process(&otf2->spans, index);
	struct otf2_out *out = &otf2->out;
	OTF2_LocationGroupRef group;
	char rank[32] = "";

	if (!fact) {
		otf2_host_group(otf2, otf2_text(out, "process %d, not known", index), -1);
		return;
	}
	if (fact->rank >= 0)
		snprintf(rank, sizeof(rank), "rank %d: ", fact->rank);
	group = otf2_host_group(
		otf2, otf2_text(out, "%s%s, pid %u", rank, otf2_or_unknown(fact->comm), fact->pid),
		fact->host);
	group_number(otf2, group, otf2_word(out, "pid"), fact->pid);
	group_word(otf2, group, "program", fact->exe);
	group_word(otf2, group, "MPI", fact->mpi ? fact->mpi : "none");
	group_word(otf2, group, "seen from", fact->from_start ? "start" : "attach");
	for (size_t i = 0; i < otf2->spans.memory.len; i++)
		if (otf2->spans.memory.data[i].process == index)
			put_memory(otf2, group, &otf2->spans.memory.data[i]);
}

/* MPI's ranks where each process has one of its own from 0 on, else the processes' numbers. */
static void find_ranks(struct otf2 *otf2)
{
	const size_t count = otf2->spans.processes.len;
	bool *taken = calloc(count + 1, sizeof(*taken));
	bool ranked = true;

	if (!taken)
		abort();
	for (size_t i = 0; i < count; i++) {
		const struct fact_process *fact = spans_process(&otf2->spans, (int)i);

		ranked = ranked && fact && fact->rank >= 0 && (size_t)fact->rank < count &&
			 !taken[fact->rank];
		if (ranked)
			taken[fact->rank] = true;
	}
	for (size_t i = 0; i < count; i++)
		vec_push(&otf2->ranks,
			 ranked ? (uint32_t)otf2->spans.processes.data[i].rank : (uint32_t)i);
	free(taken);
}

void otf2_define_processes(struct otf2 *otf2)
{
	for (size_t i = 0; i < otf2->spans.processes.len; i++) {
		define_process(otf2, (int)i);
		vec_push(&otf2->begun, false);
	}
	find_ranks(otf2);
}

OTF2_LocationGroupRef otf2_group(struct otf2 *otf2, int process)
{
	if (process >= 0)
		return (OTF2_LocationGroupRef)process;
	if (!otf2->nobody)
		otf2->nobody =
			otf2_host_group(otf2, otf2_word(&otf2->out, "process not known"), -1) + 1;
	return otf2->nobody - 1;
}
