// SPDX-License-Identifier: BSD-3-Clause
/* Whether the evidence is complete, and the software one: COV and CFG. */
#include <string.h>

#include "judge/rules.h"

/* The reasons of a list of totals, the largest first, as one sentence. */
static const char *reasons_text(struct judge *judge, const struct fact_reason *reasons)
{
	const char *text = NULL;

	for (int i = 0; i < FACT_MAX_REASONS; i++) {
		if (!reasons[i].reason || !reasons[i].count)
			continue;
		text = text ? say(judge, "%s, %s %lu", text, reasons[i].reason,
				  (unsigned long)reasons[i].count)
			    : say(judge, "%s %lu", reasons[i].reason,
				  (unsigned long)reasons[i].count);
	}
	return text;
}

static uint64_t sum(const struct fact_reason *reasons)
{
	uint64_t all = 0;

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		all += reasons[i].reason ? reasons[i].count : 0;
	return all;
}

void rule_loss(const struct trial *trial)
{
	const struct fact_totals *totals = &trial->exhibits->totals;
	uint64_t lost = sum(totals->dropped);
	bool fails = lost || totals->damaged_bytes;
	struct finding *finding;

	trial->judge->incomplete = fails || trial->judge->captures_broken;
	if (!fails && trial->judge->captures_broken) {
		found_nothing(trial, VERDICT_UNKNOWN,
			      "a capture is cut short, or could not be read");
		return;
	}
	finding = found(trial, fails ? VERDICT_FAIL : VERDICT_PASS, ALL_CAPTURES);
	finding->count = fails ? lost : totals->stored;
	finding->expected = "0 records lost";
	if (!fails)
		return;
	finding->seen =
		lost ? say(trial->judge, "lost: %s", reasons_text(trial->judge, totals->dropped))
		     : say(trial->judge, "%lu bytes of captures are damaged",
			   (unsigned long)totals->damaged_bytes);
}

static struct node *known_node(const struct exhibits *exhibits, const struct cell *cell)
{
	return exhibits_node(exhibits, cell->process < 0 ? cell->peer : cell->process);
}

/* A node whose peers are in no capture: its own is not to blame, but proves little. */
static void other_ends(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct tallies tallies = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];

		tally_add(tally_node(trial, &tallies, known_node(exhibits, cell)), cell,
			  !cell_placed(cell));
	}
	for (size_t i = 0; i < tallies.list.len; i++) {
		const struct tally *tally = &tallies.list.data[i];
		struct node *node = tally->worst ? known_node(exhibits, tally->worst) : NULL;

		if (!node || tally_share(tally) <= trial->setting->number[0])
			continue;
		node->in_part = true;
		found_why(trial, VERDICT_UNKNOWN, node->name,
			  say(trial->judge,
			      "%lu B of %lu go to or come from processes in no capture",
			      (unsigned long)tally->bytes, (unsigned long)tally->all_bytes));
	}
	tallies_release(&tallies);
}

/* What is under way at either end of a capture has one end only: that is no fault of the job. */
static void unmatched(const struct trial *trial)
{
	const struct fact_totals *totals = &trial->exhibits->totals;
	uint64_t all = totals->sends + totals->receives;
	uint64_t open = sum(totals->unmatched_sends) + sum(totals->unmatched_receives);
	bool many = open > trial->setting->number[0] * all;
	struct finding *finding = found(trial, many ? VERDICT_UNKNOWN : VERDICT_PASS, ALL_CAPTURES);

	finding->count = open;
	finding->expected = "a receive for every send";
	if (many)
		finding->why = say(trial->judge, "%lu of %lu ends of messages have no other end",
				   (unsigned long)open, (unsigned long)all);
}

void rule_both_ends(const struct trial *trial)
{
	const struct fact_totals *totals = &trial->exhibits->totals;

	if (totals->sends + totals->receives)
		unmatched(trial);
	else
		found_nothing(trial, VERDICT_SKIP, "no message was sent");
	other_ends(trial);
}

static bool unknown_cell(const struct cell *cell)
{
	return !cell->transport || !cell->device || !cell->src_mem || !cell->dst_mem;
}

void rule_attribution(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;
	struct tallies tallies = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		if (cell_placed(cell))
			tally_add(tally_node(trial, &tallies, known_node(exhibits, cell)), cell,
				  unknown_cell(cell));
	}
	tallies_judge(trial, &tallies, trial->setting->number[0],
		      "transport, device and memory known", "no data was moved");
	for (; before < trial->judge->findings.len; before++) {
		struct finding *finding = &trial->judge->findings.data[before];

		if (finding->verdict == VERDICT_FAIL && finding->share > trial->setting->number[1])
			finding->severity = SEVERITY_CRITICAL;
	}
}

/* ---- software ---- */

/* Whether it is one of a, b, c. */
static bool names(const char *list, const char *one)
{
	size_t length = strlen(one);

	for (const char *at = list; (at = strstr(at, one)); at += length)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

/* What the processes of each node have, if that is one thing: "1.13.1"; "a, b" where they differ.
 */
static const char **software_of_nodes(struct judge *judge,
				      const char *(*part)(struct judge *, const struct member *))
{
	const struct exhibits *exhibits = &judge->exhibits;
	const char **software = NULL;
	size_t room = 0;

	software = vec_grow(NULL, &room, exhibits->nodes.len + 1, sizeof(*software));
	memset(software, 0, room * sizeof(*software));
	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct node *node = exhibits_node(exhibits, i);
		const char *own = node ? part(judge, &exhibits->members.data[i]) : NULL;
		const char **text = node ? &software[node - exhibits->nodes.data] : NULL;

		if (own && !*text)
			*text = own;
		else if (own && !names(*text, own))
			*text = say(judge, "%s, %s", *text, own);
	}
	return software;
}

static const char *build_of(struct judge *judge, const struct member *member)
{
	return member->ucx.len ? say(judge, "%s",
				     member->ucx.data[0].build_id ? member->ucx.data[0].build_id
								  : "no build id")
			       : NULL;
}

static const char *versions_of(struct judge *judge, const struct member *member)
{
	const char *ucx = member->ucx.len ? member->ucx.data[0].version : NULL;

	if (!member->fact.mpi && !ucx)
		return NULL;
	return say(judge, "%s UCX %s", member->fact.mpi ? member->fact.mpi : "no MPI",
		   ucx ? ucx : "?");
}

/* A node's software, to be sorted: by class, then by what it is, then as the nodes came. */
struct entry {
	const struct policy_class *class;
	const char *software;
	size_t node;
};

static int by_software(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = (a->class > b->class) - (a->class < b->class);

	order = order ? order : strcmp(a->software, b->software);
	return order ? order : (a->node > b->node) - (a->node < b->node);
}

struct entries {
	VEC(struct entry) list;
};

/* Of what most nodes of each class have, an entry; the first node's, where two are as frequent. */
static void find_usual(struct entries *entries, struct map *usual)
{
	struct entry *list = entries->list.data;
	size_t most = 0, to;

	if (entries->list.len)
		qsort(list, entries->list.len, sizeof(*list), by_software);
	for (size_t from = 0; from < entries->list.len; from = to) {
		uint64_t *best = map_insert(usual, (uintptr_t)list[from].class, 0, NULL);

		for (to = from; to < entries->list.len && list[to].class == list[from].class &&
				!strcmp(list[to].software, list[from].software);)
			to++;
		if (*best && (to - from < most ||
			      (to - from == most && list[from].node > list[*best - 1].node)))
			continue;
		most = to - from;
		*best = from + 1;
	}
}

static void judge_node(const struct trial *trial, const struct node *node, const char *software,
		       const char *usual)
{
	bool fails = strcmp(usual, software) != 0;
	struct finding *finding = found(trial, fails ? VERDICT_FAIL : VERDICT_PASS, node->name);

	finding->expected = usual;
	finding->seen = fails ? software : NULL;
}

static void same_on_all(const struct trial *trial,
			const char *(*part)(struct judge *, const struct member *))
{
	const struct exhibits *exhibits = trial->exhibits;
	const char **software = software_of_nodes(trial->judge, part);
	struct entries entries = { 0 };
	struct map usual = { 0 };

	for (size_t i = 0; i < exhibits->nodes.len; i++)
		if (software[i])
			vec_push(&entries.list,
				 ((struct entry){ exhibits->nodes.data[i].class, software[i], i }));
	find_usual(&entries, &usual);
	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct node *node = &exhibits->nodes.data[i];
		const uint64_t *best = map_find(&usual, (uintptr_t)node->class, 0);

		if (node->name && software[i])
			judge_node(trial, node, software[i], entries.list.data[*best - 1].software);
	}
	vec_release(&entries.list);
	map_release(&usual);
	free(software);
}

/* Two copies in a process: which of them an operation goes through is nobody's choice. */
static const char *copies_of(const struct trial *trial, const struct node *node)
{
	const struct exhibits *exhibits = trial->exhibits;

	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];

		if (exhibits_node(exhibits, i) == node && member->ucx.len > 1)
			return say(trial->judge, "pid %u has %s and %s", member->fact.pid,
				   member->ucx.data[0].path, member->ucx.data[1].path);
	}
	return NULL;
}

void rule_one_library(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;

	same_on_all(trial, build_of);
	for (size_t i = before; i < trial->judge->findings.len; i++) {
		struct finding *finding = &trial->judge->findings.data[i];
		const char *copies = NULL;

		for (size_t n = 0; n < exhibits->nodes.len && !copies; n++)
			if (exhibits->nodes.data[n].name == finding->subject)
				copies = copies_of(trial, &exhibits->nodes.data[n]);
		if (!copies)
			continue;
		finding->verdict = VERDICT_FAIL;
		finding->seen = copies;
	}
	if (!exhibits->members.len)
		found_nothing(trial, VERDICT_UNKNOWN,
			      "no process with UCX or MPI is in the captures");
	else if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "no process has UCX");
}

void rule_versions(const struct trial *trial)
{
	size_t before = trial->judge->findings.len;

	same_on_all(trial, versions_of);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "no process has MPI or UCX");
}
