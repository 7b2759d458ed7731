// SPDX-License-Identifier: BSD-3-Clause
/* Facts of a sweep's captures go to two places: what all rules look at, and its own messages. */
#include "judge/rules.h"

static void process(void *arg, const struct fact_process *fact)
{
	struct judge *judge = arg;

	judge->to_exhibits.process(judge->to_exhibits.arg, fact);
	traced_process(&judge->sweep.traced, fact, exhibits_id(&judge->exhibits, fact));
}

static void call(void *arg, const struct fact_call *fact)
{
	struct judge *judge = arg;

	judge->to_exhibits.call(judge->to_exhibits.arg, fact);
	traced_call(&judge->sweep.traced, fact);
}

static void calls(void *arg, const struct fact_call *fact, const struct fact_sums *sums)
{
	struct judge *judge = arg;

	judge->to_exhibits.calls(judge->to_exhibits.arg, fact, sums);
}

static void op(void *arg, const struct fact_op *fact)
{
	struct judge *judge = arg;

	judge->to_exhibits.op(judge->to_exhibits.arg, fact);
	traced_op(&judge->sweep.traced, fact);
}

static void ops(void *arg, const struct fact_op *fact, const struct fact_sums *sums)
{
	struct judge *judge = arg;

	judge->to_exhibits.ops(judge->to_exhibits.arg, fact, sums);
	traced_sums(&judge->sweep.traced, fact);
}

static void transfer(void *arg, const struct fact_transfer *fact)
{
	struct judge *judge = arg;

	judge->to_exhibits.transfer(judge->to_exhibits.arg, fact);
}

static void transfers(void *arg, const struct fact_transfer *fact, const struct fact_sums *sums)
{
	struct judge *judge = arg;

	judge->to_exhibits.transfers(judge->to_exhibits.arg, fact, sums);
}

static void message(void *arg, const struct fact_message *fact)
{
	struct judge *judge = arg;

	traced_message(&judge->sweep.traced, fact);
}

struct fact_sink sweep_sink(struct judge *judge)
{
	judge->to_exhibits = exhibits_sink(&judge->exhibits);
	return (struct fact_sink){
		.arg = judge,
		.process = process,
		.call = call,
		.calls = calls,
		.op = op,
		.ops = ops,
		.transfer = transfer,
		.transfers = transfers,
		.message = message,
	};
}
