// SPDX-License-Identifier: BSD-3-Clause
/*
 * An OTF2 archive: defines the clock, hosts with their GPUs, processes, attributes, locations and
 * communicators around the events.
 */
#include "show/export/otf2.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "show/export/export.h"
#include "show/export/span_notes.h"
#include "show/export/totals.h"

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

/*
 * "memory: gpu, plain, by cudaMalloc, device 0": everything that distinguishes rows of a process.
 */
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

	for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
		group_number(otf2, group, otf2_text(&otf2->out, "%s: %s", what, sums[i].name),
			     sums[i].number);
}

/* The number of the location group is its position in the order of ranks. */
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
	group_number(otf2, group, otf2_word(out, "id"), (uint64_t)index);
	group_number(otf2, group, otf2_word(out, "pid"), fact->pid);
	group_word(otf2, group, "program", fact->exe);
	group_word(otf2, group, "MPI", fact_mpi_word(fact));
	group_word(otf2, group, "seen from", fact->from_start ? "start" : "attach");
	for (size_t i = 0; i < otf2->spans.memory.len; i++)
		if (otf2->spans.memory.data[i].process == index)
			put_memory(otf2, group, &otf2->spans.memory.data[i]);
}

static void otf2_define_processes(struct otf2 *otf2)
{
	for (size_t i = 0; i < otf2->spans.processes.len; i++) {
		define_process(otf2, otf2->placing.process_order.data[i]);
		vec_push(&otf2->begun, false);
	}
}

#define MACHINE 0u /* the root */

static OTF2_SystemTreeNodeRef node_of(const struct otf2 *otf2, int host)
{
	return otf2->placing.host_turns.data[host] + 1;
}

static void define_node(struct otf2 *otf2, OTF2_SystemTreeNodeRef self, const char *name,
			const char *class, OTF2_SystemTreeNodeRef parent,
			OTF2_SystemTreeDomain domain)
{
	struct otf2_out *out = &otf2->out;

	otf2_check(out,
		   OTF2_GlobalDefWriter_WriteSystemTreeNode(out->defs, self, otf2_word(out, name),
							    otf2_word(out, class), parent));
	otf2_check(out, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(out->defs, self, domain));
}

static void node_property(struct otf2 *otf2, OTF2_SystemTreeNodeRef node, OTF2_StringRef name,
			  OTF2_Type type, OTF2_AttributeValue value)
{
	otf2_check(&otf2->out, OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(
				       otf2->out.defs, node, name, type, value));
}

/* A number about all hosts: "loss: stored". Written before or after the events. */
static void otf2_define_number(struct otf2 *otf2, const char *topic, const char *what,
			       uint64_t number)
{
	node_property(otf2, MACHINE, otf2_text(&otf2->out, "%s: %s", topic, what), OTF2_TYPE_UINT64,
		      (OTF2_AttributeValue){ .uint64 = number });
}

static void put_unknown(void *arg, const char *topic, const char *what, uint64_t number)
{
	otf2_define_number(arg, topic, what, number);
}

static void put_heading(struct otf2 *otf2, const struct fact_totals *totals)
{
	const char *heading = unknowns_heading(totals, otf2->spans.facts);

	node_property(otf2, MACHINE, otf2_word(&otf2->out, "ucxbpf"), OTF2_TYPE_STRING,
		      (OTF2_AttributeValue){ .stringRef = otf2_word(&otf2->out, heading) });
}

/* The offset added to the times of a host, its source, and how far it may be off. */
static void put_offset(struct otf2 *otf2, OTF2_SystemTreeNodeRef node,
		       const struct placing_host *host)
{
	struct otf2_out *out = &otf2->out;
	const char *from = host->made_up  ? "not known: placed at the beginning"
			   : host->fitted ? "fitted to messages with other hosts"
					  : "what its CLOCK_REALTIME showed";

	node_property(otf2, node, otf2_word(out, "clock offset"), OTF2_TYPE_INT64,
		      (OTF2_AttributeValue){ .int64 = host->to_real });
	node_property(otf2, node, otf2_word(out, "clock offset is"), OTF2_TYPE_STRING,
		      (OTF2_AttributeValue){ .stringRef = otf2_word(out, from) });
	if (&otf2->placing.hosts.data[host->reference] == host)
		return;
	node_property(otf2, node, otf2_word(out, "clock reference"), OTF2_TYPE_UINT64,
		      (OTF2_AttributeValue){ .uint64 = (uint64_t)host->reference });
	node_property(otf2, node, otf2_word(out, "clock uncertainty"), OTF2_TYPE_UINT64,
		      (OTF2_AttributeValue){ .uint64 = host->uncertainty });
}

static void define_host(struct otf2 *otf2, int index)
{
	OTF2_SystemTreeNodeRef node = node_of(otf2, index);

	define_node(otf2, node, otf2_or_unknown(otf2->spans.hosts.data[index].name), "node",
		    MACHINE, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
	node_property(otf2, node, otf2_word(&otf2->out, "id"), OTF2_TYPE_UINT64,
		      (OTF2_AttributeValue){ .uint64 = (uint64_t)index });
	put_offset(otf2, node, &otf2->placing.hosts.data[index]);
}

static void gpu_property(struct otf2 *otf2, const struct fact_device *device, const char *gpu,
			 const char *what, const char *word)
{
	struct otf2_out *out = &otf2->out;
	OTF2_StringRef value = otf2_text(out, "%s", otf2_or_unknown(word));

	node_property(otf2, node_of(otf2, device->host), otf2_text(out, "%s: %s", gpu, what),
		      OTF2_TYPE_STRING, (OTF2_AttributeValue){ .stringRef = value });
}

static void define_gpu(struct otf2 *otf2, const struct fact_device *device)
{
	struct gpu_text text = gpu_text(device);
	char node[16];

	snprintf(node, sizeof(node), "%d", device->numa_node);
	gpu_property(otf2, device, text.name, "pci", device->pci);
	gpu_property(otf2, device, text.name, "uuid", device->uuid);
	gpu_property(otf2, device, text.name, "model", device->model);
	gpu_property(otf2, device, text.name, "used by", text.users);
	gpu_property(otf2, device, text.name, "numa node", device->numa_node < 0 ? NULL : node);
	free(text.name);
	free(text.users);
}

/* Also the reasons why some calls are not collective operations. */
static void otf2_define_hosts(struct otf2 *otf2, const struct fact_totals *totals)
{
	define_node(otf2, MACHINE, "all hosts", "machine", OTF2_UNDEFINED_SYSTEM_TREE_NODE,
		    OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
	put_heading(otf2, totals);
	unknowns_each(totals, put_unknown, otf2);
	for (size_t i = 0; i < otf2->spans.hosts.len; i++)
		define_host(otf2, otf2->placing.host_order.data[i]);
	for (int i = 0; i < totals->device_count; i++)
		if ((size_t)totals->devices[i].host < otf2->spans.hosts.len)
			define_gpu(otf2, &totals->devices[i]);
}

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

/* Before the first event: the clock, hosts, processes, attributes. */
static void otf2_define(struct otf2 *otf2, const struct fact_totals *totals)
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

/* Readers expect such a file for each location. */
static void write_local_definitions(struct otf2_out *out)
{
	otf2_check(out, OTF2_Archive_OpenDefFiles(out->archive));
	for (size_t i = 0; i < out->locations.len; i++) {
		OTF2_DefWriter *writer =
			OTF2_Archive_GetDefWriter(out->archive, out->locations.data[i].id);

		if (writer)
			otf2_check(out, OTF2_Archive_CloseDefWriter(out->archive, writer));
	}
	otf2_check(out, OTF2_Archive_CloseDefFiles(out->archive));
}

static void define_comms(struct otf2 *otf2)
{
	struct otf2_out *out = &otf2->out;
	const uint32_t count = (uint32_t)otf2->spans.processes.len;
	uint64_t *members = xcalloc(count + 1, sizeof(*members));
	const OTF2_StringRef name = otf2_word(out, "all traced processes");

	/* the first locations of processes have the numbers of their groups, which are ranks here
	 */
	for (uint32_t i = 0; i < count; i++)
		members[i] = i;
	otf2_check(out, OTF2_GlobalDefWriter_WriteGroup(
				out->defs, GROUP_LOCATIONS, name, OTF2_GROUP_TYPE_COMM_LOCATIONS,
				OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, members));
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

static const char *why_calls_are_missing(const struct otf2 *otf2, const struct fact_totals *totals)
{
	const struct report_filter *filter = otf2->target->request->filter;

	if (filter && filter_active(filter))
		return "a filter is set: calls may be left out";
	if (otf2->spans.windows.len)
		return "captured in windows: calls are missing";
	return totals->calls_missing ? "records were lost" : NULL;
}

/* If calls are missing, the n-th of one rank does not match the n-th of another. */
static const char *why_none(const struct otf2 *otf2, const struct fact_totals *totals)
{
	const char *missing = why_calls_are_missing(otf2, totals);

	if (missing)
		return missing;
	if (totals->captures > otf2->spans.hosts.len)
		return "several captures of a host: calls between them may be missing";
	return NULL;
}

/* After the last fact, before the first event. Returns 0 or -errno. */
static int otf2_settle_worlds(struct otf2 *otf2, const struct fact_totals *totals)
{
	return worlds_settle(&otf2->worlds, otf2->spans.processes.data, otf2->spans.processes.len,
			     why_none(otf2, totals));
}

static void define_world(struct otf2 *otf2, uint32_t number)
{
	struct otf2_out *out = &otf2->out;
	const struct world *world = &otf2->worlds.worlds.data[number];
	uint64_t *members = xcalloc(world->ranks.len + 1, sizeof(*members));
	const OTF2_StringRef name = world->job
					    ? otf2_text(out, "MPI_COMM_WORLD of job %s", world->job)
					    : otf2_word(out, "MPI_COMM_WORLD");

	for (size_t i = 0; i < world->ranks.len; i++)
		members[i] = otf2_group(otf2, world->ranks.data[i]);
	otf2_check(out, OTF2_GlobalDefWriter_WriteGroup(out->defs, GROUP_WORLDS + number, name,
							OTF2_GROUP_TYPE_COMM_GROUP,
							OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
							(uint32_t)world->ranks.len, members));
	free(members);
	otf2_check(out, OTF2_GlobalDefWriter_WriteComm(out->defs, COMM_WORLDS + number, name,
						       GROUP_WORLDS + number, OTF2_UNDEFINED_COMM,
						       OTF2_COMM_FLAG_NONE));
}

static void define_reasons(struct otf2 *otf2, const char *topic, const otf2_reasons *reasons)
{
	for (size_t i = 0; i < reasons->len; i++)
		otf2_define_number(otf2, topic, reasons->data[i].reason, reasons->data[i].count);
}

/* After the last event: communicators, and reasons for missing collective operations. */
static void otf2_define_worlds(struct otf2 *otf2)
{
	for (uint32_t i = 0; i < otf2->worlds.worlds.len; i++)
		if (!otf2->worlds.reason && !otf2->worlds.worlds.data[i].reason)
			define_world(otf2, i);
	otf2_define_number(otf2, "collectives", "told", otf2->collectives);
	define_reasons(otf2, "collectives", &otf2->not_collective);
}

static void define_programs(struct otf2 *otf2)
{
	otf2_define_number(otf2, "programs", "told", otf2->programs);
	define_reasons(otf2, "programs", &otf2->without_program);
}

/* After the last one: communicators. */
static void otf2_define_rest(struct otf2 *otf2)
{
	otf2_check(&otf2->out, OTF2_Archive_CloseEvtFiles(otf2->out.archive));
	write_local_definitions(&otf2->out);
	otf2_define_locations(&otf2->out);
	define_comms(otf2);
	otf2_define_worlds(otf2);
	define_programs(otf2);
}

static void *otf2_export_begin(struct export_target *target, int *err)
{
	struct otf2 *otf2 = xcalloc(1, sizeof(*otf2));

	(void)err;
	otf2->target = target;
	spans_init(&otf2->spans, LEVEL_MPI);
	worlds_init(&otf2->worlds);
	otf2->spans.worlds = &otf2->worlds;
	return otf2;
}

static struct fact_sink sink(void *arg)
{
	struct otf2 *otf2 = arg;

	return spans_sink(&otf2->spans);
}

static int write_archive(struct otf2 *otf2, const struct fact_totals *totals)
{
	int err = otf2_open(&otf2->out, otf2->target->path);

	if (err)
		return err;
	placing_make(&otf2->placing, &otf2->spans);
	otf2_define(otf2, totals);
	otf2->no_program = why_calls_are_missing(otf2, totals);
	err = otf2_settle_worlds(otf2, totals);
	if (!err)
		err = otf2_spans(otf2);
	if (!err && !otf2->out.locations.len) {
		snprintf(
			otf2->target->why, EXPORT_WHY,
			"nothing written: no process was traced, and OTF2 has no archive without one");
		err = -ENODATA;
	}
	if (err)
		return err;
	otf2_define_rest(otf2);
	return otf2_close(&otf2->out);
}

static int otf2_export_end(void *arg, const struct fact_totals *totals)
{
	struct otf2 *otf2 = arg;
	int err = spans_finish(&otf2->spans, otf2->target->why);

	if (err)
		return err;
	err = write_archive(otf2, totals);
	if (err == -EIO && *otf2->out.why)
		snprintf(otf2->target->why, EXPORT_WHY, "OTF2: %s", otf2->out.why);
	return err;
}

static void otf2_export_free(void *arg)
{
	struct otf2 *otf2 = arg;

	otf2_release(&otf2->out);
	spans_release(&otf2->spans);
	placing_release(&otf2->placing);
	worlds_release(&otf2->worlds);
	vec_release(&otf2->not_collective);
	vec_release(&otf2->without_program);
	vec_release(&otf2->begun);
	free(otf2);
}

const struct export_format export_otf2 = {
	.name = "otf2",
	.help = "an archive in the Open Trace Format 2, for Vampir and Scalasca",
	.place = EXPORT_DIRECTORY,
	.binary = true,
	.begin = otf2_export_begin,
	.sink = sink,
	.end = otf2_export_end,
	.free = otf2_export_free,
};
