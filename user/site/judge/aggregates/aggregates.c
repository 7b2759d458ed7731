// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/aggregates/aggregates.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "site/judge/aggregates/ports.h"
#include "site/judge/aggregates/totals.h"

void exhibits_init(struct exhibits *exhibits, const struct policy *policy)
{
	*exhibits = (struct exhibits){ .policy = policy };
	watch_init(&exhibits->watch, &exhibits->sums, &exhibits->words);
	waiting_init(&exhibits->waiting);
	exhibits_draw_lines(exhibits);
}

void exhibits_release(struct exhibits *exhibits)
{
	for (size_t i = 0; i < exhibits->members.len; i++) {
		vec_release(&exhibits->members.data[i].ucx);
		vec_release(&exhibits->members.data[i].environment);
	}
	traced_release(&exhibits->traced);
	vec_release(&exhibits->members);
	vec_release(&exhibits->nodes);
	vec_release(&exhibits->cells);
	vec_release(&exhibits->sizes);
	rowset_release(&exhibits->index);
	map_release(&exhibits->by_id);
	waiting_release(&exhibits->waiting);
	vec_release(&exhibits->captures);
	watch_release(&exhibits->watch);
	sums_release(&exhibits->sums);
	words_release(&exhibits->words);
}

struct node *exhibits_node(const struct exhibits *exhibits, int process)
{
	const struct member *member;

	if (process < 0 || (size_t)process >= exhibits->members.len)
		return NULL;
	member = &exhibits->members.data[process];
	if (!member->known || member->fact.host < 0)
		return NULL;
	return &exhibits->nodes.data[member->fact.host];
}

/* ids are kept words: they lie at one place each, and no process at a host's */
struct member *exhibits_member(struct exhibits *exhibits, const char *id)
{
	uint64_t *at = map_insert(&exhibits->by_id, (uintptr_t)id, 0, NULL);

	if (!*at) {
		vec_add(&exhibits->members)->id = id;
		*at = exhibits->members.len;
	}
	return &exhibits->members.data[*at - 1];
}

/* Names the host of a process, and finds the node's class. */
static void exhibits_name_node(struct exhibits *exhibits, const struct fact_process *fact)
{
	struct node *node = &exhibits->nodes.data[fact->host];

	node->name = fact->host_name ? fact->host_name : fact->host_id;
	node->id = fact->host_id;
	node->class = policy_class_of(exhibits->policy, node->name);
}

void exhibits_place(struct exhibits *exhibits, struct fact_process *fact)
{
	uint64_t *at = map_insert(&exhibits->by_id, (uintptr_t)fact->host_id,
				  (uintptr_t)fact->host_name, NULL);

	fact->host = -1;
	if (!fact->host_id)
		return;
	fact->host = *at ? *at - 1 : exhibits->nodes.len;
	if (*at)
		return;
	vec_add(&exhibits->nodes);
	*at = exhibits->nodes.len;
	exhibits_name_node(exhibits, fact);
}

/* The id of a process, kept: the same one in whatever capture it is. */
static const char *exhibits_id(struct exhibits *exhibits, const struct fact_process *fact)
{
	char *text;
	const char *id;

	if (asprintf(&text, "%s/%u/%" PRIu64 "/%s", fact->host_id ? fact->host_id : "?", fact->tgid,
		     fact->start_time, fact->host_name ? fact->host_name : "?") < 0)
		abort();
	id = words_keep(&exhibits->words, text);
	free(text);
	return id;
}

/* ---- facts as they come from an analysis, each to those who sum it up ---- */

static void feed_process(struct exhibits *exhibits, const struct fact_process *fact)
{
	struct member *member;

	if (fact->index < 0)
		return;
	while (exhibits->members.len <= (size_t)fact->index)
		vec_add(&exhibits->members);
	traced_process(&exhibits->traced, fact, exhibits_id(exhibits, fact));
	member = &exhibits->members.data[fact->index];
	member->fact = *fact;
	member->fact.ucx = NULL;
	member->fact.environment = NULL;
	member->known = true;
	watch_process(&exhibits->watch, fact);
	member->ucx.len = member->environment.len = 0;
	for (int i = 0; i < fact->ucx_count; i++)
		vec_push(&member->ucx, fact->ucx[i]);
	for (int i = 0; i < fact->environment_count; i++)
		vec_push(&member->environment, fact->environment[i]);
	if (fact->host < 0)
		return;
	while (exhibits->nodes.len <= (size_t)fact->host)
		vec_add(&exhibits->nodes);
	exhibits_name_node(exhibits, fact);
}

static struct member *member_at(struct exhibits *exhibits, int process)
{
	if (process < 0 || (size_t)process >= exhibits->members.len)
		return NULL;
	return &exhibits->members.data[process];
}

static const char *const moving[] = { "Send",     "Recv",      "send",  "recv",   "Allreduce",
				      "Alltoall", "Allgather", "Bcast", "Reduce", "Gather",
				      "Scatter",  "Barrier",   "Put",   "Get",    NULL };

static bool moves_data(const char *function)
{
	for (int i = 0; function && moving[i]; i++)
		if (strstr(function, moving[i]))
			return true;
	return false;
}

static void add_calls(struct exhibits *exhibits, const struct fact_call *call, uint64_t count)
{
	struct member *member = member_at(exhibits, call->process);

	if (member && moves_data(call->function))
		member->data_calls += count;
}

static void feed_call(struct exhibits *exhibits, const struct fact_call *call)
{
	add_calls(exhibits, call, 1);
	traced_call(&exhibits->traced, call);
	watch_call(&exhibits->watch, call);
}

static void feed_calls(struct exhibits *exhibits, const struct fact_call *call,
		       const struct fact_sums *sums)
{
	add_calls(exhibits, call, sums->count);
}

static void feed_ops(struct exhibits *exhibits, const struct fact_op *op,
		     const struct fact_sums *sums)
{
	struct member *member = member_at(exhibits, op->process);

	traced_sums(&exhibits->traced, op);
	if (member)
		member->ops += sums->count;
}

static void feed_transfer(struct exhibits *exhibits, const struct fact_transfer *transfer)
{
	struct waiting_transfer waiting = { .transfer = *transfer, .count = 1 };

	ports_add(exhibits, transfer, 1, transfer->wire_bytes);
	if (transfer->bytes == UINT64_MAX)
		waiting.transfer.bytes = 0;
	waiting.bytes = waiting.transfer.bytes;
	watch_transfer(&exhibits->watch, transfer, 1, waiting.bytes);
	waiting_take(exhibits, &waiting);
}

/* Fragments of one message, or all that --count put into one row. */
static void feed_transfers(struct exhibits *exhibits, const struct fact_transfer *transfer,
			   const struct fact_sums *sums)
{
	struct waiting_transfer waiting = {
		.transfer = *transfer,
		.count = sums->count,
		.bytes = sums->bytes,
		.least = sums->least,
		.sums = true,
	};

	ports_add(exhibits, transfer, sums->count, sums->wire_bytes);
	waiting.transfer.bytes = sums->count ? sums->bytes / sums->count : 0;
	watch_transfer(&exhibits->watch, transfer, sums->count, sums->bytes);
	waiting_take(exhibits, &waiting);
}

static void feed_op(struct exhibits *exhibits, const struct fact_op *op)
{
	struct member *member = member_at(exhibits, op->process);
	uint64_t bytes = op->bytes == UINT64_MAX ? 0 : op->bytes;

	traced_op(&exhibits->traced, op);
	if (member)
		member->ops++;
	watch_op(&exhibits->watch, op);
	if (op->id)
		waiting_settle(exhibits, op->id, bytes);
}

static void feed_message(struct exhibits *exhibits, const struct fact_message *message)
{
	uint64_t bytes = message->bytes == UINT64_MAX ? 0 : message->bytes;
	const struct sum one = {
		.kind = SUM_WAY,
		.process = message->src,
		.peer = message->dst,
		.words = { message->src_mem, message->dst_mem, message->chain, message->via,
			   message->chain_reason },
		.size_class = exhibits_size_class(exhibits, bytes),
		.count = 1,
		.bytes = bytes,
		.least = bytes,
		.most = bytes,
	};

	traced_message(&exhibits->traced, message);
	/* without a GPU library no message reports its way */
	if (message->chain || message->chain_reason)
		sums_add(&exhibits->sums, &one);
}

static void feed_lifetime(struct exhibits *exhibits, const struct fact_lifetime *lifetime)
{
	struct member *member = member_at(exhibits, lifetime->process);

	watch_lifetime(&exhibits->watch, lifetime);
	if (!member || !lifetime->exited)
		return;
	member->exit_signal = lifetime->exit_signal;
	member->ended_at = lifetime->until;
}

static void feed_window(struct exhibits *exhibits, const struct fact_window *window)
{
	exhibits->watch.windows = true;
	ports_add_window(exhibits, window);
}

static void exhibits_fact(void *arg, enum fact_type type, const void *fact,
			  const struct fact_sums *sums)
{
	struct exhibits *exhibits = arg;

	switch (type) {
	case FACT_PROCESS:
		return feed_process(exhibits, fact);
	case FACT_CALL:
		return feed_call(exhibits, fact);
	case FACT_OP:
		return feed_op(exhibits, fact);
	case FACT_TRANSFER:
		return feed_transfer(exhibits, fact);
	case FACT_MESSAGE:
		return feed_message(exhibits, fact);
	case FACT_WINDOW:
		return feed_window(exhibits, fact);
	case FACT_LIFETIME:
		return feed_lifetime(exhibits, fact);
	case FACT_CALLS:
		return feed_calls(exhibits, fact, sums);
	case FACT_OPS:
		return feed_ops(exhibits, fact, sums);
	case FACT_TRANSFERS:
		return feed_transfers(exhibits, fact, sums);
	default:
		return;
	}
}

struct fact_sink exhibits_sink(struct exhibits *exhibits)
{
	return (struct fact_sink){ exhibits, exhibits_fact };
}

/*
 * ---- who died first ----
 *
 * Open MPI 4.1 gives ranks two milliseconds between SIGTERM and SIGKILL, so that some that it ends
 * cannot write so; but it waits for a second before that, which the one that died has not.
 */

/* For each host and job: when its first rank ended without a signal. */
static void find_first_ends(const struct exhibits *exhibits, struct map *first)
{
	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];
		bool fresh;
		uint64_t *at;

		if (!member->ended_at || member->exit_signal || member->fact.rank < 0)
			continue;
		at = map_insert(first, map_text(member->fact.host_id), map_text(member->fact.job),
				&fresh);
		*at = fresh || member->ended_at < *at ? member->ended_at : *at;
	}
}

/* Sets outlived_ns of members that a signal ended. All lifetimes are in. */
static void deaths_compare(struct exhibits *exhibits)
{
	struct map first = { 0 };

	find_first_ends(exhibits, &first);
	for (size_t i = 0; i < exhibits->members.len; i++) {
		struct member *member = &exhibits->members.data[i];
		const uint64_t *at = map_find(&first, map_text(member->fact.host_id),
					      map_text(member->fact.job));

		if (at && member->ended_at && member->exit_signal && *at > member->ended_at)
			member->outlived_ns = *at - member->ended_at;
	}
	map_release(&first);
}

/*
 * ---- one order and one set of words ----
 *
 * Findings are the same whatever order captures were read in, and whether they came as captures or
 * as evidence.
 */

/* The new place of each old position; -1: dropped. */
struct moves {
	VEC(int) to;
};

static int moved(const struct moves *moves, int index)
{
	return index >= 0 && (size_t)index < moves->to.len ? moves->to.data[index] : -1;
}

/* ---- nodes, by name ---- */

struct slot {
	const char *first, *second;
	size_t was;
};

static int by_slot(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;
	int order = words_compare(a->first, b->first);

	order = order ? order : words_compare(a->second, b->second);
	return order ? order : (a->was > b->was) - (a->was < b->was);
}

struct slots {
	VEC(struct slot) list;
};

/* Sorts, and tells where each of count elements went. */
static struct moves order_slots(struct slots *slots, size_t count)
{
	struct moves moves = { 0 };

	for (size_t i = 0; i < count; i++)
		vec_push(&moves.to, -1);
	if (slots->list.len)
		qsort(slots->list.data, slots->list.len, sizeof(struct slot), by_slot);
	for (size_t i = 0; i < slots->list.len; i++)
		moves.to.data[slots->list.data[i].was] = i;
	return moves;
}

static struct moves order_nodes(struct exhibits *exhibits)
{
	struct slots slots = { 0 };
	struct node *old = exhibits->nodes.data;
	struct moves moves;

	for (size_t i = 0; i < exhibits->nodes.len; i++)
		if (old[i].name)
			vec_push(&slots.list, ((struct slot){ old[i].name, old[i].id, i }));
	moves = order_slots(&slots, exhibits->nodes.len);
	memset(&exhibits->nodes, 0, sizeof(exhibits->nodes));
	for (size_t i = 0; i < slots.list.len; i++) {
		struct node *node = vec_add(&exhibits->nodes);

		*node = old[slots.list.data[i].was];
		node->name = words_keep(&exhibits->words, node->name);
		node->id = words_keep(&exhibits->words, node->id);
	}
	free(old);
	vec_release(&slots.list);
	return moves;
}

/* ---- processes, by what tells them apart ---- */

static void keep_words(struct words *words, struct member *member)
{
	const char **const all[] = { &member->fact.host_id, &member->fact.host_name,
				     &member->fact.comm,    &member->fact.exe,
				     &member->fact.mpi,     &member->fact.job };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		*all[i] = words_keep(words, *all[i]);
	for (size_t i = 0; i < member->ucx.len; i++) {
		struct fact_ucx *ucx = &member->ucx.data[i];

		ucx->path = words_keep(words, ucx->path);
		ucx->build_id = words_keep(words, ucx->build_id);
		ucx->version = words_keep(words, ucx->version);
		ucx->layout = words_keep(words, ucx->layout);
	}
	for (size_t i = 0; i < member->environment.len; i++) {
		struct fact_variable *variable = &member->environment.data[i];

		variable->name = words_keep(words, variable->name);
		variable->value = words_keep(words, variable->value);
	}
}

static struct moves order_members(struct exhibits *exhibits, const struct moves *nodes)
{
	struct slots slots = { 0 };
	struct member *old = exhibits->members.data;
	struct moves moves;

	for (size_t i = 0; i < exhibits->members.len; i++) {
		if (!old[i].known) {
			vec_release(&old[i].ucx);
			vec_release(&old[i].environment);
			continue;
		}
		old[i].id = exhibits_id(exhibits, &old[i].fact);
		vec_push(&slots.list, ((struct slot){ old[i].id, NULL, i }));
	}
	moves = order_slots(&slots, exhibits->members.len);
	memset(&exhibits->members, 0, sizeof(exhibits->members));
	for (size_t i = 0; i < slots.list.len; i++) {
		struct member *member = vec_add(&exhibits->members);

		*member = old[slots.list.data[i].was];
		member->fact.index = i;
		member->fact.host = moved(nodes, member->fact.host);
		keep_words(&exhibits->words, member);
	}
	free(old);
	vec_release(&slots.list);
	return moves;
}

/* ---- cells ---- */

static int by_key(const void *left, const void *right)
{
	const struct cell *a = left, *b = right;
	const char *const words[][2] = {
		{ a->op, b->op },
		{ a->transport, b->transport },
		{ a->device, b->device },
		{ a->protocol, b->protocol },
		{ a->function, b->function },
		{ a->src_mem, b->src_mem },
		{ a->dst_mem, b->dst_mem },
	};
	int order = (a->process > b->process) - (a->process < b->process);

	order = order ? order : (a->peer > b->peer) - (a->peer < b->peer);
	for (size_t i = 0; !order && i < sizeof(words) / sizeof(*words); i++)
		order = words_compare(words[i][0], words[i][1]);
	order = order ? order : (int)a->locality - (int)b->locality;
	return order ? order : a->size_class - b->size_class;
}

static void settle_cell(struct words *words, const struct moves *members, struct cell *cell)
{
	const char **const all[] = { &cell->op,       &cell->transport, &cell->device,
				     &cell->protocol, &cell->function,  &cell->src_mem,
				     &cell->dst_mem };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		*all[i] = words_of(words, *all[i]);
	cell->process = moved(members, cell->process);
	cell->peer = moved(members, cell->peer);
}

/* One word may have come from two slots. */
static void join_cells(struct exhibits *exhibits)
{
	struct cell *cells = exhibits->cells.data;
	size_t kept = 0;

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		if (kept && !by_key(&cells[kept - 1], &cells[i]))
			cell_join(&cells[kept - 1], &cells[i]);
		else
			cells[kept++] = cells[i];
	}
	exhibits->cells.len = kept;
}

static void order_cells(struct exhibits *exhibits, const struct moves *members)
{
	for (size_t i = 0; i < exhibits->cells.len; i++)
		settle_cell(&exhibits->words, members, &exhibits->cells.data[i]);
	if (exhibits->cells.len)
		qsort(exhibits->cells.data, exhibits->cells.len, sizeof(struct cell), by_key);
	join_cells(exhibits);
	/* found by their words' slots, which have changed */
	rowset_release(&exhibits->index);
}

/* ---- sums ---- */

static void order_sums(struct exhibits *exhibits, const struct moves *members)
{
	for (size_t i = 0; i < exhibits->sums.list.len; i++) {
		struct sum *sum = &exhibits->sums.list.data[i];

		for (size_t k = 0; k < SUM_WORDS; k++)
			sum->words[k] = words_of(&exhibits->words, sum->words[k]);
		sum->process = moved(members, sum->process);
		sum->peer = moved(members, sum->peer);
	}
	sums_order(&exhibits->sums);
}

void exhibits_finish(struct exhibits *exhibits, const struct fact_totals *totals)
{
	struct moves nodes, members;

	waiting_give_up(exhibits);
	deaths_compare(exhibits);
	watch_finish(&exhibits->watch);
	if (totals)
		exhibits->totals = *totals;
	totals_order(&exhibits->totals);
	nodes = order_nodes(exhibits);
	members = order_members(exhibits, &nodes);
	order_cells(exhibits, &members);
	order_sums(exhibits, &members);
	words_forget(&exhibits->words);
	vec_release(&nodes.to);
	vec_release(&members.to);
}
