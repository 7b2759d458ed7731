// SPDX-License-Identifier: BSD-3-Clause
/* Adds each fact to its row, and the slowest transfers to their list. */
#include "show/report/internal.h"
#include "show/report/words.h"

#include <string.h>

uint64_t slowest_time(const struct fact_transfer *transfer)
{
	return transfer->end - transfer->start;
}

void slowest_offer(struct slowest *slowest, const struct fact_transfer *transfer)
{
	struct fact_transfer *all = slowest->transfers;
	size_t at = slowest->len;

	/* an upper bound says nothing of how slow it was */
	if (transfer->end < transfer->start || transfer->end_precision == TIME_UNKNOWN ||
	    transfer->end_precision == TIME_UPPER_BOUND)
		return;
	while (at && slowest_time(&all[at - 1]) < slowest_time(transfer))
		at--;
	if (at == SLOWEST_MAX)
		return;
	if (slowest->len < SLOWEST_MAX)
		slowest->len++;
	memmove(&all[at + 1], &all[at], (slowest->len - at - 1) * sizeof(*all));
	all[at] = *transfer;
}

static struct report_host *host_at(struct report *report, int index)
{
	while (report->hosts.len <= (size_t)index)
		vec_add(&report->hosts);
	return &report->hosts.data[index];
}

static void *copy_of(const void *list, size_t length, size_t size)
{
	size_t room = 0;

	return length ? memcpy(vec_grow(NULL, &room, length, size), list, length * size) : NULL;
}

static void copy_lists(struct fact_process *fact)
{
	fact->ucx = copy_of(fact->ucx, fact->ucx_count, sizeof(*fact->ucx));
	fact->environment =
		copy_of(fact->environment, fact->environment_count, sizeof(*fact->environment));
}

static void feed_process(struct report *report, const struct fact_process *fact)
{
	struct report_process *process;
	struct report_host *host;

	if (fact->index < 0)
		return;
	while (report->processes.len <= (size_t)fact->index)
		vec_add(&report->processes);
	process = &report->processes.data[fact->index];
	free((void *)process->fact.ucx);
	free((void *)process->fact.environment);
	process->fact = *fact;
	copy_lists(&process->fact);
	process->known = true;
	report->gpu = report->gpu || fact->gpu_library;
	selection_passes(&report->selection, FACT_PROCESS, fact);
	if (fact->host < 0)
		return;
	host = host_at(report, fact->host);
	host->known = true;
	host->id = fact->host_id;
	host->name = fact->host_name;
}

/* The span of a host's trace covers all its facts, whatever the filter. */
static void report_see_time(struct report *report, int index, uint64_t start, uint64_t end)
{
	const struct report_process *process = report_process_at(report, index);
	struct report_host *host;

	report_waits_seen(&report->waits, index, start);
	if (!process || process->fact.host < 0 || !start)
		return;
	host = &report->hosts.data[process->fact.host];
	if (!host->last || start < host->first)
		host->first = start;
	if (start > host->last)
		host->last = start;
	if (end > host->last)
		host->last = end;
}

static void feed_lifetime(struct report *report, const struct fact_lifetime *fact)
{
	vec_push(&report->waits.hang.lifetimes, *fact);
	if (report_process_at(report, fact->process))
		report->processes.data[fact->process].lifetime = *fact;
}

/* The span of a host's trace starts with its first window, even without facts. */
static void feed_window(struct report *report, const struct fact_window *fact)
{
	struct report_host *host = host_at(report, fact->host);

	vec_push(&report->windows, *fact);
	if (!host->last || fact->from < host->first)
		host->first = fact->from;
	if (fact->until > host->last)
		host->last = fact->until;
}

static void feed_memory(struct report *report, const struct fact_memory *fact)
{
	report->gpu = true;
	if (selection_passes(&report->selection, FACT_MEMORY, fact))
		vec_push(&report->memory, *fact);
}

static void add_bytes(struct cube_sums *sums, uint64_t bytes)
{
	if (bytes == UINT64_MAX)
		sums->bytes_unknown++;
	else
		sums->bytes += bytes;
}

/* The row of a fact; its type is the one given to cube_bind(). */
static struct cube_row *report_row(struct cube *cube, const void *fact)
{
	uint64_t key[CUBE_MAX_KEYS];

	for (int i = 0; i < cube->shape->count; i++)
		key[i] = key_word(cube->from[i], fact);
	return cube_at(cube, key);
}

/* Whether the filter selects the fact, which stands for count. bytes: UINT64_MAX: not known. */
static bool select_fact(struct report *report, struct selected *selected, enum fact_type type,
			const void *fact, uint64_t count, uint64_t bytes)
{
	const uint64_t known = bytes == UINT64_MAX ? 0 : bytes;
	const bool passes = selection_passes(&report->selection, type, fact);
	const bool caused = report->filtering && report->filter->causes.known;
	const enum filter_layer layer = type == FACT_CALLS ? FILTER_CALLS : FILTER_OPS;

	selected->of += count;
	selected->bytes_of += known;
	if (caused && (type == FACT_CALLS || type == FACT_OPS) &&
	    filter_lowest(report->filter) > layer) {
		selected->unknown += passes ? count : 0;
		return passes;
	}
	selected->count += passes ? count : 0;
	selected->bytes += passes ? known : 0;
	return passes;
}

/* The row of one call, or of so many; NULL: the filter excludes it. */
static struct cube_row *call_row(struct report *report, const struct fact_call *call,
				 const struct fact_sums *sums)
{
	report_see_time(report, call->process, call->start, call->end);
	if (!select_fact(report, &report->selected.calls, sums ? FACT_CALLS : FACT_CALL, call,
			 sums ? sums->count : 1, sums ? sums->bytes : call->bytes))
		return NULL;
	return report_row(&report->calls, call);
}

static void sum_call(struct cube_sums *sums, const struct fact_call *call)
{
	sums->count++;
	sums->ops += fact_call_ops(call);
	sums->ops_unknown += call->ops == UINT64_MAX;
	add_bytes(sums, call->bytes);
	cube_sums_time(sums, call->start, call->end, call->end_precision, call->bytes);
	if (call->until >= call->start && call->until)
		sums->time_most += call->until - call->start;
	else
		sums->unbounded++;
}

static void keep_place(struct report *report, const struct place *place)
{
	if (place)
		*map_insert(&report->places, word(place->key), 0, NULL) = (uintptr_t)place;
}

static void feed_wait(struct report *report, const struct fact_wait *wait)
{
	if (!selection_passes(&report->selection, FACT_WAIT, wait))
		return;
	keep_place(report, wait->place);
	keep_place(report, wait->culprit_place);
	keep_place(report, wait->root_place);
	report_waits_add(&report->waits, wait);
}

static void feed_collective(struct report *report, const struct fact_collective *collective)
{
	if (selection_passes(&report->selection, FACT_COLLECTIVE, collective))
		report_collectives_add(&report->collectives, collective);
}

static void feed_open(struct report *report, const struct fact_open *open)
{
	vec_push(&report->waits.hang.open, *open);
	if (!selection_passes(&report->selection, FACT_OPEN, open))
		return;
	report_see_time(report, open->process, open->since, open->until);
	vec_push(&report->waits.open, *open);
}

/*
 * Who is behind does not call, and waits for nobody: the facts of a look pass whatever the filter,
 * and so do open calls, for that.
 */
static void feed_thread(struct report *report, const struct fact_thread *thread)
{
	report_see_time(report, thread->process, thread->at, thread->at);
	vec_push(&report->waits.hang.threads, *thread);
}

static struct cube_sums *place_row(struct report *report, const struct fact_call *call)
{
	uint64_t key[] = { (int64_t)call->process, word(call->function), word(call->place->key) };

	keep_place(report, call->place);
	return &cube_at(&report->call_sites, key)->sums;
}

/* function: of MPI, or the operation outside MPI */
static struct cube_sums *stack_row(struct report *report, int process, const char *function,
				   const struct stack *stack)
{
	uint64_t key[] = { (int64_t)process, word(function), word(stack->key) };

	*map_insert(&report->paths, word(stack->key), 0, NULL) = (uintptr_t)stack;
	return &cube_at(&report->stacks, key)->sums;
}

static void report_feed_call(struct report *report, const struct fact_call *call)
{
	struct cube_row *row = call_row(report, call, NULL);

	report->knows_places = report->knows_places || call->place;
	report->knows_stacks = report->knows_stacks || call->stack;
	if (!row)
		return;
	sum_call(&row->sums, call);
	if (fact_is_exact(call->end_precision) && call->end >= call->start)
		durations_add(&report->call_durations, row, call->end - call->start);
	report_waits_call(&report->waits, call);
	if (call->place)
		sum_call(place_row(report, call), call);
	if (call->stack)
		sum_call(stack_row(report, call->process, call->function, call->stack), call);
}

static struct cube_row *op_row(struct report *report, const struct fact_op *op,
			       const struct fact_sums *sums)
{
	report_see_time(report, op->process, op->start, op->end);
	if (!select_fact(report, &report->selected.ops, sums ? FACT_OPS : FACT_OP, op,
			 sums ? sums->count : 1, sums ? sums->bytes : op->bytes))
		return NULL;
	return report_row(&report->ops, op);
}

static int host_of(const struct report *report, int index)
{
	const struct report_process *process = report_process_at(report, index);

	return process ? process->fact.host : -1;
}

static enum fact_locality locality_of(const struct report *report, int process, int peer)
{
	const int here = host_of(report, process), there = host_of(report, peer);

	if (here < 0 || there < 0)
		return LOCALITY_UNKNOWN;
	return process == peer ? LOCALITY_SELF : here == there ? LOCALITY_NODE : LOCALITY_REMOTE;
}

/* The row of an operation outside MPI. */
static struct cube_sums *caller_row(struct report *report, const struct fact_op *op)
{
	uint64_t key[] = { (int64_t)op->process, word(op->op),
			   op->place ? word(op->place->key) : 0 };

	report->knows_callers = report->knows_callers || op->place;
	keep_place(report, op->place);
	return &cube_at(&report->callers, key)->sums;
}

static void sum_op(struct cube_sums *sums, const struct fact_op *op)
{
	sums->count++;
	sums->errors += op->status < 0;
	add_bytes(sums, op->bytes);
	cube_sums_time(sums, op->start, op->end, op->end_precision, op->bytes);
}

static void feed_op_stack(struct report *report, const struct fact_op *op)
{
	struct cube_sums *sums = stack_row(report, op->process, op->op, op->stack);

	sum_op(sums, op);
	sums->ops++;
}

static void report_feed_op(struct report *report, const struct fact_op *op)
{
	struct cube_row *row = op_row(report, op, NULL);

	report->knows_stacks = report->knows_stacks || op->stack;
	report->knows_op_stacks = report->knows_op_stacks || op->stack;
	if (!row)
		return;
	report_sizes_op(&report->sizes, op, locality_of(report, op->process, op->peer));
	sum_op(&row->sums, op);
	if (!op->function)
		sum_op(caller_row(report, op), op);
	if (op->stack)
		feed_op_stack(report, op);
}

static void sum_transfer(struct cube_sums *sums, const struct fact_transfer *transfer)
{
	if (transfer->retried) {
		sums->retries++;
		return;
	}
	sums->count++;
	add_bytes(sums, transfer->bytes);
	sums->wire_bytes += transfer->wire_bytes == UINT64_MAX ? 0 : transfer->wire_bytes;
	if (transfer->unexplained && transfer->bytes != UINT64_MAX)
		sums->unexplained_bytes += transfer->bytes;
	cube_sums_time(sums, transfer->start, transfer->end, transfer->end_precision,
		       transfer->bytes);
}

/*
 * Control traffic such as keep-alives would hide the transfers that users wait for; listed only on
 * request.
 */
static bool may_be_slowest(const struct report *report, const struct fact_transfer *transfer)
{
	bool asked = report->filtering && report->filter->lists[FILTER_KIND].patterns.len;

	return !transfer->retried && (transfer->kind == KIND_DATA || asked);
}

static struct cube_row *transfer_row(struct report *report, const struct fact_transfer *transfer,
				     const struct fact_sums *sums)
{
	const uint64_t count = sums ? sums->count : !transfer->retried;

	report_see_time(report, transfer->process, transfer->start, transfer->end);
	if (!select_fact(report, &report->selected.transfers, sums ? FACT_TRANSFERS : FACT_TRANSFER,
			 transfer, count,
			 sums    ? sums->bytes
			 : count ? transfer->bytes
				 : 0))
		return NULL;
	return report_row(&report->transfers, transfer);
}

static void report_feed_transfer(struct report *report, const struct fact_transfer *transfer)
{
	struct cube_row *row = transfer_row(report, transfer, NULL);

	if (!row)
		return;
	sum_transfer(&row->sums, transfer);
	if (!transfer->retried && fact_is_exact(transfer->end_precision) &&
	    transfer->end >= transfer->start)
		durations_add(&report->path_durations, row, transfer->end - transfer->start);
	if (may_be_slowest(report, transfer))
		slowest_offer(&report->slowest, transfer);
}

static void add_sums(struct cube_sums *to, const struct fact_sums *from)
{
	to->count += from->count;
	to->bytes += from->bytes;
	to->bytes_unknown += from->bytes_unknown;
	to->wire_bytes += from->wire_bytes;
	to->retries += from->retries;
	to->ops += from->ops;
	to->ops_unknown += from->ops_unknown;
	cube_sums_timed(to, from->timed, from->time, from->precision,
			from->timed == from->count ? from->bytes : UINT64_MAX);
}

static void sum_calls(struct cube_sums *sums, const struct fact_call *call,
		      const struct fact_sums *from)
{
	add_sums(sums, from);
	if (call->until)
		sums->time_most += fact_time_most(call, from);
	else
		sums->unbounded += from->count;
}

/* Calls of a loop in one thread; those of cells have neither thread nor place. */
static void feed_polls(struct report *report, const struct fact_call *call,
		       const struct fact_sums *from)
{
	report->knows_places = report->knows_places || call->place;
	report_waits_polls(&report->waits, call, from);
	if (call->place)
		sum_calls(place_row(report, call), call, from);
}

static void report_feed_calls(struct report *report, const struct fact_call *call,
			      const struct fact_sums *from)
{
	struct cube_row *row = call_row(report, call, from);

	if (!row)
		return;
	sum_calls(&row->sums, call, from);
	if (call->tid)
		feed_polls(report, call, from);
}

static void report_feed_ops(struct report *report, const struct fact_op *op,
			    const struct fact_sums *from)
{
	struct cube_row *row = op_row(report, op, from);
	struct cube_sums *caller;

	if (!row)
		return;
	add_sums(&row->sums, from);
	row->sums.unchecked += from->count;
	if (op->function)
		return;
	caller = caller_row(report, op);
	add_sums(caller, from);
	caller->unchecked += from->count;
}

static void report_feed_transfers(struct report *report, const struct fact_transfer *transfer,
				  const struct fact_sums *from)
{
	struct cube_row *row = transfer_row(report, transfer, from);

	if (!row)
		return;
	add_sums(&row->sums, from);
	if (transfer->unexplained)
		row->sums.unexplained_bytes += from->bytes;
}

static void report_feed_message(struct report *report, const struct fact_message *message)
{
	struct cube_sums *sums;

	clocks_add(&report->clocks, host_of(report, message->src), host_of(report, message->dst),
		   message->send_start, message->arrival);
	if (!select_fact(report, &report->selected.messages, FACT_MESSAGE, message, 1,
			 message->bytes))
		return;
	report_sizes_message(&report->sizes, message);
	report_tags_add(&report->tags, message);
	sums = &report_row(&report->messages, message)->sums;
	sums->count++;
	sums->copies += message->copies;
	sums->copy_bytes += message->copy_bytes;
	add_bytes(sums, message->bytes);
}

static void feed_errors(struct report *report, const struct fact_error *error,
			const struct fact_sums *sums)
{
	if (selection_passes(&report->selection, FACT_ERRORS, error))
		report_row(&report->errors, error)->sums.count += sums->count;
}

static void report_fact(void *arg, enum fact_type type, const void *fact,
			const struct fact_sums *sums)
{
	struct report *report = arg;

	switch (type) {
	case FACT_PROCESS:
		return feed_process(report, fact);
	case FACT_CALL:
		return report_feed_call(report, fact);
	case FACT_OP:
		return report_feed_op(report, fact);
	case FACT_TRANSFER:
		return report_feed_transfer(report, fact);
	case FACT_MESSAGE:
		return report_feed_message(report, fact);
	case FACT_WAIT:
		return feed_wait(report, fact);
	case FACT_COLLECTIVE:
		return feed_collective(report, fact);
	case FACT_OPEN:
		return feed_open(report, fact);
	case FACT_THREAD:
		return feed_thread(report, fact);
	case FACT_QUEUED:
		vec_push(&report->waits.queued, *(const struct fact_queued *)fact);
		return;
	case FACT_UNREAD:
		vec_push(&report->waits.unread, *(const struct fact_unread *)fact);
		return;
	case FACT_WINDOW:
		return feed_window(report, fact);
	case FACT_MEMORY:
		return feed_memory(report, fact);
	case FACT_LIFETIME:
		return feed_lifetime(report, fact);
	case FACT_CALLS:
		return report_feed_calls(report, fact, sums);
	case FACT_OPS:
		return report_feed_ops(report, fact, sums);
	case FACT_TRANSFERS:
		return report_feed_transfers(report, fact, sums);
	case FACT_ERRORS:
		return feed_errors(report, fact, sums);
	default:
		return;
	}
}

struct fact_sink report_sink(struct report *report)
{
	return (struct fact_sink){ report, report_fact };
}
