// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/place.h"
#include "show/report/words.h"

void report_waits_release(struct report_waits *waits)
{
	vec_release(&waits->rows);
	rowset_release(&waits->index);
	vec_release(&waits->roots);
	rowset_release(&waits->root_index);
	vec_release(&waits->open);
	hang_facts_release(&waits->hang);
	vec_release(&waits->queued);
	vec_release(&waits->unread);
	vec_release(&waits->times);
}

static uint64_t place_word(const struct place *place)
{
	return place ? word(place->key) : 0;
}

static struct process_time *time_at(struct report_waits *waits, int process)
{
	while (process >= 0 && waits->times.len <= (size_t)process)
		vec_add(&waits->times);
	return process < 0 ? NULL : &waits->times.data[process];
}

static void add_root(struct report_waits *waits, const struct fact_wait *wait)
{
	const struct root_key key = { word(wait->root_function), place_word(wait->root_place),
				      word(wait->root_did), wait->root };
	const size_t at =
		rowset_add(&waits->root_index, ROWSET_ROWS(&waits->roots, sizeof(key)), &key);
	struct root_row *row =
		at == waits->roots.len ? vec_add(&waits->roots) : &waits->roots.data[at];

	row->key = key;
	row->count++;
	row->fresh += wait->fresh;
}

static void add_did(struct wait_row *row, const struct fact_wait *wait)
{
	if (!wait->culprit_did)
		return;
	if (!strcmp(wait->culprit_did, "computing"))
		row->computing += wait->ns;
	else if (!strcmp(wait->culprit_did, "communicating"))
		row->communicating += wait->ns;
	else
		row->waiting += wait->ns;
}

void report_waits_add(struct report_waits *waits, const struct fact_wait *wait)
{
	const struct wait_key key = {
		word(wait->kind),
		word(wait->function),
		place_word(wait->place),
		word(wait->culprit_function),
		place_word(wait->culprit_place),
		wait->process,
		wait->culprit,
	};
	const size_t at = rowset_add(&waits->index, ROWSET_ROWS(&waits->rows, sizeof(key)), &key);
	struct wait_row *row =
		at == waits->rows.len ? vec_add(&waits->rows) : &waits->rows.data[at];
	struct process_time *time = time_at(waits, wait->process);

	row->key = key;
	row->count++;
	row->ns += wait->ns;
	row->fresh += wait->fresh;
	row->uncertainty += wait->uncertainty;
	row->exact = row->exact || !wait->uncertainty;
	row->by_clocks = row->by_clocks || wait->uncertainty;
	add_did(row, wait);
	if (wait->ns > row->most) {
		row->most = wait->ns;
		row->longest = *wait;
	}
	if (time)
		time->waited += wait->fresh;
	add_root(waits, wait);
}

void report_waits_seen(struct report_waits *waits, int process, uint64_t start)
{
	struct process_time *time = start ? time_at(waits, process) : NULL;

	if (time && (!time->first || start < time->first))
		time->first = start;
}

void report_waits_call(struct report_waits *waits, const struct fact_call *call)
{
	struct process_time *time = time_at(waits, call->process);

	if (!time)
		return;
	time->calls++;
	if (call->end > call->start) {
		time->timed++;
		time->least += call->end - call->start;
	}
	if (call->until >= call->start && call->until)
		time->most += call->until - call->start;
	else
		time->unbounded++;
}

void report_waits_polls(struct report_waits *waits, const struct fact_call *call,
			const struct fact_sums *sums)
{
	struct process_time *time = time_at(waits, call->process);

	if (!time)
		return;
	time->calls += sums->count;
	time->timed += sums->time ? sums->timed : 0;
	time->least += sums->time;
	time->most += fact_time_most(call, sums);
}

static int by_age(const void *left, const void *right)
{
	const struct fact_open *a = left, *b = right;
	int order = b->certain - a->certain;

	order = order ? order : descending(a->until - a->since, b->until - b->since);
	order = order ? order : a->process - b->process;
	return order ? order : (a->tid > b->tid) - (a->tid < b->tid);
}

static int by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_time(const void *left, const void *right)
{
	const struct wait_row *a = left, *b = right;
	int order = descending(a->ns, b->ns);

	order = order ? order : by_word(a->key.kind, b->key.kind);
	order = order ? order : by_number(a->key.process, b->key.process);
	order = order ? order : by_word(a->key.function, b->key.function);
	order = order ? order : by_word(a->key.place, b->key.place);
	order = order ? order : by_number(a->key.culprit, b->key.culprit);
	order = order ? order : by_word(a->key.culprit_function, b->key.culprit_function);
	return order ? order : by_word(a->key.culprit_place, b->key.culprit_place);
}

static int by_root(const void *left, const void *right)
{
	const struct root_row *a = left, *b = right;
	int order = descending(a->fresh, b->fresh);

	order = order ? order : by_number(a->key.process, b->key.process);
	order = order ? order : by_word(a->key.function, b->key.function);
	order = order ? order : by_word(a->key.place, b->key.place);
	return order ? order : by_word(a->key.did, b->key.did);
}

void report_waits_finish(struct report_waits *waits)
{
	if (waits->open.len)
		qsort(waits->open.data, waits->open.len, sizeof(*waits->open.data), by_age);
	if (waits->rows.len)
		qsort(waits->rows.data, waits->rows.len, sizeof(*waits->rows.data), by_time);
	if (waits->roots.len)
		qsort(waits->roots.data, waits->roots.len, sizeof(*waits->roots.data), by_root);
}
