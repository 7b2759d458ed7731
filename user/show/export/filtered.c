// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/filtered.h"

static bool selected(const struct filtered *filtered, int index)
{
	return index < 0 || (size_t)index >= filtered->selected.len ||
	       filtered->selected.data[index];
}

static void pass_process(void *arg, const struct fact_process *process)
{
	struct filtered *filtered = arg;

	if (process->index >= 0) {
		while (filtered->selected.len <= (size_t)process->index)
			vec_push(&filtered->selected, true);
		filtered->selected.data[process->index] = filter_process(filtered->filter, process);
	}
	if (filtered->to.process)
		filtered->to.process(filtered->to.arg, process);
}

static void pass_clock(void *arg, const struct fact_clock *clock)
{
	struct filtered *filtered = arg;

	filtered->to.clock(filtered->to.arg, clock);
}

static bool passes_call(struct filtered *filtered, const struct fact_call *call)
{
	return selected(filtered, call->process) && filter_call(filtered->filter, call);
}

static void pass_call(void *arg, const struct fact_call *call)
{
	struct filtered *filtered = arg;

	if (passes_call(filtered, call))
		filtered->to.call(filtered->to.arg, call);
}

static void pass_calls(void *arg, const struct fact_call *call, const struct fact_sums *sums)
{
	struct filtered *filtered = arg;

	if (passes_call(filtered, call))
		filtered->to.calls(filtered->to.arg, call, sums);
}

static bool passes_op(struct filtered *filtered, const struct fact_op *op)
{
	return selected(filtered, op->process) && filter_op(filtered->filter, op);
}

static void pass_op(void *arg, const struct fact_op *op)
{
	struct filtered *filtered = arg;

	if (passes_op(filtered, op))
		filtered->to.op(filtered->to.arg, op);
}

static void pass_ops(void *arg, const struct fact_op *op, const struct fact_sums *sums)
{
	struct filtered *filtered = arg;

	if (passes_op(filtered, op))
		filtered->to.ops(filtered->to.arg, op, sums);
}

static bool passes_transfer(struct filtered *filtered, const struct fact_transfer *transfer)
{
	return selected(filtered, transfer->process) && filter_transfer(filtered->filter, transfer);
}

static void pass_transfer(void *arg, const struct fact_transfer *transfer)
{
	struct filtered *filtered = arg;

	if (passes_transfer(filtered, transfer))
		filtered->to.transfer(filtered->to.arg, transfer);
}

static void pass_transfers(void *arg, const struct fact_transfer *transfer,
			   const struct fact_sums *sums)
{
	struct filtered *filtered = arg;

	if (passes_transfer(filtered, transfer))
		filtered->to.transfers(filtered->to.arg, transfer, sums);
}

static void pass_message(void *arg, const struct fact_message *message)
{
	struct filtered *filtered = arg;

	if ((selected(filtered, message->src) || selected(filtered, message->dst)) &&
	    filter_message(filtered->filter, message))
		filtered->to.message(filtered->to.arg, message);
}

static void pass_window(void *arg, const struct fact_window *window)
{
	struct filtered *filtered = arg;

	filtered->to.window(filtered->to.arg, window);
}

static void pass_memory(void *arg, const struct fact_memory *memory)
{
	struct filtered *filtered = arg;

	if (selected(filtered, memory->process))
		filtered->to.memory(filtered->to.arg, memory);
}

static void pass_lifetime(void *arg, const struct fact_lifetime *lifetime)
{
	struct filtered *filtered = arg;

	if (selected(filtered, lifetime->process))
		filtered->to.lifetime(filtered->to.arg, lifetime);
}

struct fact_sink filtered_start(struct filtered *filtered, struct filter *filter,
				const struct fact_sink *to)
{
	*filtered = (struct filtered){ .filter = filter, .to = *to };
	if (!filter_active(filter))
		return *to;
	return (struct fact_sink){
		.arg = filtered,
		.process = pass_process,
		.clock = to->clock ? pass_clock : NULL,
		.call = to->call ? pass_call : NULL,
		.op = to->op ? pass_op : NULL,
		.transfer = to->transfer ? pass_transfer : NULL,
		.message = to->message ? pass_message : NULL,
		.window = to->window ? pass_window : NULL,
		.memory = to->memory ? pass_memory : NULL,
		.lifetime = to->lifetime ? pass_lifetime : NULL,
		.calls = to->calls ? pass_calls : NULL,
		.ops = to->ops ? pass_ops : NULL,
		.transfers = to->transfers ? pass_transfers : NULL,
	};
}

void filtered_release(struct filtered *filtered)
{
	vec_release(&filtered->selected);
}
