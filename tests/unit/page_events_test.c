// SPDX-License-Identifier: BSD-3-Clause
/* Single events: whole in their windows, joined with what caused them and with their partners. */
#include "unit/page_sections.h"

struct whole {
	struct table lanes, events, links;
	uint64_t *start; /* of each event, ns from the first */
	size_t *lane;
	size_t count;
};

static void whole_read(struct whole *whole, const struct page *page)
{
	size_t lane = 0;

	table_read(&whole->lanes, page, "lanes");
	table_read(&whole->events, page, "events");
	table_read(&whole->links, page, "links");
	whole->count = table_rows(&whole->events, "delta");
	whole->start = calloc(whole->count + 1, sizeof(*whole->start));
	whole->lane = calloc(whole->count + 1, sizeof(*whole->lane));
	for (size_t i = 0; i < whole->count; i++) {
		while (lane + 1 < table_rows(&whole->lanes, "events") &&
		       table_at(&whole->lanes, "events", lane + 1) <= i)
			lane++;
		whole->lane[i] = lane;
		whole->start[i] = table_at(&whole->events, "delta", i);
		whole->start[i] += i == table_at(&whole->lanes, "events", lane)
					   ? table_at(&whole->lanes, "start", lane)
					   : whole->start[i - 1];
	}
}

static void whole_release(struct whole *whole)
{
	table_release(&whole->lanes);
	table_release(&whole->events);
	table_release(&whole->links);
	free(whole->start);
	free(whole->lane);
}

static uint64_t layer_of(const struct whole *whole, size_t event)
{
	return table_at(&whole->lanes, "layer", whole->lane[event]);
}

/* A code of the key of an event. */
static uint64_t code_of(const struct table *tables, const struct whole *whole, size_t event,
			const char *column)
{
	return table_at(&tables[layer_of(whole, event)], column,
			table_at(&whole->events, "key", event));
}

static void all_are_there(void **state)
{
	struct table tables[3];
	struct made_page made;
	struct whole whole;
	uint64_t counted[3] = { 0 }, timed[3] = { 0 }, retried = 0;

	(void)state;
	made_page_of(&made, "coll", &(struct page_options){ 0 });
	whole_read(&whole, made.page);
	for (int i = 0; i < 3; i++)
		table_read(&tables[i], made.page, page_shapes[i].name);
	for (size_t i = 0; i < whole.count; i++) {
		uint64_t layer = layer_of(&whole, i);
		bool tried = table_at(&whole.events, "flags", i) & EVENT_RETRIED;

		retried += tried;
		counted[layer] += tried ? 0 : table_at(&whole.events, "count", i);
		timed[layer] += table_at(&whole.events, "flags", i)
					? 0
					: table_at(&whole.events, "precision", i) != 0;
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(counted[i], table_sum(&tables[i], "count"));
		assert_true(timed[i] > 0 && timed[i] <= table_sum(&tables[i], "timed"));
	}
	assert_int_equal(retried, table_sum(&tables[PAGE_TRANSFERS], "retries"));
	for (int i = 0; i < 3; i++)
		table_release(&tables[i]);
	whole_release(&whole);
	made_page_release(&made);
}

static void derived_ones_say_so(void **state)
{
	struct made_page made;
	struct whole whole;
	size_t derived = 0;

	(void)state;
	made_page_of(&made, "derived", &(struct page_options){ 0 });
	whole_read(&whole, made.page);
	for (size_t i = 0; i < whole.count; i++)
		derived += (table_at(&whole.events, "flags", i) & EVENT_DERIVED) != 0;
	assert_int_equal(derived, 416 + 476 + 269); /* tests/data/derived.json */
	whole_release(&whole);
	made_page_release(&made);
}

static void parents_caused_them(void **state)
{
	struct table tables[3];
	struct made_page made;
	struct whole whole;
	size_t with = 0;

	(void)state;
	made_page_of(&made, "coll", &(struct page_options){ 0 });
	whole_read(&whole, made.page);
	for (int i = 0; i < 3; i++)
		table_read(&tables[i], made.page, page_shapes[i].name);
	for (size_t i = 0; i < whole.count; i++) {
		uint64_t parent = table_at(&whole.events, "parent", i);
		uint64_t layer = layer_of(&whole, i);

		if (layer == LEVEL_UCT)
			assert_int_equal(parent != 0, code_of(tables, &whole, i, "ucp_op") != 0);
		if (layer == LEVEL_UCP)
			assert_int_equal(parent != 0, code_of(tables, &whole, i, "function") != 0);
		if (layer == LEVEL_MPI || !parent)
			continue;
		with++;
		parent--;
		assert_int_equal(layer_of(&whole, parent), layer - 1);
		assert_int_equal(code_of(tables, &whole, i, "process"),
				 code_of(tables, &whole, parent, "process"));
		assert_int_equal(code_of(tables, &whole, i, "function"),
				 code_of(tables, &whole, parent, "function"));
		assert_true(whole.start[parent] <= whole.start[i]);
	}
	assert_true(with > 1000);
	for (int i = 0; i < 3; i++)
		table_release(&tables[i]);
	whole_release(&whole);
	made_page_release(&made);
}

static void check_partners(const char *captures)
{
	struct table ops, messages;
	struct made_page made;
	struct whole whole;
	uint64_t bytes = 0;

	made_page_of(&made, captures, &(struct page_options){ 0 });
	whole_read(&whole, made.page);
	table_read(&ops, made.page, "ops");
	table_read(&messages, made.page, "messages");
	assert_int_equal(table_rows(&whole.links, "send"), table_sum(&messages, "count"));
	for (size_t i = 0; i < table_rows(&whole.links, "send"); i++) {
		uint64_t send = table_at(&whole.links, "send", i) - 1;
		uint64_t recv = table_at(&whole.links, "recv", i) - 1;
		uint64_t to = table_at(&whole.events, "key", send);
		uint64_t from = table_at(&whole.events, "key", recv);

		assert_int_equal(layer_of(&whole, send), LEVEL_UCP);
		assert_int_equal(layer_of(&whole, recv), LEVEL_UCP);
		assert_int_equal(table_at(&whole.events, "bytes", send),
				 table_at(&whole.events, "bytes", recv));
		assert_int_equal(table_at(&ops, "peer", to), table_at(&ops, "process", from));
		bytes += table_at(&whole.events, "bytes", send) - 1;
		if (made.page->hosts.hosts.len == 1)
			assert_true(table_at(&whole.links, "arrival", i) > whole.start[send]);
		assert_true(table_at(&whole.links, "arrival", i) > 0);
	}
	assert_int_equal(bytes, table_sum(&messages, "bytes"));
	table_release(&ops);
	table_release(&messages);
	whole_release(&whole);
	made_page_release(&made);
}

static void partners_are_each_others(void **state)
{
	(void)state;
	check_partners("coll");
	check_partners("hosts.n0 hosts.n1");
}

static bool in_windows(const struct page *page, uint64_t start)
{
	struct page_window window;

	for (uint64_t i = 0; page_events_window(&page->events, 0, i, &window); i++)
		if (start >= window.from && start < window.to)
			return true;
	return false;
}

/* What is kept of a page with little room is, in its windows, all that one with enough room has. */
static size_t check_windows(const struct page *few, const struct whole *all)
{
	struct whole whole;
	size_t want = 0, have = 0;

	whole_read(&whole, few);
	for (size_t i = 0; i < all->count; i++)
		want += in_windows(few, all->start[i]);
	for (size_t i = 0; i < whole.count; i++)
		have += in_windows(few, whole.start[i]);
	assert_int_equal(have, whole.count);
	assert_int_equal(have, want);
	whole_release(&whole);
	return have;
}

static void windows_are_whole(void **state)
{
	static const size_t limits[] = { 6000, 3000, 1000, 100, 10 };
	struct made_page all, few;
	struct whole whole;

	(void)state;
	made_page_of(&all, "coll", &(struct page_options){ 0 });
	whole_read(&whole, all.page);
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		made_page_of(&few, "coll", &(struct page_options){ .events = limits[i] });
		assert_true(few.page->events.events.len <= limits[i]);
		assert_int_equal(few.page->events.seen, all.page->events.seen);
		check_windows(few.page, &whole);
		made_page_release(&few);
	}
	made_page_of(&few, "coll", &(struct page_options){ .events = 3000 });
	assert_true(check_windows(few.page, &whole) > 500);
	made_page_release(&few);
	whole_release(&whole);
	made_page_release(&all);
}

/* --window: all of it where there is room, and nothing else. */
static void asked_for(void **state)
{
	const struct page_window window = { 120000000, 125000000 };
	const struct page_options options[] = { { .window = &window },
						{ .window = &window, .events = 1500 },
						{ .window = &window, .events = 200 } };
	struct made_page all, some;
	struct whole whole;
	size_t inside = 0, kept;

	(void)state;
	made_page_of(&all, "coll", &(struct page_options){ 0 });
	whole_read(&whole, all.page);
	for (size_t i = 0; i < whole.count; i++)
		inside += whole.start[i] >= window.from && whole.start[i] < window.to;
	assert_true(inside > 200 && inside < 1500);
	for (int i = 0; i < 3; i++) {
		made_page_of(&some, "coll", &options[i]);
		kept = check_windows(some.page, &whole);
		assert_true(i < 2 ? kept == inside : kept <= 200);
		made_page_release(&some);
	}
	whole_release(&whole);
	made_page_release(&all);
}

/* All sections together stay below what they may have, with the same sums. */
static void budget(void **state)
{
	static const size_t budgets[] = { 120000, 80000, 57000 };
	struct made_page all, few;
	struct table fine, coarse;

	(void)state;
	made_page_of(&all, "coll", &(struct page_options){ 0 });
	table_read(&fine, all.page, "transfers");
	assert_true(all.page->pack.total > budgets[0]);
	for (size_t i = 0; i < sizeof(budgets) / sizeof(*budgets); i++) {
		made_page_of(&few, "coll", &(struct page_options){ .bytes = budgets[i] });
		assert_true(few.page->pack.total <= budgets[i]);
		table_read(&coarse, few.page, "transfers");
		assert_int_equal(table_sum(&coarse, "bytes"), table_sum(&fine, "bytes"));
		assert_int_equal(table_sum(&coarse, "time_sum"), table_sum(&fine, "time_sum"));
		table_release(&coarse);
		made_page_release(&few);
	}
	made_page_feed(&few, "coll", &(struct page_options){ .bytes = 1000 });
	assert_int_equal(page_put(few.page, &few.totals), -EFBIG);
	made_page_release(&few);
	table_release(&fine);
	made_page_release(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_there),
		cmocka_unit_test(derived_ones_say_so),
		cmocka_unit_test(parents_caused_them),
		cmocka_unit_test(partners_are_each_others),
		cmocka_unit_test(windows_are_whole),
		cmocka_unit_test(asked_for),
		cmocka_unit_test(budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
