// SPDX-License-Identifier: BSD-3-Clause
/* A wait, with what the one did that it waits for, and where that chain begins. */
#include "explain/waits/internal.h"

static const char computing[] = "computing", communicating[] = "communicating",
		  waiting_too[] = "waiting";

void hidden(struct waits *waits, enum wait_kind kind, struct wait_turn *turn, struct wait_span span)
{
	struct fact_hidden *sums = waits->sink.hidden;
	const uint64_t ns = span.to > span.from ? span.to - span.from : 0;

	if (!ns)
		return;
	sums->waits += turn ? spans_add(&turn->hidden, span) : ns;
	if (kind == WAIT_LATE_PROGRESS)
		sums->progress += ns;
	if (fact_in_collective(kind))
		sums->collectives += ns;
}

void unknown(struct waits *waits, const char *reason, enum wait_kind kind, struct wait_turn *turn,
	     struct wait_span span)
{
	reason_add(waits->sink.unknown, reason, 1);
	hidden(waits, kind, turn, span);
}

/* A thread's time in a span of its own clock. */
struct deeds {
	uint64_t waited, called; /* ns: waiting in calls; in calls at all */
	uint64_t polled; /* ns: in a loop of calls, not known for how long inside of them */
	const struct wait_turn *waiter; /* the call that waited longest in it */
	uint64_t most;
};

static void add_deed(struct deeds *deeds, const struct wait_turn *turn, struct wait_span span)
{
	const uint64_t from = turn->start > span.from ? turn->start : span.from;
	const uint64_t end = turn->over ? turn->end : span.to;
	const uint64_t to = end < span.to ? end : span.to;
	const uint64_t waited = turn_waited(turn, span);

	const uint64_t polled = turn->polled < span.to ? turn->polled : span.to;

	deeds->called += to > from ? to - from : 0;
	deeds->polled += polled > from ? polled - from : 0;
	deeds->waited += waited;
	if (waited > deeds->most) {
		deeds->most = waited;
		deeds->waiter = turn;
	}
}

/* False: the thread's calls are not kept for so long. */
static bool deeds_of(const struct wait_thread *line, struct wait_span span, struct deeds *deeds)
{
	*deeds = (struct deeds){ 0 };
	for (unsigned int i = 0; i < TURNS; i++) {
		const struct wait_turn *turn = &line->turns[(line->newest - i) % TURNS];

		if (!turn->id)
			return true;
		if (turn->start < span.to)
			add_deed(deeds, turn, span);
		if (turn->start <= span.from)
			return true;
	}
	return false;
}

/* For most of that time; called: ns in calls. */
static const char *mostly(const struct deeds *deeds, uint64_t called, uint64_t ns)
{
	const uint64_t busy = called > deeds->waited ? called - deeds->waited : 0;
	const uint64_t rest = ns > called ? ns - called : 0;

	if (deeds->waited > busy && deeds->waited > rest)
		return waiting_too;
	return busy > rest ? communicating : computing;
}

/* Fills in what the culprit did, NULL: not known; returns the root. */
static struct cause root_of(const struct waiting *waiting, struct wait_span span, const char **did)
{
	const uint64_t ns = span.to - span.from;
	struct cause root = waiting->culprit;
	struct deeds deeds;

	*did = NULL;
	if (!waiting->culprit_line || !deeds_of(waiting->culprit_line, span, &deeds))
		return root;
	*did = mostly(&deeds, deeds.called, ns);
	if (deeds.polled && mostly(&deeds, deeds.called + deeds.polled, ns) != *did)
		*did = NULL;
	if (*did == waiting_too && deeds.waiter->root.process)
		return deeds.waiter->root;
	if (*did != waiting_too)
		root.did = *did;
	return root;
}

/* Where a call waits for several at once, each ns counts for the first that is known. */
static uint64_t of_its_kind(const struct waiting *waiting)
{
	static const unsigned char crowds[WAIT_KINDS] = {
		[WAIT_LATE_SENDER] = 1,
		[WAIT_LATE_RECEIVER] = 2,
		[WAIT_LATE_PROGRESS] = 3,
		[WAIT_OUT_OF_RESOURCES] = 4,
	};
	const unsigned int crowd = crowds[waiting->kind];

	return crowd ? spans_add(&waiting->turn->crowds[crowd - 1], waiting->span)
		     : waiting->span.to - waiting->span.from;
}

static int index_of(const struct process *process)
{
	return process ? process->index : -1;
}

/* As far as clocks allow. */
static struct wait_span longest(const struct waiting *waiting)
{
	const uint64_t to = waiting->span.to + waiting->uncertainty, until = waiting->until;

	return (struct wait_span){ waiting->span.from, until && until < to ? until : to };
}

void tell(struct waits *waits, const struct waiting *waiting)
{
	const struct cause *culprit = &waiting->culprit;
	const struct wait_turn *turn = waiting->turn;
	const uint64_t ns = waiting->span.to - waiting->span.from;
	struct wait_span there = waiting->span;
	const char *did;
	struct cause root;
	struct fact_wait fact;
	uint64_t own;

	if (ns <= waiting->uncertainty)
		return unknown(waits, "shorter than the hosts' clocks are known", waiting->kind,
			       waiting->turn, longest(waiting));
	if (waiting->culprit_line &&
	    waiting->culprit_line->process->host != waiting->line->process->host) {
		const struct instant begin =
			skew_time(waits, waiting->line->process->host, there.from,
				  waiting->culprit_line->process->host);

		there = (struct wait_span){ begin.ns, begin.ns + ns };
	}
	own = of_its_kind(waiting);
	if (!own)
		return; /* the call waits for another one at that time, in the same way */
	root = root_of(waiting, there, &did);
	if (ns > turn->longest) {
		waiting->turn->longest = ns;
		waiting->turn->root = root;
	}
	fact = (struct fact_wait){
		.kind = wait_kind_names[waiting->kind],
		.call = turn->id,
		.process = waiting->line->process->index,
		.function = turn->function,
		.place = turn->place,
		.tid = waiting->line->tid,
		.start = waiting->span.from,
		.end = waiting->span.to,
		.ns = own,
		.fresh = spans_add(&waiting->turn->waited, waiting->span),
		.uncertainty = waiting->uncertainty,
		.precision = waiting->uncertainty ? "clocks" : "exact",
		.culprit = index_of(culprit->process),
		.culprit_function = culprit->function,
		.culprit_place = culprit->place,
		.culprit_did = did,
		.root = index_of(root.process),
		.root_function = root.function,
		.root_place = root.place,
		.root_did = root.did,
	};
	waits->sink.wait(waits->sink.arg, &fact);
}
