/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traffic per device and host, from transfers that were sent: when a device was busy, and the
 * throughput of its transport.
 */
#ifndef UCXBPF_EXPORT_TRAFFIC_H
#define UCXBPF_EXPORT_TRAFFIC_H

#include "base/map.h"
#include "base/vec.h"
#include "explain/facts/facts.h"

struct sorter;

struct traffic_device {
	int host;
	const char *transport, *device; /* NULL: not known */
	uint32_t transport_number; /* number among its host's, in order of appearance */
};

/* A time during which a transfer was always in progress. */
struct busy {
	const struct traffic_device *device;
	uint64_t start, end;
	uint64_t count[KIND_COPY + 1]; /* transfers by their kind */
	uint64_t bytes, bytes_unknown; /* payload of data */
};

/* Payload of data transfers in a bucket of time, spread evenly over each transfer's duration. */
struct rate {
	int host;
	const char *transport;
	uint64_t start, width, bytes;
};

struct traffic_sink {
	void *arg;
	void (*busy)(void *arg, const struct busy *busy);
	void (*rate)(void *arg, const struct rate *rate); /* not called for buckets without bytes */
};

struct traffic_host {
	uint64_t first, last; /* ns on its clock */
	uint32_t transports;
};

struct traffic {
	struct sorter *sorter;
	int err;
	struct map numbers; /* (transport, device and host) -> position in devices + 1 */
	struct map transports; /* (transport, host) -> its number + 1 */
	VEC(struct traffic_device) devices;
	VEC(struct traffic_host) hosts;
};

void traffic_init(struct traffic *traffic);
void traffic_release(struct traffic *traffic);

/* sums: of fragments, else NULL. */
void traffic_add(struct traffic *traffic, int host, const struct fact_transfer *transfer,
		 const struct fact_sums *sums);

/* Call once, after the last transfer. Returns 0 or -errno, also of earlier errors. */
int traffic_each(struct traffic *traffic, const struct traffic_sink *sink);

#endif
