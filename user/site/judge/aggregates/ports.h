/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports and NICs of nodes: traced traffic and the ports' own counters (SUM_PORT), by node. */
#ifndef UCXBPF_JUDGE_AGGREGATES_PORTS_H
#define UCXBPF_JUDGE_AGGREGATES_PORTS_H

#include "site/judge/aggregates/aggregates.h"
#include "site/judge/aggregates/inventory.h"

/* Adds to the sums, while facts come in: all traffic over a NIC, whatever its purpose. */
void ports_add(struct aggregates *aggregates, const struct fact_transfer *transfer, uint64_t count,
	       uint64_t bytes);
void ports_add_window(struct aggregates *aggregates, const struct fact_window *window);

struct flow {
	uint64_t bytes, count;
};

/*
 * "sure" went to another host. "maybe" went to a process of the same host, which the kernel's or
 * the adapter's loopback may have carried past the port's counters, or to an unknown one.
 */
struct traced_port {
	int host;
	const char *device;
	struct flow sure, maybe; /* sent */
	struct flow read; /* of others' memory, into the host */
	struct flow aligned; /* what other hosts sent from a device of this name to the host */
};

struct traced_host {
	struct flow received, maybe_received;
	struct flow fetched; /* by others: it left here, by an unknown port */
	uint64_t from, to; /* ns of its clock, of all this; UINT64_MAX and 0: not known */
	bool in_windows; /* the time between the windows was not traced */
	size_t late; /* processes that were not seen from their start */
};

struct traced_ports {
	VEC(struct traced_port) list; /* by host and device, after ports_make() */
	struct map index; /* (host, hash of device) -> 1 + position */
	VEC(struct traced_host) hosts; /* by fact_process.host */
};

/* Built from all aggregates; strings belong to them. */
void ports_make(struct traced_ports *ports, const struct aggregates *aggregates);
void ports_release(struct traced_ports *ports);

/* ---- traffic between two snapshots by a port's own counters ---- */

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
 * The NIC whose counters include a device's traffic: the device itself or, for soft-RoCE, which
 * counts no bytes, the interface below it. The inventory's; NULL: no such device.
 */
const struct inventory_nic *port_counter(const struct inventory *inventory, const char *device);

/* NULL: filled; else why the counters cannot be used. device: UCX's name. */
const char *port_delta(const struct node_inventory *node, const char *device,
		       struct port_delta *delta);

/* Segments that TCP sent again on this node; 0 where it is not known. */
int64_t retransmitted(const struct node_inventory *node);

/* ---- traffic of each NIC of each node ---- */

/* A transfer counts at the device of the process that starts it. */
struct nic_traffic {
	const char *node, *device;
	uint64_t sent, fetched; /* bytes that left by it, and that a get brought in */
	uint64_t transfers;
};

struct nics {
	VEC(struct nic_traffic) list; /* by node, then by device */
};

/* Adds NICs of a node's class, with 0 at least. */
void nics_make(struct nics *nics, const struct aggregates *aggregates);
void nics_release(struct nics *nics);

#endif
