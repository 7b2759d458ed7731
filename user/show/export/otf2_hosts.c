// SPDX-License-Identifier: BSD-3-Clause
/* The system tree of an archive: hosts with their clocks and GPUs, and what is said of all hosts.
 */
#include <stdlib.h>

#include "show/export/totals.h"
#include "show/export/otf2.h"

#define MACHINE 0u /* the root; host n is node n + 1 */

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

void otf2_define_number(struct otf2 *otf2, const char *topic, const char *what, uint64_t number)
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

/* What was added to the times of a host's clock, and from where that is known. */
static void put_offset(struct otf2 *otf2, OTF2_SystemTreeNodeRef node,
		       const struct placing_host *host)
{
	struct otf2_out *out = &otf2->out;
	const char *from = host->made_up ? "not known: placed at the beginning"
					 : "what its CLOCK_REALTIME showed";

	node_property(otf2, node, otf2_word(out, "clock offset"), OTF2_TYPE_INT64,
		      (OTF2_AttributeValue){ .int64 = host->to_real });
	node_property(otf2, node, otf2_word(out, "clock offset is"), OTF2_TYPE_STRING,
		      (OTF2_AttributeValue){ .stringRef = otf2_word(out, from) });
}

static void define_host(struct otf2 *otf2, size_t index)
{
	OTF2_SystemTreeNodeRef node = (OTF2_SystemTreeNodeRef)index + 1;

	define_node(otf2, node, otf2_or_unknown(otf2->spans.hosts.data[index].name), "node",
		    MACHINE, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
	put_offset(otf2, node, &otf2->placing.hosts.data[index]);
}

static void gpu_property(struct otf2 *otf2, const struct fact_device *device, const char *gpu,
			 const char *what, const char *word)
{
	struct otf2_out *out = &otf2->out;
	OTF2_StringRef value = otf2_text(out, "%s", otf2_or_unknown(word));

	node_property(otf2, (OTF2_SystemTreeNodeRef)device->host + 1,
		      otf2_text(out, "%s: %s", gpu, what), OTF2_TYPE_STRING,
		      (OTF2_AttributeValue){ .stringRef = value });
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

void otf2_define_hosts(struct otf2 *otf2, const struct fact_totals *totals)
{
	define_node(otf2, MACHINE, "all hosts", "machine", OTF2_UNDEFINED_SYSTEM_TREE_NODE,
		    OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
	put_heading(otf2, totals);
	unknowns_each(totals, put_unknown, otf2);
	for (size_t i = 0; i < otf2->spans.hosts.len; i++)
		define_host(otf2, i);
	for (int i = 0; i < totals->device_count; i++)
		if ((size_t)totals->devices[i].host < otf2->spans.hosts.len)
			define_gpu(otf2, &totals->devices[i]);
}
