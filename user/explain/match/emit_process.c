// SPDX-License-Identifier: BSD-3-Clause
/* Processes, clocks of hosts, and until when each was watched. */
#include "explain/match/emit.h"

#include <sys/wait.h>

void emitter_release(struct emitter *emitter)
{
	for (size_t i = 0; i < emitter->lists.len; i++)
		free(emitter->lists.data[i]);
	vec_release(&emitter->lists);
	emitted_devices_release(emitter);
}

static void *list_of(struct emitter *emitter, size_t length, size_t size)
{
	void *list = calloc(length + 1, size);

	if (!list)
		abort();
	vec_push(&emitter->lists, list);
	return list;
}

static const struct fact_ucx *ucx_facts(struct emitter *emitter, const struct process *process)
{
	struct fact_ucx *ucx = list_of(emitter, process->ucx.len, sizeof(*ucx));

	for (size_t i = 0; i < process->ucx.len; i++) {
		const struct ucx_library *library = &process->ucx.data[i];

		ucx[i] = (struct fact_ucx){ library->path, library->build_id, library->version,
					    library->layout };
	}
	return ucx;
}

static const struct fact_variable *environment_facts(struct emitter *emitter,
						     const struct process *process)
{
	struct fact_variable *environment =
		list_of(emitter, process->environment.len, sizeof(*environment));

	for (size_t i = 0; i < process->environment.len; i++)
		environment[i] = (struct fact_variable){ process->environment.data[i].name,
							 process->environment.data[i].value };
	return environment;
}

static void emit_process(struct emitter *emitter, const struct process *process)
{
	const struct host *host = &emitter->decoder->hosts.data[process->host];
	struct fact_process fact = {
		.index = process->index,
		.host = process->host,
		.host_id = host->id,
		.host_name = host->name,
		.pid = process->ns_pid,
		.tgid = process->tgid,
		.start_time = process->start_time,
		.comm = process->comm,
		.exe = process->exe,
		.mpi = process->mpi,
		.job = process->job,
		.rank = process->rank,
		.size = process->size,
		.from_start = process->from_start,
		.ucx = ucx_facts(emitter, process),
		.ucx_count = (int)process->ucx.len,
		.gpu_library = process->gpu_library,
		.environment = environment_facts(emitter, process),
		.environment_count = (int)process->environment.len,
		.environment_cut = process->environment_cut,
		.cpus = process->cpus,
	};

	if (emitter->sink->process)
		emitter->sink->process(emitter->sink->arg, &fact);
}

void emit_processes(struct emitter *emitter)
{
	while (emitter->processes < emitter->decoder->shown.len)
		emit_process(emitter, emitter->decoder->shown.data[emitter->processes++]);
}

/* A host's captures follow each other. */
void emit_clocks(struct emitter *emitter, const inputs *inputs)
{
	int told = -1;

	for (size_t i = 0; emitter->sink->clock && i < inputs->len; i++) {
		const struct input *input = inputs->data[i];

		if (!input->real || input->capture.host == told)
			continue;
		told = input->capture.host;
		emitter->sink->clock(emitter->sink->arg,
				     &(struct fact_clock){ told, input->mono, input->real });
	}
}

/* Its processes were watched to its end, those that still have their pids. */
static void watched(const struct input *input, uint64_t *until)
{
	uint64_t end = input->capture.ended ? input->capture.ended : input->last;
	const struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&input->capture.tgids, &pos))) {
		const struct process *process = (const struct process *)(uintptr_t)slot->value;

		if (until[process->id] < end)
			until[process->id] = end;
	}
}

static struct fact_lifetime lifetime_of(const struct process *process, uint64_t watched_until)
{
	const int how = process->exit_told & 0xffff;
	const bool told = process->exited && process->exit_told;

	return (struct fact_lifetime){
		.process = process->index,
		.until = process->exited ? process->exited_at : watched_until,
		.exited = process->exited,
		.exit_status = told && WIFEXITED(how) ? WEXITSTATUS(how) : -1,
		.exit_signal = told && WIFSIGNALED(how) ? WTERMSIG(how) : 0,
	};
}

void emit_lifetimes(struct emitter *emitter, const inputs *inputs)
{
	const struct decoder *decoder = emitter->decoder;
	uint64_t *until = list_of(emitter, decoder->processes.len, sizeof(*until));

	for (size_t i = 0; i < inputs->len; i++)
		watched(inputs->data[i], until);
	for (size_t i = 0; emitter->sink->lifetime && i < decoder->processes.len; i++) {
		const struct process *process = decoder->processes.data[i];
		const struct fact_lifetime fact = lifetime_of(process, until[i]);

		if (process->index >= 0 && fact.until)
			emitter->sink->lifetime(emitter->sink->arg, &fact);
	}
}

void emit_windows(struct emitter *emitter, const struct input *input, int number)
{
	const struct capture *capture = &input->capture;
	uint64_t until = capture->ended ? capture->ended : input->last;

	for (size_t i = 0; emitter->sink->window && i < capture->windows.len; i++) {
		const struct window *window = &capture->windows.data[i];
		struct fact_window fact = {
			.host = capture->host,
			.host_name = emitter->decoder->hosts.data[capture->host].name,
			.capture = number,
			.from = window->from,
			.to = window->to ? window->to : input->last,
			.until = until,
			.step = window->step,
			.reason = window->reason,
			.paid_ppm = window->paid_ppm,
		};

		if (fact.to < fact.from)
			fact.to = fact.from;
		emitter->sink->window(emitter->sink->arg, &fact);
	}
}
