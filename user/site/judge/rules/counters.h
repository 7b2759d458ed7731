/* SPDX-License-Identifier: BSD-3-Clause */
/* What COV-02 compares: what a node's ports counted, and what of it was traced. */
#ifndef UCXBPF_JUDGE_RULES_COUNTERS_H
#define UCXBPF_JUDGE_RULES_COUNTERS_H

#include "site/judge/exhibits/port_counters.h"
#include "site/judge/exhibits/ports.h"
#include "site/judge/rules/rules.h"

enum { LOW, HIGH, UNTRACED, SLACK }; /* settings, as in the catalogue */

/* One direction of a port, or of all ports of a node together. */
struct way {
	const char *what; /* "sent", "received" */
	int64_t bytes, again; /* again: B that TCP sent once more, at most */
	int64_t headers, least_headers; /* B of them, usually and at least */
	struct flow sure, all;
};

struct counted_node {
	const struct traced_ports *ports; /* of all nodes */
	const struct node *node;
	const struct node_inventory *inventory;
	int host;
	struct traced_host traced;
	int64_t again; /* segments that TCP sent again, on all nodes */
	const char *doubt; /* why more than was traced proves nothing; NULL: it does */
	const char *unsent; /* why less does not; NULL: it does */
};

struct counted_port {
	const char *device;
	struct traced_port traced;
	struct port_delta delta;
	size_t finding; /* 1 + position; 0: it is not judged */
};

typedef VEC(struct counted_port) counted_ports;

struct flow flow_plus(struct flow a, struct flow b);

struct way way_out(const struct counted_node *node, const struct port_delta *delta,
		   const struct traced_port *port);

/*
 * By all of these ports that are judged, each with its own packets: lo's have other headers than
 * Ethernet's, and are larger. Traced is what all of the node received.
 */
struct way way_in(const struct counted_node *node, const struct counted_port *ports, size_t count);

/* Whether the counters show more than that which was traced can be. */
bool way_exceeds(const struct trial *trial, const struct way *way);

/* Whether the finding is done with: something is wrong in this direction. */
bool way_judge(const struct trial *trial, struct finding *finding, const struct way *way,
	       const struct counted_node *node);

/* Those that were used, and those that the class lists: foreign traffic may be on an idle one. */
counted_ports counted_ports_of(const struct counted_node *node);

#endif
