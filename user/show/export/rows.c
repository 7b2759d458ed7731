// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/rows.h"

static void add(void *arg, enum subject subject, const void *fact, const struct fact_sums *sums)
{
	const struct rows *rows = arg;

	rows->add(rows->arg, subject, fact, sums);
}

static void take_process(void *arg, const struct fact_process *process)
{
	add(arg, SUBJECT_PROCESS, process, NULL);
	for (int i = 0; i < process->ucx_count; i++) {
		const struct ucx_row row = { process->index, process->ucx[i] };

		add(arg, SUBJECT_UCX, &row, NULL);
	}
	for (int i = 0; i < process->environment_count; i++) {
		const struct variable_row row = { process->index, process->environment[i] };

		add(arg, SUBJECT_VARIABLE, &row, NULL);
	}
}

static void take_clock(void *arg, const struct fact_clock *clock)
{
	add(arg, SUBJECT_CLOCK, clock, NULL);
}

static void take_call(void *arg, const struct fact_call *call)
{
	add(arg, SUBJECT_CALL, call, NULL);
}

static void take_op(void *arg, const struct fact_op *op)
{
	add(arg, SUBJECT_OP, op, NULL);
}

static void take_transfer(void *arg, const struct fact_transfer *transfer)
{
	add(arg, SUBJECT_TRANSFER, transfer, NULL);
}

static void take_message(void *arg, const struct fact_message *message)
{
	add(arg, SUBJECT_MESSAGE, message, NULL);
}

static void take_window(void *arg, const struct fact_window *window)
{
	add(arg, SUBJECT_WINDOW, window, NULL);
}

static void take_memory(void *arg, const struct fact_memory *memory)
{
	add(arg, SUBJECT_MEMORY, memory, NULL);
}

static void take_lifetime(void *arg, const struct fact_lifetime *lifetime)
{
	add(arg, SUBJECT_LIFETIME, lifetime, NULL);
}

static void take_calls(void *arg, const struct fact_call *call, const struct fact_sums *sums)
{
	add(arg, SUBJECT_CALLS, call, sums);
}

static void take_ops(void *arg, const struct fact_op *op, const struct fact_sums *sums)
{
	add(arg, SUBJECT_OPS, op, sums);
}

static void take_transfers(void *arg, const struct fact_transfer *transfer,
			   const struct fact_sums *sums)
{
	add(arg, SUBJECT_TRANSFERS, transfer, sums);
}

struct fact_sink rows_sink(const struct rows *rows)
{
	return (struct fact_sink){
		.arg = (void *)rows,
		.process = take_process,
		.clock = take_clock,
		.call = take_call,
		.op = take_op,
		.transfer = take_transfer,
		.message = take_message,
		.window = take_window,
		.memory = take_memory,
		.lifetime = take_lifetime,
		.calls = take_calls,
		.ops = take_ops,
		.transfers = take_transfers,
	};
}

static void finish_device(const struct rows *rows, const struct fact_device *device)
{
	rows->add(rows->arg, SUBJECT_DEVICE, device, NULL);
	for (int i = 0; i < device->user_count; i++) {
		const struct device_user_row row = { device->host, device->number,
						     device->users[i] };

		rows->add(rows->arg, SUBJECT_DEVICE_USER, &row, NULL);
	}
}

void rows_finish(const struct rows *rows, const struct fact_totals *totals)
{
	for (int i = 0; i < totals->device_count; i++)
		finish_device(rows, &totals->devices[i]);
}
