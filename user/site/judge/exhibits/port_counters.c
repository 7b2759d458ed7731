// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/port_counters.h"

#include <string.h>

#define LOOPBACK "loopback"

/*
 * How ports count. Measured with UCX's tcp over veth, MTU 1500, with and without segmentation by
 * the device (docs/inventory.md): each packet has 14 B of Ethernet, 20 B of IP, 32 B of TCP;
 * drivers of real ports may add 4 B of checksum. lo counts none of Ethernet's. The lines of verbs
 * are by the InfiniBand and RoCE formats, not measured: LRH 8 or Ethernet 14, IP 20, UDP 8; BTH 12,
 * RETH 16 or AETH 4, ICRC 4, GRH 40 where routed.
 */
static const struct counting {
	const char *kind, *link_layer; /* NULL: any */
	const char *sent, *received, *sent_packets, *received_packets;
	int64_t unit; /* B */
	int64_t least_header, header, packet;
} countings[] = {
	{ "verbs", "InfiniBand", "port_xmit_data", "port_rcv_data", "port_xmit_packets",
	  "port_rcv_packets", 4, 24, 44, 2048 },
	{ "verbs", NULL, "port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets",
	  4, 40, 78, 1024 },
	{ "net", LOOPBACK, "tx_bytes", "rx_bytes", "tx_packets", "rx_packets", 1, 40, 52, 65484 },
	{ "net", NULL, "tx_bytes", "rx_bytes", "tx_packets", "rx_packets", 1, 54, 70, 1448 },
};

static const struct counting *counting_of(const struct inventory_nic *nic)
{
	for (size_t i = 0; i < sizeof(countings) / sizeof(*countings); i++) {
		const struct counting *counting = &countings[i];

		if (!strcmp(counting->kind, nic->kind) &&
		    (!counting->link_layer ||
		     (nic->link_layer && !strcmp(nic->link_layer, counting->link_layer))))
			return counting;
	}
	return NULL;
}

/* A counter's growth; -1: not there, or it went back. */
static int64_t growth(const struct inventory_nic *before, const struct inventory_nic *after,
		      const char *name)
{
	int64_t first = inventory_counter(before, name), last = inventory_counter(after, name);

	return first < 0 || last < first ? -1 : last - first;
}

const struct inventory_nic *port_counter(const struct inventory *inventory, const char *device)
{
	const struct inventory_nic *nic = inventory_nic(inventory, device);
	const struct inventory_nic *netdev =
		nic && nic->netdev ? inventory_nic(inventory, nic->netdev) : NULL;

	if (netdev && inventory_counter(nic, "port_xmit_data") < 0)
		return netdev;
	return nic;
}

/* Not known of one: not known of all. */
static void add_packets(int64_t *to, int64_t packets)
{
	*to = *to < 0 || packets < 0 ? -1 : *to + packets;
}

/* Of one window, added to what delta has. NULL, or why not. */
static const char *add_window(const struct inventory_window *window, const char *device,
			      struct port_delta *delta)
{
	const struct inventory_nic *before = port_counter(window->first, device);
	const struct inventory_nic *after = port_counter(window->last, device);
	const struct counting *counting = after ? counting_of(after) : NULL;
	int64_t sent, received;

	if (!before || !after || !counting)
		return "the port is not in both inventories of this node";
	sent = growth(before, after, counting->sent);
	received = growth(before, after, counting->received);
	if (sent < 0 || received < 0)
		return "the port's counters are not there, or were set back between the "
		       "inventories";
	delta->sent += sent * counting->unit;
	delta->received += received * counting->unit;
	add_packets(&delta->sent_packets, growth(before, after, counting->sent_packets));
	add_packets(&delta->received_packets, growth(before, after, counting->received_packets));
	delta->packet = counting->packet;
	delta->least_header = counting->least_header;
	delta->header = counting->header;
	delta->loopback = after->link_layer && !strcmp(after->link_layer, LOOPBACK);
	if (!strcmp(counting->kind, "net") && after->mtu > 100)
		delta->packet = after->mtu - 52;
	return NULL;
}

const char *port_delta(const struct node_inventory *node, const char *device,
		       struct port_delta *delta)
{
	const char *why = NULL;

	*delta = (struct port_delta){ 0 };
	if (node->first == node->last)
		return "there is but one inventory of this node: one from before and one from "
		       "after the job are needed";
	if (node->merged || !node->windows.len)
		return "the inventories are not from before and after each part of the job";
	for (size_t i = 0; i < node->windows.len && !why; i++)
		why = add_window(&node->windows.data[i], device, delta);
	return why;
}

int64_t retransmitted(const struct node_inventory *node)
{
	int64_t first = inventory_tcp_counter(node->first, "RetransSegs");
	int64_t last = inventory_tcp_counter(node->last, "RetransSegs");

	return first < 0 || last < first ? 0 : last - first;
}
