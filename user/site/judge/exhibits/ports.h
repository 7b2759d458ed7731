/* SPDX-License-Identifier: BSD-3-Clause */
/* What was traced of each NIC, to be held against the port's own counters: SUM_PORT, by node. */
#ifndef UCXBPF_JUDGE_EXHIBITS_PORTS_H
#define UCXBPF_JUDGE_EXHIBITS_PORTS_H

#include "site/judge/exhibits/exhibits.h"

/* Adds to the sums, while facts come in: all that goes over a NIC, whatever for. */
void ports_add(struct exhibits *exhibits, const struct fact_transfer *transfer, uint64_t count,
	       uint64_t bytes);
void ports_add_window(struct exhibits *exhibits, const struct fact_window *window);

struct flow {
	uint64_t bytes, count;
};

/*
 * "sure" went to another host. "maybe" went to a process of the same host, which the kernel's or
 * the adapter's loopback may have carried past the port's counters, or to one that is not known.
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
	struct flow fetched; /* by others: it left here, by a port that is not known */
	uint64_t from, to; /* ns of its clock, of all this; UINT64_MAX and 0: not known */
	bool in_windows; /* what was between them is in no capture */
	size_t late; /* processes that were not seen from their start */
};

struct traced_ports {
	VEC(struct traced_port) list; /* by host and device, after ports_make() */
	struct map index; /* (host, hash of device) -> 1 + position */
	VEC(struct traced_host) hosts; /* by fact_process.host */
};

/* Of all that was gathered; strings are the exhibits'. */
void ports_make(struct traced_ports *ports, const struct exhibits *exhibits);
void ports_release(struct traced_ports *ports);

#endif
