// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/ports.h"

#include <string.h>

#include "site/judge/exhibits/cells.h"

void ports_add(struct exhibits *exhibits, const struct fact_transfer *transfer, uint64_t count,
	       uint64_t bytes)
{
	const struct sum one = {
		.kind = SUM_PORT,
		.process = transfer->process,
		.peer = transfer->peer,
		.words = { transfer->device, fact_locality_names[transfer->locality],
			   fact_fetches(transfer->op, transfer->transport) ? "fetched" : "sent" },
		.count = count,
		.bytes = bytes,
		.least = transfer->start ? transfer->start : UINT64_MAX,
		.most = transfer->end ? transfer->end : transfer->start,
	};

	if (transfer->kind != KIND_COPY && !transfer->retried && count && transfer->device &&
	    is_network(transfer->transport))
		sums_add(&exhibits->sums, &one);
}

void ports_add_window(struct exhibits *exhibits, const struct fact_window *window)
{
	const struct node *node;

	if (window->host < 0 || (size_t)window->host >= exhibits->nodes.len)
		return;
	node = &exhibits->nodes.data[window->host];
	sums_add(&exhibits->sums, &(struct sum){ .kind = SUM_WINDOW,
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

static int host_of(const struct exhibits *exhibits, int process)
{
	return process < 0 ? -1 : exhibits->members.data[process].fact.host;
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

static void add_sum(struct traced_ports *ports, const struct exhibits *exhibits,
		    const struct sum *sum)
{
	int host = host_of(exhibits, sum->process), peer = host_of(exhibits, sum->peer);
	bool sure = sum->words[1] && !strcmp(sum->words[1], fact_locality_names[LOCALITY_REMOTE]);

	if (host < 0 || !sum->words[0])
		return;
	stretch(&ports->hosts.data[host], sum);
	if (sum->words[2] && !strcmp(sum->words[2], "fetched"))
		add_fetched(ports, sum, host, peer, sure);
	else
		add_sent(ports, sum, host, peer, sure);
}

static void add_window(struct traced_ports *ports, const struct exhibits *exhibits,
		       const struct sum *sum)
{
	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct node *node = &exhibits->nodes.data[i];

		if (node->id && sum->words[0] && !strcmp(node->id, sum->words[0]))
			ports->hosts.data[i].in_windows = true;
	}
}

void ports_make(struct traced_ports *ports, const struct exhibits *exhibits)
{
	*ports = (struct traced_ports){ 0 };
	for (size_t i = 0; i < exhibits->nodes.len; i++)
		vec_add(&ports->hosts)->from = UINT64_MAX;
	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct fact_process *fact = &exhibits->members.data[i].fact;

		if (fact->host >= 0)
			ports->hosts.data[fact->host].late += !fact->from_start;
	}
	for (size_t i = 0; i < exhibits->sums.list.len; i++) {
		const struct sum *sum = &exhibits->sums.list.data[i];

		if (sum->kind == SUM_PORT)
			add_sum(ports, exhibits, sum);
		else if (sum->kind == SUM_WINDOW)
			add_window(ports, exhibits, sum);
	}
}
