// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/aggregates/behind.h"

#include <stdlib.h>

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

static const struct fact_process *known_member(const void *arg, size_t index)
{
	const struct aggregates *aggregates = arg;
	const struct member *member = &aggregates->members.data[index];

	return member->known ? &member->fact : NULL;
}

void behind_finish(struct aggregates *aggregates)
{
	const struct hang_processes processes = { aggregates->members.len, known_member,
						  aggregates };
	hang_rows rows = { 0 };

	hang_find(&aggregates->hang, &processes, &rows);
	for (size_t i = 0; i < rows.len; i++)
		add_row(aggregates, &rows.data[i]);
	hang_release(&rows);
	hang_facts_release(&aggregates->hang);
}
