// SPDX-License-Identifier: BSD-3-Clause
/* Whether a node's ports carried what was traced, and nothing else: COV-02. */
#include <inttypes.h>

#include "site/judge/rules/counters.h"

/* What others sent twice comes in twice. */
static int64_t retransmitted_by_all(const struct judge *judge)
{
	int64_t segments = 0;

	for (size_t i = 0; i < judge->inventories.list.len; i++)
		segments += retransmitted(&judge->inventories.list.data[i]);
	return segments;
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
	if (way_judge(trial, finding, &way, node))
		name_others(trial, finding, node);
}

/* More came in than was sent here: whether by this port, if devices of one name talk to each other.
 */
static bool is_to_blame(const struct trial *trial, const struct counted_node *node,
			const struct counted_port *port)
{
	struct finding *finding = &trial->judge->findings.data[port->finding - 1];
	struct way way = way_in(node, port, 1);

	way.sure = flow_plus(port->traced.aligned, port->traced.read);
	way.all = flow_plus(way.sure, node->traced.maybe_received);
	if (finding->verdict != VERDICT_PASS || !way_exceeds(trial, &way))
		return false;
	way_judge(trial, finding, &way, node);
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
			   const counted_ports *ports)
{
	struct way way = way_in(node, ports->data, ports->len);
	bool more = way_exceeds(trial, &way), blamed = false;
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
	if (way_judge(trial, finding, &way, node))
		name_others(trial, finding, node);
}

static bool is_idle(const struct traced_port *port)
{
	return !port->sure.count && !port->maybe.count && !port->read.count && !port->aligned.count;
}

static void judge_node(const struct trial *trial, const struct counted_node *node)
{
	counted_ports ports = counted_ports_of(node);
	bool all = true, some = false;

	for (size_t i = 0; i < ports.len; i++) {
		judge_sent(trial, node, &ports.data[i]);
		all = all && (ports.data[i].finding || is_idle(&ports.data[i].traced));
		some = some || ports.data[i].finding;
	}
	/* what came in is known by those who sent it */
	if (all && some && !node->node->in_part && !trial->judge->losses.list.len)
		judge_received(trial, node, &ports);
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
	if (trial->judge->incomplete || trial->judge->losses.list.len)
		return "records were or may be lost (COV-01)";
	return host->late ? say(trial->judge,
				"%zu processes had begun before they were traced: what they sent "
				"then is in the counters only",
				host->late)
			  : NULL;
}

/* A transfer is traced when it is begun: those of a job that is stopped do not all leave. */
static const char *unsent(const struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->ranks.len; i++)
		if (!sweep->ranks.data[i].ended)
			return "the job was stopped: what was under way then did not leave (COV-03)";
	return NULL;
}

static void take_node(const struct trial *trial, const struct traced_ports *ports, int64_t again,
		      int host)
{
	const struct node *node = &trial->exhibits->nodes.data[host];
	struct counted_node counted = {
		.node = node,
		.host = host,
		.inventory = inventory_of(trial, node),
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
	counted.unsent = unsent(&trial->judge->sweep);
	counted.doubt = doubt_of(trial, &counted.traced);
	judge_node(trial, &counted);
}

void rule_port_counters(const struct trial *trial)
{
	size_t before = trial->judge->findings.len;
	int64_t again = retransmitted_by_all(trial->judge);
	struct traced_ports ports;

	if (level_missing(trial->exhibits, LEVEL_UCT)) {
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
