// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/aggregates/ports.h"

#include <string.h>

#include "site/judge/aggregates/cells.h"

void ports_add(struct aggregates *aggregates, const struct fact_transfer *transfer, uint64_t count,
	       uint64_t bytes)
{
	const struct sum one = {
		.kind = SUM_PORT,
		.process = transfer->process,
		.peer = transfer->peer,
		.words = { transfer->device, fact_locality_names[transfer->locality],
			   transfer->fetches ? "fetched" : "sent" },
		.count = count,
		.bytes = bytes,
		.least = transfer->start ? transfer->start : UINT64_MAX,
		.most = transfer->end ? transfer->end : transfer->start,
	};

	if (transfer->kind != KIND_COPY && !transfer->retried && count && transfer->device &&
	    is_network(transfer->transport))
		sums_add(&aggregates->sums, &one);
}

void ports_add_window(struct aggregates *aggregates, const struct fact_window *window)
{
	const struct node *node;

	if (window->host < 0 || (size_t)window->host >= aggregates->nodes.len)
		return;
	node = &aggregates->nodes.data[window->host];
	sums_add(&aggregates->sums, &(struct sum){ .kind = SUM_WINDOW,
						   .process = -1,
						   .peer = -1,
						   .words = { node->id, node->name },
						   .count = 1 });
}

void ports_release(struct traced_ports *ports)
{
	vec_release(&ports->list);
	vec_release(&ports->hosts);
	map_release(&ports->index);
}

static struct traced_port *port_at(struct traced_ports *ports, int host, const char *device)
{
	uint64_t *at = map_insert(&ports->index, (uint64_t)host, map_text(device), NULL);

	if (!*at) {
		vec_push(&ports->list, ((struct traced_port){ .host = host, .device = device }));
		*at = ports->list.len;
	}
	return &ports->list.data[*at - 1];
}

static void add(struct flow *to, struct flow flow)
{
	to->bytes += flow.bytes;
	to->count += flow.count;
}

static int host_of(const struct aggregates *aggregates, int process)
{
	return process < 0 ? -1 : aggregates->members.data[process].fact.host;
}

static void stretch(struct traced_host *host, const struct sum *sum)
{
	if (sum->least < host->from)
		host->from = sum->least;
	if (sum->most > host->to)
		host->to = sum->most;
}

static void add_sent(struct traced_ports *ports, const struct sum *sum, int host, int peer,
		     bool sure)
{
	const struct flow flow = { sum->bytes, sum->count };
	struct traced_port *port = port_at(ports, host, sum->words[0]);

	add(sure ? &port->sure : &port->maybe, flow);
	if (peer < 0)
		return;
	add(sure ? &ports->hosts.data[peer].received : &ports->hosts.data[peer].maybe_received,
	    flow);
	if (sure)
		add(&port_at(ports, peer, sum->words[0])->aligned, flow);
}

static void add_fetched(struct traced_ports *ports, const struct sum *sum, int host, int peer,
			bool sure)
{
	const struct flow flow = { sum->bytes, sum->count };

	add(sure ? &ports->hosts.data[host].received : &ports->hosts.data[host].maybe_received,
	    flow);
	add(&port_at(ports, host, sum->words[0])->read, flow);
	if (peer >= 0)
		add(&ports->hosts.data[peer].fetched, flow);
}

static void add_sum(struct traced_ports *ports, const struct aggregates *aggregates,
		    const struct sum *sum)
{
	int host = host_of(aggregates, sum->process), peer = host_of(aggregates, sum->peer);
	bool sure = sum->words[1] && !strcmp(sum->words[1], fact_locality_names[LOCALITY_REMOTE]);

	if (host < 0 || !sum->words[0])
		return;
	stretch(&ports->hosts.data[host], sum);
	if (sum->words[2] && !strcmp(sum->words[2], "fetched"))
		add_fetched(ports, sum, host, peer, sure);
	else
		add_sent(ports, sum, host, peer, sure);
}

static void add_window(struct traced_ports *ports, const struct aggregates *aggregates,
		       const struct sum *sum)
{
	for (size_t i = 0; i < aggregates->nodes.len; i++) {
		const struct node *node = &aggregates->nodes.data[i];

		if (node->id && sum->words[0] && !strcmp(node->id, sum->words[0]))
			ports->hosts.data[i].in_windows = true;
	}
}

void ports_make(struct traced_ports *ports, const struct aggregates *aggregates)
{
	*ports = (struct traced_ports){ 0 };
	for (size_t i = 0; i < aggregates->nodes.len; i++)
		vec_add(&ports->hosts)->from = UINT64_MAX;
	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct fact_process *fact = &aggregates->members.data[i].fact;

		if (fact->host >= 0)
			ports->hosts.data[fact->host].late += !fact->from_start;
	}
	for (size_t i = 0; i < aggregates->sums.list.len; i++) {
		const struct sum *sum = &aggregates->sums.list.data[i];

		if (sum->kind == SUM_PORT)
			add_sum(ports, aggregates, sum);
		else if (sum->kind == SUM_WINDOW)
			add_window(ports, aggregates, sum);
	}
}

/* ---- the ports' own counters ---- */

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

/* Adds one window to delta. Returns NULL, or why the counters are no use. */
static const char *delta_add_window(const struct inventory_window *window, const char *device,
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
		return "only one inventory of this node was given: one from before and one from "
		       "after the job are needed";
	if (node->merged || !node->windows.len)
		return "the inventories are not from before and after each part of the job";
	for (size_t i = 0; i < node->windows.len && !why; i++)
		why = delta_add_window(&node->windows.data[i], device, delta);
	return why;
}

int64_t retransmitted(const struct node_inventory *node)
{
	int64_t first = inventory_tcp_counter(node->first, "RetransSegs");
	int64_t last = inventory_tcp_counter(node->last, "RetransSegs");

	return first < 0 || last < first ? 0 : last - first;
}

/* ---- all that went over each NIC ---- */

static int by_name(const void *left, const void *right)
{
	const struct nic_traffic *a = left, *b = right;
	int order = strcmp(a->node, b->node);

	return order ? order : strcmp(a->device, b->device);
}

static void nics_add(struct nics *nics, const struct nic_traffic *nic)
{
	vec_push(&nics->list, *nic);
}

static void nics_add_cell(struct nics *nics, const struct aggregates *aggregates,
			  const struct traffic_cell *cell)
{
	const struct node *node = aggregates_node(aggregates, cell_owner(cell));

	if (!node || !node->name || !cell->device || !is_network(cell->transport))
		return;
	nics_add(nics, &(struct nic_traffic){
			       .node = node->name,
			       .device = cell->device,
			       .sent = cell->fetches ? 0 : cell->bytes,
			       .fetched = cell->fetches ? cell->bytes : 0,
			       .transfers = cell->count,
		       });
}

static void nics_join(struct nics *nics)
{
	struct nic_traffic *list = nics->list.data;
	size_t kept = 0;

	if (nics->list.len)
		qsort(list, nics->list.len, sizeof(*list), by_name);
	for (size_t i = 0; i < nics->list.len; i++) {
		if (!kept || by_name(&list[kept - 1], &list[i])) {
			list[kept++] = list[i];
			continue;
		}
		list[kept - 1].sent += list[i].sent;
		list[kept - 1].fetched += list[i].fetched;
		list[kept - 1].transfers += list[i].transfers;
	}
	nics->list.len = kept;
}

void nics_make(struct nics *nics, const struct aggregates *aggregates)
{
	for (size_t i = 0; i < aggregates->nodes.len; i++) {
		const struct node *node = &aggregates->nodes.data[i];

		for (size_t k = 0; node->name && node->class && k < node->class->nics.len; k++)
			nics_add(nics, &(struct nic_traffic){ node->name, node->class->nics.data[k],
							      0, 0, 0 });
	}
	for (size_t i = 0; i < aggregates->cells.len; i++)
		nics_add_cell(nics, aggregates, &aggregates->cells.data[i]);
	nics_join(nics);
}

void nics_release(struct nics *nics)
{
	vec_release(&nics->list);
}
