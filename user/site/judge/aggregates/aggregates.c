// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/aggregates/aggregates.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "site/judge/aggregates/behind.h"
#include "site/judge/aggregates/ports.h"
#include "site/judge/aggregates/totals.h"

void aggregates_init(struct aggregates *aggregates, const struct policy *policy)
{
	*aggregates = (struct aggregates){ .policy = policy };
	watch_init(&aggregates->watch, &aggregates->sums, &aggregates->words);
	waiting_init(&aggregates->waiting);
	aggregates_draw_lines(aggregates);
}

void aggregates_release(struct aggregates *aggregates)
{
	for (size_t i = 0; i < aggregates->members.len; i++) {
		vec_release(&aggregates->members.data[i].ucx);
		vec_release(&aggregates->members.data[i].environment);
	}
	traced_release(&aggregates->traced);
	vec_release(&aggregates->members);
	vec_release(&aggregates->nodes);
	vec_release(&aggregates->cells);
	vec_release(&aggregates->sizes);
	rowset_release(&aggregates->index);
	map_release(&aggregates->by_id);
	waiting_release(&aggregates->waiting);
	vec_release(&aggregates->captures);
	watch_release(&aggregates->watch);
	hang_facts_release(&aggregates->hang);
	sums_release(&aggregates->sums);
	words_release(&aggregates->words);
}

struct node *aggregates_node(const struct aggregates *aggregates, int process)
{
	const struct member *member;

	if (process < 0 || (size_t)process >= aggregates->members.len)
		return NULL;
	member = &aggregates->members.data[process];
	if (!member->known || member->fact.host < 0)
		return NULL;
	return &aggregates->nodes.data[member->fact.host];
}

/* ids are kept words, so pointers can be compared; no process has the id of a host */
struct member *aggregates_member(struct aggregates *aggregates, const char *id)
{
	uint64_t *at = map_insert(&aggregates->by_id, (uintptr_t)id, 0, NULL);

	if (!*at) {
		vec_add(&aggregates->members)->id = id;
		*at = aggregates->members.len;
	}
	return &aggregates->members.data[*at - 1];
}

/* Names the host of a process, and finds the node's class. */
static void aggregates_name_node(struct aggregates *aggregates, const struct fact_process *fact)
{
	struct node *node = &aggregates->nodes.data[fact->host];

	node->name = fact->host_name ? fact->host_name : fact->host_id;
	node->id = fact->host_id;
	node->class = policy_class_of(aggregates->policy, node->name);
}

void aggregates_place(struct aggregates *aggregates, struct fact_process *fact)
{
	uint64_t *at = map_insert(&aggregates->by_id, (uintptr_t)fact->host_id,
				  (uintptr_t)fact->host_name, NULL);

	fact->host = -1;
	if (!fact->host_id)
		return;
	fact->host = *at ? *at - 1 : aggregates->nodes.len;
	if (*at)
		return;
	vec_add(&aggregates->nodes);
	*at = aggregates->nodes.len;
	aggregates_name_node(aggregates, fact);
}

/* The id of a process, kept: the same one in every capture. */
static const char *aggregates_id(struct aggregates *aggregates, const struct fact_process *fact)
{
	char *text;
	const char *id;

	text = xasprintf("%s/%u/%" PRIu64 "/%s", fact->host_id ? fact->host_id : "?", fact->tgid,
			 fact->start_time, fact->host_name ? fact->host_name : "?");
	id = words_keep(&aggregates->words, text);
	free(text);
	return id;
}

/* ---- facts as they come from an analysis, each to those who sum it up ---- */

static void feed_process(struct aggregates *aggregates, const struct fact_process *fact)
{
	struct member *member;

	if (fact->index < 0)
		return;
	while (aggregates->members.len <= (size_t)fact->index)
		vec_add(&aggregates->members);
	traced_process(&aggregates->traced, fact, aggregates_id(aggregates, fact));
	member = &aggregates->members.data[fact->index];
	member->fact = *fact;
	member->fact.ucx = NULL;
	member->fact.environment = NULL;
	member->known = true;
	watch_process(&aggregates->watch, fact);
	member->ucx.len = member->environment.len = 0;
	for (int i = 0; i < fact->ucx_count; i++)
		vec_push(&member->ucx, fact->ucx[i]);
	for (int i = 0; i < fact->environment_count; i++)
		vec_push(&member->environment, fact->environment[i]);
	if (fact->host < 0)
		return;
	while (aggregates->nodes.len <= (size_t)fact->host)
		vec_add(&aggregates->nodes);
	aggregates_name_node(aggregates, fact);
}

static struct member *member_at(struct aggregates *aggregates, int process)
{
	if (process < 0 || (size_t)process >= aggregates->members.len)
		return NULL;
	return &aggregates->members.data[process];
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

static void add_calls(struct aggregates *aggregates, const struct fact_call *call, uint64_t count)
{
	struct member *member = member_at(aggregates, call->process);

	if (member && moves_data(call->function))
		member->data_calls += count;
}

bool member_in_mpi(const struct member *member)
{
	return member->time.calls || member->time.open;
}

static void time_from(struct member *member, uint64_t start)
{
	if (!member_in_mpi(member) || start < member->time.first)
		member->time.first = start;
}

static void time_call(struct aggregates *aggregates, const struct fact_call *call, uint64_t count)
{
	struct member *member = member_at(aggregates, call->process);

	if (!member)
		return;
	time_from(member, call->start);
	member->time.calls += count;
}

static void feed_call(struct aggregates *aggregates, const struct fact_call *call)
{
	add_calls(aggregates, call, 1);
	time_call(aggregates, call, 1);
	traced_call(&aggregates->traced, call);
	watch_call(&aggregates->watch, call);
}

static bool is_collective(const struct fact_wait *wait)
{
	for (int kind = 0; kind < WAIT_KINDS; kind++)
		if (fact_in_collective(kind) && !strcmp(wait->kind, wait_kind_names[kind]))
			return true;
	return false;
}

/* A sweep's own waits are not kept: WAIT-01 is about programs. */
static void add_wait_site(struct aggregates *aggregates, const char *what, int process,
			  const char *function, const struct place *place, uint64_t ns)
{
	if (ns && !traced_has(&aggregates->traced, process))
		sums_add(&aggregates->sums,
			 &(struct sum){
				 .kind = SUM_WAIT,
				 .process = process,
				 .peer = -1,
				 .words = { what, function, place ? place->label : NULL },
				 .count = 1,
				 .extra = ns,
			 });
}

static void feed_wait(struct aggregates *aggregates, const struct fact_wait *wait)
{
	struct member *waits = member_at(aggregates, wait->process);
	struct member *culprit = member_at(aggregates, wait->culprit);
	struct member *root = member_at(aggregates, wait->root);

	if (root) {
		root->time.caused += wait->fresh;
		add_wait_site(aggregates, WAIT_CAUSED, wait->root, wait->root_function,
			      wait->root_place, wait->fresh);
	}
	if (culprit && !strcmp(wait->kind, wait_kind_names[WAIT_LATE_PROGRESS])) {
		culprit->time.late_progress += wait->ns;
		add_wait_site(aggregates, WAIT_PROGRESS, wait->culprit, wait->culprit_function,
			      wait->culprit_place, wait->ns);
	}
	if (waits && is_collective(wait)) {
		waits->time.in_collectives += wait->ns;
		add_wait_site(aggregates, WAIT_COLLECTIVES, wait->process, wait->function,
			      wait->place, wait->ns);
	}
}

static void feed_open(struct aggregates *aggregates, const struct fact_open *open)
{
	struct member *member = member_at(aggregates, open->process);
	const uint64_t age = open->until - open->since;

	vec_push(&aggregates->hang.open, *open);
	if (!member || !open->certain)
		return;
	time_from(member, open->since);
	if (age > member->time.open)
		member->time.open = age;
	/* an operation that began before the trace is in no other fact */
	if (open->bound)
		sums_add(&aggregates->sums, &(struct sum){
						    .kind = SUM_OPEN,
						    .process = open->process,
						    .peer = open->peer_certain ? open->peer : -1,
						    .words = { open->op, open->function, "before" },
						    .count = 1,
						    .least = age,
						    .most = age,
					    });
}

static void feed_thread(struct aggregates *aggregates, const struct fact_thread *thread)
{
	vec_push(&aggregates->hang.threads, *thread);
}

static void feed_calls(struct aggregates *aggregates, const struct fact_call *call,
		       const struct fact_sums *sums)
{
	add_calls(aggregates, call, sums->count);
	if (call->tid) /* of a loop in one thread */
		time_call(aggregates, call, sums->count);
}

static void feed_ops(struct aggregates *aggregates, const struct fact_op *op,
		     const struct fact_sums *sums)
{
	struct member *member = member_at(aggregates, op->process);

	traced_sums(&aggregates->traced, op);
	if (member)
		member->ops += sums->count;
}

static void feed_transfer(struct aggregates *aggregates, const struct fact_transfer *transfer)
{
	struct waiting_transfer waiting = { .transfer = *transfer, .count = 1 };

	ports_add(aggregates, transfer, 1, transfer->wire_bytes);
	if (transfer->bytes == UINT64_MAX)
		waiting.transfer.bytes = 0;
	waiting.bytes = waiting.transfer.bytes;
	watch_transfer(&aggregates->watch, transfer, 1, waiting.bytes);
	waiting_take(aggregates, &waiting);
}

/* Fragments of one message, or all that --count put into one row. */
static void feed_transfers(struct aggregates *aggregates, const struct fact_transfer *transfer,
			   const struct fact_sums *sums)
{
	struct waiting_transfer waiting = {
		.transfer = *transfer,
		.count = sums->count,
		.bytes = sums->bytes,
		.least = sums->least,
		.sums = true,
	};

	ports_add(aggregates, transfer, sums->count, sums->wire_bytes);
	waiting.transfer.bytes = sums->count ? sums->bytes / sums->count : 0;
	watch_transfer(&aggregates->watch, transfer, sums->count, sums->bytes);
	waiting_take(aggregates, &waiting);
}

static void feed_op(struct aggregates *aggregates, const struct fact_op *op)
{
	struct member *member = member_at(aggregates, op->process);
	uint64_t bytes = op->bytes == UINT64_MAX ? 0 : op->bytes;

	traced_op(&aggregates->traced, op);
	if (member)
		member->ops++;
	watch_op(&aggregates->watch, op);
	if (op->id)
		waiting_settle(aggregates, op->id, bytes);
}

static void feed_message(struct aggregates *aggregates, const struct fact_message *message)
{
	uint64_t bytes = message->bytes == UINT64_MAX ? 0 : message->bytes;
	const struct sum one = {
		.kind = SUM_WAY,
		.process = message->src,
		.peer = message->dst,
		.words = { message->src_mem, message->dst_mem, message->chain, message->via,
			   message->chain_reason },
		.size_class = aggregates_size_class(aggregates, bytes),
		.count = 1,
		.bytes = bytes,
		.least = bytes,
		.most = bytes,
	};

	traced_message(&aggregates->traced, message);
	/* without a GPU library no message reports its way */
	if (message->chain || message->chain_reason)
		sums_add(&aggregates->sums, &one);
}

static void feed_lifetime(struct aggregates *aggregates, const struct fact_lifetime *lifetime)
{
	struct member *member = member_at(aggregates, lifetime->process);

	watch_lifetime(&aggregates->watch, lifetime);
	vec_push(&aggregates->hang.lifetimes, *lifetime);
	if (member)
		member->time.until = lifetime->until;
	if (!member || !lifetime->exited)
		return;
	member->exit_signal = lifetime->exit_signal;
	member->ended_at = lifetime->until;
}

static void feed_window(struct aggregates *aggregates, const struct fact_window *window)
{
	aggregates->watch.windows = true;
	ports_add_window(aggregates, window);
}

static void aggregates_fact(void *arg, enum fact_type type, const void *fact,
			    const struct fact_sums *sums)
{
	struct aggregates *aggregates = arg;

	switch (type) {
	case FACT_PROCESS:
		return feed_process(aggregates, fact);
	case FACT_CALL:
		return feed_call(aggregates, fact);
	case FACT_OP:
		return feed_op(aggregates, fact);
	case FACT_TRANSFER:
		return feed_transfer(aggregates, fact);
	case FACT_MESSAGE:
		return feed_message(aggregates, fact);
	case FACT_WINDOW:
		return feed_window(aggregates, fact);
	case FACT_LIFETIME:
		return feed_lifetime(aggregates, fact);
	case FACT_WAIT:
		return feed_wait(aggregates, fact);
	case FACT_OPEN:
		return feed_open(aggregates, fact);
	case FACT_THREAD:
		return feed_thread(aggregates, fact);
	case FACT_CALLS:
		return feed_calls(aggregates, fact, sums);
	case FACT_OPS:
		return feed_ops(aggregates, fact, sums);
	case FACT_TRANSFERS:
		return feed_transfers(aggregates, fact, sums);
	default:
		return;
	}
}

struct fact_sink aggregates_sink(struct aggregates *aggregates)
{
	return (struct fact_sink){ aggregates, aggregates_fact };
}

/*
 * ---- who died first ----
 *
 * Open MPI 4.1 gives ranks two milliseconds between SIGTERM and SIGKILL, so that some that it ends
 * cannot write so; but it waits for a second before that, which the one that died has not.
 */

/* For each host and job: when its first rank ended without a signal. */
static void find_first_ends(const struct aggregates *aggregates, struct map *first)
{
	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member *member = &aggregates->members.data[i];
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
static void deaths_compare(struct aggregates *aggregates)
{
	struct map first = { 0 };

	find_first_ends(aggregates, &first);
	for (size_t i = 0; i < aggregates->members.len; i++) {
		struct member *member = &aggregates->members.data[i];
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

/* Sorts the elements; returns the new place of each. */
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

static struct moves order_nodes(struct aggregates *aggregates)
{
	struct slots slots = { 0 };
	struct node *old = aggregates->nodes.data;
	struct moves moves;

	for (size_t i = 0; i < aggregates->nodes.len; i++)
		if (old[i].name)
			vec_push(&slots.list, ((struct slot){ old[i].name, old[i].id, i }));
	moves = order_slots(&slots, aggregates->nodes.len);
	memset(&aggregates->nodes, 0, sizeof(aggregates->nodes));
	for (size_t i = 0; i < slots.list.len; i++) {
		struct node *node = vec_add(&aggregates->nodes);

		*node = old[slots.list.data[i].was];
		node->name = words_keep(&aggregates->words, node->name);
		node->id = words_keep(&aggregates->words, node->id);
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

static struct moves order_members(struct aggregates *aggregates, const struct moves *nodes)
{
	struct slots slots = { 0 };
	struct member *old = aggregates->members.data;
	struct moves moves;

	for (size_t i = 0; i < aggregates->members.len; i++) {
		if (!old[i].known) {
			vec_release(&old[i].ucx);
			vec_release(&old[i].environment);
			continue;
		}
		old[i].id = aggregates_id(aggregates, &old[i].fact);
		vec_push(&slots.list, ((struct slot){ old[i].id, NULL, i }));
	}
	moves = order_slots(&slots, aggregates->members.len);
	memset(&aggregates->members, 0, sizeof(aggregates->members));
	for (size_t i = 0; i < slots.list.len; i++) {
		struct member *member = vec_add(&aggregates->members);

		*member = old[slots.list.data[i].was];
		member->fact.index = i;
		member->fact.host = moved(nodes, member->fact.host);
		keep_words(&aggregates->words, member);
	}
	free(old);
	vec_release(&slots.list);
	return moves;
}

/* ---- cells ---- */

static int by_key(const void *left, const void *right)
{
	const struct traffic_cell *a = left, *b = right;
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

static void settle_cell(struct words *words, const struct moves *members, struct traffic_cell *cell)
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
static void join_cells(struct aggregates *aggregates)
{
	struct traffic_cell *cells = aggregates->cells.data;
	size_t kept = 0;

	for (size_t i = 0; i < aggregates->cells.len; i++) {
		if (kept && !by_key(&cells[kept - 1], &cells[i]))
			cell_join(&cells[kept - 1], &cells[i]);
		else
			cells[kept++] = cells[i];
	}
	aggregates->cells.len = kept;
}

static void order_cells(struct aggregates *aggregates, const struct moves *members)
{
	for (size_t i = 0; i < aggregates->cells.len; i++)
		settle_cell(&aggregates->words, members, &aggregates->cells.data[i]);
	if (aggregates->cells.len)
		qsort(aggregates->cells.data, aggregates->cells.len, sizeof(struct traffic_cell),
		      by_key);
	join_cells(aggregates);
	/* found by their words' slots, which have changed */
	rowset_release(&aggregates->index);
}

/* ---- sums ---- */

static void order_sums(struct aggregates *aggregates, const struct moves *members)
{
	for (size_t i = 0; i < aggregates->sums.list.len; i++) {
		struct sum *sum = &aggregates->sums.list.data[i];

		for (size_t k = 0; k < SUM_WORDS; k++)
			sum->words[k] = words_of(&aggregates->words, sum->words[k]);
		sum->process = moved(members, sum->process);
		sum->peer = moved(members, sum->peer);
	}
	sums_order(&aggregates->sums);
}

void aggregates_finish(struct aggregates *aggregates, const struct fact_totals *totals)
{
	struct moves nodes, members;

	waiting_give_up(aggregates);
	deaths_compare(aggregates);
	watch_finish(&aggregates->watch);
	behind_finish(aggregates);
	if (totals)
		aggregates->totals = *totals;
	totals_order(&aggregates->totals);
	nodes = order_nodes(aggregates);
	members = order_members(aggregates, &nodes);
	order_cells(aggregates, &members);
	order_sums(aggregates, &members);
	words_forget(&aggregates->words);
	vec_release(&nodes.to);
	vec_release(&members.to);
}
