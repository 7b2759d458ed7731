/* SPDX-License-Identifier: BSD-3-Clause */
/* What a port's own counters say went over it between two snapshots. */
#ifndef UCXBPF_JUDGE_EXHIBITS_PORT_COUNTERS_H
#define UCXBPF_JUDGE_EXHIBITS_PORT_COUNTERS_H

#include "site/judge/exhibits/inventory.h"

struct port_delta {
	int64_t sent, received; /* B */
	int64_t sent_packets, received_packets; /* -1: not counted */
	int64_t packet; /* B that a full packet carries */
	/* of a packet, B that are no payload: at least, usually, and what an IP version more adds
	 */
	int64_t least_header, header;
	bool loopback; /* it carries nothing of other nodes */
};

/*
 * The NIC whose counters have what goes over a device: itself, or below soft-RoCE, which counts no
 * bytes, the interface. The inventory's; NULL: there is no such device.
 */
const struct inventory_nic *port_counter(const struct inventory *inventory, const char *device);

/* NULL: filled; else why the counters do not tell. device: UCX's name. */
const char *port_delta(const struct node_inventory *node, const char *device,
		       struct port_delta *delta);

/* Segments that TCP sent again on this node; 0 where it is not known. */
int64_t retransmitted(const struct node_inventory *node);

#endif
