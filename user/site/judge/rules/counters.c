// SPDX-License-Identifier: BSD-3-Clause
/* COV-02: whether a node's ports carried the traced bytes, and nothing else. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "site/judge/aggregates/ports.h"
#include "site/judge/rules/rules.h"

/* One direction of a port, or of all ports of a node together. */
struct counted_way {
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

/* ---- one direction of a port compared with its traced bytes ---- */

#define HIGH_AUTO 1.02
#define UCX_HEADER 48 /* B that a transport adds to a transfer, at most: 5 to 34 of tcp's */

static struct flow flow_plus(struct flow a, struct flow b)
{
	return (struct flow){ a.bytes + b.bytes, a.count + b.count };
}

/* If packets are not counted: as many as the traced bytes fill. */
static void add_headers(struct counted_way *way, int64_t packets, const struct port_delta *delta,
			double share)
{
	if (packets < 0)
		packets = (int64_t)(share *
				    (double)(way->sure.count + way->sure.bytes / delta->packet));
	way->headers += packets * delta->header;
	way->least_headers += packets * delta->least_header;
}

static struct counted_way way_out(const struct counted_node *node, const struct port_delta *delta,
				  const struct traced_port *port)
{
	struct counted_way way = {
		.what = "sent",
		.bytes = delta->sent,
		.again = retransmitted(node->inventory) * delta->packet,
		.sure = port->sure,
		.all = flow_plus(flow_plus(port->sure, port->maybe), node->traced.fetched),
	};

	add_headers(&way, delta->sent_packets, delta, 1);
	return way;
}

/*
 * The port by which it came is unknown: assumes that of the largest packets. lo carries its node's
 * own traffic.
 */
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

/*
 * By all of these ports that are judged, each with its own packets: lo's have other headers than
 * Ethernet's, and are larger. Traced is what all of the node received.
 */
static struct counted_way way_in(const struct counted_node *node, const struct counted_port *ports,
				 size_t count)
{
	struct counted_way way = {
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

/* The most that the counters may show for a traced flow. */
static int64_t most(const struct rule_ctx *ctx, const struct counted_way *way,
		    const struct flow *flow)
{
	double high = ctx->settings->cov_02.high;

	high = isnan(high) ? HIGH_AUTO : high;
	return (int64_t)((double)flow->bytes * high) + (int64_t)flow->count * UCX_HEADER +
	       way->again + (int64_t)ctx->settings->cov_02.slack;
}

/* Whether the counters show more than that which was traced can be. */
static bool way_exceeds(const struct rule_ctx *ctx, const struct counted_way *way)
{
	return way->bytes - way->headers > most(ctx, way, &way->all);
}

static int64_t least(const struct rule_ctx *ctx, const struct flow *flow)
{
	return (int64_t)((double)flow->bytes * ctx->settings->cov_02.low);
}

static void say_numbers(const struct rule_ctx *ctx, struct finding *finding,
			const struct counted_way *way)
{
	struct judge *judge = ctx->judge;
	int64_t payload = way->bytes - way->headers;

	finding->expected = say(judge, "%s to %s %s", say_bytes(judge, least(ctx, &way->sure)),
				say_bytes(judge, most(ctx, way, &way->all)), way->what);
	finding->seen = say(judge, "%s %s by the port's counter without headers, %s traced",
			    say_bytes(judge, payload > 0 ? payload : 0), way->what,
			    say_bytes(judge, way->sure.bytes));
}

/* True: this direction is wrong, so the finding is complete. */
static bool way_judge(const struct rule_ctx *ctx, struct finding *finding,
		      const struct counted_way *way, const struct counted_node *node)
{
	int64_t high = way->bytes - way->headers, low = way->bytes - way->least_headers;

	if (low < 0) /* packets of others than TCP are shorter: 42 B of ARP */
		low = 0;
	say_numbers(ctx, finding, way);
	if (low < least(ctx, &way->sure)) {
		finding->verdict = node->unsent ? VERDICT_UNKNOWN : VERDICT_FAIL;
		finding->why = node->unsent;
		finding->cause =
			"some of the traced data used another port, or did not leave the node";
		finding->bytes = (uint64_t)(least(ctx, &way->sure) - low);
		return true;
	}
	if (way_exceeds(ctx, way)) {
		finding->verdict = node->doubt ? VERDICT_UNKNOWN : VERDICT_FAIL;
		finding->why = node->doubt;
		finding->bytes = (uint64_t)high - way->sure.bytes;
		return true;
	}
	if (high <= most(ctx, way, &way->sure) || low >= least(ctx, &way->all))
		return false;
	finding->verdict = VERDICT_UNKNOWN;
	finding->why = "whether the port counts what its own node's processes send each other is "
		       "not known";
	return true;
}

/* ---- the ports of a node ---- */

/* Whether one counter counts both: soft-RoCE and the interface below it. */
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
 * The kernel uses lo for addresses of its own network namespace, whatever interface UCX names (seen
 * with UCX 1.13.1, tests/live/counters.bats); RDMA devices bypass the kernel.
 */
static bool may_carry(const struct counted_node *node, const char *device,
		      const struct traced_port *port)
{
	return !strcmp(device, "lo") && is_netdev(node, port->device);
}

/* Traffic of a device, and of others that share its counter. */
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

/* Ports in use and ports that the class lists: foreign traffic may be on an idle one. */
static counted_ports counted_ports_of(const struct counted_node *node)
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

/* ---- the rule ---- */

/* Segments sent twice arrive twice. */
static int64_t retransmitted_by_all(const struct judge *judge)
{
	int64_t segments = 0;

	for (size_t i = 0; i < judge->inventories.list.len; i++)
		segments += retransmitted(&judge->inventories.list.data[i]);
	return segments;
}

static void name_others(const struct rule_ctx *ctx, struct finding *finding,
			const struct counted_node *node)
{
	const struct inventory *inventory = node->inventory->last;

	for (size_t i = 0; i < inventory->verbs_users.len && i < 3; i++)
		finding->seen = say(
			ctx->judge, "%s%s pid %" PRId64 " (%s)", finding->seen,
			i ? "," : "; with a verbs device open:", inventory->verbs_users.data[i].pid,
			inventory->verbs_users.data[i].comm ? inventory->verbs_users.data[i].comm
							    : "?");
}

static void judge_sent(const struct rule_ctx *ctx, const struct counted_node *node,
		       struct counted_port *port)
{
	struct subject subject = subject_nic(ctx->judge, node->node->name, port->device);
	struct finding *finding;
	const char *why;
	struct counted_way way;

	if (listed(&ctx->settings->cov_02.untraced, port->device)) {
		found_why(ctx, VERDICT_SKIP, subject, "declared untraced by the policy");
		return;
	}
	why = port_delta(node->inventory, port->device, &port->delta);
	if (why) {
		found_why(ctx, VERDICT_UNKNOWN, subject, why);
		return;
	}
	finding = found(ctx, VERDICT_PASS, subject);
	finding->count = port->traced.sure.count;
	port->finding = ctx->judge->findings.len;
	way = way_out(node, &port->delta, &port->traced);
	if (way_judge(ctx, finding, &way, node))
		name_others(ctx, finding, node);
}

/* More came in than was sent here: whether by this port, if devices of one name talk to each other.
 */
static bool is_to_blame(const struct rule_ctx *ctx, const struct counted_node *node,
			const struct counted_port *port)
{
	struct finding *finding = &ctx->judge->findings.data[port->finding - 1];
	struct counted_way way = way_in(node, port, 1);

	way.sure = flow_plus(port->traced.aligned, port->traced.read);
	way.all = flow_plus(way.sure, node->traced.maybe_received);
	if (finding->verdict != VERDICT_PASS || !way_exceeds(ctx, &way))
		return false;
	way_judge(ctx, finding, &way, node);
	name_others(ctx, finding, node);
	return true;
}

/* The one port that is judged; NULL: there are several. */
static struct finding *only_finding(const struct rule_ctx *ctx, const counted_ports *ports)
{
	size_t only = 0, count = 0;

	for (size_t i = 0; i < ports->len; i++) {
		count += ports->data[i].finding != 0;
		only = ports->data[i].finding ? ports->data[i].finding : only;
	}
	return count == 1 ? &ctx->judge->findings.data[only - 1] : NULL;
}

/* Captures do not show the port by which bytes came in: judges all ports together. */
static void judge_received(const struct rule_ctx *ctx, const struct counted_node *node,
			   const counted_ports *ports)
{
	struct counted_way way = way_in(node, ports->data, ports->len);
	bool more = way_exceeds(ctx, &way), blamed = false;
	struct finding *finding = only_finding(ctx, ports);

	if (finding && finding->verdict != VERDICT_PASS)
		return;
	for (size_t i = 0; more && !finding && i < ports->len; i++)
		if (ports->data[i].finding)
			blamed = is_to_blame(ctx, node, &ports->data[i]) || blamed;
	if (blamed)
		return;
	if (!finding) {
		finding = found(ctx, VERDICT_PASS, subject_node(node->node->name));
		finding->count = way.sure.count;
	}
	if (way_judge(ctx, finding, &way, node))
		name_others(ctx, finding, node);
}

static bool is_idle(const struct traced_port *port)
{
	return !port->sure.count && !port->maybe.count && !port->read.count && !port->aligned.count;
}

static void judge_node(const struct rule_ctx *ctx, const struct counted_node *node)
{
	counted_ports ports = counted_ports_of(node);
	bool all = true, some = false;

	for (size_t i = 0; i < ports.len; i++) {
		judge_sent(ctx, node, &ports.data[i]);
		all = all && (ports.data[i].finding || is_idle(&ports.data[i].traced));
		some = some || ports.data[i].finding;
	}
	/* received bytes are known from the senders' captures */
	if (all && some && !node->node->in_part && !ctx->judge->losses.list.len)
		judge_received(ctx, node, &ports);
	vec_release(&ports);
}

/* NULL: the counters cover all that was traced. */
static const char *not_covered(const struct counted_node *node)
{
	if (node->traced.in_windows)
		return "the capture saw windows of time only";
	if (node->traced.to && (node->traced.from < (uint64_t)node->inventory->first->mono_ns ||
				node->traced.to > (uint64_t)node->inventory->last->mono_ns))
		return "the inventories are not from before and after the capture";
	return NULL;
}

static const char *doubt_of(const struct rule_ctx *ctx, const struct traced_host *host)
{
	const uint64_t unproven = ctx->aggregates->totals.short_sends.unproven;

	if (ctx->judge->incomplete || ctx->judge->losses.list.len)
		return "records were or may be lost (COV-01)";
	if (unproven)
		return say(
			ctx->judge,
			"the transfers of %lu sends were neither seen nor derived (trace with --exact)",
			(unsigned long)unproven);
	return host->late
		       ? say(ctx->judge,
			     "%zu processes had started before they were traced: their earlier traffic "
			     "is in the counters only",
			     host->late)
		       : NULL;
}

/* A transfer is traced when it is begun: those of a job that is stopped do not all leave. */
static const char *unsent(const struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->ranks.len; i++)
		if (!sweep->ranks.data[i].ended)
			return "the job was stopped: data under way did not leave the node (COV-03)";
	return NULL;
}

static void take_node(const struct rule_ctx *ctx, const struct traced_ports *ports, int64_t again,
		      int host)
{
	const struct node *node = &ctx->aggregates->nodes.data[host];
	struct counted_node counted = {
		.node = node,
		.host = host,
		.inventory = inventory_of(ctx, node),
		.traced = ports->hosts.data[host],
		.ports = ports,
		.again = again,
	};
	const char *why;

	if (!node->name || !counted.inventory)
		return;
	why = not_covered(&counted);
	if (why) {
		found_why(ctx, VERDICT_UNKNOWN, subject_node(node->name), why);
		return;
	}
	counted.unsent = unsent(&ctx->judge->sweep);
	counted.doubt = doubt_of(ctx, &counted.traced);
	judge_node(ctx, &counted);
}

void rule_port_counters(const struct rule_ctx *ctx)
{
	int64_t again = retransmitted_by_all(ctx->judge);
	struct traced_ports ports;

	if (level_missing(ctx->aggregates, LEVEL_UCT)) {
		found_nothing(ctx, VERDICT_SKIP, "transfers were not traced (--level)");
		return;
	}
	nodes_without_inventory(ctx);
	ports_make(&ports, ctx->aggregates);
	for (size_t i = 0; i < ctx->aggregates->nodes.len; i++)
		take_node(ctx, &ports, again, (int)i);
	ports_release(&ports);
}
