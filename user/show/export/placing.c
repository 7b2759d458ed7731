// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/placing.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"

/* ---- order ---- */

/* A process or a host, with its place. */
struct seat {
	int number;
	uint64_t job; /* of processes: the first one of the same job */
	uint32_t at; /* a rank, or the position of a host's first process; UINT32_MAX: none */
};

/* Those without a rank or process are last. */
static int by_seat(const void *left, const void *right)
{
	const struct seat *a = left, *b = right;

	if ((a->at == UINT32_MAX) != (b->at == UINT32_MAX))
		return a->at == UINT32_MAX ? 1 : -1;
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->number - b->number;
}

typedef VEC(struct seat) seats;

static void sort(seats *seats)
{
	if (seats->len)
		qsort(seats->data, seats->len, sizeof(*seats->data), by_seat);
}

static void order_processes(struct placing *placing, const struct spans *spans)
{
	struct map jobs = { 0 }; /* job -> its first process */
	seats seats = { 0 };

	for (size_t i = 0; i < spans->processes.len; i++) {
		const struct fact_process *fact = spans_process(spans, (int)i);
		struct seat seat = { (int)i, 0, UINT32_MAX };
		bool fresh;

		if (fact && fact->rank >= 0) {
			uint64_t *first = map_insert(&jobs, (uintptr_t)fact->job, 0, &fresh);

			*first = fresh ? i : *first;
			seat.job = *first;
			seat.at = (uint32_t)fact->rank;
		}
		vec_push(&seats, seat);
		vec_push(&placing->process_turns, 0);
	}
	sort(&seats);
	for (size_t i = 0; i < seats.len; i++) {
		vec_push(&placing->process_order, seats.data[i].number);
		placing->process_turns.data[seats.data[i].number] = (uint32_t)i;
	}
	vec_release(&seats);
	map_release(&jobs);
}

static void order_hosts(struct placing *placing, const struct spans *spans)
{
	seats seats = { 0 };

	for (size_t i = 0; i < spans->hosts.len; i++) {
		vec_push(&seats, ((struct seat){ (int)i, 0, UINT32_MAX }));
		vec_push(&placing->host_turns, 0);
	}
	for (size_t i = placing->process_order.len; i-- > 0;) {
		const int host = spans_host_of(spans, placing->process_order.data[i]);

		if (host >= 0)
			seats.data[host].at = (uint32_t)i;
	}
	sort(&seats);
	for (size_t i = 0; i < seats.len; i++) {
		vec_push(&placing->host_order, seats.data[i].number);
		placing->host_turns.data[seats.data[i].number] = (uint32_t)i;
	}
	vec_release(&seats);
}

/* ---- clocks ---- */

static void tell_clocks(struct placing *placing, const struct spans *spans)
{
	for (size_t i = 0; i < spans->hosts.len; i++) {
		const struct fact_clock *clock = spans_clock(spans, (int)i);
		struct placing_host *host = vec_add(&placing->hosts);

		host->made_up = !clock;
		if (clock)
			host->to_real = (int64_t)(clock->real - clock->mono);
	}
}

/* Times of day may be wrong by any amount: messages tell how far they can be right. */
static void fit_clocks(struct placing *placing, const struct spans *spans)
{
	struct clock_place *places = xcalloc(spans->hosts.len + 1, sizeof(*places));

	clocks_place(&spans->between, spans->hosts.len, places);
	for (size_t i = 0; i < spans->hosts.len; i++) {
		const struct placing_host *reference = &placing->hosts.data[places[i].reference];
		struct placing_host *host = &placing->hosts.data[i];
		int64_t by_day, offset;

		host->reference = (int)i;
		if (places[i].reference == (int)i || reference->made_up)
			continue;
		by_day = host->to_real - reference->to_real;
		offset = clock_place_offset(&places[i], !host->made_up, by_day);
		host->fitted = host->made_up || offset != by_day;
		host->to_real = reference->to_real + offset;
		host->made_up = false;
		host->reference = places[i].reference;
		host->uncertainty = places[i].uncertainty +
				    (uint64_t)llabs((long long)(offset - places[i].offset));
	}
	free(places);
}

static void see(struct placing *placing, uint64_t first, uint64_t last)
{
	if (!placing->begin || first < placing->begin)
		placing->begin = first;
	if (last > placing->end)
		placing->end = last;
}

static void see_hosts(struct placing *placing, const struct spans *spans, bool made_up)
{
	for (size_t i = 0; i < spans->hosts.len; i++) {
		const struct spans_host *host = &spans->hosts.data[i];
		uint64_t to_real = (uint64_t)placing->hosts.data[i].to_real;

		if (host->last && placing->hosts.data[i].made_up == made_up)
			see(placing, host->first + to_real, host->last + to_real);
	}
}

static void make_up(struct placing *placing, const struct spans *spans)
{
	uint64_t begin = placing->begin;

	for (size_t i = 0; i < spans->hosts.len; i++)
		if (placing->hosts.data[i].made_up && begin)
			placing->hosts.data[i].to_real =
				(int64_t)(begin - spans->hosts.data[i].first);
}

void placing_make(struct placing *placing, const struct spans *spans)
{
	order_processes(placing, spans);
	order_hosts(placing, spans);
	tell_clocks(placing, spans);
	fit_clocks(placing, spans);
	see_hosts(placing, spans, false);
	make_up(placing, spans);
	see_hosts(placing, spans, true);
}

void placing_release(struct placing *placing)
{
	vec_release(&placing->hosts);
	vec_release(&placing->process_order);
	vec_release(&placing->host_order);
	vec_release(&placing->process_turns);
	vec_release(&placing->host_turns);
}

int64_t placing_to_real(const struct placing *placing, int host)
{
	return host < 0 ? 0 : placing->hosts.data[host].to_real;
}
