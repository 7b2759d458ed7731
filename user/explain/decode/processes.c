// SPDX-License-Identifier: BSD-3-Clause
/*
 * Processes: the process behind a pid, which may have been reused, and the facts of each.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#include "base/library_role.h"
#include "base/lists.h"
#include "explain/decode/internal.h"

static struct process **by_start(struct decoder *decoder, int host, uint32_t tgid,
				 uint64_t start_time)
{
	return (struct process **)map_insert(&decoder->by_start, (uint64_t)host << 32 | tgid,
					     start_time, NULL);
}

static struct process *first_of(const struct decoder *decoder, int host, uint32_t tgid)
{
	uint64_t *first = map_find(&decoder->by_tgid, tgid, host);

	return first ? (struct process *)(uintptr_t)*first : NULL;
}

/* Makes it findable by its pid, behind earlier ones. */
static void index_process(struct decoder *decoder, struct process *process)
{
	struct process *first = first_of(decoder, process->host, process->tgid);
	struct process **same =
		by_start(decoder, process->host, process->tgid, process->start_time);

	if (!*same)
		*same = process;
	if (first)
		first->last->next = process;
	else
		*map_insert(&decoder->by_tgid, process->tgid, process->host, NULL) =
			(uintptr_t)(first = process);
	first->last = process;
}

static struct process *process_add(struct decoder *decoder, struct capture *capture, uint32_t tgid,
				   uint64_t start_time)
{
	struct process *process = xcalloc(1, sizeof(*process));

	*process = (struct process){ .id = (int)decoder->processes.len,
				     .index = -1,
				     .host = capture->host,
				     .tgid = tgid,
				     .ns_pid = tgid,
				     .uid = USER_UNKNOWN,
				     .start_time = start_time,
				     .rank = -1,
				     .size = -1,
				     .environment_cut = -1 };
	vec_push(&decoder->processes, process);
	index_process(decoder, process);
	return process;
}

/* NULL: there is none. */
static struct process *process_find(struct decoder *decoder, int host, uint32_t tgid,
				    uint64_t start_time)
{
	return *by_start(decoder, host, tgid, start_time);
}

/* Side records come first, so the process that a tgid names at the beginning is its oldest one. */
struct process *capture_process(struct decoder *decoder, struct capture *capture, uint32_t tgid)
{
	struct process **recent = &capture->recent[tgid % RECENT_PROCESSES];
	uint64_t *slot;
	bool fresh;

	if (*recent && (*recent)->tgid == tgid)
		return *recent;
	slot = map_insert(&capture->tgids, tgid, 0, &fresh);
	if (fresh)
		*slot = (uintptr_t)process_add(decoder, capture, tgid, 0);
	*recent = (struct process *)(uintptr_t)*slot;
	return *recent;
}

struct process *process_at(const struct decoder *decoder, int host, uint32_t tgid, uint64_t ts)
{
	struct process *best = first_of(decoder, host, tgid);

	for (struct process *process = best; process; process = process->next)
		if (process->seen <= ts && process->seen >= best->seen)
			best = process;
	return best;
}

/* Its tgid is the next process's, made where no side record told of one. */
static void process_replace(struct decoder *decoder, struct capture *capture,
			    const struct process *process, uint64_t start_time)
{
	struct process *next = NULL, *other = first_of(decoder, process->host, process->tgid);

	for (; other; other = other->next)
		if (other->start_time > process->start_time &&
		    (!next || other->start_time < next->start_time))
			next = other;
	if (!next)
		next = process_add(decoder, capture, process->tgid, start_time);
	*map_insert(&capture->tgids, process->tgid, 0, NULL) = (uintptr_t)next;
	capture->recent[process->tgid % RECENT_PROCESSES] = next;
}

static uint64_t host_and_user(const struct process *process)
{
	return (uint64_t)process->host << 32 | process->uid;
}

void process_show(struct decoder *decoder, struct process *process)
{
	bool fresh;
	uint64_t *slot;

	if (process->index >= 0)
		return;
	process->index = (int)decoder->shown.len;
	vec_push(&decoder->shown, process);
	slot = map_insert(&decoder->by_ns_pid, process->ns_pid, host_and_user(process), &fresh);
	*slot = fresh ? (uintptr_t)process : 0;
}

struct process *process_named_by(const struct decoder *decoder, const struct process *process,
				 uint32_t ns_pid)
{
	uint64_t *found = map_find(&decoder->by_ns_pid, ns_pid, host_and_user(process));

	return found ? (struct process *)(uintptr_t)*found : NULL;
}

void processes_release(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->processes.len; i++) {
		struct process *process = decoder->processes.data[i];

		vec_release(&process->ucx);
		vec_release(&process->libraries);
		rowset_release(&process->libraries_by_key);
		vec_release(&process->environment);
		vec_release(&process->mpi_text);
		vec_release(&process->threads);
		vec_release(&process->queued);
		vec_release(&process->unread);
		vec_release(&process->ordinals);
		vec_release(&process->ucx_devices);
		vec_release(&process->workers);
		vec_release(&process->ifaces);
		evidence_release(&process->evidence);
		free(process);
	}
	vec_release(&decoder->processes);
	vec_release(&decoder->shown);
	vec_release(&decoder->ending);
	map_release(&decoder->by_tgid);
	map_release(&decoder->by_start);
	map_release(&decoder->by_ns_pid);
}

static int side_int(const json_t *side, const char *key)
{
	const json_t *value = json_object_get(side, key);

	return json_is_integer(value) ? (int)json_integer_value(value) : -1;
}

void process_blind(struct process *process, uint64_t until)
{
	if (process->blind_until < until)
		process->blind_until = until;
}

void process_missing(struct process *process, uint64_t until)
{
	process_blind(process, until);
	if (process->missing_until < until)
		process->missing_until = until;
}

bool process_forgets(const struct event *event)
{
	const struct ub_loss *loss = (const struct ub_loss *)event->h;
	struct process *process = event->process;
	bool lost = event->h->kind == UB_LOSS && loss->records;

	if (!lost && (!process->lost_until || event->h->ts <= process->lost_until))
		return false;
	process->lost_until = lost ? loss->until : 0;
	return true;
}

/* Attached late: the time before, or since another capture, is unknown. */
static void process_joined(struct capture *capture, struct process *process, uint64_t ts)
{
	if (process->told_by && process->told_by != capture)
		vec_push(&capture->rejoined, ((struct rejoined){ process, ts + 1 }));
	else
		process_missing(process, ts + 1);
}

/* The first capture decides about its start. */
static void describe_start(struct capture *capture, struct process *process, const json_t *side)
{
	const char *from = json_string_value(json_object_get(side, "seen_from"));
	bool from_start = from && from[0] == 's';

	if (!from_start)
		process_joined(capture, process, side_u64(side, "ts"));
	if (!process->told_by || process->told_by == capture) {
		process->from_start = from_start;
		process->told_by = capture;
	}
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct variable *)left)->name,
		      ((const struct variable *)right)->name);
}

static void describe_environment(struct decoder *decoder, struct process *process,
				 const json_t *side)
{
	json_t *environment = json_object_get(side, "environment"), *value;
	const char *name;

	if (!json_is_object(environment))
		return;
	process->environment.len = 0;
	process->environment_cut = side_int(side, "environment_cut");
	if (process->environment_cut < 0)
		process->environment_cut = 0;
	json_object_foreach(environment, name, value)
	{
		const char *text = json_string_value(value);

		if (*name && text) /* an empty text is interned as none */
			vec_push(&process->environment,
				 ((struct variable){ strings_intern(&decoder->strings, name),
						     *text ? strings_intern(&decoder->strings, text)
							   : "" }));
		else
			process->environment_cut++;
	}
	if (process->environment.len)
		qsort(process->environment.data, process->environment.len, sizeof(struct variable),
		      by_name);
}

/* The last record counts; a value that is no list means unknown. */
static void describe_cpus(struct decoder *decoder, struct process *process, const json_t *side)
{
	const char *cpus = side_string(decoder, side, "cpus");

	if (cpus_count(cpus) > 0)
		process->cpus = cpus;
}

static uint64_t rank_key(int size, int rank)
{
	return (uint64_t)(uint32_t)size << 32 | (uint32_t)rank;
}

static void index_rank(struct decoder *decoder, const struct process *process)
{
	bool fresh;
	uint64_t *first = map_insert(&decoder->ranks, (uintptr_t)process->job,
				     rank_key(process->size, process->rank), &fresh);

	if (fresh || (uint64_t)process->id + 1 < *first)
		*first = (uint64_t)process->id + 1;
}

static void describe(struct decoder *decoder, struct process *process, const json_t *side)
{
	struct strings *strings = &decoder->strings;
	uint64_t ns_pid = side_u64(side, "ns_pid");
	const json_t *uid = json_object_get(side, "uid");
	char number[24];

	process->described = true;
	process->comm = side_string(decoder, side, "comm");
	process->exe = side_string(decoder, side, "exe");
	process->mpi = side_string(decoder, side, "mpi");
	process->job = side_string(decoder, side, "job");
	process->batch_job = side_string(decoder, side, "batch_job");
	process->step = side_string(decoder, side, "step");
	snprintf(number, sizeof(number), "%llx", (unsigned long long)side_u64(side, "pid_ns"));
	process->pid_ns = strings_intern(strings, number);
	process->ns_pid = ns_pid ? (uint32_t)ns_pid : process->tgid;
	process->uid = json_is_integer(uid) ? (uint32_t)json_integer_value(uid) : USER_UNKNOWN;
	process->rank = side_int(side, "rank");
	process->size = side_int(side, "size");
	index_rank(decoder, process);
	describe_environment(decoder, process, side);
	describe_cpus(decoder, process, side);
}

void decode_process(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	uint32_t tgid = side_u64(side, "tgid");
	uint64_t start_time = side_u64(side, "start_time");
	struct process *process = process_find(decoder, capture->host, tgid, start_time);
	bool fresh;
	uint64_t *slot;

	if (!process) {
		process = process_add(decoder, capture, tgid, start_time);
		process->seen = side_u64(side, "ts");
	}
	slot = map_insert(&capture->tgids, tgid, 0, &fresh);
	if (fresh)
		*slot = (uintptr_t)process;
	describe(decoder, process, side);
	describe_start(capture, process, side);
}

/* Without a size in the record: no stock libmpi or libmpich is larger than this. */
#define MPI_TEXT_MAX (8u << 20)

static struct address_range mpi_range(const json_t *side)
{
	uint64_t base = side_u64(side, "base"), size = side_u64(side, "size");

	return (struct address_range){ base, base + (size ? size : MPI_TEXT_MAX) };
}

/* Allocations of functions without a probe are unseen: then missing memory is not taken for the
 * host's.
 */
static void decode_gpu_library(struct process *process, const json_t *side)
{
	process->gpu_library = true;
	if (side_u64(side, "missing"))
		process->evidence.unprobed = true;
}

/* mpi.h of MPICH, 3.0 to 4.2; Open MPI's is an address. */
#define MPICH_COMM_WORLD 0x44000000u

static void decode_mpi_library(struct capture *capture, struct process *process, const char *path,
			       const json_t *side)
{
	const char *version = json_string_value(json_object_get(side, "version"));

	capture->mpi_library = path;
	process->mpich = version && !strncmp(version, "MPICH", strlen("MPICH"));
	process->open_mpi = version && !strncmp(version, "Open MPI", strlen("Open MPI"));
	process->comm_world = process->mpich ? MPICH_COMM_WORLD : side_u64(side, "comm_world");
	if (side_u64(side, "missing") || side_u64(side, "refused"))
		process->calls_unprobed = true;
}

uint64_t decoder_comm_handle(const struct process *process, uint64_t passed)
{
	return process->mpich ? (uint32_t)passed : passed;
}

const char *decoder_comm(const struct process *process, uint64_t passed)
{
	const uint64_t handle = decoder_comm_handle(process, passed);

	if (!handle || !process->comm_world)
		return NULL;
	return handle == process->comm_world ? "MPI_COMM_WORLD" : "another";
}

/* Each of them once, and none of a name that is not known: a record may have any number. */
static unsigned int roles_of(const json_t *side)
{
	const json_t *names = json_object_get(side, "roles"), *name;
	unsigned int roles = 0;
	size_t i;

	json_array_foreach(names, i, name) roles |= library_role_by_name(json_string_value(name));
	return roles;
}

/* False: known before, from another capture, or from when it became another program. */
static bool add_library(struct process *process, const char *role, const struct ucx_library *told)
{
	const struct told_library library = { role, told->path, told->build_id, told->version };
	const struct rowset_rows rows =
		ROWSET_ROWS(&process->libraries, offsetof(struct told_library, version));

	if (rowset_add(&process->libraries_by_key, rows, &library) < rows.len)
		return false;
	vec_push(&process->libraries, library);
	return true;
}

void decode_library(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	struct process *process =
		process_at(decoder, capture->host, side_u64(side, "tgid"), side_u64(side, "ts"));
	const unsigned int roles = roles_of(side);
	struct ucx_library ucx;

	if (!process)
		return;
	ucx = (struct ucx_library){ .path = side_string(decoder, side, "path"),
				    .build_id = side_string(decoder, side, "build_id"),
				    .version = side_string(decoder, side, "version"),
				    .layout = side_string(decoder, side, "layout") };
	for (const struct library_role_name *row = library_role_names; row->name; row++)
		if (roles & row->role && add_library(process, row->name, &ucx) &&
		    row->role == LIB_UCP)
			vec_push(&process->ucx, ucx);
	if (roles & LIB_GPU) {
		map_insert(&decoder->gpu_libraries, (uintptr_t)ucx.path, (uint64_t)process->id,
			   NULL);
		decode_gpu_library(process, side);
	}
	if (roles & LIB_MPI_CODE)
		vec_push(&process->mpi_text, mpi_range(side));
	if (roles & LIB_MPI_UCC)
		process->mpi_calls_ucc = true;
	if (roles & LIB_MPI)
		decode_mpi_library(capture, process, ucx.path, side);
}

const struct process *decoder_of_rank(const struct decoder *decoder, const struct process *process,
				      int rank)
{
	const uint64_t *first =
		map_find(&decoder->ranks, (uintptr_t)process->job, rank_key(process->size, rank));

	for (size_t i = first ? *first - 1 : SIZE_MAX; i < decoder->processes.len; i++) {
		const struct process *other = decoder->processes.data[i];

		if (other->index >= 0 && other->rank == rank && other->job == process->job &&
		    other->size == process->size)
			return other;
	}
	return NULL;
}

const char *decoder_role(const struct process *process, const char *path)
{
	for (size_t i = 0; path && i < process->libraries.len; i++) {
		const struct told_library *library = &process->libraries.data[i];

		if (library->path && !strcmp(library->path, path))
			return library->role;
	}
	return NULL;
}

bool decoder_is_program(const struct process *process, const char *path)
{
	return path && process->exe && !strcmp(path, process->exe);
}

bool decoder_in_mpi(const struct process *process, uint64_t address)
{
	for (size_t i = 0; i < process->mpi_text.len; i++)
		if (address >= process->mpi_text.data[i].from &&
		    address < process->mpi_text.data[i].to)
			return true;
	return false;
}

void decode_task(struct decoder *decoder, struct capture *capture, const struct ub_task *task)
{
	struct process *process = capture_process(decoder, capture, task->h.tgid);

	if (task->what == UB_EXIT && task->h.tid == task->h.tgid) {
		process->exited = true;
		process->exited_at = task->h.ts;
		if (task->other & UB_EXIT_TOLD)
			process->exit_told = task->other;
	}
	if (task->what == UB_EXEC)
		process->evidence.whole = process->from_start;
	if (task->what == UB_EXEC || !process->comm)
		process->comm = strings_field(&decoder->strings, task->comm, sizeof(task->comm));
	if (task->what == UB_FORK && task->other != task->h.tgid) {
		uint64_t *slot = map_find(&capture->tgids, task->other, 0);
		struct process *child = slot ? (struct process *)(uintptr_t)*slot : NULL;

		if (child && child->exited)
			process_replace(decoder, capture, child, task->h.ts);
		else if (!child || !child->told_by)
			capture_process(decoder, capture, task->other)->from_start = true;
		else
			child->evidence.whole = false; /* it has its parent's memory */
	}
}
