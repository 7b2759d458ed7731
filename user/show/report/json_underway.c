// SPDX-License-Identifier: BSD-3-Clause
/* Calls that have not returned, and the findings of looks at the processes, as JSON. */
#include "base/shape.h"
#include "show/report/json.h"

uint64_t json_host_first(const struct report *report, int process)
{
	const struct report_process *found = report_process_at(report, process);

	return found && found->fact.host >= 0 ? report->hosts.data[found->fact.host].first : 0;
}

json_t *report_json_rank(const struct report *report, int64_t process)
{
	const struct report_process *found = report_process_at(report, process);

	return found && found->fact.rank >= 0 ? json_integer(found->fact.rank) : NULL;
}

static json_t *site_of(const struct place *place)
{
	return place ? shape_text(place->label) : NULL;
}

/* ---- open calls ---- */

SHAPE_GETTER_WITH(open_rank, struct fact_open, open, struct report, report,
		  report_json_rank(report, open->process));
SHAPE_GETTER(open_site, struct fact_open, open, site_of(open->place));
SHAPE_GETTER(open_age, struct fact_open, open, json_integer(open->until - open->since));
SHAPE_GETTER_WITH(open_since, struct fact_open, open, struct report, report,
		  json_integer(open->since - json_host_first(report, open->process)));

static const struct shape open_shape[] = {
	SHAPE_OF(struct fact_open, process, .null = SHAPE_NEGATIVE),
	SHAPE_WHOLE("rank", open_rank),
	SHAPE_OF(struct fact_open, function),
	SHAPE_WHOLE("call_site", open_site),
	SHAPE_OF(struct fact_open, op),
	SHAPE_OF(struct fact_open, peer, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_open, peer_rank, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_open, tag, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_open, peer_certain),
	SHAPE_OF(struct fact_open, step),
	SHAPE_OF(struct fact_open, step_reason),
	SHAPE_OF(struct fact_open, bytes, .null = SHAPE_MOST),
	SHAPE_AS("moved_bytes", struct fact_open, moved, .null = SHAPE_MOST),
	SHAPE_AS("communicator", struct fact_open, comm),
	SHAPE_OF(struct fact_open, context, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_open, sequence, .null = SHAPE_ZERO),
	SHAPE_OF(struct fact_open, sequence_by),
	SHAPE_OF(struct fact_open, sequence_reason),
	SHAPE_WHOLE("since_ns", open_since),
	SHAPE_WHOLE("age_ns", open_age),
	SHAPE_OF(struct fact_open, bound),
	SHAPE_OF(struct fact_open, certain),
	{ 0 },
};

void report_json_open(const struct report *report, struct json_out *out)
{
	json_out_array(out, "open");
	for (size_t i = 0; i < report->waits.open.len; i++)
		json_out_item(out, shape_json(open_shape, &report->waits.open.data[i], report));
	json_out_array_end(out);
}

/* ---- looks ---- */

SHAPE_GETTER_WITH(thread_rank, struct fact_thread, thread, struct report, report,
		  report_json_rank(report, thread->process));
SHAPE_GETTER(thread_site, struct fact_thread, thread, site_of(thread->place));
SHAPE_GETTER_WITH(thread_at, struct fact_thread, thread, struct report, report,
		  json_integer(thread->at - json_host_first(report, thread->process)));

static const struct shape thread_shape[] = {
	SHAPE_OF(struct fact_thread, process, .null = SHAPE_NEGATIVE),
	SHAPE_WHOLE("rank", thread_rank),
	SHAPE_OF(struct fact_thread, tid),
	SHAPE_OF(struct fact_thread, state),
	SHAPE_OF(struct fact_thread, function),
	SHAPE_WHOLE("call_site", thread_site),
	SHAPE_OF(struct fact_thread, outside),
	SHAPE_OF(struct fact_thread, reason),
	SHAPE_WHOLE("at_ns", thread_at),
	{ 0 },
};

SHAPE_GETTER_WITH(queued_rank, struct fact_queued, queued, struct report, report,
		  report_json_rank(report, queued->process));

static const struct shape queued_shape[] = {
	SHAPE_OF(struct fact_queued, process, .null = SHAPE_NEGATIVE),
	SHAPE_WHOLE("rank", queued_rank),
	SHAPE_OF(struct fact_queued, what),
	SHAPE_OF(struct fact_queued, peer, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_queued, peer_rank, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_queued, tag, .null = SHAPE_NEGATIVE),
	SHAPE_AS("communicator", struct fact_queued, comm),
	SHAPE_OF(struct fact_queued, context),
	SHAPE_OF(struct fact_queued, bytes, .null = SHAPE_MOST),
	{ 0 },
};

SHAPE_GETTER_WITH(unread_rank, struct fact_unread, unread, struct report, report,
		  report_json_rank(report, unread->process));

static const struct shape unread_shape[] = {
	SHAPE_OF(struct fact_unread, process, .null = SHAPE_NEGATIVE),
	SHAPE_WHOLE("rank", unread_rank),
	SHAPE_OF(struct fact_unread, reason),
	SHAPE_OF(struct fact_unread, entries),
	{ 0 },
};

/* ---- who is behind ---- */

static json_t *numbers(const int *processes, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer(processes[i]));
	return list;
}

SHAPE_GETTER(behind_members, struct hang_row, row,
	     numbers(row->processes.data, row->processes.len));
SHAPE_GETTER(behind_apart, struct hang_row, row, numbers(row->apart.data, row->apart.len));

static json_t *behind_ranks(const void *from, const void *with)
{
	const struct hang_row *row = from;
	json_t *list = json_array();

	for (size_t i = 0; i < row->processes.len; i++) {
		json_t *rank = report_json_rank(with, row->processes.data[i]);

		json_array_append_new(list, rank ? rank : json_null());
	}
	if (row->rank >= 0)
		json_array_append_new(list, json_integer(row->rank));
	return list;
}

SHAPE_GETTER(behind_mutual, struct hang_row, row, json_boolean(row->processes.len > 1));
SHAPE_GETTER(behind_traced, struct hang_row, row, json_boolean(row->processes.len > 0));
SHAPE_GETTER(behind_state, struct hang_row, row,
	     row->thread ? shape_text(row->thread->state) : NULL);
SHAPE_GETTER(behind_function, struct hang_row, row,
	     row->thread ? shape_text(row->thread->function) : NULL);
SHAPE_GETTER(behind_site, struct hang_row, row, row->thread ? site_of(row->thread->place) : NULL);
SHAPE_GETTER(behind_reason, struct hang_row, row,
	     row->thread ? shape_text(row->thread->reason) : NULL);
SHAPE_GETTER(behind_outside, struct hang_row, row,
	     row->thread && !row->thread->reason ? json_boolean(row->thread->outside) : NULL);

static const struct shape behind_shape[] = {
	SHAPE_WHOLE("members", behind_members),
	SHAPE_WHOLE("ranks", behind_ranks),
	SHAPE_WHOLE("mutual", behind_mutual),
	SHAPE_WHOLE("traced", behind_traced),
	SHAPE_OF(struct hang_row, certain),
	SHAPE_OF(struct hang_row, waiting),
	SHAPE_AS("not_entered", struct hang_row, missing),
	SHAPE_AS("not_entered_sequence", struct hang_row, sequence, .null = SHAPE_ZERO),
	SHAPE_OF(struct hang_row, entered, .null = SHAPE_ZERO),
	SHAPE_WHOLE("apart", behind_apart),
	SHAPE_WHOLE("state", behind_state),
	SHAPE_WHOLE("function", behind_function),
	SHAPE_WHOLE("call_site", behind_site),
	SHAPE_WHOLE("outside", behind_outside),
	SHAPE_WHOLE("reason", behind_reason),
	{ 0 },
};

static void put_behind(const struct report *report, struct json_out *out)
{
	hang_rows rows = { 0 };

	report_behind(report, &rows);
	if (!rows.len && !report->waits.hang.threads.len) {
		hang_release(&rows);
		return;
	}
	json_out_array(out, "behind");
	for (size_t i = 0; i < rows.len; i++)
		json_out_item(out, shape_json(behind_shape, &rows.data[i], report));
	json_out_array_end(out);
	hang_release(&rows);
}

void report_json_underway(const struct report *report, struct json_out *out)
{
	const struct report_waits *waits = &report->waits;

	put_behind(report, out);
	if (!waits->hang.threads.len)
		return;
	json_out_array(out, "threads");
	for (size_t i = 0; i < waits->hang.threads.len; i++)
		json_out_item(out, shape_json(thread_shape, &waits->hang.threads.data[i], report));
	json_out_array_end(out);
	json_out_array(out, "queued");
	for (size_t i = 0; i < waits->queued.len; i++)
		json_out_item(out, shape_json(queued_shape, &waits->queued.data[i], report));
	json_out_array_end(out);
	json_out_array(out, "unread");
	for (size_t i = 0; i < waits->unread.len; i++)
		json_out_item(out, shape_json(unread_shape, &waits->unread.data[i], report));
	json_out_array_end(out);
}
