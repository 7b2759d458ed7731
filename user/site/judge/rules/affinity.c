// SPDX-License-Identifier: BSD-3-Clause
/*
 * AFF-01 and 'nic: nearest' of PATH-01: messages leave by the NIC that is nearest to their memory.
 * AFF-02: ranks may run only near the GPUs and NICs that their messages use.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lists.h"
#include "site/judge/aggregates/inventory.h"
#include "site/judge/rules/rules.h"
#include "site/judge/rules/tally.h"

/* ---- AFF-01 ---- */

static const char *cpus_of(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	int process = cell_owner(cell);

	return process < 0 ? NULL : ctx->aggregates->members.data[process].fact.cpus;
}

static enum nearness nearness(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	const struct node_inventory *inventory =
		inventory_of(ctx, aggregates_node(ctx->aggregates, cell_owner(cell)));

	if (!inventory)
		return NEAR_UNKNOWN;
	return is_gpu(cell_own_memory(cell))
		       ? nearness_of(inventory, cell_own_memory(cell), cell->device)
		       : nearness_of_cores(inventory, cpus_of(ctx, cell), cell->device);
}

/* Whether a nearest NIC exists: not for devices without a NUMA node. */
static bool has_nearest(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	const struct node *node = aggregates_node(ctx->aggregates, cell_owner(cell));
	const struct node_inventory *inventory = inventory_of(ctx, node);
	const char *memory = cell_own_memory(cell);
	const struct inventory_nic *nic;

	if (!node || is_gpu(memory))
		return node;
	if (!memory || strcmp(memory, "host") != 0 || !cpus_of(ctx, cell))
		return false;
	nic = inventory ? inventory_nic(inventory->last, cell->device) : NULL;
	return !inventory || (inventory->last->numa.len > 1 && (!nic || nic->pci.address));
}

/* Whether the rule, or the line, is about the cell. */
static enum fits leaves_by_nic(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	if (!cell_over_nic(cell))
		return FITS_NOT;
	if (!ctx->expect)
		return is_gpu(cell_own_memory(cell)) ? FITS : FITS_NOT;
	return has_nearest(ctx, cell) ? expectation_fits(ctx->aggregates, cell, ctx->expect)
				      : FITS_NOT;
}

static struct cell_answer ask_distance(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	enum fits about = leaves_by_nic(ctx, cell);
	enum nearness near = about == FITS_NOT ? NEAR_UNKNOWN : nearness(ctx, cell);

	return (struct cell_answer){ near == NEAR_UNKNOWN ? FITS_NOT : about, near > NEAR_NEAREST };
}

static struct cell_answer ask_unplaced(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	enum fits about = leaves_by_nic(ctx, cell);
	bool known = about != FITS_NOT && nearness(ctx, cell) != NEAR_UNKNOWN;

	return (struct cell_answer){ known ? FITS_NOT : about, true };
}

static void found_unplaced(const struct rule_ctx *ctx, const char *why)
{
	struct tallies tallies = { 0 };

	tallies_measure(ctx, &tallies,
			&(struct cell_rule){ .measure = ask_unplaced, .group = tally_owner });
	for (size_t i = 0; i < tallies.list.len; i++)
		found_why(ctx, VERDICT_UNKNOWN, tallies.list.data[i].subject, why);
	tallies_release(&tallies);
}

/* A node's worst transfers from another socket are critical: they cost most. */
static void weigh_distance(const struct rule_ctx *ctx, struct tally *tally)
{
	tally->critical = tally->worst && nearness(ctx, tally->worst) == NEAR_OTHER_SOCKET;
}

void rule_nearest_nic(const struct rule_ctx *ctx)
{
	found_unplaced(ctx, "its inventory does not show where the GPU or the NIC is");
	cells_judge(ctx, &(struct cell_rule){
				 .measure = ask_distance,
				 .group = tally_owner,
				 .adjust = weigh_distance,
				 .allowed = ctx->settings->aff_01.share,
				 .expected = "the GPU's nearest NIC",
			 });
}

void nearest_judge(const struct rule_ctx *ctx, const struct policy_expect *expect)
{
	size_t before = ctx->judge->findings.len;
	struct rule_ctx line = *ctx;

	line.expect = expect;
	found_unplaced(&line, "its inventory does not show which NIC is the nearest, or ranks may "
			      "run on several NUMA nodes");
	cells_judge(&line,
		    &(struct cell_rule){
			    .measure = ask_distance,
			    .group = tally_owner,
			    .allowed = 1 - expect->min_share,
			    .expected = say(ctx->judge, "the nearest NIC (line %d)", expect->line),
		    });
	if (ctx->judge->findings.len == before)
		found_why(ctx, VERDICT_SKIP,
			  subject_plain(SUBJECT_OTHER, say(ctx->judge, "line %d", expect->line)),
			  "'nic': no memory with a known NUMA node left a node");
}

/* ---- AFF-02 ---- */

/* A GPU or a NIC that a process's messages use. */
struct near_device {
	int process;
	bool nic;
	const char *name; /* a kept word: it lies at one place */
	uint64_t bytes;
};

struct devices {
	VEC(struct near_device) list;
	struct map index; /* (process and nic, name) -> 1 + position */
};

/* What is found of a node's ranks. */
struct standing {
	size_t far, near;
	const char *seen; /* of the first that is far */
	const char *unknown, *none; /* why */
};

static void use(struct devices *devices, const struct near_device *one)
{
	uint64_t *at = map_insert(&devices->index, 2 * (uint64_t)one->process + one->nic,
				  (uintptr_t)one->name, NULL);

	if (!*at) {
		vec_push(&devices->list, *one);
		*at = devices->list.len;
		return;
	}
	devices->list.data[*at - 1].bytes += one->bytes;
}

static void use_gpu(struct devices *devices, int process, const char *memory, uint64_t bytes)
{
	if (process >= 0 && is_gpu(memory))
		use(devices, &(struct near_device){ process, false, memory, bytes });
}

/* By process, GPUs first. */
static int by_process(const void *left, const void *right)
{
	const struct near_device *a = left, *b = right;
	int order = (a->process > b->process) - (a->process < b->process);

	order = order ? order : a->nic - b->nic;
	return order ? order : strcmp(a->name, b->name);
}

static void collect(const struct aggregates *aggregates, struct devices *devices)
{
	for (size_t i = 0; i < aggregates->sums.list.len; i++) {
		const struct sum *way = &aggregates->sums.list.data[i];

		if (way->kind != SUM_WAY)
			continue;
		use_gpu(devices, way->process, way->words[WAY_SRC_MEM], way->bytes);
		use_gpu(devices, way->peer, way->words[WAY_DST_MEM], way->bytes);
	}
	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];

		if (cell_over_nic(cell))
			use(devices, &(struct near_device){ cell_owner(cell), true, cell->device,
							    cell->bytes });
	}
	if (devices->list.len)
		qsort(devices->list.data, devices->list.len, sizeof(*devices->list.data),
		      by_process);
}

/* ---- a process ---- */

/* The devices that count: its GPUs, else its NICs; but none of little use: wire-up and the like. */
static size_t what_counts(struct near_device *list, size_t count)
{
	uint64_t all = 0;
	size_t kept = 0, same = 0;

	for (; same < count && list[same].nic == list[0].nic; same++)
		all += list[same].bytes;
	for (size_t i = 0; i < same; i++)
		if (list[i].bytes * 20 > all || !all)
			list[kept++] = list[i];
	return kept;
}

#define NOT_ON_PCI (-2)

/* The NUMA node of a device; -1: not known. */
static int64_t numa_of(const struct node_inventory *inventory, const struct near_device *device)
{
	const struct inventory_nic *nic;

	if (!device->nic)
		return gpu_numa(inventory, device->name);
	nic = inventory_nic(inventory->last, device->name);
	if (nic && !nic->pci.address)
		return NOT_ON_PCI;
	return nic ? nic->pci.numa : -1;
}

/*
 * The cores a process may run on, how many of them are near its devices, and both sets of NUMA
 * nodes.
 */
struct cores {
	int64_t all, near;
	const char *nodes, *wanted; /* "0, 1" */
};

static const char *and_node(const struct rule_ctx *ctx, const char *text, int64_t node)
{
	return say(ctx->judge, "%s%s%ld", text ? text : "", text ? ", " : "", (long)node);
}

/* NULL, or the part that the inventory lacks. */
static const char *count_cores(const struct rule_ctx *ctx, const struct inventory *inventory,
			       const char *cpus, const bool *wanted, struct cores *cores)
{
	for (size_t i = 0; i < inventory->numa.len; i++) {
		const struct inventory_numa *numa = &inventory->numa.data[i];
		int64_t shared = cpus_shared(cpus, numa->cpus);

		if (wanted[i] && shared < 0)
			return "its inventory does not have the cores of a NUMA node";
		if (wanted[i])
			cores->wanted = and_node(ctx, cores->wanted, numa->node);
		if (shared <= 0)
			continue;
		cores->nodes = and_node(ctx, cores->nodes, numa->node);
		cores->all += shared;
		cores->near += wanted[i] ? shared : 0;
	}
	return cores->all ? NULL
			  : "its inventory does not have the cores that its ranks may run on";
}

static const char *names_of(const struct rule_ctx *ctx, const struct near_device *list,
			    size_t count)
{
	const char *text = list[0].name;

	for (size_t i = 1; i < count; i++)
		text = say(ctx->judge, "%s, %s", text, list[i].name);
	return text;
}

static const char *rank_text(const struct rule_ctx *ctx, const struct fact_process *fact)
{
	return fact->rank < 0 ? say(ctx->judge, "pid %u", fact->pid)
			      : say(ctx->judge, "rank %d", fact->rank);
}

/*
 * Marks the NUMA nodes of the devices; why one is not known, or NULL. *none: no device has a place.
 */
static const char *mark(const struct rule_ctx *ctx, const struct node_inventory *inventory,
			const struct near_device *list, size_t count, bool *wanted,
			const char **none)
{
	const struct inventory *last = inventory->last;
	size_t placed = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t node = numa_of(inventory, &list[i]);
		size_t at = 0;

		while (at < last->numa.len && last->numa.data[at].node != node)
			at++;
		if (node == NOT_ON_PCI)
			continue;
		if (at == last->numa.len)
			return say(ctx->judge, "its inventory does not have the NUMA node of %s",
				   list[i].name);
		wanted[at] = true;
		placed++;
	}
	if (!placed)
		*none = say(ctx->judge, "%s is no device on PCI", list[0].name);
	return NULL;
}

static void judge_process(const struct rule_ctx *ctx, const struct node_inventory *inventory,
			  struct near_device *list, size_t count, struct standing *standing)
{
	const struct fact_process *fact = &ctx->aggregates->members.data[list->process].fact;
	const struct inventory *last = inventory->last;
	bool *wanted = xcalloc(last->numa.len, sizeof(*wanted));
	const char *why, *none = NULL;
	struct cores cores = { 0 };

	count = what_counts(list, count);
	why = mark(ctx, inventory, list, count, wanted, &none);
	if (!why && !none && !fact->cpus)
		why = "the cores that some of its ranks may run on are not known";
	if (!why && !none)
		why = count_cores(ctx, last, fact->cpus, wanted, &cores);
	free(wanted);
	standing->unknown = standing->unknown ? standing->unknown : why;
	standing->none = standing->none ? standing->none : none;
	if (why || none)
		return;
	standing->near += cores.near == cores.all;
	if (cores.near != cores.all && !standing->far++)
		standing->seen = say(ctx->judge, "%s may run on cores of NUMA %s: %s is on NUMA %s",
				     rank_text(ctx, fact), cores.nodes, names_of(ctx, list, count),
				     cores.wanted);
}

/* ---- a node ---- */

static void judge_devices(const struct rule_ctx *ctx, struct near_device *list, size_t count,
			  struct standing *standing)
{
	const struct node *node = aggregates_node(ctx->aggregates, list->process);
	const struct node_inventory *inventory = inventory_of(ctx, node);

	if (!inventory)
		standing->unknown = why_no_inventory(ctx, node);
	else if (!inventory->last->numa.len)
		standing->none = "its inventory has no NUMA nodes, as on some virtual machines";
	else if (inventory->last->numa.len == 1)
		standing->none =
			"it has one NUMA node, as virtual machines have: everything is equally near";
	else
		judge_process(ctx, inventory, list, count, standing);
}

static void conclude(const struct rule_ctx *ctx, struct subject subject,
		     const struct standing *standing)
{
	struct finding *finding;

	if (!standing->far && standing->unknown) {
		found_why(ctx, VERDICT_UNKNOWN, subject, standing->unknown);
		return;
	}
	if (!standing->far && !standing->near) {
		if (standing->none)
			found_why(ctx, VERDICT_SKIP, subject, standing->none);
		return;
	}
	finding = found(ctx, standing->far ? VERDICT_FAIL : VERDICT_PASS, subject);
	finding->expected = "cores of the NUMA node of the rank's GPU, else of its NIC";
	finding->count = standing->far;
	finding->seen = standing->seen;
}

static bool any_cpus(const struct aggregates *aggregates)
{
	for (size_t i = 0; i < aggregates->members.len; i++)
		if (aggregates->members.data[i].fact.cpus)
			return true;
	return false;
}

void rule_binding(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	size_t to;
	VEC(struct standing) standings = { 0 };
	struct devices devices = { 0 };

	if (!any_cpus(aggregates)) {
		found_nothing(ctx, VERDICT_SKIP,
			      "older captures do not have the cores that a process may run on");
		return;
	}
	for (size_t i = 0; i < aggregates->nodes.len; i++)
		vec_add(&standings);
	collect(aggregates, &devices);
	for (size_t from = 0; from < devices.list.len; from = to) {
		struct near_device *list = &devices.list.data[from];
		const struct node *node = aggregates_node(aggregates, list->process);

		for (to = from;
		     to < devices.list.len && devices.list.data[to].process == list->process;)
			to++;
		if (node)
			judge_devices(ctx, list, to - from,
				      &standings.data[node - aggregates->nodes.data]);
	}
	for (size_t i = 0; i < standings.len; i++)
		if (aggregates->nodes.data[i].name)
			conclude(ctx, subject_node(aggregates->nodes.data[i].name),
				 &standings.data[i]);
	vec_release(&standings);
	vec_release(&devices.list);
	map_release(&devices.index);
}
