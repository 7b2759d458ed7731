// SPDX-License-Identifier: BSD-3-Clause
/* RAIL-05: whether the NICs of a node are as its class says, or as on most nodes. */
#include <inttypes.h>
#include <string.h>

#include "site/judge/rules/rules.h"

/* A NIC of a node, or its absence. */
struct port {
	const struct node_inventory *node;
	const char *name;
	const struct inventory_nic *nic; /* NULL: the node has none of that name */
};

typedef VEC(struct port) ports;

/* The expected state of a port; -1: no expectation. */
struct wanted_nic {
	int64_t rate, width, gen;
	bool up;
};

/* NICs that no class lists count if they are devices of their own, not bridges or the like. */
static void add_node(ports *list, const struct node_inventory *node)
{
	const struct policy_class *class = node->class;
	const struct inventory *inventory = node->last;

	for (size_t i = 0; class && i < class->nics.len; i++)
		vec_push(list, ((struct port){ node, class->nics.data[i],
					       inventory_nic(inventory, class->nics.data[i]) }));
	for (size_t i = 0; (!class || !class->nics.len) && i < inventory->nics.len; i++) {
		const struct inventory_nic *nic = &inventory->nics.data[i];

		if (nic->pci.address || !strcmp(nic->kind, "verbs"))
			vec_push(list, ((struct port){ node, nic->name, nic }));
	}
}

/* Ports of one name in one class are neighbours then. */
static int by_class(const void *left, const void *right)
{
	const struct port *a = left, *b = right;
	int order = (a->node->class > b->node->class) - (a->node->class < b->node->class);

	return order ? order : strcmp(a->name, b->name);
}

static int by_number(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

typedef VEC(int64_t) numbers;

/* -1: nothing is known */
static int64_t median(numbers *values)
{
	int64_t middle = -1;

	if (values->len) {
		qsort(values->data, values->len, sizeof(*values->data), by_number);
		middle = values->data[values->len / 2];
	}
	vec_release(values);
	return middle;
}

static void push_known(numbers *values, int64_t value)
{
	if (value > 0)
		vec_push(values, value);
}

/* The state of most ports of one name. */
static struct wanted_nic usual(const struct port *ports, size_t count)
{
	numbers rates = { 0 }, widths = { 0 }, gens = { 0 };
	size_t up = 0;

	for (size_t i = 0; i < count; i++) {
		const struct inventory_nic *nic = ports[i].nic;

		if (!nic)
			continue;
		up += inventory_nic_up(nic);
		push_known(&rates, nic->rate);
		push_known(&widths, nic->pci.width);
		push_known(&gens, inventory_pcie_gen(nic->pci.speed));
	}
	return (struct wanted_nic){ median(&rates), median(&widths), median(&gens),
				    up * 2 > count };
}

/* The class overrides the majority. */
static struct wanted_nic wanted_of(const struct policy_class *class, const struct port *ports,
				   size_t count)
{
	struct wanted_nic wanted = usual(ports, count);

	if (!class)
		return wanted;
	if (class->nics.len)
		wanted.up = true;
	if (class->nic_rate > 0)
		wanted.rate = (int64_t) class->nic_rate;
	if (class->pcie_width > 0)
		wanted.width = class->pcie_width;
	if (class->pcie_gen > 0)
		wanted.gen = class->pcie_gen;
	return wanted;
}

static const char *rate_text(struct judge *judge, int64_t rate)
{
	return rate > 0 ? say(judge, ", %.4g Gb/s", (double)rate / 1e9) : "";
}

static const char *link_text(struct judge *judge, int64_t width, int64_t gen)
{
	const char *lanes = width > 0 ? say(judge, ", PCIe x%" PRId64, width) : "";

	return gen > 0 ? say(judge, "%s%s gen%" PRId64, lanes, width > 0 ? "" : ", PCIe", gen)
		       : lanes;
}

static const char *seen_text(struct judge *judge, const struct inventory_nic *nic)
{
	return say(judge, "%s%s%s%s%s%s", nic->state ? nic->state : "state unknown",
		   nic->physical ? " (" : "", nic->physical ? nic->physical : "",
		   nic->physical ? ")" : "", rate_text(judge, nic->rate),
		   link_text(judge, nic->pci.width, inventory_pcie_gen(nic->pci.speed)));
}

static bool below(int64_t seen, int64_t wanted)
{
	return wanted > 0 && seen > 0 && seen < wanted;
}

static bool unknown(int64_t seen, int64_t wanted)
{
	return wanted > 0 && seen <= 0;
}

static bool is_wrong(const struct inventory_nic *nic, const struct wanted_nic *wanted)
{
	return (wanted->up && nic->state && !inventory_nic_up(nic)) ||
	       below(nic->rate, wanted->rate) || below(nic->pci.width, wanted->width) ||
	       below(inventory_pcie_gen(nic->pci.speed), wanted->gen);
}

/* NULL: all that is wanted is known. */
static const char *what_is_unknown(const struct inventory_nic *nic, const struct wanted_nic *wanted)
{
	if (wanted->up && !nic->state)
		return "its state is unknown";
	if (unknown(nic->rate, wanted->rate))
		return "its rate is unknown";
	if (unknown(nic->pci.width, wanted->width) ||
	    unknown(inventory_pcie_gen(nic->pci.speed), wanted->gen))
		return "its PCIe link is unknown";
	return NULL;
}

static void judge_port(const struct rule_ctx *ctx, const struct port *port,
		       const struct wanted_nic *wanted)
{
	struct judge *judge = ctx->judge;
	struct finding *finding =
		found(ctx, VERDICT_PASS, subject_nic(judge, port->node->name, port->name));

	finding->expected = say(judge, "up%s%s", rate_text(judge, wanted->rate),
				link_text(judge, wanted->width, wanted->gen));
	if (!port->nic) {
		finding->why = inventory_why(port->node->last, "nics");
		finding->verdict = finding->why ? VERDICT_UNKNOWN : VERDICT_FAIL;
		finding->seen = "the node has no such NIC";
		return;
	}
	finding->seen = seen_text(judge, port->nic);
	finding->why = what_is_unknown(port->nic, wanted);
	if (is_wrong(port->nic, wanted)) {
		finding->verdict = VERDICT_FAIL;
		finding->why = NULL;
	} else if (finding->why) {
		finding->verdict = VERDICT_UNKNOWN;
	}
}

/* A port that is down on most nodes is not in use. */
static void judge_ports(const struct rule_ctx *ctx, const struct port *ports, size_t count)
{
	const struct wanted_nic wanted = wanted_of(ports->node->class, ports, count);

	for (size_t i = 0; i < count; i++)
		if (wanted.up || (ports[i].nic && inventory_nic_up(ports[i].nic)))
			judge_port(ctx, &ports[i], &wanted);
}

void rule_ports(const struct rule_ctx *ctx)
{
	const struct node_inventories *nodes = &ctx->judge->inventories;
	size_t count;
	ports list = { 0 };

	nodes_without_inventory(ctx);
	for (size_t i = 0; i < nodes->list.len; i++)
		add_node(&list, &nodes->list.data[i]);
	if (list.len)
		qsort(list.data, list.len, sizeof(*list.data), by_class);
	for (size_t i = 0; i < list.len; i += count) {
		for (count = 1; i + count < list.len; count++)
			if (by_class(&list.data[i], &list.data[i + count]))
				break;
		judge_ports(ctx, &list.data[i], count);
	}
	vec_release(&list);
}
