// SPDX-License-Identifier: BSD-3-Clause
/* What GPU libraries were seen to do with memory, as facts. */
#include "explain/match/emit.h"

static const struct process *process_at(const struct emitter *emitter, int process)
{
	return emitter->decoder->processes.data[process];
}

static void emit_use(struct emitter *emitter, const struct memory_use *use)
{
	const struct process *owner = process_at(emitter, use->numbered_by);
	int number =
		use->device < 0 ? -1 : decoder_gpu_number(emitter->decoder, owner, use->device);
	struct fact_memory fact = {
		.process = process_at(emitter, use->process)->index,
		.kind = memory_kind_name(use->kind),
		.sort = memory_sort_name(use->sort),
		.device = number,
		.exporter = use->numbered_by == use->process ? -1 : owner->index,
		.reason = use->device >= 0 && number < 0 ? NUMBER_NOT_TOLD : use->reason,
		.function = use->function,
		.allocations = use->allocations,
		.bytes = use->bytes,
		.unsized = use->unsized,
		.live_peak = use->live_peak,
	};

	if (emitter->sink->memory)
		emitter->sink->memory(emitter->sink->arg, &fact);
}

static void note(struct emitter *emitter, const char *text, uint64_t count)
{
	if (count)
		reason_add(emitter->totals->notes, text, count);
}

static void emit_counts(struct emitter *emitter, const struct process *process)
{
	struct memory_counts counts = memory_counts(&emitter->decoder->memory, process->id);

	note(emitter, "calls of a GPU library that failed", counts.failed);
	note(emitter, "memory made at an address that could not be read", counts.unreadable);
	note(emitter, "memory freed that was not seen allocated", counts.unmatched);
	note(emitter, "memory whose end was not seen: other memory took its place",
	     counts.replaced);
}

void emit_memory_uses(struct emitter *emitter)
{
	const struct decoder *decoder = emitter->decoder;

	for (size_t i = 0; i < decoder->memory.uses.len; i++)
		emit_use(emitter, decoder->memory.uses.data[i]);
	for (size_t i = 0; i < decoder->processes.len; i++)
		emit_counts(emitter, decoder->processes.data[i]);
}
