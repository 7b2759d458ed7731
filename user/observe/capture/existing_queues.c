// SPDX-License-Identifier: BSD-3-Clause
/* The queues of all live workers, at the end of a capture or of an interval of a view. */
#include <errno.h>
#include <stdlib.h>

#include "base/deadline.h"
#include "base/order.h"
#include "observe/capture/existing_private.h"
#include "observe/capture/side.h"
#include "observe/process/bounds.h"
#include "observe/process/record.h"
#include "observe/process/snapshot.h"

static void write_side(void *arg, const json_t *record)
{
	file_writer_side(arg, record);
}

/* A worker of a process whose queues are read. */
struct queues_of {
	pid_t tgid;
	const struct layout *layout;
	uint64_t worker;
};

static struct queues_of queues_of(const struct existing *existing, pid_t tgid, uint64_t worker)
{
	const uint64_t *layout = map_find(&existing->layouts, (uint64_t)tgid, worker);

	return (struct queues_of){ tgid, (const struct layout *)(uintptr_t)*layout, worker };
}

static bool are_together(const struct queues_of *a, const struct queues_of *b)
{
	return a->tgid == b->tgid && a->layout == b->layout;
}

static int by_process(const void *left, const void *right)
{
	const struct queues_of *a = left, *b = right;

	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	if (a->layout != b->layout)
		return a->layout < b->layout ? -1 : 1;
	return (a->worker > b->worker) - (a->worker < b->worker);
}

static int by_tgid(const void *left, const void *right)
{
	const struct call_stack *a = left, *b = right;

	return (a->tgid > b->tgid) - (a->tgid < b->tgid);
}

/* Workers of one process and one layout, within one budget of time and of links. */
static void read_queues(const struct queues_of *workers, size_t count, const call_stacks *stacks,
			struct file_writer *writer, unsigned int ms)
{
	VEC(struct snapshot_stack) own = { 0 };
	struct snapshot snapshot;
	size_t i = search_count(stacks->len, at, stacks->data[at].tgid < workers->tgid);

	for (; i < stacks->len && stacks->data[i].tgid == workers->tgid; i++)
		vec_push(&own,
			 ((struct snapshot_stack){ stacks->data[i].from, stacks->data[i].to }));
	snapshot_init(&snapshot, workers->tgid, workers->layout, ms);
	for (i = 0; i < count; i++)
		snapshot_queues(&snapshot, workers[i].worker, own.data, own.len, write_side,
				writer);
	snapshot_release(&snapshot);
	vec_release(&own);
}

#define QUEUES_LEAST_MS 10 /* each process gets that much all the same */

static unsigned int time_left(uint64_t until)
{
	const uint64_t now = side_now(), left = until > now ? (until - now) / 1000000 : 0;

	return left > BOUNDS_PROCESS_MS ? BOUNDS_PROCESS_MS
	       : left < QUEUES_LEAST_MS ? QUEUES_LEAST_MS
					: (unsigned int)left;
}

/* Living workers, in order of processes. */
typedef VEC(struct queues_of) worker_list;

static void list_workers(const struct existing *existing, worker_list *workers)
{
	const struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&existing->workers, &pos)))
		if (slot->value & 1) {
			const struct queues_of one = queues_of(existing, (pid_t)slot->a, slot->b);

			if (existing_is_in_use(existing, one.layout))
				vec_push(workers, one);
		}
	if (workers->len)
		qsort(workers->data, workers->len, sizeof(*workers->data), by_process);
}

static void put_unread(struct file_writer *writer, pid_t tgid, const char *reason)
{
	json_t *record = record_new("queues", tgid, side_now());

	record_text(record, "reason", reason);
	side_write(writer, record);
}

static bool has_worker(const worker_list *workers, pid_t tgid)
{
	const size_t i = search_count(workers->len, at, workers->data[at].tgid < tgid);

	return i < workers->len && workers->data[i].tgid == tgid;
}

static bool has_layout(const struct tracked *tracked)
{
	for (size_t i = 0; i < tracked->libraries.len; i++)
		if (tracked->libraries.data[i]->roles & LIB_UCP &&
		    tracked->libraries.data[i]->layout)
			return true;
	return false;
}

#define NO_WORKER "no worker was found in its memory"

/*
 * Begins to search processes in an MPI call of which no worker is known: on a busy machine the
 * time of an earlier search may have gone to others.
 */
static void search_again(struct existing *existing, const call_stacks *stacks,
			 struct file_writer *writer)
{
	worker_list workers = { 0 };

	list_workers(existing, &workers);
	for (size_t i = 0; i < stacks->len; i++) {
		const pid_t tgid = stacks->data[i].tgid;
		const struct tracked *tracked = track_find(existing->track, tgid);
		const size_t searched = existing->unread.len;

		if ((i && stacks->data[i - 1].tgid == tgid) || !tracked || !tracked->uses_ucp ||
		    tracked->from_start || has_worker(&workers, tgid))
			continue;
		existing_process(existing, tgid);
		if (existing->unread.len == searched)
			put_unread(writer, tgid,
				   has_layout(tracked) ? NO_WORKER
						       : "the layout of its UCX is not known");
	}
	vec_release(&workers);
}

/* The reason for each process whose search has ended and found no worker. */
static void put_not_found(const struct existing *existing, struct file_writer *writer)
{
	for (size_t i = 0, next; i < existing->unread.len; i = next) {
		const pid_t tgid = existing->unread.data[i].tgid;
		bool found = false, late = false;

		/* one for each layout of its copies of UCX */
		for (next = i;
		     next < existing->unread.len && existing->unread.data[next].tgid == tgid;
		     next++) {
			found = found || existing->unread.data[next].workers > 0;
			late = late || existing->unread.data[next].workers == -ETIME;
		}
		if (!found)
			put_unread(writer, tgid,
				   late ? "its workers were not found in time" : NO_WORKER);
	}
}

void existing_queues(struct existing *existing, call_stacks *stacks, struct file_writer *writer)
{
	const uint64_t until = deadline_in(BOUNDS_END_NS);
	worker_list workers = { 0 };

	if (stacks->len)
		qsort(stacks->data, stacks->len, sizeof(*stacks->data), by_tgid);
	search_again(existing, stacks, writer);
	existing_read_all(existing);
	put_not_found(existing, writer);
	existing_forget_unread(existing);
	list_workers(existing, &workers);
	for (size_t from = 0, to; from < workers.len; from = to) {
		for (to = from;
		     to < workers.len && are_together(&workers.data[to], &workers.data[from]);)
			to++;
		read_queues(&workers.data[from], to - from, stacks, writer, time_left(until));
	}
	vec_release(&workers);
}
