// SPDX-License-Identifier: BSD-3-Clause
/* Service levels, RoCE addresses and error counters of links: FAB-01, FAB-02, FAB-04. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/transport.h"
#include "site/judge/aggregates/inventory.h"
#include "site/judge/rules/rules.h"
#include "site/judge/rules/tally.h"

/* ---- FAB-01 ---- */

#define MAX_LEVEL 15

static const char *value_of(const struct member *member, const char *prefix, const char *name)
{
	for (size_t i = 0; i < member->environment.len; i++) {
		const char *own = member->environment.data[i].name;

		if (!strncmp(own, prefix, strlen(prefix)) && !strcmp(own + strlen(prefix), name))
			return member->environment.data[i].value;
	}
	return NULL;
}

/*
 * The value of the transport's variable that takes effect; NULL: none is set, or it is not
 * InfiniBand.
 */
static const char *level_text(const struct member *member, const char *transport)
{
	bool open_mpi = member->fact.mpi && !strncmp(member->fact.mpi, "Open MPI", 8);
	const char *const *names = transport_named(transport)->level;
	const char *value = NULL;

	for (int i = 0; open_mpi && !value && names[i]; i++)
		value = value_of(member, "MPI_UCX_", names[i]);
	for (int i = 0; !value && names[i]; i++)
		value = value_of(member, "UCX_", names[i]);
	return value;
}

static bool is_infiniband(const char *transport)
{
	return transport_named(transport)->level[0];
}

/* -1: not told */
static int64_t level_of(const char *text)
{
	char *end;
	long level = text ? strtol(text, &end, 10) : -1;

	return !text || end == text || *end || level < 0 || level > MAX_LEVEL ? -1 : level;
}

static const char *level_text_of(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	return level_text(&ctx->aggregates->members.data[cell->process], cell->transport);
}

/* Asks by the sender's setting: a queue pair's data goes on the level of its own end. */
static struct cell_answer ask_level(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	int64_t level;

	if (!is_infiniband(cell->transport) || !aggregates_node(ctx->aggregates, cell->process))
		return (struct cell_answer){ FITS_NOT, false };
	level = level_of(level_text_of(ctx, cell));
	return (struct cell_answer){
		expectation_fits(ctx->aggregates, cell, ctx->expect),
		level >= 0 && level != ctx->expect->sl,
	};
}

static const char *wrong_level(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	return say(ctx->judge, "service level %ld for %s", (long)level_of(level_text_of(ctx, cell)),
		   cell->transport);
}

static const char *unknown_level(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	const struct member *member = &ctx->aggregates->members.data[cell->process];
	const char *text = level_text_of(ctx, cell);

	if (level_of(text) >= 0)
		return NULL;
	if (member->fact.environment_cut < 0)
		return "the variables of its processes are not known";
	return text ? say(ctx->judge, "UCX_IB_SL is '%s'", text)
		    : "UCX_IB_SL is not set: UCX chooses";
}

static void judge_line(const struct rule_ctx *ctx, const struct policy_expect *expect)
{
	struct rule_ctx line = *ctx;

	line.expect = expect;
	cells_judge(&line, &(struct cell_rule){
				   .measure = ask_level,
				   .group = tally_source,
				   .phrase = wrong_level,
				   .undecided = unknown_level,
				   .allowed = 1 - expect->min_share,
				   .expected = say(ctx->judge, "service level %ld (line %d)",
						   (long)expect->sl, expect->line),
			   });
}

void rule_service_level(const struct rule_ctx *ctx)
{
	const struct policy *policy = ctx->judge->policy;

	for (size_t i = 0; i < policy->expect.len; i++)
		if (policy->expect.data[i].sl >= 0)
			judge_line(ctx, &policy->expect.data[i]);
}

/* ---- FAB-02 ---- */

/* A RoCE port, and how it is addressed. */
struct roce_port {
	const struct node_inventory *node;
	const struct inventory_nic *nic;
	const char *address;
};

typedef VEC(struct roce_port) roce_ports;

/* "GID 0 IB/RoCE v1, GID 3 RoCE v2, traffic class 106": the types by index, not the addresses */
static const char *address_of(struct judge *judge, const struct inventory_nic *nic)
{
	const char *text = "";

	for (size_t i = 0; i < nic->addresses.len; i++)
		text = say(judge, "%sGID %" PRId64 " %s, ", text, nic->addresses.data[i].index,
			   nic->addresses.data[i].type ? nic->addresses.data[i].type : "?");
	return nic->traffic_class < 0
		       ? say(judge, "%straffic class unknown", text)
		       : say(judge, "%straffic class %" PRId64, text, nic->traffic_class);
}

static bool is_roce(const struct inventory_nic *nic)
{
	return !strcmp(nic->kind, "verbs") && nic->link_layer &&
	       !strcmp(nic->link_layer, "Ethernet") && inventory_nic_up(nic);
}

static int by_class_and_name(const struct roce_port *a, const struct roce_port *b)
{
	int order = (a->node->class > b->node->class) - (a->node->class < b->node->class);

	return order ? order : strcmp(a->nic->name, b->nic->name);
}

static int by_address(const void *left, const void *right)
{
	const struct roce_port *a = left, *b = right;
	int order = by_class_and_name(a, b);

	return order ? order : strcmp(a->address, b->address);
}

/* The address of most ports of one name and class; NULL: no two are alike, or no majority. */
static const char *most_have(const struct roce_port *ports, size_t count)
{
	size_t best = 0, second = 0, length;
	const char *address = NULL;

	for (size_t i = 0; i < count; i += length) {
		for (length = 1; i + length < count; length++)
			if (strcmp(ports[i].address, ports[i + length].address))
				break;
		if (length > best) {
			second = best;
			best = length;
			address = ports[i].address;
		} else if (length > second) {
			second = length;
		}
	}
	return best > second ? address : NULL;
}

static void judge_alike(const struct rule_ctx *ctx, const struct roce_port *ports, size_t count)
{
	const char *usual = most_have(ports, count);

	for (size_t i = 0; i < count; i++) {
		bool fails = !usual || strcmp(usual, ports[i].address);
		struct finding *finding =
			found(ctx, fails ? VERDICT_FAIL : VERDICT_PASS,
			      subject_nic(ctx->judge, ports[i].node->name, ports[i].nic->name));

		finding->expected = usual ? usual : "the same on both ends";
		finding->seen = fails ? ports[i].address : NULL;
	}
}

void rule_roce(const struct rule_ctx *ctx)
{
	const struct node_inventories *nodes = &ctx->judge->inventories;
	roce_ports list = { 0 };
	size_t count;

	nodes_without_inventory(ctx);
	for (size_t i = 0; i < nodes->list.len; i++) {
		const struct inventory *inventory = nodes->list.data[i].last;

		for (size_t k = 0; k < inventory->nics.len; k++)
			if (is_roce(&inventory->nics.data[k]))
				vec_push(&list,
					 ((struct roce_port){
						 &nodes->list.data[i], &inventory->nics.data[k],
						 address_of(ctx->judge,
							    &inventory->nics.data[k]) }));
	}
	if (list.len)
		qsort(list.data, list.len, sizeof(*list.data), by_address);
	else
		found_nothing(ctx, VERDICT_SKIP, "no node has a RoCE port that is up");
	for (size_t i = 0; i < list.len; i += count) {
		for (count = 1; i + count < list.len; count++)
			if (by_class_and_name(&list.data[i], &list.data[i + count]))
				break;
		judge_alike(ctx, &list.data[i], count);
	}
	vec_release(&list);
}

/* ---- FAB-04 ---- */

/*
 * Counters that do not move on a healthy link. full: the value at which they stop (IBTA 1.4,
 * PortCounters; the kernel shows 16-bit and 8-bit ones as they are), 0: none.
 */
static const struct {
	const char *name;
	int64_t full;
} error_counters[] = {
	{ "symbol_error", 65535 },
	{ "link_error_recovery", 255 },
	{ "link_downed", 255 },
	{ "port_rcv_errors", 65535 },
	{ "port_rcv_remote_physical_errors", 65535 },
	{ "local_link_integrity_errors", 15 },
	{ "excessive_buffer_overrun_errors", 15 },
	{ "local_ack_timeout_err", 0 },
	{ "packet_seq_err", 0 },
	{ "out_of_sequence", 0 },
	{ "rx_crc_errors", 0 },
	{ "rx_frame_errors", 0 },
	{ "rx_errors", 0 },
	{ "tx_errors", 0 },
	{ "tx_carrier_errors", 0 },
	{ "carrier_down_count", 0 },
};

struct errors {
	const char *text, *unknown;
	uint64_t count;
};

static void take_counter(struct judge *judge, size_t which, const struct inventory_nic *before,
			 const struct inventory_nic *after, struct errors *errors)
{
	const char *name = error_counters[which].name;
	int64_t first = inventory_counter(before, name), last = inventory_counter(after, name);

	if (first < 0 || last < 0)
		return;
	if (last < first)
		errors->unknown = say(judge, "%s was reset", name);
	else if (error_counters[which].full && first >= error_counters[which].full)
		errors->unknown =
			say(judge, "%s was at its maximum before: reset it (perfquery -R)", name);
	if (last <= first)
		return;
	errors->text = say(judge, "%s%s%s +%" PRId64, errors->text, *errors->text ? ", " : "", name,
			   last - first);
	errors->count += (uint64_t)(last - first);
}

/* Both count in units of 4 B: how long data waited, of the time it took. */
static double wait_share(const struct inventory_nic *before, const struct inventory_nic *after)
{
	int64_t waited = inventory_counter(after, "port_xmit_wait") -
			 inventory_counter(before, "port_xmit_wait");
	int64_t sent = inventory_counter(after, "port_xmit_data") -
		       inventory_counter(before, "port_xmit_data");

	if (inventory_counter(before, "port_xmit_wait") < 0 || waited <= 0 || sent < 0)
		return 0;
	return (double)waited / (double)(waited + sent);
}

static void judge_counters(const struct rule_ctx *ctx, const struct node_inventory *node,
			   const struct inventory_nic *before, const struct inventory_nic *after)
{
	struct judge *judge = ctx->judge;
	struct finding *finding =
		found(ctx, VERDICT_PASS, subject_nic(judge, node->name, after->name));
	struct errors errors = { .text = "" };
	double share = wait_share(before, after);

	finding->expected = "no errors";
	for (size_t i = 0; i < sizeof(error_counters) / sizeof(*error_counters); i++)
		take_counter(judge, i, before, after, &errors);
	if (share > ctx->settings->fab_04.wait_share)
		errors.text = say(judge, "%s%swaited %.1f %% of the time to send", errors.text,
				  *errors.text ? ", " : "", 100 * share);
	if (*errors.text) {
		finding->verdict = VERDICT_FAIL;
		finding->seen = errors.text;
		finding->count = errors.count;
	} else if (errors.unknown) {
		finding->verdict = VERDICT_UNKNOWN;
		finding->why = errors.unknown;
	}
}

bool nic_watched(const struct node_inventory *node, const struct inventory_nic *nic)
{
	const struct policy_class *class = node->class;

	for (size_t i = 0; class && i < class->nics.len; i++)
		if (nic_is_named(nic->name, class->nics.data[i]))
			return true;
	return (!class || !class->nics.len) && (nic->pci.address || !strcmp(nic->kind, "verbs"));
}

static void judge_node(const struct rule_ctx *ctx, const struct node_inventory *node)
{
	for (size_t i = 0; i < node->last->nics.len; i++) {
		const struct inventory_nic *after = &node->last->nics.data[i];
		const struct inventory_nic *before = inventory_nic(node->first, after->name);

		if (nic_watched(node, after) && before)
			judge_counters(ctx, node, before, after);
	}
}

void rule_error_counters(const struct rule_ctx *ctx)
{
	const struct node_inventories *nodes = &ctx->judge->inventories;

	nodes_without_inventory(ctx);
	for (size_t i = 0; i < nodes->list.len; i++) {
		const struct node_inventory *node = &nodes->list.data[i];

		if (node->first == node->last)
			found_why(
				ctx, VERDICT_UNKNOWN, subject_node(node->name),
				"only one inventory of this node was given: one from before and one "
				"from after the job are needed");
		else
			judge_node(ctx, node);
	}
}
