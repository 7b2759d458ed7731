// SPDX-License-Identifier: BSD-3-Clause
#include "live/live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/rowset.h"
#include "base/strings.h"
#include "base/text.h"

struct live {
	struct strings strings;
	size_t texts; /* that were left when some were forgotten last */
	struct live_tracer tracer;
	uint64_t count, began, last_id;
	VEC(struct live_process *) processes;
	struct map gone; /* (tgid, start time) of processes that were forgotten */
	VEC(struct live_process *)
	of; /* by the number that facts of this interval use; may be NULL */
	VEC(struct live_path) paths;
	VEC(struct live_function) functions;
	VEC(struct live_error) errors;
	struct rowset path_rows, function_rows, error_rows;
	VEC(struct live_site) sites;
	VEC(struct live_thread) threads, before; /* of this interval, and of the last one */
	struct fact_reason notes[FACT_MAX_REASONS];
	uint64_t unattributed;
};

struct live *live_new(void)
{
	return xcalloc(1, sizeof(struct live));
}

void live_free(struct live *live)
{
	if (!live)
		return;
	for (size_t i = 0; i < live->processes.len; i++)
		free(live->processes.data[i]);
	vec_release(&live->processes);
	vec_release(&live->of);
	map_release(&live->gone);
	vec_release(&live->paths);
	vec_release(&live->functions);
	vec_release(&live->errors);
	rowset_release(&live->path_rows);
	rowset_release(&live->function_rows);
	rowset_release(&live->error_rows);
	vec_release(&live->sites);
	vec_release(&live->threads);
	vec_release(&live->before);
	strings_release(&live->strings);
	free(live);
}

double live_rate(const struct live_tracer *tracer, uint64_t amount)
{
	return tracer->watched ? amount * 1e9 / tracer->watched : NAN;
}

bool live_rates_least(const struct live_tracer *tracer)
{
	return tracer->away;
}

uint64_t live_age(const struct live_thread *thread)
{
	return thread->at > thread->since ? thread->at - thread->since : 0;
}

static double cpus(const struct live_tracer *tracer, double ns)
{
	return tracer->to > tracer->from ? tracer->hits * ns / (tracer->to - tracer->from) : NAN;
}

double live_trap_cpus(const struct live_tracer *tracer)
{
	return cpus(tracer, tracer->trap_ns);
}

double live_program_cpus(const struct live_tracer *tracer)
{
	return cpus(tracer, tracer->program_ns);
}

unsigned int live_looks(uint64_t mask)
{
	return (unsigned int)__builtin_popcountll(mask);
}

/* ---- the interval begins ---- */

static void amount_next(struct live_amount *amount)
{
	amount->now = (struct live_sums){ 0 };
}

static void process_next(struct live_process *process)
{
	amount_next(&process->calls);
	amount_next(&process->sends);
	amount_next(&process->receives);
	amount_next(&process->out);
	amount_next(&process->in);
	process->whole = false;
	process->looks <<= 1;
	process->in_mpi <<= 1;
	process->waiting <<= 1;
	process->unprobed = 0;
}

static bool gone(const struct live_process *process)
{
	return process && process->ended;
}

/* Rows of processes that had ended before: the last interval has shown that. */
static void forget_ended(struct live *live)
{
	size_t kept = 0;
	bool any = false;

	for (size_t i = 0; i < live->processes.len && !any; i++)
		any = gone(live->processes.data[i]);
	if (!any)
		return;
	rowset_release(&live->path_rows);
	rowset_release(&live->function_rows);
	rowset_release(&live->error_rows);

	for (size_t i = 0; i < live->paths.len; i++)
		if (!gone(live->paths.data[i].process) && !gone(live->paths.data[i].peer))
			live->paths.data[kept++] = live->paths.data[i];
	live->paths.len = kept;
	kept = 0;
	for (size_t i = 0; i < live->functions.len; i++)
		if (!gone(live->functions.data[i].process))
			live->functions.data[kept++] = live->functions.data[i];
	live->functions.len = kept;
	kept = 0;
	for (size_t i = 0; i < live->errors.len; i++)
		if (!gone(live->errors.data[i].process))
			live->errors.data[kept++] = live->errors.data[i];
	live->errors.len = kept;
	kept = 0;
	for (size_t i = 0; i < live->before.len; i++)
		if (!gone(live->before.data[i].process) && !gone(live->before.data[i].peer))
			live->before.data[kept++] = live->before.data[i];
	live->before.len = kept;
	kept = 0;
	for (size_t i = 0; i < live->processes.len; i++) {
		struct live_process *process = live->processes.data[i];

		if (!gone(process)) {
			live->processes.data[kept++] = process;
			continue;
		}
		*map_insert(&live->gone, process->tgid, process->start_time, NULL) = live->count;
		free(process);
	}
	live->processes.len = kept;
}

void live_begin(struct live *live, const struct live_tracer *tracer)
{
	live->tracer = *tracer;
	if (!live->count++)
		live->began = tracer->from;
	live->before.len = 0;
	for (size_t i = 0; i < live->threads.len; i++)
		vec_push(&live->before, live->threads.data[i]);
	live->threads.len = 0;
	forget_ended(live);
	live->of.len = 0;
	for (size_t i = 0; i < live->processes.len; i++)
		process_next(live->processes.data[i]);
	for (size_t i = 0; i < live->paths.len; i++)
		amount_next(&live->paths.data[i].amount);
	for (size_t i = 0; i < live->functions.len; i++) {
		amount_next(&live->functions.data[i].calls);
		amount_next(&live->functions.data[i].sends);
	}
	for (size_t i = 0; i < live->errors.len; i++)
		amount_next(&live->errors.data[i].amount);
	for (size_t i = 0; i < live->sites.len; i++)
		live->sites.data[i].now = 0;
}

/* ---- facts ---- */

static struct live_process *process_of(struct live *live, int index)
{
	return index >= 0 && (size_t)index < live->of.len ? live->of.data[index] : NULL;
}

static void on_process(struct live *live, const struct fact_process *fact)
{
	const char *host = strings_keep(&live->strings, fact->host_name);
	struct live_process *process = NULL;
	uint64_t *left = map_find(&live->gone, fact->tgid, fact->start_time);

	/* the file keeps processes that have ended for a while */
	if (left)
		*left = live->count;
	if (fact->index < 0 || left)
		return;
	for (size_t i = 0; i < live->processes.len && !process; i++) {
		struct live_process *one = live->processes.data[i];

		if (one->tgid == fact->tgid && one->start_time == fact->start_time &&
		    one->host == host)
			process = one;
	}
	if (!process) {
		process = xcalloc(1, sizeof(*process));
		process->id = ++live->last_id;
		vec_push(&live->processes, process);
	}
	process->seen = live->count;
	process->pid = fact->pid;
	process->tgid = fact->tgid;
	process->start_time = fact->start_time;
	process->host = host;
	process->comm = strings_keep(&live->strings, fact->comm);
	process->job = strings_keep(&live->strings, fact->job);
	process->batch_job = strings_keep(&live->strings, fact->batch_job);
	process->step = strings_keep(&live->strings, fact->step);
	process->mpi = strings_keep(&live->strings, fact_mpi(fact));
	process->cpus = strings_keep(&live->strings, fact->cpus);
	process->rank = fact->rank;
	process->size = fact->size;
	while (live->of.len <= (size_t)fact->index)
		vec_push(&live->of, NULL);
	live->of.data[fact->index] = process;
}

void live_add(struct live_sums *to, const struct live_sums *sums)
{
	to->count += sums->count;
	to->bytes += sums->bytes;
	to->unsized += sums->unsized;
	to->retries += sums->retries;
	to->timed += sums->timed;
	to->ns += sums->ns;
}

static void add(struct live_amount *amount, const struct live_sums *sums)
{
	live_add(&amount->now, sums);
	live_add(&amount->total, sums);
}

/* The kernel knew no process for them. */
static void note_nobodys(struct live *live, int process, const struct fact_sums *sums)
{
	if (process < 0)
		live->unattributed += sums->count;
}

static struct live_sums taken(const struct fact_sums *sums)
{
	return (struct live_sums){
		.count = sums->count,
		.bytes = sums->bytes,
		.unsized = sums->bytes_unknown,
		.retries = sums->retries,
		.timed = sums->timed,
		.ns = sums->time,
	};
}

static struct live_function *function_at(struct live *live, const struct live_process *process,
					 const char *function)
{
	const struct live_function key = { .process = process, .function = function };
	const struct rowset_rows rows =
		ROWSET_ROWS(&live->functions, offsetof(struct live_function, calls));
	size_t number = rowset_add(&live->function_rows, rows, &key);

	if (number == live->functions.len)
		vec_push(&live->functions, key);
	return &live->functions.data[number];
}

/* Its bytes are those of its operations, whose own facts have them as well. */
static void on_calls(struct live *live, const struct fact_call *fact, const struct fact_sums *sums)
{
	struct live_process *process = process_of(live, fact->process);
	const struct live_sums calls = { .count = sums->count };

	note_nobodys(live, fact->process, sums);
	if (!process || !sums->count)
		return;
	add(&process->calls, &calls);
	add(&function_at(live, process, strings_keep(&live->strings, fact->function))->calls,
	    &calls);
}

static void on_ops(struct live *live, const struct fact_op *fact, const struct fact_sums *sums)
{
	struct live_process *process = process_of(live, fact->process);
	const struct live_sums ops = taken(sums);

	note_nobodys(live, fact->process, sums);
	if (!process)
		return;
	if (fact->sends) {
		add(&process->sends, &ops);
		add(&function_at(live, process, strings_keep(&live->strings, fact->function))
			     ->sends,
		    &ops);
	} else if (text_ends(fact->op, "_recv")) {
		add(&process->receives, &ops);
	}
}

static struct live_path *path_at(struct live *live, const struct live_path *key)
{
	const struct rowset_rows rows =
		ROWSET_ROWS(&live->paths, offsetof(struct live_path, amount));
	size_t number = rowset_add(&live->path_rows, rows, key);

	if (number == live->paths.len)
		vec_push(&live->paths, *key);
	return &live->paths.data[number];
}

static void on_transfers(struct live *live, const struct fact_transfer *fact,
			 const struct fact_sums *sums)
{
	struct live_process *process = process_of(live, fact->process);
	struct live_process *peer = process_of(live, fact->peer);
	const struct live_sums moved = taken(sums);
	const struct live_path key = {
		.process = process,
		.peer = peer,
		.transport = strings_keep(&live->strings, fact->transport),
		.device = strings_keep(&live->strings, fact->device),
		.locality = fact->locality ? fact_locality_names[fact->locality] : NULL,
		.kind = fact_kind_names[fact->kind],
		.way = strings_keep(&live->strings, fact->data_path),
		.initiator = strings_keep(&live->strings, fact->initiator),
		.memory = strings_keep(&live->strings, fact->src_mem),
		.fetches = fact->fetches,
	};

	note_nobodys(live, fact->process, sums);
	if (!process)
		return;
	add(&path_at(live, &key)->amount, &moved);
	if (fact->kind != KIND_DATA)
		return;
	add(fact->fetches ? &process->in : &process->out, &moved);
	if (peer)
		add(fact->fetches ? &peer->out : &peer->in, &moved);
	else
		process->strange += moved.count;
}

static struct live_error *error_at(struct live *live, const struct live_error *key)
{
	const struct rowset_rows rows =
		ROWSET_ROWS(&live->errors, offsetof(struct live_error, amount));
	size_t number = rowset_add(&live->error_rows, rows, key);

	if (number == live->errors.len)
		vec_push(&live->errors, *key);
	return &live->errors.data[number];
}

static void on_errors(struct live *live, const struct fact_error *fact,
		      const struct fact_sums *sums)
{
	const struct live_sums errors = { .count = sums->count };
	const struct live_error key = {
		.process = process_of(live, fact->process),
		.what = strings_keep(&live->strings, fact->what),
		.status = strings_keep(&live->strings, fact->status),
		.op = strings_keep(&live->strings, fact->op),
		.function = strings_keep(&live->strings, fact->function),
		.transport = strings_keep(&live->strings, fact->transport),
		.device = strings_keep(&live->strings, fact->device),
	};

	note_nobodys(live, fact->process, sums);
	if (key.process)
		add(&error_at(live, &key)->amount, &errors);
}

static struct live_thread *thread_at(struct live *live, const struct live_process *process,
				     uint32_t tid)
{
	for (size_t i = 0; i < live->threads.len; i++)
		if (live->threads.data[i].process == process && live->threads.data[i].tid == tid)
			return &live->threads.data[i];
	return NULL;
}

static const char *label(struct live *live, const struct place *place)
{
	return place ? strings_keep(&live->strings, place->label) : NULL;
}

static struct live_thread *thread_new(struct live *live, const struct live_process *process,
				      uint32_t tid)
{
	struct live_thread *thread = thread_at(live, process, tid);

	if (thread)
		return thread;
	thread = vec_add(&live->threads);
	thread->process = process;
	thread->tid = tid;
	thread->peer_rank = thread->tag = thread->context = -1;
	thread->bytes = thread->moved = UINT64_MAX;
	return thread;
}

/* Looks of earlier intervals are in the file as well. */
static bool is_old(const struct live *live, uint64_t at)
{
	return at < live->tracer.from && live->count > 1;
}

static void on_thread(struct live *live, const struct fact_thread *fact)
{
	struct live_process *process = process_of(live, fact->process);
	struct live_thread *thread;

	if (!process || is_old(live, fact->at))
		return;
	thread = thread_new(live, process, fact->tid);
	thread->state = strings_keep(&live->strings, fact->state);
	thread->function = strings_keep(&live->strings, fact->function);
	thread->place = label(live, fact->place);
	thread->outside = fact->outside;
	thread->reason = strings_keep(&live->strings, fact->reason);
	thread->at = fact->at;
}

static void on_open(struct live *live, const struct fact_open *fact)
{
	struct live_process *process = process_of(live, fact->process);
	struct live_thread *thread;

	if (!process || is_old(live, fact->until))
		return;
	thread = thread_new(live, process, fact->tid);
	thread->op = strings_keep(&live->strings, fact->op);
	thread->comm = strings_keep(&live->strings, fact->comm);
	thread->peer = process_of(live, fact->peer);
	thread->peer_rank = fact->peer_rank;
	thread->tag = fact->tag;
	thread->context = fact->context;
	thread->sequence = fact->sequence;
	thread->sequence_by = strings_keep(&live->strings, fact->sequence_by);
	thread->step = strings_keep(&live->strings, fact->step);
	thread->step_reason = strings_keep(&live->strings, fact->step_reason);
	thread->bytes = fact->bytes;
	thread->moved = fact->moved;
}

static void on_lifetime(struct live *live, const struct fact_lifetime *fact)
{
	struct live_process *process = process_of(live, fact->process);

	if (!process)
		return;
	if (fact->unprobed > process->all_unprobed) {
		process->unprobed = fact->unprobed - process->all_unprobed;
		process->all_unprobed = fact->unprobed;
	}
	process->ended = fact->exited;
	process->exit_status = fact->exit_status;
	process->exit_signal = fact->exit_signal;
}

static void on_fact(void *arg, enum fact_type type, const void *fact, const struct fact_sums *sums)
{
	struct live *live = arg;

	switch (type) {
	case FACT_PROCESS:
		on_process(live, fact);
		break;
	case FACT_CALLS:
		on_calls(live, fact, sums);
		break;
	case FACT_OPS:
		on_ops(live, fact, sums);
		break;
	case FACT_TRANSFERS:
		on_transfers(live, fact, sums);
		break;
	case FACT_ERRORS:
		on_errors(live, fact, sums);
		break;
	case FACT_THREAD:
		on_thread(live, fact);
		break;
	case FACT_OPEN:
		on_open(live, fact);
		break;
	case FACT_LIFETIME:
		on_lifetime(live, fact);
		break;
	default:
		break;
	}
}

struct fact_sink live_sink(struct live *live)
{
	return (struct fact_sink){ live, on_fact };
}

/* ---- the interval ends ---- */

static bool same_call(const struct live_thread *a, const struct live_thread *b)
{
	return a->process == b->process && a->tid == b->tid && a->function == b->function &&
	       a->place == b->place && b->since;
}

/*
 * A call that goes on: the thread was in such a one before, and no thread of its process has begun
 * another one since. The probes were in place all the time, else that is not known.
 */
static uint64_t in_call_since(const struct live *live, const struct live_thread *thread)
{
	if (!thread->function)
		return 0;
	if (!thread->process->calls.now.count && !live->tracer.away)
		for (size_t i = 0; i < live->before.len; i++)
			if (same_call(thread, &live->before.data[i]))
				return live->before.data[i].since;
	return thread->at;
}

static void note_site(struct live *live, const struct live_thread *thread)
{
	struct live_site *site = NULL;

	for (size_t i = 0; i < live->sites.len && !site; i++)
		if (live->sites.data[i].function == thread->function &&
		    live->sites.data[i].place == thread->place)
			site = &live->sites.data[i];
	if (!site) {
		site = vec_add(&live->sites);
		site->function = thread->function;
		site->place = thread->place;
	}
	site->now++;
	site->total++;
}

/* The first thread of a process stands for it. */
static void note_look(struct live_process *process, const struct live_thread *thread)
{
	if (thread->tid != process->tgid || (!thread->function && !thread->outside))
		return;
	process->looks |= 1;
	if (thread->function)
		process->in_mpi |= 1;
	if (thread->op)
		process->waiting |= 1;
}

static bool of_one_job(const struct live_process *a, const struct live_process *b)
{
	return a->size == b->size && a->job == b->job && a->comm == b->comm && !b->ended;
}

static void judge_whole(struct live *live, struct live_process *process)
{
	int ranks = 0;
	bool strange = false;

	for (size_t i = 0; i < live->processes.len; i++)
		if (of_one_job(process, live->processes.data[i])) {
			ranks++;
			strange = strange || live->processes.data[i]->strange;
		}
	process->whole = process->size > 0 && ranks == process->size && !strange;
}

/* A live process that the file no longer has is ended, though no fact told its end. */
static void end_missing(struct live *live)
{
	for (size_t i = 0; i < live->processes.len; i++) {
		struct live_process *process = live->processes.data[i];

		if (process->seen == live->count || process->ended)
			continue;
		process->ended = true;
		process->exit_status = -1;
	}
}

/* An ended process that the file no longer has. Until then the file may show it again. */
static void forget_gone(struct live *live)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&live->gone, &pos)))
		if (slot->value != live->count)
			map_remove(&live->gone, slot->a, slot->b);
}

void live_end(struct live *live, const struct fact_totals *totals)
{
	static const struct fact_totals none;

	end_missing(live);
	if (totals)
		forget_gone(live);
	else
		totals = &none;
	for (size_t i = 0; i < live->threads.len; i++) {
		struct live_thread *thread = &live->threads.data[i];
		struct live_process *process = (struct live_process *)thread->process;

		if (!thread->at) /* this interval has no look at it */
			continue;
		thread->since = in_call_since(live, thread);
		note_look(process, thread);
		if (thread->function)
			note_site(live, thread);
	}
	for (size_t i = 0; i < live->processes.len; i++)
		judge_whole(live, live->processes.data[i]);
	for (size_t i = 0; i < FACT_MAX_REASONS; i++)
		live->notes[i] = (struct fact_reason){
			strings_keep(&live->strings, totals->notes[i].reason),
			totals->notes[i].count,
		};
}

/* ---- texts are forgotten ---- */

#define TEXTS_MORE 512

static void keep(struct strings *strings, const char **text)
{
	*text = strings_keep(strings, *text);
}

static void keep_process(struct strings *strings, struct live_process *process)
{
	keep(strings, &process->host);
	keep(strings, &process->comm);
	keep(strings, &process->job);
	keep(strings, &process->mpi);
	keep(strings, &process->batch_job);
	keep(strings, &process->step);
	keep(strings, &process->cpus);
}

static void keep_thread(struct strings *strings, struct live_thread *thread)
{
	keep(strings, &thread->state);
	keep(strings, &thread->function);
	keep(strings, &thread->place);
	keep(strings, &thread->reason);
	keep(strings, &thread->op);
	keep(strings, &thread->comm);
}

static void keep_error(struct strings *strings, struct live_error *error)
{
	keep(strings, &error->what);
	keep(strings, &error->status);
	keep(strings, &error->op);
	keep(strings, &error->function);
	keep(strings, &error->transport);
	keep(strings, &error->device);
}

void live_forget(struct live *live)
{
	struct strings strings = { 0 };

	live->sites.len = 0;
	if (live->strings.all.len < live->texts + TEXTS_MORE)
		return;
	for (size_t i = 0; i < live->processes.len; i++)
		keep_process(&strings, live->processes.data[i]);
	for (size_t i = 0; i < live->paths.len; i++) {
		keep(&strings, &live->paths.data[i].transport);
		keep(&strings, &live->paths.data[i].device);
		keep(&strings, &live->paths.data[i].memory);
	}
	for (size_t i = 0; i < live->functions.len; i++)
		keep(&strings, &live->functions.data[i].function);
	for (size_t i = 0; i < live->errors.len; i++)
		keep_error(&strings, &live->errors.data[i]);
	for (size_t i = 0; i < live->threads.len; i++)
		keep_thread(&strings, &live->threads.data[i]);
	for (size_t i = 0; i < FACT_MAX_REASONS; i++)
		keep(&strings, &live->notes[i].reason);
	/* live_begin() takes threads over */
	live->before.len = 0;
	strings_release(&live->strings);
	live->strings = strings;
	live->texts = strings.all.len;
	/* keys are addresses */
	rowset_release(&live->path_rows);
	rowset_release(&live->function_rows);
	rowset_release(&live->error_rows);
}

size_t live_texts(const struct live *live)
{
	return live->strings.all.len;
}

const struct live_tracer *live_tracer(const struct live *live)
{
	return &live->tracer;
}

uint64_t live_count(const struct live *live)
{
	return live->count;
}

uint64_t live_began(const struct live *live)
{
	return live->began;
}

size_t live_processes(const struct live *live, struct live_process *const **all)
{
	*all = live->processes.data;
	return live->processes.len;
}

size_t live_paths(const struct live *live, const struct live_path **all)
{
	*all = live->paths.data;
	return live->paths.len;
}

size_t live_functions(const struct live *live, const struct live_function **all)
{
	*all = live->functions.data;
	return live->functions.len;
}

size_t live_errors(const struct live *live, const struct live_error **all)
{
	*all = live->errors.data;
	return live->errors.len;
}

size_t live_threads(const struct live *live, const struct live_thread **all)
{
	*all = live->threads.data;
	return live->threads.len;
}

size_t live_sites(const struct live *live, const struct live_site **all)
{
	*all = live->sites.data;
	return live->sites.len;
}

uint64_t live_unattributed(const struct live *live)
{
	return live->unattributed;
}

const struct fact_reason *live_notes(const struct live *live)
{
	return live->notes;
}
