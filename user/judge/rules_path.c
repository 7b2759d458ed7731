// SPDX-License-Identifier: BSD-3-Clause
/* Which way messages go: PATH. */
#include <string.h>

#include "judge/rules.h"

#define FIRST 0
#define SECOND 1
#define THIRD 2

static const struct node *from(const struct trial *trial, const struct cell *cell)
{
	return exhibits_node(trial->exhibits, cell->process);
}

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

static bool as_expected(const struct policy_expect *expect, const struct cell *cell)
{
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

		if (cell_placed(cell) && expectation(exhibits, cell) == expect)
			tally_add(tally_cell(trial, &tallies, cell), cell,
				  !as_expected(expect, cell));
	}
	if (tallies.list.len)
		tallies_judge(trial, &tallies, 1 - expect->min_share, expect_text(trial, expect),
			      NULL);
}

void rule_expected(const struct trial *trial)
{
	size_t before = trial->judge->findings.len;

	for (size_t i = 0; i < trial->judge->policy->expect.len; i++) {
		const struct policy_expect *expect = &trial->judge->policy->expect.data[i];

		if (expect->nearest_nic && trial->judge->inventories.list.len)
			judge_nearest(trial, expect);
		else if (expect->nearest_nic)
			found_why(trial, VERDICT_SKIP, say(trial->judge, "line %d", expect->line),
				  "'nic': needs the nodes' inventory (ucxbpf inventory)");
		if (expect->tl.len || expect->forbid.len || expect->proto.len)
			judge_line(trial, expect);
		if (expect->staging != STAGING_ANY || expect->dst_copy)
			judge_ways(trial, expect);
	}
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "no line under 'expect' fits what was moved");
}

/* ---- PATH-02 ---- */

static bool tcp_allowed(const struct trial *trial, const struct cell *cell)
{
	const struct policy_expect *expect = expectation(trial->exhibits, cell);

	return expect && one_of(&expect->tl, "tcp");
}

static bool bad_interface(const struct trial *trial, const struct cell *cell)
{
	return cell->device &&
	       (!strcmp(cell->device, "lo") || listed(&trial->setting->list[THIRD], cell->device));
}

/* Between two nodes; within one, a NIC of any kind is too much: PATH-03. */
static void tcp_tallies(const struct trial *trial, struct tallies *tallies, bool management)
{
	const struct exhibits *exhibits = trial->exhibits;

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		bool tcp = cell->transport && !strcmp(cell->transport, "tcp");

		if (cell_inter(cell) && bad_interface(trial, cell) == management)
			tally_add(tally_cell(trial, tallies, cell), cell,
				  tcp && (management || !tcp_allowed(trial, cell)));
	}
}

void rule_tcp(const struct trial *trial)
{
	struct tallies data = { 0 }, management = { 0 };
	bool none;

	tcp_tallies(trial, &management, true);
	none = !management.list.len;
	if (!none)
		tallies_judge(trial, &management, 0, "no data over management interfaces", NULL);
	tcp_tallies(trial, &data, false);
	/* wire-up alone is no data path */
	for (size_t i = 0; i < data.list.len; i++)
		if (data.list.data[i].bytes <= trial->setting->number[FIRST])
			data.list.data[i].count = data.list.data[i].bytes = 0;
	if (data.list.len || none)
		tallies_judge(trial, &data, trial->setting->number[SECOND], "no data over tcp",
			      "no two nodes exchanged data");
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
	tallies_judge(trial, &tallies, 0, "shared memory, cma, xpmem or cuda_ipc",
		      "no two processes of one node exchanged data");
}

/* ---- PATH-05 ---- */

/* Which of the cells a rule is about, and which of those are wrong. */
struct question {
	bool (*about)(const struct trial *trial, const struct cell *cell);
	bool (*wrong)(const struct cell *cell);
	const char *expected, *why_none;
};

static void ask(const struct trial *trial, const struct question *question, double allowed)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct tallies tallies = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];

		if (cell_placed(cell) && question->about(trial, cell))
			tally_add(tally_cell(trial, &tallies, cell), cell, question->wrong(cell));
	}
	tallies_judge(trial, &tallies, allowed, question->expected, question->why_none);
}

static bool large(const struct trial *trial, const struct cell *cell)
{
	return cell_at_least(trial->exhibits, cell, trial->setting->number[FIRST]);
}

static bool hosts_of_a_node(const struct trial *trial, const struct cell *cell)
{
	return cell_intra(cell) && !is_gpu(cell->src_mem) && !is_gpu(cell->dst_mem) &&
	       large(trial, cell);
}

static bool copied_twice(const struct cell *cell)
{
	bool shared = cell->transport &&
		      (!strcmp(cell->transport, "posix") || !strcmp(cell->transport, "sysv"));

	return shared && cell->op && !strcmp(cell->op, "am_bcopy");
}

void rule_single_copy(const struct trial *trial)
{
	static const struct question question = { hosts_of_a_node, copied_twice,
						  "cma, knem or xpmem",
						  "no large host messages within a node" };

	ask(trial, &question, 0);
}

/* ---- PATH-08, PATH-09 ---- */

static bool on_mlx5(const struct trial *trial, const struct cell *cell)
{
	(void)trial;
	return cell->device && !strncmp(cell->device, "mlx5", 4);
}

static bool plain_verbs(const struct cell *cell)
{
	return cell->transport &&
	       (!strcmp(cell->transport, "rc_verbs") || !strcmp(cell->transport, "ud_verbs"));
}

void rule_accelerated(const struct trial *trial)
{
	static const struct question question = { on_mlx5, plain_verbs, "rc_mlx5 or dc_mlx5",
						  "no mlx5 device was used" };

	ask(trial, &question, 0);
}

/* Peers that each process reached over rc; it keeps a queue pair for each. */
static void rc_peers(const struct exhibits *exhibits, struct map *counts)
{
	struct map seen = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		bool fresh;

		if (!cell->transport || strncmp(cell->transport, "rc", 2))
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
	size_t before = trial->judge->findings.len;
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
				peers > trial->setting->number[FIRST] ? VERDICT_FAIL : VERDICT_PASS,
				say(trial->judge, "%s:rank%d", node->name,
				    exhibits->members.data[i].fact.rank));
		finding->count = peers;
		finding->expected = "dc beyond the limit of endpoints";
		finding->seen = say(trial->judge, "rc to %zu peers", peers);
	}
	map_release(&counts);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "rc was not used");
}

/* ---- PATH-11 ---- */

void rule_ucx_in_use(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;

	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];
		const struct node *node = exhibits_node(exhibits, i);
		bool fails = member->known && member->data_calls && !member->ops;
		struct finding *finding;

		if (!member->known || !node || (!member->data_calls && !member->ops))
			continue;
		finding = found(trial, fails ? VERDICT_FAIL : VERDICT_PASS,
				say(trial->judge, "%s:rank%d", node->name, member->fact.rank));
		finding->count = fails ? member->data_calls : member->ops;
		finding->expected = "UCP operations below MPI's calls";
		if (fails)
			finding->seen = say(trial->judge, "%lu calls, no operation",
					    (unsigned long)member->data_calls);
	}
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "no process called MPI");
}
