// SPDX-License-Identifier: BSD-3-Clause
/* What a port carried in one direction, beside what was traced. */
#include <math.h>

#include "site/judge/rules/counters.h"

#define HIGH_AUTO 1.02
#define UCX_HEADER 48 /* B that a transport adds to a transfer, at most: 5 to 34 of tcp's */

struct flow flow_plus(struct flow a, struct flow b)
{
	return (struct flow){ a.bytes + b.bytes, a.count + b.count };
}

/* Where packets are not counted, as many as the traced fill. */
static void add_headers(struct way *way, int64_t packets, const struct port_delta *delta,
			double share)
{
	if (packets < 0)
		packets = (int64_t)(share *
				    (double)(way->sure.count + way->sure.bytes / delta->packet));
	way->headers += packets * delta->header;
	way->least_headers += packets * delta->least_header;
}

struct way way_out(const struct counted_node *node, const struct port_delta *delta,
		   const struct traced_port *port)
{
	struct way way = {
		.what = "sent",
		.bytes = delta->sent,
		.again = retransmitted(node->inventory) * delta->packet,
		.sure = port->sure,
		.all = flow_plus(flow_plus(port->sure, port->maybe), node->traced.fetched),
	};

	add_headers(&way, delta->sent_packets, delta, 1);
	return way;
}

/* By which port it came is not known: by that of the largest packets. lo brings its node's own. */
static int64_t again_in(const struct counted_node *node, const struct counted_port *ports,
			size_t count)
{
	int64_t own = retransmitted(node->inventory), own_packet = 0, packet = 0;

	for (size_t i = 0; i < count; i++) {
		const struct port_delta *delta = &ports[i].delta;

		if (!ports[i].finding)
			continue;
		if (delta->packet > own_packet)
			own_packet = delta->packet;
		if (!delta->loopback && delta->packet > packet)
			packet = delta->packet;
	}
	return own * own_packet + (node->again - own) * packet;
}

struct way way_in(const struct counted_node *node, const struct counted_port *ports, size_t count)
{
	struct way way = {
		.what = "received",
		.again = again_in(node, ports, count),
		.sure = node->traced.received,
		.all = flow_plus(node->traced.received, node->traced.maybe_received),
	};

	for (size_t i = 0; i < count; i++)
		if (ports[i].finding)
			way.bytes += ports[i].delta.received;
	for (size_t i = 0; i < count; i++) {
		const struct port_delta *delta = &ports[i].delta;

		if (ports[i].finding && delta->received)
			add_headers(&way, delta->received_packets, delta,
				    (double)delta->received / (double)way.bytes);
	}
	return way;
}

/* What the counters may show at most where that was traced. */
static int64_t most(const struct trial *trial, const struct way *way, const struct flow *flow)
{
	double high = trial->setting->number[HIGH];

	high = isnan(high) ? HIGH_AUTO : high;
	return (int64_t)((double)flow->bytes * high) + (int64_t)flow->count * UCX_HEADER +
	       way->again + (int64_t)trial->setting->number[SLACK];
}

bool way_exceeds(const struct trial *trial, const struct way *way)
{
	return way->bytes - way->headers > most(trial, way, &way->all);
}

static int64_t least(const struct trial *trial, const struct flow *flow)
{
	return (int64_t)((double)flow->bytes * trial->setting->number[LOW]);
}

static void say_numbers(const struct trial *trial, struct finding *finding, const struct way *way)
{
	struct judge *judge = trial->judge;
	int64_t payload = way->bytes - way->headers;

	finding->expected = say(judge, "%s to %s %s", say_bytes(judge, least(trial, &way->sure)),
				say_bytes(judge, most(trial, way, &way->all)), way->what);
	finding->seen = say(judge, "%s %s by the port's counter without headers, %s traced",
			    say_bytes(judge, payload > 0 ? payload : 0), way->what,
			    say_bytes(judge, way->sure.bytes));
}

bool way_judge(const struct trial *trial, struct finding *finding, const struct way *way,
	       const struct counted_node *node)
{
	int64_t high = way->bytes - way->headers, low = way->bytes - way->least_headers;

	if (low < 0) /* packets of others than TCP are shorter: 42 B of ARP */
		low = 0;
	say_numbers(trial, finding, way);
	if (low < least(trial, &way->sure)) {
		finding->verdict = node->unsent ? VERDICT_UNKNOWN : VERDICT_FAIL;
		finding->why = node->unsent;
		finding->cause = "what was traced did not all go by this port, or did not leave";
		finding->bytes = (uint64_t)(least(trial, &way->sure) - low);
		return true;
	}
	if (way_exceeds(trial, way)) {
		finding->verdict = node->doubt ? VERDICT_UNKNOWN : VERDICT_FAIL;
		finding->why = node->doubt;
		finding->bytes = (uint64_t)high - way->sure.bytes;
		return true;
	}
	if (high <= most(trial, way, &way->sure) || low >= least(trial, &way->all))
		return false;
	finding->verdict = VERDICT_UNKNOWN;
	finding->why = "whether the port counts what its own node's processes send each other is "
		       "not known";
	return true;
}
