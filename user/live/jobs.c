// SPDX-License-Identifier: BSD-3-Clause
#include "live/jobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"

#define SECOND 1000000000ull
#define OTHER "other"
#define UNKNOWN "unknown" /* as a label that is "" is written */

const unsigned int job_ages[JOB_AGES] = { 0, 1, 10, 60, 600 };

struct jobs {
	uint64_t keep;
	VEC(struct live_job *) all;
	struct map of; /* id of a live process -> its job's address */
	struct live_job *other; /* NULL: not needed yet */
	uint64_t lost; /* of the last interval */
	struct jobs_totals totals;
};

struct jobs *jobs_new(uint64_t keep)
{
	struct jobs *jobs = xcalloc(1, sizeof(*jobs));

	jobs->keep = keep;
	return jobs;
}

void jobs_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	for (size_t i = 0; i < jobs->all.len; i++)
		free(jobs->all.data[i]);
	vec_release(&jobs->all);
	map_release(&jobs->of);
	free(jobs);
}

size_t jobs_all(const struct jobs *jobs, struct live_job *const **all)
{
	*all = jobs->all.data;
	return jobs->all.len;
}

const struct jobs_totals *jobs_totals(const struct jobs *jobs)
{
	return &jobs->totals;
}

bool job_path_is_data(const struct job_path *path)
{
	return strcmp(path->way, "control") && strcmp(path->way, "staged");
}

/* Bytes of data that no line has had. */
static uint64_t fresh_bytes(const struct job_path *path)
{
	return job_path_is_data(path) ? path->sums.bytes - path->reported : 0;
}

const struct job_path *job_top(const struct live_job *job, uint64_t *most, uint64_t *data)
{
	const struct job_path *top = NULL;

	*most = *data = 0;
	for (size_t i = 0; i < ARRAY_SIZE(job->paths); i++) {
		const struct job_path *path = &job->paths[i];
		uint64_t bytes = 0;

		*data += fresh_bytes(path);
		for (size_t k = 0; k < ARRAY_SIZE(job->paths); k++)
			if (!strcmp(job->paths[k].transport, path->transport) &&
			    !strcmp(job->paths[k].device, path->device))
				bytes += fresh_bytes(&job->paths[k]);
		if (bytes > *most) {
			*most = bytes;
			top = path;
		}
	}
	return top;
}

static struct job_sums all_of(const struct live_job *job)
{
	return (struct job_sums){
		.ranks = job->ranks,
		.calls = job->calls,
		.sends = job->sends.count,
		.bytes = job->sends.bytes,
		.unwatched = job->unwatched,
		.unprobed = job->unprobed,
		.lost = job->lost,
	};
}

struct job_sums job_unreported(const struct live_job *job)
{
	struct job_sums sums = all_of(job);

	sums.ranks -= job->reported.ranks;
	sums.calls -= job->reported.calls;
	sums.sends -= job->reported.sends;
	sums.bytes -= job->reported.bytes;
	sums.unwatched -= job->reported.unwatched;
	sums.unprobed -= job->reported.unprobed;
	sums.lost -= job->reported.lost;
	return sums;
}

void job_mark_reported(struct live_job *job)
{
	job->reported = all_of(job);
	for (size_t i = 0; i < ARRAY_SIZE(job->paths); i++)
		job->paths[i].reported = job->paths[i].sums.bytes;
}

/* ---- the jobs ---- */

static bool is_kept(const struct jobs *jobs, const struct live_job *job, uint64_t now)
{
	return job == jobs->other || job->alive || now - job->seen < jobs->keep;
}

static void drop_old(struct jobs *jobs, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < jobs->all.len; i++) {
		if (is_kept(jobs, jobs->all.data[i], now))
			jobs->all.data[kept++] = jobs->all.data[i];
		else
			free(jobs->all.data[i]);
	}
	jobs->all.len = kept;
}

/* Whether there is room now: of the ended ones the oldest goes. */
static bool make_room(struct jobs *jobs)
{
	size_t oldest = SIZE_MAX;

	if (jobs->all.len < JOBS_MOST)
		return true;
	for (size_t i = 0; i < jobs->all.len; i++) {
		const struct live_job *job = jobs->all.data[i];

		if (job != jobs->other && !job->alive &&
		    (oldest == SIZE_MAX || job->seen < jobs->all.data[oldest]->seen))
			oldest = i;
	}
	if (oldest == SIZE_MAX)
		return false;
	free(jobs->all.data[oldest]);
	memmove(&jobs->all.data[oldest], &jobs->all.data[oldest + 1],
		(--jobs->all.len - oldest) * sizeof(*jobs->all.data));
	jobs->totals.dropped++;
	return true;
}

/* A label: NULL and none are "". Cut between characters. */
static void put_label(char *to, size_t room, const char *text, const char *none)
{
	char *plain = text && strcmp(text, none) ? text_plain(text) : xstrdup("");
	size_t size = strlen(plain);

	if (size >= room)
		for (size = room - 1; size && (plain[size] & 0xc0) == 0x80;)
			size--;
	memset(to, 0, room);
	memcpy(to, plain, size);
	free(plain);
}

#define LABEL(to, text, none) put_label(to, sizeof(to), text, none)

static struct live_job *job_new(const char *id, const char *step, uint64_t now)
{
	struct live_job *job = xcalloc(1, sizeof(*job));

	LABEL(job->id, id, "");
	LABEL(job->step, step, "");
	job->began = job->seen = now;
	job->errors[JOB_ERRORS] = (struct job_error){ .what = OTHER, .status = OTHER };
	for (unsigned int i = 0; i < 2; i++)
		job->paths[JOB_PATHS + i] = (struct job_path){
			.transport = OTHER,
			.device = OTHER,
			.way = OTHER,
			.fetches = i,
		};
	return job;
}

/* It is there for good, and may be one more than there is room for. */
static struct live_job *other_job(struct jobs *jobs, uint64_t now)
{
	if (!jobs->other) {
		jobs->other = job_new(OTHER, NULL, now);
		vec_push(&jobs->all, jobs->other);
		memmove(&jobs->all.data[1], &jobs->all.data[0],
			(jobs->all.len - 1) * sizeof(*jobs->all.data));
		jobs->all.data[0] = jobs->other;
	}
	return jobs->other;
}

/* A launcher's number, which any process can choose, is never like a batch system's. */
#define LAUNCHER "launcher:"

static void put_id(char *to, size_t room, const struct live_process *process)
{
	const char *batch = process->batch_job, *job = process->job;

	snprintf(to, room, "%s%s", !batch && job ? LAUNCHER : "", batch ? batch : job ? job : "");
}

static struct live_job *find(const struct jobs *jobs, const struct live_job *like)
{
	for (size_t i = 0; i < jobs->all.len; i++)
		if (!strcmp(jobs->all.data[i]->id, like->id) &&
		    !strcmp(jobs->all.data[i]->step, like->step))
			return jobs->all.data[i];
	return NULL;
}

static struct live_job *find_or_make(struct jobs *jobs, const struct live_process *process,
				     uint64_t now)
{
	struct live_job *job, *found;
	char id[1024];

	put_id(id, sizeof(id), process);
	job = job_new(id, process->step, now);
	found = find(jobs, job);

	if (!found && !strcmp(job->id, OTHER) && !*job->step)
		found = other_job(jobs, now);
	if (!found && make_room(jobs)) {
		vec_push(&jobs->all, job);
		jobs->totals.came++;
		return job;
	}
	free(job);
	return found;
}

/* A process stays with its job. */
static struct live_job *job_of(struct jobs *jobs, const struct live_process *process, uint64_t now)
{
	bool fresh;
	uint64_t *slot = map_insert(&jobs->of, process->id, 0, &fresh);
	struct live_job *job;

	if (!fresh)
		return (void *)(uintptr_t)*slot;
	job = find_or_make(jobs, process, now);
	if (!job) {
		job = other_job(jobs, now);
		jobs->totals.folded++;
	}
	job->ranks++;
	if (!job->alive)
		job->began = now;
	/* nothing may drop it before the interval is over, nor one that ended and comes again */
	job->alive = true;
	*slot = (uintptr_t)job;
	return job;
}

/* ---- an interval ---- */

static struct job_path *path_of(struct live_job *job, const struct live_path *path)
{
	struct job_path key = { .fetches = path->fetches };

	LABEL(key.transport, path->transport, UNKNOWN);
	LABEL(key.device, path->device, UNKNOWN);
	LABEL(key.memory, path->memory, UNKNOWN);
	LABEL(key.way, path->way, UNKNOWN);
	for (unsigned int i = 0; i < ARRAY_SIZE(job->paths); i++)
		if ((i < job->path_count || i >= JOB_PATHS) &&
		    !memcmp(&job->paths[i], &key, offsetof(struct job_path, sums)))
			return &job->paths[i];
	if (job->path_count == JOB_PATHS)
		return &job->paths[JOB_PATHS + path->fetches];
	job->paths[job->path_count] = key;
	return &job->paths[job->path_count++];
}

static struct job_error *error_of(struct live_job *job, const struct live_error *error)
{
	struct job_error key = { 0 };

	LABEL(key.what, error->what, UNKNOWN);
	LABEL(key.status, error->status, UNKNOWN);
	LABEL(key.transport, error->transport, UNKNOWN);
	LABEL(key.device, error->device, UNKNOWN);
	for (unsigned int i = 0; i < job->error_count; i++)
		if (!memcmp(&job->errors[i], &key, offsetof(struct job_error, count)))
			return &job->errors[i];
	if (job->error_count == JOB_ERRORS)
		return &job->errors[JOB_ERRORS];
	job->errors[job->error_count] = key;
	return &job->errors[job->error_count++];
}

static enum job_exit exit_of(const struct live_process *process)
{
	if (process->exit_signal)
		return JOB_EXIT_SIGNAL;
	if (process->exit_status < 0)
		return JOB_EXIT_UNKNOWN;
	return process->exit_status ? JOB_EXIT_OTHER : JOB_EXIT_0;
}

static void add_process(struct jobs *jobs, const struct live_process *process, uint64_t now)
{
	struct live_job *job = job_of(jobs, process, now);

	job->calls += process->calls.now.count;
	live_add(&job->sends, &process->sends.now);
	live_add(&job->receives, &process->receives.now);
	job->late += process->unprobed && process->unprobed == process->all_unprobed;
	if (process->unprobed > job->unprobed_now)
		job->unprobed_now = process->unprobed;
	if (!process->ended) {
		job->processes++;
		return;
	}
	/* the view forgets it as well */
	job->exits[exit_of(process)]++;
}

static void add_thread(struct jobs *jobs, const struct live_thread *thread)
{
	struct live_job *job;
	uint64_t age;

	if (!thread->function || !thread->since || thread->process->ended)
		return;
	job = job_of(jobs, thread->process, 0);
	age = live_age(thread);
	for (unsigned int i = 0; i < JOB_AGES; i++) {
		if (age < job_ages[i] * SECOND)
			continue;
		job->open_calls[i]++;
		job->open_ops[i] += !!thread->op;
	}
}

static void begin(struct live_job *job)
{
	job->processes = 0;
	job->unprobed_now = 0;
	job->line = false;
	memset(job->open_calls, 0, sizeof(job->open_calls));
	memset(job->open_ops, 0, sizeof(job->open_ops));
}

static void end(struct live_job *job, const struct live_tracer *tracer, uint64_t lost)
{
	const uint64_t ns = tracer->to - tracer->from;
	const bool alive = job->processes;

	job->line = job->alive && !alive;
	if (job->alive) {
		job->seen = tracer->to;
		/* else the two are times of one interval, read at two moments */
		if (tracer->away && ns > tracer->watched)
			job->unwatched += ns - tracer->watched;
		job->unwatched += job->unprobed_now;
		job->unprobed += job->unprobed_now;
		job->lost += lost;
	}
	job->alive = alive;
}

static double seconds(double cpus, const struct live_tracer *tracer)
{
	return isfinite(cpus) ? cpus * (tracer->to - tracer->from) / SECOND : 0;
}

static void add_tracer(struct jobs_totals *totals, const struct live_tracer *tracer)
{
	totals->ns += tracer->to - tracer->from;
	totals->watched += tracer->watched;
	totals->hits += tracer->hits;
	totals->trap_s += seconds(live_trap_cpus(tracer), tracer);
	totals->program_s += seconds(live_program_cpus(tracer), tracer);
	totals->cpu_s += seconds(tracer->cpu, tracer);
}

static void forget_ended(struct jobs *jobs, const struct live *live)
{
	struct live_process *const *processes;
	const size_t count = live_processes(live, &processes);

	for (size_t i = 0; i < count; i++)
		if (processes[i]->ended)
			map_remove(&jobs->of, processes[i]->id, 0);
}

void jobs_add(struct jobs *jobs, const struct live *live)
{
	const struct live_tracer *tracer = live_tracer(live);
	struct live_process *const *processes;
	const struct live_path *paths;
	const struct live_error *errors;
	const struct live_thread *threads;
	size_t count;

	add_tracer(&jobs->totals, tracer);
	drop_old(jobs, tracer->to);
	for (size_t i = 0; i < jobs->all.len; i++)
		begin(jobs->all.data[i]);
	count = live_processes(live, &processes);
	for (size_t i = 0; i < count; i++)
		add_process(jobs, processes[i], tracer->from);
	count = live_paths(live, &paths);
	for (size_t i = 0; i < count; i++)
		if (paths[i].amount.now.count || paths[i].amount.now.retries)
			live_add(&path_of(job_of(jobs, paths[i].process, tracer->from), &paths[i])
					  ->sums,
				 &paths[i].amount.now);
	count = live_errors(live, &errors);
	for (size_t i = 0; i < count; i++)
		if (errors[i].amount.now.count)
			error_of(job_of(jobs, errors[i].process, tracer->from), &errors[i])
				->count += errors[i].amount.now.count;
	count = live_threads(live, &threads);
	for (size_t i = 0; i < count; i++)
		add_thread(jobs, &threads[i]);
	for (size_t i = 0; i < jobs->all.len; i++)
		end(jobs->all.data[i], tracer, tracer->lost - jobs->lost);
	jobs->lost = tracer->lost;
	forget_ended(jobs, live);
}
