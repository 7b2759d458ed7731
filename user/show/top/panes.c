// SPDX-License-Identifier: BSD-3-Clause
#include "show/top/panes.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rowset.h"
#include "base/units.h"
#include "show/top/cells.h"
#include "show/top/nodes.h"

static double bytes_rate(const struct live *live, const struct live_sums *sums)
{
	return live_rate(live_tracer(live), sums->bytes);
}

static void say_bytes(struct pane_cell *cell, const struct live *live, const struct live_sums *sums,
		      bool least)
{
	cell_byte_rate(cell, bytes_rate(live, sums),
		       least || sums->unsized || live_rates_least(live_tracer(live)));
}

static void say_count(struct pane_cell *cell, const struct live *live, uint64_t count)
{
	const struct live_tracer *tracer = live_tracer(live);

	cell_count_rate(cell, live_rate(tracer, count), live_rates_least(tracer));
}

#define NODE_MOST 24 /* screen columns for node names */

/* ---- rows of a node ---- */

/* Starts a row whose first cell is the node's name; returns the cells after it. */
static struct pane_cell *row_of(struct pane *pane)
{
	return vec_add(&pane->rows)->cells + 1;
}

static const struct live_thread *first_thread(const struct live *live,
					      const struct live_process *process)
{
	const struct live_thread *threads;
	size_t count = live_threads(live, &threads);

	for (size_t i = 0; i < count; i++)
		if (threads[i].process == process && threads[i].tid == process->tgid)
			return &threads[i];
	return NULL;
}

static void now_in(struct pane_cell *cell, const struct live *live,
		   const struct live_process *process)
{
	const struct live_thread *thread = first_thread(live, process);
	const uint64_t age = thread ? live_age(thread) : 0;
	struct pane_cell how_long = { 0 };
	char peer[32] = "";

	if (process->ended) {
		cell_say(cell, "ended");
		cell->colour = PANE_DIM;
		return;
	}
	if (!thread || (!thread->function && !thread->outside)) {
		cell_say(cell, "?%s%s", thread && thread->reason ? " " : "",
			 thread && thread->reason ? thread->reason : "");
		return;
	}
	if (!thread->function) {
		cell_say(cell, "computing");
		return;
	}
	if (thread->peer_rank >= 0)
		snprintf(peer, sizeof(peer), " with %d", thread->peer_rank);
	cell_age(&how_long, age);
	cell_say(cell, "%s%s%s%s", age ? how_long.text : "", age ? " " : "", thread->function,
		 peer);
	cell->colour = how_long.colour;
}

static void ranks(struct pane *pane, const struct top_node *node)
{
	const struct live *live = node->live;
	struct live_process *const *all;
	size_t count = live_processes(live, &all);

	for (size_t i = 0; i < count; i++) {
		const struct live_process *process = all[i];
		struct pane_cell *cells = row_of(pane);

		cell_process(&cells[0], process);
		cell_say(&cells[1], "%u", process->pid);
		cells[1].key = process->pid;
		cell_share(&cells[2], process->in_mpi, process->looks);
		cell_share(&cells[3], process->waiting, process->looks);
		say_bytes(&cells[4], live, &process->sends.now, false);
		say_bytes(&cells[5], live, &process->in.now, !process->whole);
		say_count(&cells[6], live, process->sends.now.count);
		now_in(&cells[7], live, process);
		if (node->state == TOP_LATE)
			node_outdated(&cells[7], node);
	}
}

/* Paths of all processes that are alike but for the process and the peer. */
struct path_sum {
	const char *transport, *device, *way, *initiator, *locality;
	struct live_sums sums;
};

typedef VEC(struct path_sum) path_sums;

static void add_path(path_sums *sums, const struct live_path *path)
{
	struct path_sum *row = NULL;

	for (size_t i = 0; i < sums->len && !row; i++)
		if (sums->data[i].transport == path->transport &&
		    sums->data[i].device == path->device && sums->data[i].way == path->way &&
		    sums->data[i].initiator == path->initiator &&
		    sums->data[i].locality == path->locality)
			row = &sums->data[i];
	if (!row) {
		row = vec_add(sums);
		*row = (struct path_sum){ path->transport, path->device,   path->way,
					  path->initiator, path->locality, { 0 } };
	}
	live_add(&row->sums, &path->amount.now);
}

static const struct top_nic *nic_of(const struct top_nics *nics, const char *device)
{
	for (size_t i = 0; nics && device && i < nics->all.len; i++)
		if (!strcmp(nics->all.data[i].name, device))
			return &nics->all.data[i];
	return NULL;
}

static void paths(struct pane *pane, const struct top_node *node)
{
	const struct live *live = node->live;
	const struct live_path *all;
	size_t count = live_paths(live, &all);
	path_sums sums = { 0 };

	for (size_t i = 0; i < count; i++)
		add_path(&sums, &all[i]);
	for (size_t i = 0; i < sums.len; i++) {
		const struct path_sum *sum = &sums.data[i];
		const struct top_nic *nic = nic_of(node->nics, sum->device);
		struct pane_cell *cells = row_of(pane);

		cell_name(&cells[0], sum->transport);
		cell_name(&cells[1], sum->device);
		cell_name(&cells[2], sum->way);
		if (sum->way && !strcmp(sum->way, "emulated"))
			cells[2].colour = PANE_BAD;
		if (sum->way && !strcmp(sum->way, "staged"))
			cells[2].colour = PANE_WARN;
		cell_name(&cells[3], sum->initiator);
		cell_name(&cells[4], sum->locality);
		say_bytes(&cells[5], live, &sum->sums, false);
		say_count(&cells[6], live, sum->sums.count);
		cell_fraction(&cells[7], nic ? bytes_rate(live, &sum->sums) / nic->rate : NAN,
			      sum->sums.unsized || live_rates_least(live_tracer(live)));
		if (!nic)
			cell_say(&cells[7], "-");
	}
	vec_release(&sums);
}

/* Data between two processes: from the one that has it to the one that gets it. */
struct pair_sum {
	/* key of a rowset */
	const struct live_process *from, *to;
	const char *transport;
	/* sums */
	struct live_sums sums;
};

static void pairs(struct pane *pane, const struct top_node *node)
{
	const struct live *live = node->live;
	const struct live_path *all;
	size_t count = live_paths(live, &all);
	VEC(struct pair_sum) sums = { 0 };
	struct rowset index = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct live_path *path = &all[i];
		const struct live_process *from = path->fetches ? path->peer : path->process;
		const struct live_process *to = path->fetches ? path->process : path->peer;
		const struct pair_sum like = { from, to, path->transport, { 0 } };
		size_t n;

		if (strcmp(path->kind, "data") != 0)
			continue;
		n = rowset_add(&index, ROWSET_ROWS(&sums, offsetof(struct pair_sum, sums)), &like);
		if (n == sums.len)
			vec_push(&sums, like);
		live_add(&sums.data[n].sums, &path->amount.now);
	}
	rowset_release(&index);
	for (size_t i = 0; i < sums.len; i++) {
		const struct live_sums *sum = &sums.data[i].sums;
		struct pane_cell *cells = row_of(pane);
		uint64_t sized = sum->count - sum->unsized;

		cell_process(&cells[0], sums.data[i].from);
		cell_process(&cells[1], sums.data[i].to);
		cell_name(&cells[2], sums.data[i].transport);
		say_bytes(&cells[3], live, sum, false);
		say_count(&cells[4], live, sum->count);
		cell_size(&cells[5], sized ? (double)sum->bytes / sized : NAN);
	}
	vec_release(&sums);
}

static void functions(struct pane *pane, const struct top_node *node)
{
	const struct live *live = node->live;
	const struct live_function *all;
	size_t count = live_functions(live, &all);
	VEC(struct live_function) sums = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct live_function *row = NULL;

		for (size_t k = 0; k < sums.len && !row; k++)
			if (sums.data[k].function == all[i].function)
				row = &sums.data[k];
		if (!row) {
			row = vec_add(&sums);
			row->function = all[i].function;
		}
		live_add(&row->calls.now, &all[i].calls.now);
		live_add(&row->calls.total, &all[i].calls.total);
		live_add(&row->sends.now, &all[i].sends.now);
	}
	for (size_t i = 0; i < sums.len; i++) {
		const struct live_function *row = &sums.data[i];
		struct pane_cell *cells = row_of(pane);

		cell_name(&cells[0], row->function ? row->function : FACT_OUTSIDE_MPI);
		say_count(&cells[1], live, row->calls.now.count);
		if (!row->function)
			cell_say(&cells[1], "-");
		say_count(&cells[2], live, row->sends.now.count);
		say_bytes(&cells[3], live, &row->sends.now, false);
		cell_number(&cells[4], (double)row->calls.total.count);
		if (!row->function)
			cell_say(&cells[4], "-");
	}
	vec_release(&sums);
}

static void sites(struct pane *pane, const struct top_node *node)
{
	const struct live *live = node->live;
	const struct live_site *all;
	size_t count = live_sites(live, &all);

	for (size_t i = 0; i < count; i++) {
		struct pane_cell *cells = row_of(pane);

		cell_name(&cells[0], all[i].function);
		cell_number(&cells[1], (double)all[i].total);
		cell_number(&cells[2], (double)all[i].now);
		cell_name(&cells[3], all[i].place);
	}
}

static void stuck(struct pane *pane, const struct top_node *node)
{
	const struct live *live = node->live;
	const struct live_thread *all;
	size_t count = live_threads(live, &all);

	for (size_t i = 0; i < count; i++) {
		const struct live_thread *thread = &all[i];
		struct pane_cell *cells;

		if (!thread->function)
			continue;
		cells = row_of(pane);
		cell_process(&cells[0], thread->process);
		cell_name(&cells[1], thread->function);
		cell_age(&cells[2], live_age(thread));
		cell_name(&cells[3], thread->op);
		cell_say(&cells[4], thread->peer_rank >= 0 ? "%d" : "?", thread->peer_rank);
		cell_say(&cells[5], thread->tag >= 0 ? "%d" : "?", thread->tag);
		if (thread->op)
			cell_name(&cells[6], thread->step);
		cell_name(&cells[7], thread->place);
	}
}

static void ports(struct pane *pane, const struct top_node *node)
{
	const struct top_nics *nics = node->nics;
	const bool least = live_rates_least(live_tracer(node->live));

	for (size_t i = 0; nics && i < nics->all.len; i++) {
		const struct top_nic *nic = &nics->all.data[i];
		struct pane_cell *cells = row_of(pane);

		cell_name(&cells[0], nic->name);
		cell_name(&cells[1], nic->state);
		cell_byte_rate(&cells[2], nic->rate, false);
		cell_byte_rate(&cells[3], nic->in, false);
		cell_byte_rate(&cells[4], nic->out, false);
		cell_byte_rate(&cells[5], nic->traced, least);
		cell_fraction(&cells[6],
			      nic->in + nic->out > 0 ? nic->traced / (nic->in + nic->out) : NAN,
			      least);
	}
}

static void failures(struct pane *pane, const struct live *live)
{
	const struct live_error *all;
	size_t count = live_errors(live, &all);

	for (size_t i = 0; i < count; i++) {
		struct pane_cell *cells = row_of(pane);

		cell_process(&cells[0], all[i].process);
		say_count(&cells[1], live, all[i].amount.now.count);
		cell_number(&cells[2], (double)all[i].amount.total.count);
		cell_say(&cells[3], "%s %s%s%s%s%s%s%s", all[i].what ? all[i].what : "?",
			 all[i].status ? all[i].status : "?", all[i].transport ? ", " : "",
			 all[i].transport ? all[i].transport : "", all[i].op ? ", " : "",
			 all[i].op ? all[i].op : "", all[i].function ? " in " : "",
			 all[i].function ? all[i].function : "");
	}
}

static void errors(struct pane *pane, const struct top_node *node)
{
	const struct live *live = node->live;
	const struct live_path *all;
	size_t count = live_paths(live, &all);
	const struct fact_reason *notes = live_notes(live);

	failures(pane, live);
	for (size_t i = 0; i < count; i++) {
		struct pane_cell *cells;

		if (!all[i].amount.total.retries)
			continue;
		cells = row_of(pane);
		cell_process(&cells[0], all[i].process);
		say_count(&cells[1], live, all[i].amount.now.retries);
		cell_number(&cells[2], (double)all[i].amount.total.retries);
		cell_say(&cells[3], "%s/%s: no resource", all[i].transport ? all[i].transport : "?",
			 all[i].device ? all[i].device : "?");
	}
	for (size_t i = 0; i < FACT_MAX_REASONS && notes[i].reason; i++) {
		struct pane_cell *cells = row_of(pane);

		cell_say(&cells[0], "-");
		cell_say(&cells[1], "-");
		cell_number(&cells[2], (double)notes[i].count);
		cell_name(&cells[3], notes[i].reason);
	}
}

static struct pane_cell *fact(struct pane *pane, const char *what)
{
	struct pane_cell *cells = row_of(pane);

	cell_name(&cells[0], what);
	return &cells[1];
}

static void tracer(struct pane *pane, const struct top_node *node)
{
	const struct live *live = node->live;
	const struct live_tracer *of = live_tracer(live);
	const double ns = of->to > of->from ? (double)(of->to - of->from) : NAN;
	const size_t first = pane->rows.len;

	cell_percent(fact(pane, "CPU of the tracer, of one"), of->cpu);
	cell_size(fact(pane, "memory of the tracer"), of->memory ? (double)of->memory : NAN);
	cell_number(fact(pane, "probe hits per second"), of->hits * 1e9 / ns);
	cell_percent(fact(pane, "CPU for their traps, of one (estimate)"), live_trap_cpus(of));
	cell_percent(fact(pane, "CPU in BPF programs, of one (estimate)"), live_program_cpus(of));
	cell_percent(fact(pane, "the thread that pays most (estimate)"), of->paid);
	cell_percent(fact(pane, "budget, of a thread's time"), of->budget > 0 ? of->budget : NAN);
	if (of->budget <= 0)
		cell_say(&pane->rows.data[pane->rows.len - 1].cells[2], "none");
	cell_percent(fact(pane, "watched, of the interval"), of->watched / ns);
	cell_number(fact(pane, "records of objects that were lost"), (double)of->lost);
	cell_number(fact(pane, "processes that ended before a look"), (double)of->missed);
	for (size_t i = first; i < pane->rows.len; i++)
		pane->rows.data[i].cells[1].key = (double)(i - first);
}

/* ---- all panes ---- */

#define NODE                                                                                       \
	{                                                                                          \
		"NODE", 0, true, 8, true                                                           \
	}

/* In a narrow window, some columns give way to the names of nodes. */
static const struct pane_of {
	const char *name;
	struct pane_column columns[PANE_COLUMNS];
	int sort;
	bool up;
	const char *empty;
	void (*fill)(struct pane *pane, const struct top_node *node);
} kinds[PANES] = {
	[PANE_RANKS] = {
		"ranks",
		{ NODE, { "RANK", 5 }, { "PID", 7, .narrow = PANE_LEFT_OUT }, { "MPI", 4 },
		  { "WAIT", 4 }, { "OUT/s", 10 }, { "IN/s", 10 }, { "SENDS/s", 11 },
		  { "NOW", 0, true } },
		1, true, "no process with MPI or UCX yet", ranks,
	},
	[PANE_PATHS] = {
		"paths",
		{ NODE, { "TRANSPORT", 10, true }, { "DEVICE", 11, true, 10 },
		  { "WAY", 9, true }, { "BY", 8, true }, { "TO", 7, true }, { "BYTES/s", 10 },
		  { "OPS/s", 11 },
		  { "OF LINK", 0, .narrow = PANE_LEFT_OUT } },
		6, false, "no transfer seen yet", paths,
	},
	[PANE_PAIRS] = {
		"pairs",
		{ NODE, { "FROM", 10 }, { "TO", 10 }, { "TRANSPORT", 12, true },
		  { "BYTES/s", 12 }, { "TRANSFERS/s", 12 }, { "MEAN SIZE", 0 } },
		4, false, "no data transfer seen yet", pairs,
	},
	[PANE_FUNCTIONS] = {
		"functions",
		{ NODE, { "FUNCTION", 26, true, 20 }, { "CALLS/s", 12, .narrow = 11 },
		  { "SENDS/s", 12, .narrow = 11 }, { "SENT/s", 12, .narrow = 10 },
		  { "CALLS COUNTED", 0 } },
		2, false, "no MPI call seen yet", functions,
	},
	[PANE_SITES] = {
		"call sites",
		{ NODE, { "FUNCTION", 24, true }, { "LOOKS", 8 }, { "NOW", 6 },
		  { "CALLED FROM", 0, true } },
		2, false, "no thread was found in an MPI call yet", sites,
	},
	[PANE_STUCK] = {
		"stuck",
		{ NODE, { "RANK", 6 }, { "CALL", 20, true, 16 }, { "FOR", 11, .narrow = 9 },
		  { "WAITS IN", 10, true, 9 }, { "PEER", 5 }, { "TAG", 6, .narrow = PANE_LEFT_OUT },
		  { "STEP", 14, true, 10 }, { "CALLED FROM", 0, true } },
		3, false, "no thread is in an MPI call now", stuck,
	},
	[PANE_NICS] = {
		"NICs",
		{ NODE, { "NIC", 16, true, 13 }, { "STATE", 8, true, PANE_LEFT_OUT },
		  { "LINK/s", 11, .narrow = 10 }, { "IN/s", 11, .narrow = 10 },
		  { "OUT/s", 11, .narrow = 10 }, { "TRACED/s", 11, .narrow = 10 },
		  { "OF PORT", 0 } },
		5, false, "no port is known", ports,
	},
	[PANE_ERRORS] = {
		"errors",
		{ NODE, { "RANK", 8 }, { "COUNT/s", 12 }, { "COUNTED", 12 },
		  { "WHERE", 0, true } },
		2, false, "no error was counted, and nothing is known to be missing",
		errors,
	},
	[PANE_TRACER] = {
		"tracer",
		{ NODE, { "WHAT", 44, true }, { "", 0, true } },
		1, true, "", tracer,
	},
	[PANE_NODES] = {
		"nodes",
		{ NODE, { "VIEW", 8, true }, { "SILENT", 7 }, { "ALIVE", 5 }, { "SENT/s", 10 },
		  { "SENDS/s", 11, .narrow = PANE_LEFT_OUT }, { "WATCHED", 7, .narrow = PANE_LEFT_OUT },
		  { "CPU", 6, .narrow = PANE_LEFT_OUT }, { "COSTS", 6, .narrow = PANE_LEFT_OUT },
		  { "WHY", 0, true } },
		0, true, "", NULL,
	},
};

const char *pane_name(enum pane_kind kind)
{
	return kinds[kind].name;
}

static void set_columns(struct pane *pane, const struct pane_of *of, const struct top_nodes *nodes)
{
	size_t longest = strlen(of->columns[0].head);

	memcpy(pane->columns, of->columns, sizeof(pane->columns));
	for (pane->count = 0; pane->count < PANE_COLUMNS && of->columns[pane->count].head;)
		pane->count++;
	for (size_t i = 0; i < nodes->all.len && nodes->named; i++)
		if (strlen(nodes->all.data[i].name) > longest)
			longest = strlen(nodes->all.data[i].name);
	for (int i = 0; i < pane->count; i++)
		if (!pane->columns[i].narrow || !nodes->named)
			pane->columns[i].narrow = pane->columns[i].width;
	pane->columns[0].width = longest < NODE_MOST ? (int)longest : NODE_MOST;
	if (pane->columns[0].width < pane->columns[0].narrow)
		pane->columns[0].narrow = pane->columns[0].width;
	if (!nodes->named)
		pane->columns[0].width = pane->columns[0].narrow = PANE_LEFT_OUT;
}

/* Names the node in all rows from that one on, and sorts them by its position. */
static void name_rows(struct pane *pane, size_t from, const struct top_node *node, double number)
{
	for (size_t i = from; i < pane->rows.len; i++) {
		struct pane_cell *cells = pane->rows.data[i].cells;

		cell_name(&cells[0], node->name ? node->name : "");
		cells[0].key = number;
		for (int k = 0; k < pane->count && node->state == TOP_LATE; k++)
			if (cells[k].colour == PANE_PLAIN)
				cells[k].colour = k ? PANE_DIM : PANE_WARN;
	}
}

void pane_fill(struct pane *pane, enum pane_kind kind, const struct top_nodes *nodes)
{
	const struct pane_of *of = &kinds[kind];

	pane->title = of->name;
	pane->sort = of->sort;
	pane->up = of->up;
	pane->empty = of->empty;
	set_columns(pane, of, nodes);
	for (size_t i = 0; i < nodes->all.len; i++) {
		const struct top_node *node = &nodes->all.data[i];
		const size_t from = pane->rows.len;

		if (kind == PANE_NODES)
			node_state_cells(row_of(pane), node);
		else if (node_has_rows(node))
			of->fill(pane, node);
		if (kind == PANE_RANKS && nodes->named && pane->rows.len == from)
			node_without_ranks(row_of(pane), node, of->empty);
		name_rows(pane, from, node, (double)i);
	}
}

int pane_width(const struct pane *pane, int column, int window)
{
	return window < PANE_NARROW ? pane->columns[column].narrow : pane->columns[column].width;
}

void pane_release(struct pane *pane)
{
	vec_release(&pane->rows);
}
