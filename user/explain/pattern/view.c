// SPDX-License-Identifier: BSD-3-Clause
/* Messages by member, in order. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "explain/pattern/internal.h"

struct patterns *patterns_new(void)
{
	return xcalloc(1, sizeof(struct patterns));
}

void patterns_free(struct patterns *patterns)
{
	if (!patterns)
		return;
	vec_release(&patterns->memory);
	free(patterns);
}

/* Aligned for all that is in a view. */
static void *take(char **at, size_t count, size_t size)
{
	void *taken = *at;

	*at += (count * size + 7) / 8 * 8;
	return taken;
}

static int by_time(const void *left, const void *right)
{
	const struct begun *a = left, *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (a->message > b->message) - (a->message < b->message);
}

/* They mostly come in order. */
static void sort(struct begun *turns, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (by_time(&turns[i - 1], &turns[i]) > 0)
			return qsort(turns, count, sizeof(*turns), by_time);
}

static void fill(struct view *view, struct begun *sends, struct begun *posts)
{
	uint32_t sent = 0, posted = 0;

	for (size_t i = 0; i < view->count; i++) {
		view->lines[view->messages[i].from].sent++;
		view->lines[view->messages[i].to].posted++;
	}
	for (uint32_t i = 0; i < view->members; i++) {
		struct doings *line = &view->lines[i];

		line->sends = &sends[sent];
		line->posts = &posts[posted];
		sent += line->sent;
		posted += line->posted;
		line->sent = line->posted = 0;
	}
	for (size_t i = 0; i < view->count; i++) {
		const struct pattern_message *message = &view->messages[i];
		struct doings *from = &view->lines[message->from], *to = &view->lines[message->to];

		sends[from->sends - sends + from->sent++] = (struct begun){ message->sent, i };
		posts[to->posts - posts + to->posted++] = (struct begun){ message->posted, i };
	}
	for (uint32_t i = 0; i < view->members; i++) {
		sort(&sends[view->lines[i].sends - sends], view->lines[i].sent);
		sort(&posts[view->lines[i].posts - posts], view->lines[i].posted);
	}
}

struct view view_of(struct patterns *patterns, enum collective_kind kind, unsigned int members,
		    const struct pattern_message *messages, size_t count)
{
	struct view view = {
		.kind = kind, .members = members, .messages = messages, .count = count
	};
	const size_t each = sizeof(*view.lines) + sizeof(*view.parts) + sizeof(*view.code) +
			    4 * sizeof(uint32_t) + 7 * 8;
	struct begun *sends, *posts;
	char *at;

	vec_reserve(&patterns->memory, members * each + 2 * count * sizeof(*sends));
	at = patterns->memory.data;
	view.lines = take(&at, members, sizeof(*view.lines));
	view.parts = take(&at, members, sizeof(*view.parts));
	view.code = take(&at, members, sizeof(*view.code));
	view.parent = take(&at, members, sizeof(uint32_t));
	view.other = take(&at, members, sizeof(uint32_t));
	view.pending = take(&at, members, sizeof(uint32_t));
	view.height = take(&at, members, sizeof(uint32_t));
	sends = take(&at, count, sizeof(*sends));
	posts = take(&at, count, sizeof(*posts));
	memset(view.lines, 0, members * sizeof(*view.lines));
	fill(&view, sends, posts);
	return view;
}

/* ---- parts ---- */

bool part_all(struct view *view)
{
	view->inside = view->members;
	for (uint32_t i = 0; i < view->members; i++) {
		const struct doings *line = &view->lines[i];

		view->parts[i] = (struct steps){ 0, 0, line->sent, false };
		if (line->sent != line->posted)
			return false;
	}
	return true;
}

/*
 * The one that a member exchanges all of its messages with, one or two each way; the member itself:
 * it has others. Two where halves are exchanged and reduced before (Open MPI's Rabenseifner).
 */
static uint32_t only_partner(const struct view *view, uint32_t member)
{
	const uint32_t count = view->parts[member].count;

	if (!count || count > 2)
		return member;
	for (uint32_t k = 0; k < count; k++)
		if (view_send(view, member, k)->to != view_send(view, member, 0)->to ||
		    view_post(view, member, k)->from != view_send(view, member, 0)->to)
			return member;
	return view_send(view, member, 0)->to;
}

/* The last that its host sends is the result; all else between them comes before the host's rest.
 */
static bool leave_out(struct view *view, uint32_t member, uint32_t host)
{
	const uint32_t count = view->parts[member].count;
	struct steps *part = &view->parts[host];

	if (part->out || part->post || part->count < count ||
	    view_send(view, host, part->count - 1)->to != member)
		return false;
	for (uint32_t k = 0; k < count; k++)
		if (view_post(view, host, k)->from != member ||
		    (k && view_send(view, host, k - 1)->to != member))
			return false;
	part->post = count;
	part->send = count - 1;
	part->count -= count;
	view->parts[member].out = true;
	view->inside--;
	return true;
}

bool part_power_of_two(struct view *view)
{
	const uint32_t most = 1u << (log2_up(view->members + 1) - 1);

	if (!part_all(view))
		return false;
	for (uint32_t i = 0; i < view->members && view->inside > most; i++) {
		const uint32_t host = only_partner(view, i);

		if (host != i && !view->parts[i].out && !leave_out(view, i, host))
			return false;
	}
	return view->inside == most;
}

bool part_tail(struct view *view, uint32_t count)
{
	view->inside = view->members;
	for (uint32_t i = 0; i < view->members; i++) {
		const struct doings *line = &view->lines[i];

		if (line->sent < count || line->posted < count)
			return false;
		view->parts[i] =
			(struct steps){ line->sent - count, line->posted - count, count, false };
	}
	return true;
}

bool part_head(struct view *view, uint32_t count)
{
	view->inside = view->members;
	for (uint32_t i = 0; i < view->members; i++) {
		if (view->lines[i].sent < count || view->lines[i].posted < count)
			return false;
		view->parts[i] = (struct steps){ 0, 0, count, false };
	}
	return true;
}
