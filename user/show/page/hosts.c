// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/hosts.h"

void page_hosts_release(struct page_hosts *hosts)
{
	vec_release(&hosts->hosts);
	vec_release(&hosts->processes);
}

static struct page_host *host_at(struct page_hosts *hosts, int index)
{
	if (index < 0)
		return NULL;
	while (hosts->hosts.len <= (size_t)index)
		vec_add(&hosts->hosts);
	hosts->hosts.data[index].known = true;
	return &hosts->hosts.data[index];
}

void page_hosts_process(struct page_hosts *hosts, const struct fact_process *fact, bool selected)
{
	if (fact->index < 0)
		return;
	while (hosts->processes.len <= (size_t)fact->index)
		vec_add(&hosts->processes);
	hosts->processes.data[fact->index] =
		(struct page_process){ .known = true, .selected = selected, .host = fact->host };
	host_at(hosts, fact->host);
}

void page_hosts_clock(struct page_hosts *hosts, const struct fact_clock *fact)
{
	struct page_host *host = host_at(hosts, fact->host);

	if (!host)
		return;
	host->clocked = true;
	host->ahead = (int64_t)(fact->real - fact->mono);
}

/* As in the report: a host's span begins with its first window. */
void page_hosts_window(struct page_hosts *hosts, const struct fact_window *fact)
{
	struct page_host *host = host_at(hosts, fact->host);

	if (!host)
		return;
	if (!host->last || fact->from < host->first)
		host->first = fact->from;
	if (fact->until > host->last)
		host->last = fact->until;
	if (host->last - host->first > hosts->longest)
		hosts->longest = host->last - host->first;
}

static const struct page_process *process_at(const struct page_hosts *hosts, int process)
{
	if (process < 0 || (size_t)process >= hosts->processes.len ||
	    !hosts->processes.data[process].known)
		return NULL;
	return &hosts->processes.data[process];
}

bool page_hosts_selected(const struct page_hosts *hosts, int process)
{
	const struct page_process *found = process_at(hosts, process);

	return !found || found->selected;
}

struct page_host *page_host_of(const struct page_hosts *hosts, int process)
{
	const struct page_process *found = process_at(hosts, process);

	return found && found->host >= 0 ? &hosts->hosts.data[found->host] : NULL;
}

void page_hosts_see(struct page_hosts *hosts, int process, uint64_t start, uint64_t end)
{
	struct page_host *host = page_host_of(hosts, process);

	if (!host || !start)
		return;
	if (!host->base)
		host->base = start;
	if (!host->last || start < host->first)
		host->first = start;
	if (start > host->last)
		host->last = start;
	if (end > host->last)
		host->last = end;
	if (host->last - host->first > hosts->longest)
		hosts->longest = host->last - host->first;
}

uint64_t page_hosts_buckets(const struct page_hosts *hosts, unsigned int shift)
{
	uint64_t most = 0;

	for (size_t i = 0; i < hosts->hosts.len; i++) {
		const struct page_host *host = &hosts->hosts.data[i];
		uint64_t buckets = (host->last >> shift) - (host->first >> shift) + 1;

		if (host->last && buckets > most)
			most = buckets;
	}
	return most;
}
