// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/aggregates/behind.h"

#include <stdlib.h>

#include "explain/hang/hang.h"
#include "site/judge/aggregates/aggregates.h"

static void name(const void *arg, int process, FILE *out)
{
	const struct aggregates *aggregates = arg;
	const struct fact_process *fact = &aggregates->members.data[process].fact;

	if (fact->rank < 0)
		fprintf(out, "pid %u", fact->pid);
	else
		fprintf(out, "rank %d", fact->rank);
}

static void add_row(struct aggregates *aggregates, const struct hang_row *row)
{
	const struct fact_open *longest = row->longest;
	const uint64_t age = longest->until - longest->since;
	char *told = hang_told(row, name, aggregates);

	sums_add(&aggregates->sums,
		 &(struct sum){
			 .kind = SUM_BEHIND,
			 .process = row->processes.len ? row->processes.data[0] : -1,
			 .peer = -1,
			 .words = { words_keep(&aggregates->words, told), longest->function,
				    longest->bound ? "before" : NULL,
				    row->certain ? NULL : "perhaps" },
			 .count = 1,
			 .least = age,
			 .most = age,
		 });
	free(told);
}

void behind_finish(struct aggregates *aggregates)
{
	struct behind *behind = &aggregates->behind;
	VEC(const struct fact_process *) processes = { 0 };
	hang_rows rows = { 0 };

	for (size_t i = 0; i < aggregates->members.len; i++)
		vec_push(&processes, aggregates->members.data[i].known
					     ? &aggregates->members.data[i].fact
					     : NULL);
	hang_find(
		&(struct hang_facts){
			.processes = processes.data,
			.process_count = processes.len,
			.open = behind->open.data,
			.open_count = behind->open.len,
			.threads = behind->threads.data,
			.thread_count = behind->threads.len,
		},
		&rows);
	for (size_t i = 0; i < rows.len; i++)
		add_row(aggregates, &rows.data[i]);
	hang_release(&rows);
	vec_release(&processes);
	behind_release(behind);
}

void behind_release(struct behind *behind)
{
	vec_release(&behind->open);
	vec_release(&behind->threads);
}
