// SPDX-License-Identifier: BSD-3-Clause
/* Processes that ended by a signal that nobody sends to end a job. */
#include <signal.h>
#include <stdlib.h>

#include "base/signal_name.h"
#include "base/text.h"
#include "show/report/text.h"

static bool ends_jobs(uint32_t number)
{
	return number == SIGTERM || number == SIGKILL || number == SIGINT || number == SIGHUP;
}

static bool has_died(const struct report_process *process)
{
	return process->known && process->lifetime.exited && process->lifetime.exit_signal &&
	       !ends_jobs(process->lifetime.exit_signal);
}

static void print_death(const struct text *text, const struct report_process *process)
{
	const struct fact_process *fact = &process->fact;
	char who[64], how[40], *host = text_plain(fact->host_name ? fact->host_name : "unknown");

	signal_text(how, sizeof(how), process->lifetime.exit_signal);
	if (fact->rank < 0)
		snprintf(who, sizeof(who), "pid %u on", fact->pid);
	else
		snprintf(who, sizeof(who), "rank %d (pid %u) on", fact->rank, fact->pid);
	fprintf(text->out, "%s %s died of %s\n", who, host, how);
	free(host);
}

void text_deaths(const struct text *text)
{
	static const size_t limits[TEXT_LIMITS] = { 3, 64 };
	const struct report *report = text->report;
	VEC(const struct report_process *) dead = { 0 };
	size_t shown;

	for (size_t i = 0; i < report->processes.len; i++)
		if (has_died(&report->processes.data[i]))
			vec_push(&dead, &report->processes.data[i]);
	shown = text_limit(text, dead.len, limits);
	for (size_t i = 0; i < shown; i++)
		print_death(text, dead.data[i]);
	if (dead.len)
		text_end(text, shown, dead.len);
	vec_release(&dead);
}
