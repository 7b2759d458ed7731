// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/placing.h"

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
	tell_clocks(placing, spans);
	see_hosts(placing, spans, false);
	make_up(placing, spans);
	see_hosts(placing, spans, true);
}

void placing_release(struct placing *placing)
{
	vec_release(&placing->hosts);
}

int64_t placing_to_real(const struct placing *placing, int host)
{
	return host < 0 ? 0 : placing->hosts.data[host].to_real;
}
