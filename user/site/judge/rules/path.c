// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which way messages go: by the policy's lines, PATH-01; by what may carry them, PATH-02, -03, -05
 * and -08; what each process uses, PATH-09 and -11.
 */
#include <string.h>

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

/* Of a transport that is not known nothing is held against it: tallies_judge(). */
static bool as_expected(const struct policy_expect *expect, const struct cell *cell)
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

static const char *expect_text(const struct trial *trial, const struct policy_expect *expect)
{
	struct judge *judge = trial->judge;

	if (expect->tl.len && expect->proto.len)
		return say(judge, "%s with %s (line %d)", words(judge, &expect->tl),
			   words(judge, &expect->proto), expect->line);
	if (expect->tl.len)
		return say(judge, "%s (line %d)", words(judge, &expect->tl), expect->line);
	if (expect->forbid.len)
		return say(judge, "not %s (line %d)", words(judge, &expect->forbid), expect->line);
	return say(judge, "%s (line %d)", words(judge, &expect->proto), expect->line);
}

static void judge_line(const struct trial *trial, const struct policy_expect *expect)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct tallies tallies = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		enum fits fits = expectation_fits(exhibits, cell, expect);

		if (!cell_placed(cell) || fits == FITS_NOT)
			continue;
		tally_fits(tally_cell(trial, &tallies, cell), cell, fits,
			   !as_expected(expect, cell));
	}
	tallies_judge(trial, &tallies, 1 - expect->min_share, expect_text(trial, expect));
}

void rule_expected(const struct trial *trial)
{

	for (size_t i = 0; i < trial->judge->policy->expect.len; i++) {
		const struct policy_expect *expect = &trial->judge->policy->expect.data[i];

		if (expect->nearest_nic && trial->judge->inventories.list.len)
			judge_nearest(trial, expect);
		else if (expect->nearest_nic)
			found_why(trial, VERDICT_SKIP,
				  subject_plain(SUBJECT_OTHER,
						say(trial->judge, "line %d", expect->line)),
				  "'nic': needs the nodes' inventory (ucxbpf inventory)");
		if (expect->tl.len || expect->forbid.len || expect->proto.len)
			judge_line(trial, expect);
		if (expect->staging != STAGING_ANY || expect->dst_copy)
			judge_ways(trial, expect);
	}
}

/* ---- PATH-02 ---- */

/* Whether the policy lets these messages go over tcp; FITS_MAYBE: only those of some sizes. */
static enum fits tcp_allowed(const struct trial *trial, const struct cell *cell)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t lines = exhibits->policy->expect.len;
	bool allowed = false, refused = expectation_fits(exhibits, cell, NULL) != FITS_NOT;

	for (size_t i = 0; i < lines; i++) {
		const struct policy_expect *line = &exhibits->policy->expect.data[i];
		bool allows = one_of(&line->tl, "tcp");

		if (expectation_fits(exhibits, cell, line) == FITS_NOT)
			continue;
		allowed = allowed || allows;
		refused = refused || !allows;
	}
	return !refused ? FITS : allowed ? FITS_MAYBE : FITS_NOT;
}

static bool bad_interface(const struct trial *trial, const struct cell *cell)
{
	return cell->device && (!strcmp(cell->device, "lo") ||
				listed(&trial->settings->path_02.management, cell->device));
}

/* Between two nodes; within one, a NIC of any kind is too much: PATH-03. */
static void tcp_tallies(const struct trial *trial, struct tallies *tallies, bool management)
{
	const struct exhibits *exhibits = trial->exhibits;

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		bool tcp = cell->transport && !strcmp(cell->transport, "tcp");
		enum fits allowed = tcp && !management ? tcp_allowed(trial, cell) : FITS_NOT;

		if (cell_inter(cell) && bad_interface(trial, cell) == management)
			tally_fits(tally_cell(trial, tallies, cell), cell,
				   allowed == FITS_MAYBE ? FITS_MAYBE : FITS,
				   tcp && allowed != FITS);
	}
}

/* Wire-up alone is no data path; whether that is all may depend on sizes that are not known. */
static void spare_wire_up(struct tally *tally, double most)
{
	tally->spared = tally->bytes <= most;
	if (tally->bytes + tally->maybe.bytes > most)
		return;
	tally->count = tally->bytes = 0;
	tally->maybe.count = tally->maybe.bytes = 0;
}

void rule_tcp(const struct trial *trial)
{
	struct tallies data = { 0 }, management = { 0 };

	tcp_tallies(trial, &management, true);
	tallies_judge(trial, &management, 0, "no data over management interfaces");
	tcp_tallies(trial, &data, false);
	for (size_t i = 0; i < data.list.len; i++)
		spare_wire_up(&data.list.data[i], trial->settings->path_02.bytes);
	tallies_judge(trial, &data, trial->settings->path_02.share, "no data over tcp");
}

static const struct node *from(const struct trial *trial, const struct cell *cell)
{
	return exhibits_node(trial->exhibits, cell->process);
}

/* ---- PATH-03 ---- */

void rule_node_over_nic(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct tallies tallies = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];

		if (cell_intra(cell))
			tally_add(tally_node(trial, &tallies, from(trial, cell)), cell,
				  is_network(cell->transport));
	}
	tallies_judge(trial, &tallies, 0, "shared memory, cma, xpmem or cuda_ipc");
}

/* ---- PATH-05 ---- */

/* Which of the cells a rule is about, and which of those are wrong. */
struct question {
	enum fits (*about)(const struct trial *trial, const struct cell *cell);
	bool (*wrong)(const struct cell *cell);
	const char *expected;
};

static void ask(const struct trial *trial, const struct question *question, double allowed)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct tallies tallies = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		enum fits about = cell_placed(cell) ? question->about(trial, cell) : FITS_NOT;

		if (about != FITS_NOT)
			tally_fits(tally_cell(trial, &tallies, cell), cell, about,
				   question->wrong(cell));
	}
	tallies_judge(trial, &tallies, allowed, question->expected);
}

static enum fits large(const struct trial *trial, const struct cell *cell)
{
	uint64_t least = trial->settings->path_05.size;

	if (cell_below(trial->exhibits, cell, least))
		return FITS_NOT;
	return cell_at_least(trial->exhibits, cell, least) ? FITS : FITS_MAYBE;
}

static enum fits hosts_of_a_node(const struct trial *trial, const struct cell *cell)
{
	return cell_intra(cell) && !is_gpu(cell->src_mem) && !is_gpu(cell->dst_mem)
		       ? large(trial, cell)
		       : FITS_NOT;
}

static bool copied_twice(const struct cell *cell)
{
	const struct transport *transport = transport_named(cell->transport);

	return transport->fifo && !transport->maps_peers && cell->op &&
	       !strcmp(cell->op, "am_bcopy");
}

void rule_single_copy(const struct trial *trial)
{
	static const struct question question = { hosts_of_a_node, copied_twice,
						  "cma, knem or xpmem" };

	ask(trial, &question, 0);
}

/* ---- PATH-08 ---- */

static enum fits on_mlx5(const struct trial *trial, const struct cell *cell)
{
	(void)trial;
	return cell->device && !strncmp(cell->device, "mlx5", 4) ? FITS : FITS_NOT;
}

static bool plain_verbs(const struct cell *cell)
{
	return transport_named(cell->transport)->plain_verbs;
}

void rule_accelerated(const struct trial *trial)
{
	static const struct question question = { on_mlx5, plain_verbs, "rc_mlx5 or dc_mlx5" };

	ask(trial, &question, 0);
}

/* ---- PATH-09, PATH-11: what each process uses ---- */

/* Peers that each process reached over rc; it keeps a queue pair for each. */
static void rc_peers(const struct exhibits *exhibits, struct map *counts)
{
	struct map seen = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		bool fresh;

		if (!transport_named(cell->transport)->queue_pairs)
			continue;
		map_insert(&seen, (uint32_t)cell->process, (uint32_t)cell->peer, &fresh);
		if (fresh)
			++*map_insert(counts, (uint32_t)cell->process, 0, NULL);
	}
	map_release(&seen);
}

void rule_scale(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct map counts = { 0 };

	rc_peers(exhibits, &counts);
	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct node *node = exhibits_node(exhibits, i);
		const uint64_t *count = map_find(&counts, (uint32_t)i, 0);
		size_t peers = count ? *count : 0;
		struct finding *finding;

		if (!peers || !node)
			continue;
		finding = found(trial,
				peers > trial->settings->path_09.endpoints ? VERDICT_FAIL
									   : VERDICT_PASS,
				process_subject(trial, i));
		finding->count = peers;
		finding->expected = "dc beyond the limit of endpoints";
		finding->seen = say(trial->judge, "rc to %zu peer%s", peers, peers == 1 ? "" : "s");
	}
	map_release(&counts);
}

void rule_ucx_in_use(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;

	if (level_missing(exhibits, LEVEL_UCP)) {
		found_nothing(trial, VERDICT_SKIP, "operations were not traced (--level)");
		return;
	}
	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];
		const struct node *node = exhibits_node(exhibits, i);
		bool alone = member->fact.size == 1; /* calls that have nothing to send */
		bool fails = member->data_calls && !member->ops;
		struct finding *finding;
		bool unseen;

		if (!member->known || !node || (!member->data_calls && !member->ops) ||
		    (fails && alone))
			continue;
		/* its operations may not have been recorded */
		unseen = fails && losses_has(&trial->judge->losses, node->name);
		finding = found(trial,
				unseen  ? VERDICT_UNKNOWN
				: fails ? VERDICT_FAIL
					: VERDICT_PASS,
				process_subject(trial, i));
		if (unseen)
			finding->why = say(trial->judge, "something of %s is missing (COV-01)",
					   node->name);
		finding->count = fails ? member->data_calls : member->ops;
		finding->expected = "UCP operations below MPI's calls";
		if (fails)
			finding->seen = say(trial->judge, "%lu calls, no operation",
					    (unsigned long)member->data_calls);
	}
}
