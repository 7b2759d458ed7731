// SPDX-License-Identifier: BSD-3-Clause
/* A node's ports, and what of the traced went by each. */
#include <string.h>

#include "site/judge/rules/counters.h"

/* By one counter: soft-RoCE and the interface below it. */
static bool same_counter(const struct counted_node *node, const char *device, const char *other)
{
	const struct inventory *inventory = node->inventory->last;
	const struct inventory_nic *counter = port_counter(inventory, device);

	return !strcmp(device, other) || (counter && counter == port_counter(inventory, other));
}

static bool is_netdev(const struct counted_node *node, const char *device)
{
	const struct inventory_nic *nic = inventory_nic(node->inventory->last, device);

	return nic && !strcmp(nic->kind, "net");
}

/*
 * The kernel carries by lo what is for an address of its own network namespace, whatever interface
 * UCX says (seen with UCX 1.13.1, tests/live/counters.bats); RDMA devices do without the kernel.
 */
static bool may_carry(const struct counted_node *node, const char *device,
		      const struct traced_port *port)
{
	return !strcmp(device, "lo") && is_netdev(node, port->device);
}

/* What went over a device, and over others that have its counter. */
static struct traced_port traced_by(const struct counted_node *node, const char *device)
{
	struct traced_port sum = { .host = node->host, .device = device };

	for (size_t i = 0; i < node->ports->list.len; i++) {
		const struct traced_port *port = &node->ports->list.data[i];

		if (port->host != node->host)
			continue;
		if (!same_counter(node, device, port->device)) {
			if (may_carry(node, device, port))
				sum.maybe = flow_plus(sum.maybe, port->maybe);
			continue;
		}
		sum.sure = flow_plus(sum.sure, port->sure);
		sum.maybe = flow_plus(sum.maybe, port->maybe);
		sum.read = flow_plus(sum.read, port->read);
		sum.aligned = flow_plus(sum.aligned, port->aligned);
	}
	return sum;
}

static void add_port(counted_ports *list, const struct counted_node *node, const char *device)
{
	struct counted_port *port;

	for (size_t i = 0; i < list->len; i++)
		if (same_counter(node, list->data[i].device, device))
			return;
	port = vec_add(list);
	port->device = device;
	port->traced = traced_by(node, device);
}

counted_ports counted_ports_of(const struct counted_node *node)
{
	const struct traced_ports *ports = node->ports;
	const struct policy_class *class = node->node->class;
	counted_ports list = { 0 };

	for (size_t i = 0; i < ports->list.len; i++) {
		const struct traced_port *port = &ports->list.data[i];

		if (port->host == node->host &&
		    port->sure.count + port->maybe.count + port->read.count)
			add_port(&list, node, port->device);
	}
	for (size_t i = 0; class && i < class->nics.len; i++)
		add_port(&list, node, class->nics.data[i]);
	return list;
}
