// SPDX-License-Identifier: BSD-3-Clause
/*
 * The path of messages: by the policy's lines, PATH-01; by transport, PATH-02, -03, -05 and -08; by
 * protocol, PATH-13; by process, PATH-09 and -11.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/transport.h"
#include "site/judge/rules/rules.h"
#include "site/judge/rules/tally.h"

/* ---- PATH-01 ---- */

/* gdr_copy+sysv: a way of two transports, either of which may be seen. */
static bool one_of(const texts *list, const char *transport)
{
	size_t length = transport ? strlen(transport) : 0;

	if (listed(list, transport))
		return true;
	for (size_t i = 0; length && i < list->len; i++) {
		const char *at = strstr(list->data[i], transport);

		if (at && (at == list->data[i] || at[-1] == '+') &&
		    (at[length] == '+' || !at[length]))
			return true;
	}
	return false;
}

/* An unknown transport breaks no expectation: tallies_judge() counts its share. */
static bool as_expected(const struct policy_expect *expect, const struct traffic_cell *cell)
{
	if (!cell->transport)
		return true;
	if (expect->tl.len && !one_of(&expect->tl, cell->transport))
		return false;
	if (listed(&expect->forbid, cell->transport))
		return false;
	return !expect->proto.len || !cell->protocol || listed(&expect->proto, cell->protocol);
}

static const char *words(struct judge *judge, const texts *list)
{
	const char *text = "";

	for (size_t i = 0; i < list->len; i++)
		text = say(judge, "%s%s%s", text, i ? " or " : "", list->data[i]);
	return text;
}

static const char *expect_text(const struct rule_ctx *ctx, const struct policy_expect *expect)
{
	struct judge *judge = ctx->judge;

	if (expect->tl.len && expect->proto.len)
		return say(judge, "%s with %s (line %d)", words(judge, &expect->tl),
			   words(judge, &expect->proto), expect->line);
	if (expect->tl.len)
		return say(judge, "%s (line %d)", words(judge, &expect->tl), expect->line);
	if (expect->forbid.len)
		return say(judge, "not %s (line %d)", words(judge, &expect->forbid), expect->line);
	return say(judge, "%s (line %d)", words(judge, &expect->proto), expect->line);
}

static struct cell_answer ask_line(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	return (struct cell_answer){
		cell_placed(cell) ? expectation_fits(ctx->aggregates, cell, ctx->expect) : FITS_NOT,
		!as_expected(ctx->expect, cell),
	};
}

static void judge_line(const struct rule_ctx *ctx, const struct policy_expect *expect)
{
	struct rule_ctx line = *ctx;

	line.expect = expect;
	cells_judge(&line, &(struct cell_rule){
				   .measure = ask_line,
				   .group = tally_cell,
				   .allowed = 1 - expect->min_share,
				   .expected = expect_text(ctx, expect),
			   });
}

void rule_expected(const struct rule_ctx *ctx)
{

	for (size_t i = 0; i < ctx->judge->policy->expect.len; i++) {
		const struct policy_expect *expect = &ctx->judge->policy->expect.data[i];

		if (expect->nearest_nic && ctx->judge->inventories.list.len)
			nearest_judge(ctx, expect);
		else if (expect->nearest_nic)
			found_why(ctx, VERDICT_SKIP,
				  subject_plain(SUBJECT_OTHER,
						say(ctx->judge, "line %d", expect->line)),
				  "'nic': needs the nodes' inventory (ucxbpf inventory)");
		if (expect->tl.len || expect->forbid.len || expect->proto.len)
			judge_line(ctx, expect);
		if (expect->staging != STAGING_ANY || expect->dst_copy)
			ways_judge(ctx, expect);
	}
}

/* ---- PATH-02 ---- */

/* Whether the policy lets these messages go over tcp; FITS_MAYBE: only those of some sizes. */
static enum fits tcp_allowed(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	const struct aggregates *aggregates = ctx->aggregates;
	size_t lines = aggregates->policy->expect.len;
	bool allowed = false, refused = expectation_fits(aggregates, cell, NULL) != FITS_NOT;

	for (size_t i = 0; i < lines; i++) {
		const struct policy_expect *line = &aggregates->policy->expect.data[i];
		bool allows = one_of(&line->tl, "tcp");

		if (expectation_fits(aggregates, cell, line) == FITS_NOT)
			continue;
		allowed = allowed || allows;
		refused = refused || !allows;
	}
	return !refused ? FITS : allowed ? FITS_MAYBE : FITS_NOT;
}

static bool bad_interface(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	return cell->device && (!strcmp(cell->device, "lo") ||
				listed(&ctx->settings->path_02.management, cell->device));
}

static bool is_tcp(const struct traffic_cell *cell)
{
	return cell->transport && !strcmp(cell->transport, "tcp");
}

static struct cell_answer ask_management(const struct rule_ctx *ctx,
					 const struct traffic_cell *cell)
{
	return (struct cell_answer){
		cell_inter(cell) && bad_interface(ctx, cell) ? FITS : FITS_NOT,
		is_tcp(cell),
	};
}

/* Between two nodes; within one, a NIC of any kind is too much: PATH-03. */
static struct cell_answer ask_tcp(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	enum fits allowed = is_tcp(cell) ? tcp_allowed(ctx, cell) : FITS;

	if (!cell_inter(cell) || bad_interface(ctx, cell))
		return (struct cell_answer){ FITS_NOT, false };
	return (struct cell_answer){ allowed == FITS_MAYBE ? FITS_MAYBE : FITS, allowed != FITS };
}

/* Wire-up alone is no data path; whether that is all may depend on sizes that are not known. */
static void spare_wire_up(const struct rule_ctx *ctx, struct tally *tally)
{
	double most = ctx->settings->path_02.bytes;

	tally->spared = tally->bytes <= most;
	if (tally->bytes + tally->maybe.bytes > most)
		return;
	tally->count = tally->bytes = 0;
	tally->maybe.count = tally->maybe.bytes = 0;
}

void rule_tcp(const struct rule_ctx *ctx)
{
	cells_judge(ctx, &(struct cell_rule){
				 .measure = ask_management,
				 .group = tally_cell,
				 .expected = "no data over management interfaces",
			 });
	cells_judge(ctx, &(struct cell_rule){
				 .measure = ask_tcp,
				 .group = tally_cell,
				 .adjust = spare_wire_up,
				 .allowed = ctx->settings->path_02.share,
				 .expected = "no data over tcp, unless the policy allows it",
			 });
}

/* ---- PATH-03, PATH-05, PATH-08: no transfer of some kind goes the wrong way ---- */

static struct cell_answer ask_within_node(const struct rule_ctx *ctx,
					  const struct traffic_cell *cell)
{
	(void)ctx;
	return (struct cell_answer){ cell_intra(cell) ? FITS : FITS_NOT,
				     is_network(cell->transport) };
}

void rule_node_over_nic(const struct rule_ctx *ctx)
{
	cells_judge(ctx, &(struct cell_rule){
				 .measure = ask_within_node,
				 .group = tally_source,
				 .expected = "shared memory, cma, xpmem or cuda_ipc",
			 });
}

static bool copied_twice(const struct traffic_cell *cell)
{
	const struct transport *transport = transport_named(cell->transport);

	return transport->fifo && !transport->maps_peers && cell->op &&
	       !strcmp(cell->op, "am_bcopy");
}

static struct cell_answer ask_large(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	uint64_t least = ctx->settings->path_05.size;

	if (!cell_intra(cell) || is_gpu(cell->src_mem) || is_gpu(cell->dst_mem) ||
	    cell_below(ctx->aggregates, cell, least))
		return (struct cell_answer){ FITS_NOT, false };
	return (struct cell_answer){
		cell_at_least(ctx->aggregates, cell, least) ? FITS : FITS_MAYBE,
		copied_twice(cell),
	};
}

void rule_single_copy(const struct rule_ctx *ctx)
{
	cells_judge(ctx, &(struct cell_rule){
				 .measure = ask_large,
				 .group = tally_cell,
				 .expected = "cma, knem or xpmem",
			 });
}

static struct cell_answer ask_accelerated(const struct rule_ctx *ctx,
					  const struct traffic_cell *cell)
{
	bool asked = cell_placed(cell) && cell->device && transport_accelerates(cell->device);

	(void)ctx;
	return (struct cell_answer){
		asked ? FITS : FITS_NOT,
		transport_named(cell->transport)->plain_verbs,
	};
}

void rule_accelerated(const struct rule_ctx *ctx)
{
	cells_judge(ctx, &(struct cell_rule){
				 .measure = ask_accelerated,
				 .group = tally_cell,
				 .expected = "rc_mlx5 or dc_mlx5",
			 });
}

/* ---- PATH-13 ---- */

static bool has_verbs(const struct node_inventory *node)
{
	for (size_t i = 0; i < node->last->nics.len; i++) {
		const struct inventory_nic *nic = &node->last->nics.data[i];

		if (nic->kind && !strcmp(nic->kind, "verbs") && inventory_nic_up(nic))
			return true;
	}
	return false;
}

static bool is_one_sided(const struct traffic_cell *cell)
{
	return cell->protocol &&
	       (!strncmp(cell->protocol, "put/", 4) || !strncmp(cell->protocol, "get/", 4) ||
		!strncmp(cell->protocol, "amo", 3));
}

static bool is_atomic(const struct traffic_cell *cell)
{
	return !strncmp(cell->protocol, "amo", 3);
}

/* Whether the job could have done without the emulation; FITS_MAYBE: not known. */
static enum fits could_carry(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	const struct node_inventory *ends[2] = {
		inventory_of(ctx, aggregates_node(ctx->aggregates, cell->process)),
		inventory_of(ctx, aggregates_node(ctx->aggregates, cell->peer)),
	};
	bool unknown = false;

	/* shared memory, or cuda_ipc */
	if (cell_intra(cell))
		return FITS;
	for (int i = 0; is_tcp(cell) && i < 2; i++) {
		if (ends[i] && !has_verbs(ends[i]))
			return FITS_NOT;
		unknown = unknown || !ends[i];
	}
	/* a NIC with transports of its own puts and gets; not each has atomics */
	return unknown || !cell->transport || is_atomic(cell) ? FITS_MAYBE : FITS;
}

static struct cell_answer ask_emulated(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	bool about = cell_placed(cell) && is_one_sided(cell);

	return (struct cell_answer){
		about ? FITS : FITS_NOT,
		about && fact_emulates(cell->protocol) && could_carry(ctx, cell) == FITS,
	};
}

static const char *maybe_emulated(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	(void)ctx;
	if (!fact_emulates(cell->protocol) || could_carry(ctx, cell) != FITS_MAYBE)
		return NULL;
	return "some are emulated, and whether a NIC of both nodes could carry them is not known";
}

/* Whether a lane, "cma/memory" or "?", can carry the cell's operations. FITS_MAYBE: unknown. */
static enum fits lane_fits(const struct traffic_cell *cell, const struct transport *row)
{
	const bool gpu = text_begins(cell->src_mem, "gpu") || text_begins(cell->dst_mem, "gpu");

	if (row->rma == RMA_UNKNOWN)
		return FITS_MAYBE;
	if (row->rma == RMA_NONE || (row->host_only && gpu) || (is_atomic(cell) && !row->atomics))
		return FITS_NOT;
	return row->reach == REACH_SELF && cell->process != cell->peer ? FITS_NOT : FITS;
}

/*
 * "cma/memory puts and gets host memory": the first lane that reaches most. NULL: none does for
 * certain, but some may.
 */
static const char *best_lane(const struct rule_ctx *ctx, const struct traffic_cell *cell,
			     const char *lanes, bool some)
{
	const char *does = is_atomic(cell) ? "has atomics in" : "puts and gets", *found = NULL;
	const struct transport *best = NULL;
	bool unsure = false;

	for (const char *lane = lanes; *lane; lane += strspn(lane, ", ")) {
		char name[32];
		const struct transport *row;
		enum fits fits;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(lane, "/,"), lane);
		row = transport_named(name);
		fits = lane_fits(cell, row);
		unsure = unsure || fits == FITS_MAYBE;
		if (fits == FITS && (!best || row->rma > best->rma)) {
			best = row;
			found = lane;
		}
		lane += strcspn(lane, ",");
	}
	if (!best)
		return unsure ? NULL : say(ctx->judge, "none %s such memory", does);
	return say(ctx->judge, "%.*s%s %s %s%s", (int)strcspn(found, ","), found,
		   some ? ", if it is one," : "", does, best->host_only ? "host memory" : "memory",
		   best->rma == RMA_SHARED ? " that UCX allocates" : "");
}

static const char *phrase_emulated(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	const char *text = cell_text(ctx, cell), *best;
	bool some;

	if (!cell->lanes)
		return text;
	some = text_begins(cell->lanes, LANES_SOME_OF);
	best = best_lane(ctx, cell, cell->lanes + (some ? strlen(LANES_SOME_OF) : 0), some);
	return say(ctx->judge, "%s; lanes: %s%s%s", text, cell->lanes, best ? "; " : "",
		   best ? best : "");
}

void rule_emulated(const struct rule_ctx *ctx)
{
	cells_judge(ctx,
		    &(struct cell_rule){
			    .measure = ask_emulated,
			    .group = tally_cell,
			    .expected = "shared memory, cuda_ipc or a NIC's put, get and atomics",
			    .phrase = phrase_emulated,
			    .undecided = maybe_emulated,
		    });
}

/* ---- PATH-09, PATH-11: what each process uses ---- */

/* Peers that each process reached over rc; it keeps a queue pair for each. */
static void rc_peers(const struct aggregates *aggregates, struct map *counts)
{
	struct map seen = { 0 };

	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];
		bool fresh;

		if (!transport_named(cell->transport)->queue_pairs)
			continue;
		map_insert(&seen, (uint32_t)cell->process, (uint32_t)cell->peer, &fresh);
		if (fresh)
			++*map_insert(counts, (uint32_t)cell->process, 0, NULL);
	}
	map_release(&seen);
}

void rule_scale(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	struct map counts = { 0 };

	rc_peers(aggregates, &counts);
	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct node *node = aggregates_node(aggregates, i);
		const uint64_t *count = map_find(&counts, (uint32_t)i, 0);
		size_t peers = count ? *count : 0;
		struct finding *finding;

		if (!peers || !node)
			continue;
		finding = found(
			ctx, peers > ctx->settings->path_09.endpoints ? VERDICT_FAIL : VERDICT_PASS,
			process_subject(ctx, i));
		finding->count = peers;
		finding->expected = "dc beyond the limit of endpoints";
		finding->seen = say(ctx->judge, "rc to %zu peer%s", peers, peers == 1 ? "" : "s");
	}
	map_release(&counts);
}

void rule_ucx_in_use(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;

	if (level_missing(aggregates, LEVEL_UCP)) {
		found_nothing(ctx, VERDICT_SKIP, "operations were not traced (--level)");
		return;
	}
	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member *member = &aggregates->members.data[i];
		const struct node *node = aggregates_node(aggregates, i);
		bool alone = member->fact.size == 1; /* calls that have nothing to send */
		bool fails = member->data_calls && !member->ops;
		struct finding *finding;
		bool unseen;

		if (!member->known || !node || (!member->data_calls && !member->ops) ||
		    (fails && alone))
			continue;
		/* its operations may not have been recorded */
		unseen = fails && losses_has(&ctx->judge->losses, node->name);
		finding = found(ctx,
				unseen  ? VERDICT_UNKNOWN
				: fails ? VERDICT_FAIL
					: VERDICT_PASS,
				process_subject(ctx, i));
		if (unseen)
			finding->why =
				say(ctx->judge, "something of %s is missing (COV-01)", node->name);
		finding->count = fails ? member->data_calls : member->ops;
		finding->expected = "UCP operations below MPI's calls";
		if (fails)
			finding->seen = say(ctx->judge, "%lu calls, no operation",
					    (unsigned long)member->data_calls);
	}
}
