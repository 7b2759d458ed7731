// SPDX-License-Identifier: BSD-3-Clause
/* Whether a node's ports carried what was traced, and nothing else: COV-02. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "judge/exhibits_ports.h"
#include "judge/port_counters.h"
#include "judge/rules.h"

enum { LOW, HIGH, UNTRACED, SLACK }; /* settings, as in the catalogue */

#define HIGH_AUTO 1.02
#define UCX_HEADER 48 /* B that a transport adds to a transfer, at most: 5 to 34 of tcp's */

/* One direction of a port, or of all ports of a node together. */
struct way {
	const char *what; /* "sent", "received" */
	int64_t bytes, packets, again; /* again: B that TCP sent once more */
	const struct port_delta *unit; /* of what a packet is */
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
};

/* Payload of the counter's bytes; where packets are not counted, as many as the traced fill. */
static int64_t payload(const struct way *way, int64_t header)
{
	int64_t packets = way->packets;

	if (packets < 0)
		packets = (int64_t)(way->sure.count + way->sure.bytes / way->unit->packet);
	return way->bytes - packets * header;
}

static int64_t most(const struct trial *trial, const struct way *way, const struct flow *flow)
{
	double high = trial->setting->number[HIGH];

	high = isnan(high) ? HIGH_AUTO : high;
	return (int64_t)((double)flow->bytes * high) + (int64_t)flow->count * UCX_HEADER +
	       way->again + (int64_t)trial->setting->number[SLACK];
}

static int64_t least(const struct trial *trial, const struct flow *flow)
{
	return (int64_t)((double)flow->bytes * trial->setting->number[LOW]);
}

static void say_numbers(const struct trial *trial, struct finding *finding, const struct way *way)
{
	finding->expected = say(trial->judge, "%" PRId64 " to %" PRId64 " B %s",
				least(trial, &way->sure), most(trial, way, &way->all), way->what);
	finding->seen =
		say(trial->judge,
		    "%" PRId64 " B %s by the port's counter without headers, %" PRIu64 " B traced",
		    payload(way, way->unit->header), way->what, way->sure.bytes);
}

/* Whether the finding is done with: something is wrong in this direction. */
static bool judge_way(const struct trial *trial, struct finding *finding, const struct way *way,
		      const char *doubt)
{
	int64_t high = payload(way, way->unit->header);
	int64_t low = payload(way, way->unit->least_header);

	say_numbers(trial, finding, way);
	if (low < least(trial, &way->sure)) {
		finding->verdict = VERDICT_FAIL;
		finding->bytes = (uint64_t)(least(trial, &way->sure) - low);
		return true;
	}
	if (high > most(trial, way, &way->all)) {
		finding->verdict = doubt ? VERDICT_UNKNOWN : VERDICT_FAIL;
		finding->why = doubt;
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

static struct flow plus(struct flow a, struct flow b)
{
	return (struct flow){ a.bytes + b.bytes, a.count + b.count };
}

static struct way way_out(const struct counted_node *node, const struct port_delta *delta,
			  const struct traced_port *port)
{
	return (struct way){
		.what = "sent",
		.bytes = delta->sent,
		.packets = delta->sent_packets,
		.again = retransmitted(node->inventory) * delta->packet,
		.unit = delta,
		.sure = port->sure,
		.all = plus(plus(port->sure, port->maybe), node->traced.fetched),
	};
}

/* What others sent twice comes in twice. */
static int64_t retransmitted_by_all(const struct judge *judge)
{
	int64_t segments = 0;

	for (size_t i = 0; i < judge->inventories.list.len; i++)
		segments += retransmitted(&judge->inventories.list.data[i]);
	return segments;
}

static struct way way_in(const struct counted_node *node, const struct port_delta *sum)
{
	return (struct way){
		.what = "received",
		.bytes = sum->received,
		.packets = sum->received_packets,
		.again = node->again * sum->packet,
		.unit = sum,
		.sure = node->traced.received,
		.all = plus(node->traced.received, node->traced.maybe_received),
	};
}

static void name_others(const struct trial *trial, struct finding *finding,
			const struct counted_node *node)
{
	const struct inventory *inventory = node->inventory->last;

	for (size_t i = 0; i < inventory->verbs_users.len && i < 3; i++)
		finding->seen = say(
			trial->judge, "%s%s pid %" PRId64 " (%s)", finding->seen,
			i ? "," : "; with a verbs device open:", inventory->verbs_users.data[i].pid,
			inventory->verbs_users.data[i].comm ? inventory->verbs_users.data[i].comm
							    : "?");
}

static void add_delta(struct port_delta *sum, const struct port_delta *delta)
{
	bool first = !sum->packet;

	sum->received += delta->received;
	if (first || sum->received_packets >= 0)
		sum->received_packets = delta->received_packets < 0
						? -1
						: sum->received_packets + delta->received_packets;
	sum->packet = delta->packet;
	sum->header = delta->header > sum->header ? delta->header : sum->header;
	sum->least_header = first || delta->least_header < sum->least_header ? delta->least_header
									     : sum->least_header;
}

struct counted_port {
	const char *device;
	struct traced_port traced;
	struct port_delta delta;
	size_t finding; /* 1 + position; 0: it is not judged */
};

typedef VEC(struct counted_port) counted_ports;

/* By one counter: soft-RoCE and the interface below it. */
static bool same_counter(const struct counted_node *node, const char *device, const char *other)
{
	const struct inventory *inventory = node->inventory->last;
	const struct inventory_nic *counter = port_counter(inventory, device);

	return !strcmp(device, other) || (counter && counter == port_counter(inventory, other));
}

/* What went over a device, and over others that have its counter. */
static struct traced_port traced_by(const struct counted_node *node, const char *device)
{
	struct traced_port sum = { .host = node->host, .device = device };

	for (size_t i = 0; i < node->ports->list.len; i++) {
		const struct traced_port *port = &node->ports->list.data[i];

		if (port->host != node->host || !same_counter(node, device, port->device))
			continue;
		sum.sure = plus(sum.sure, port->sure);
		sum.maybe = plus(sum.maybe, port->maybe);
		sum.aligned = plus(sum.aligned, port->aligned);
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

/* Those that were used, and those that the class lists: foreign traffic may be on an idle one. */
static counted_ports ports_of(const struct counted_node *node)
{
	const struct traced_ports *ports = node->ports;
	const struct policy_class *class = node->node->class;
	counted_ports list = { 0 };

	for (size_t i = 0; i < ports->list.len; i++) {
		const struct traced_port *port = &ports->list.data[i];

		if (port->host == node->host && port->sure.count + port->maybe.count)
			add_port(&list, node, port->device);
	}
	for (size_t i = 0; class && i < class->nics.len; i++)
		add_port(&list, node, class->nics.data[i]);
	return list;
}

static void judge_sent(const struct trial *trial, const struct counted_node *node,
		       struct counted_port *port)
{
	const char *subject = say(trial->judge, "%s:%s", node->node->name, port->device);
	struct finding *finding;
	const char *why;
	struct way way;

	if (listed(&trial->setting->list[UNTRACED], port->device)) {
		found_why(trial, VERDICT_SKIP, subject, "declared untraced by the policy");
		return;
	}
	why = port_delta(node->inventory, port->device, &port->delta);
	if (why) {
		found_why(trial, VERDICT_UNKNOWN, subject, why);
		return;
	}
	finding = found(trial, VERDICT_PASS, subject);
	finding->count = port->traced.sure.count;
	port->finding = trial->judge->findings.len;
	way = way_out(node, &port->delta, &port->traced);
	if (judge_way(trial, finding, &way, node->doubt))
		name_others(trial, finding, node);
}

/* More came in than was sent here: whether by this port, if devices of one name talk to each other.
 */
static bool is_to_blame(const struct trial *trial, const struct counted_node *node,
			const struct counted_port *port)
{
	struct finding *finding = &trial->judge->findings.data[port->finding - 1];
	struct way way = way_in(node, &port->delta);

	way.sure = port->traced.aligned;
	way.all = plus(way.sure, node->traced.maybe_received);
	if (finding->verdict != VERDICT_PASS ||
	    payload(&way, way.unit->header) <= most(trial, &way, &way.all))
		return false;
	judge_way(trial, finding, &way, node->doubt);
	name_others(trial, finding, node);
	return true;
}

/* The one port that is judged; NULL: there are several. */
static struct finding *only_finding(const struct trial *trial, const counted_ports *ports)
{
	size_t only = 0, count = 0;

	for (size_t i = 0; i < ports->len; i++) {
		count += ports->data[i].finding != 0;
		only = ports->data[i].finding ? ports->data[i].finding : only;
	}
	return count == 1 ? &trial->judge->findings.data[only - 1] : NULL;
}

/* By which port something came in is not traced: all of them together. */
static void judge_received(const struct trial *trial, const struct counted_node *node,
			   const counted_ports *ports, const struct port_delta *sum)
{
	struct way way = way_in(node, sum);
	bool more = payload(&way, sum->header) > most(trial, &way, &way.all), blamed = false;
	struct finding *finding = only_finding(trial, ports);

	if (finding && finding->verdict != VERDICT_PASS)
		return;
	for (size_t i = 0; more && !finding && i < ports->len; i++)
		if (ports->data[i].finding)
			blamed = is_to_blame(trial, node, &ports->data[i]) || blamed;
	if (blamed)
		return;
	if (!finding) {
		finding = found(trial, VERDICT_PASS, node->node->name);
		finding->count = way.sure.count;
	}
	if (judge_way(trial, finding, &way, node->doubt))
		name_others(trial, finding, node);
}

static bool is_idle(const struct traced_port *port)
{
	return !port->sure.count && !port->maybe.count && !port->aligned.count;
}

static void judge_node(const struct trial *trial, const struct counted_node *node)
{
	counted_ports ports = ports_of(node);
	struct port_delta sum = { 0 };
	bool all = true;

	for (size_t i = 0; i < ports.len; i++) {
		judge_sent(trial, node, &ports.data[i]);
		all = all && (ports.data[i].finding || is_idle(&ports.data[i].traced));
		if (ports.data[i].finding)
			add_delta(&sum, &ports.data[i].delta);
	}
	if (all && sum.packet && !node->node->in_part)
		judge_received(trial, node, &ports, &sum);
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

static const char *doubt_of(const struct trial *trial, const struct traced_host *host)
{
	if (trial->judge->incomplete)
		return "records were or may be lost (COV-01)";
	return host->late ? say(trial->judge,
				"%zu processes had begun before they were traced: what they sent "
				"then is in the counters only",
				host->late)
			  : NULL;
}

static void take_node(const struct trial *trial, const struct traced_ports *ports, int64_t again,
		      int host)
{
	const struct node *node = &trial->exhibits->nodes.data[host];
	struct counted_node counted = {
		.node = node,
		.host = host,
		.inventory = inventories_find(&trial->judge->inventories, node->id, node->name),
		.traced = ports->hosts.data[host],
		.ports = ports,
		.again = again,
	};
	const char *why;

	if (!node->name || !counted.inventory)
		return;
	why = not_covered(&counted);
	if (why) {
		found_why(trial, VERDICT_UNKNOWN, node->name, why);
		return;
	}
	counted.doubt = doubt_of(trial, &counted.traced);
	judge_node(trial, &counted);
}

static bool no_transfers(const struct exhibits *exhibits)
{
	const struct fact_self *self = &exhibits->totals.self;

	return self->known && !self->levels[2]; /* "uct" */
}

void rule_port_counters(const struct trial *trial)
{
	size_t before = trial->judge->findings.len;
	int64_t again = retransmitted_by_all(trial->judge);
	struct traced_ports ports;

	if (no_transfers(trial->exhibits)) {
		found_nothing(trial, VERDICT_SKIP, "transfers were not traced (--level)");
		return;
	}
	nodes_without_inventory(trial);
	ports_make(&ports, trial->exhibits);
	for (size_t i = 0; i < trial->exhibits->nodes.len; i++)
		take_node(trial, &ports, again, (int)i);
	ports_release(&ports);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "no class says 'nics', and no NIC was used");
}
