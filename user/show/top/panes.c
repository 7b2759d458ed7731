// SPDX-License-Identifier: BSD-3-Clause
#include "show/top/panes.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"

const char *const pane_names[PANES] = { "ranks", "paths", "pairs",  "functions", "call sites",
					"stuck", "NICs",  "errors", "tracer" };

#define LONG_NS 5000000000ull /* a call that goes on for so long is shown as trouble */

/* ---- cells ---- */

static void plain(char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			*text = '?';
}

static void say(struct pane_cell *cell, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct pane_cell *cell, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(cell->text, sizeof(cell->text), format, args);
	va_end(args);
	plain(cell->text);
	cell->key = NAN;
}

static void name(struct pane_cell *cell, const char *text)
{
	say(cell, "%s", text ? text : "?");
}

static void number(struct pane_cell *cell, double value)
{
	char text[32] = "?";

	if (isfinite(value))
		unit_count(text, sizeof(text), (uint64_t)(value + 0.5), false);
	say(cell, "%s", text);
	cell->key = value;
}

/* Bytes per second; least: it is a lower bound. */
static void speed(struct pane_cell *cell, double value, bool least)
{
	char text[32] = "?";

	if (isfinite(value))
		unit_bytes(text, sizeof(text), (uint64_t)(value + 0.5), false);
	say(cell, "%s%s", isfinite(value) && least ? ">=" : "", text);
	cell->key = value;
}

static void size(struct pane_cell *cell, double value)
{
	speed(cell, value, false);
}

static void age(struct pane_cell *cell, uint64_t ns, bool known)
{
	char text[32] = "-";

	if (known)
		unit_time(text, sizeof(text), ns, false);
	say(cell, "%s%s", known ? ">=" : "", text);
	cell->key = known ? (double)ns : NAN;
	cell->colour = known && ns >= LONG_NS ? PANE_BAD : PANE_PLAIN;
}

/* The share is of the looks that know. */
static void share(struct pane_cell *cell, uint64_t part, uint64_t looks)
{
	unsigned int all = live_looks(looks), some = live_looks(part & looks);

	if (!all)
		say(cell, "-");
	else
		say(cell, "%.0f%%", 100.0 * some / all);
	cell->key = all ? (double)some / all : NAN;
}

static void percent(struct pane_cell *cell, double part)
{
	if (isfinite(part))
		say(cell, "%.1f%%", 100 * part);
	else
		say(cell, "?");
	cell->key = part;
}

static void who(struct pane_cell *cell, const struct live_process *process)
{
	if (!process)
		say(cell, "?");
	else if (process->rank >= 0)
		say(cell, "%d", process->rank);
	else
		say(cell, "pid %u", process->pid);
	cell->key = process && process->rank >= 0 ? process->rank : NAN;
}

static double bytes_rate(const struct live *live, const struct live_sums *sums)
{
	return live_rate(live_tracer(live), sums->bytes);
}

static double count_rate(const struct live *live, uint64_t count)
{
	return live_rate(live_tracer(live), count);
}

/* ---- rows ---- */

static struct pane_cell *row_of(struct pane *pane)
{
	return vec_add(&pane->rows)->cells;
}

static void set(struct pane *pane, const char *empty, int sort, bool up,
		const struct pane_column *columns, int count)
{
	pane->empty = empty;
	pane->sort = sort;
	pane->up = up;
	pane->count = count;
	memcpy(pane->columns, columns, count * sizeof(*columns));
}

#define SET(pane, empty, sort, up, ...)                                                            \
	do {                                                                                       \
		static const struct pane_column columns_[] = { __VA_ARGS__ };                      \
		set(pane, empty, sort, up, columns_, ARRAY_SIZE(columns_));                        \
	} while (0)

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
	char peer[32] = "", time[32];

	if (process->ended) {
		say(cell, "ended");
		cell->colour = PANE_DIM;
		return;
	}
	if (!thread || (!thread->function && !thread->outside)) {
		say(cell, "?%s%s", thread && thread->reason ? " " : "",
		    thread && thread->reason ? thread->reason : "");
		return;
	}
	if (!thread->function) {
		say(cell, "computing");
		return;
	}
	unit_time(time, sizeof(time), live_age(live, thread), false);
	if (thread->peer_rank >= 0)
		snprintf(peer, sizeof(peer), " with %d", thread->peer_rank);
	say(cell, ">=%s %s%s", time, thread->function, peer);
	if (live_age(live, thread) >= LONG_NS)
		cell->colour = PANE_BAD;
}

static void ranks(struct pane *pane, const struct live *live)
{
	struct live_process *const *all;
	size_t count = live_processes(live, &all);

	SET(pane, "no process with MPI or UCX yet", 0, true, { "RANK", 5, false },
	    { "PID", 7, false }, { "MPI", 4, false }, { "WAIT", 4, false }, { "OUT/s", 10, false },
	    { "IN/s", 10, false }, { "SENDS/s", 9, false }, { "NOW", 0, true });
	for (size_t i = 0; i < count; i++) {
		const struct live_process *process = all[i];
		struct pane_cell *cells = row_of(pane);

		who(&cells[0], process);
		say(&cells[1], "%u", process->pid);
		cells[1].key = process->pid;
		share(&cells[2], process->in_mpi, process->looks);
		share(&cells[3], process->waiting, process->looks);
		speed(&cells[4], bytes_rate(live, &process->sends.now), process->sends.now.unsized);
		speed(&cells[5], bytes_rate(live, &process->in.now),
		      !process->whole || process->in.now.unsized);
		number(&cells[6], count_rate(live, process->sends.now.count));
		now_in(&cells[7], live, process);
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

static void paths(struct pane *pane, const struct live *live, const struct top_nics *nics)
{
	const struct live_path *all;
	size_t count = live_paths(live, &all);
	path_sums sums = { 0 };

	SET(pane, "no transfer seen yet", 5, false, { "TRANSPORT", 10, true },
	    { "DEVICE", 11, true }, { "WAY", 9, true }, { "BY", 8, true }, { "TO", 7, true },
	    { "BYTES/s", 11, false }, { "OPS/s", 9, false }, { "OF LINK", 0, false });
	for (size_t i = 0; i < count; i++)
		add_path(&sums, &all[i]);
	for (size_t i = 0; i < sums.len; i++) {
		const struct path_sum *sum = &sums.data[i];
		const struct top_nic *nic = nic_of(nics, sum->device);
		struct pane_cell *cells = row_of(pane);

		name(&cells[0], sum->transport);
		name(&cells[1], sum->device);
		name(&cells[2], sum->way);
		if (sum->way && !strcmp(sum->way, "emulated"))
			cells[2].colour = PANE_BAD;
		if (sum->way && !strcmp(sum->way, "staged"))
			cells[2].colour = PANE_WARN;
		name(&cells[3], sum->initiator);
		name(&cells[4], sum->locality);
		speed(&cells[5], bytes_rate(live, &sum->sums), sum->sums.unsized);
		number(&cells[6], count_rate(live, sum->sums.count));
		percent(&cells[7], nic ? bytes_rate(live, &sum->sums) / nic->rate : NAN);
		if (!nic)
			say(&cells[7], "-");
	}
	vec_release(&sums);
}

/* Data between two processes: from the one that has it to the one that gets it. */
struct pair_sum {
	const struct live_process *from, *to;
	const char *transport;
	struct live_sums sums;
};

static void pairs(struct pane *pane, const struct live *live)
{
	const struct live_path *all;
	size_t count = live_paths(live, &all);
	VEC(struct pair_sum) sums = { 0 };

	SET(pane, "no data transfer seen yet", 3, false, { "FROM", 10, false }, { "TO", 10, false },
	    { "TRANSPORT", 12, true }, { "BYTES/s", 12, false }, { "TRANSFERS/s", 12, false },
	    { "MEAN SIZE", 0, false });
	for (size_t i = 0; i < count; i++) {
		const struct live_path *path = &all[i];
		const struct live_process *from = path->fetches ? path->peer : path->process;
		const struct live_process *to = path->fetches ? path->process : path->peer;
		struct pair_sum *row = NULL;

		if (strcmp(path->kind, "data") != 0)
			continue;
		for (size_t k = 0; k < sums.len && !row; k++)
			if (sums.data[k].from == from && sums.data[k].to == to &&
			    sums.data[k].transport == path->transport)
				row = &sums.data[k];
		if (!row) {
			row = vec_add(&sums);
			*row = (struct pair_sum){ from, to, path->transport, { 0 } };
		}
		live_add(&row->sums, &path->amount.now);
	}
	for (size_t i = 0; i < sums.len; i++) {
		const struct live_sums *sum = &sums.data[i].sums;
		struct pane_cell *cells = row_of(pane);
		uint64_t sized = sum->count - sum->unsized;

		who(&cells[0], sums.data[i].from);
		who(&cells[1], sums.data[i].to);
		name(&cells[2], sums.data[i].transport);
		speed(&cells[3], bytes_rate(live, sum), sum->unsized);
		number(&cells[4], count_rate(live, sum->count));
		size(&cells[5], sized ? (double)sum->bytes / sized : NAN);
	}
	vec_release(&sums);
}

static void functions(struct pane *pane, const struct live *live)
{
	const struct live_function *all;
	size_t count = live_functions(live, &all);
	VEC(struct live_function) sums = { 0 };

	SET(pane, "no MPI call seen yet", 1, false, { "FUNCTION", 28, true },
	    { "CALLS/s", 12, false }, { "SENDS/s", 12, false }, { "SENT/s", 12, false },
	    { "CALLS SO FAR", 0, false });
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

		name(&cells[0], row->function ? row->function : FACT_OUTSIDE_MPI);
		number(&cells[1], count_rate(live, row->calls.now.count));
		if (!row->function)
			say(&cells[1], "-");
		number(&cells[2], count_rate(live, row->sends.now.count));
		speed(&cells[3], bytes_rate(live, &row->sends.now), row->sends.now.unsized);
		number(&cells[4], (double)row->calls.total.count);
		if (!row->function)
			say(&cells[4], "-");
	}
	vec_release(&sums);
}

static void sites(struct pane *pane, const struct live *live)
{
	const struct live_site *all;
	size_t count = live_sites(live, &all);

	SET(pane, "no look has found a thread in an MPI call yet", 1, false,
	    { "FUNCTION", 24, true }, { "LOOKS", 8, false }, { "NOW", 6, false },
	    { "CALLED FROM", 0, true });
	for (size_t i = 0; i < count; i++) {
		struct pane_cell *cells = row_of(pane);

		name(&cells[0], all[i].function);
		number(&cells[1], (double)all[i].total);
		number(&cells[2], (double)all[i].now);
		name(&cells[3], all[i].place);
	}
}

static void stuck(struct pane *pane, const struct live *live)
{
	const struct live_thread *all;
	size_t count = live_threads(live, &all);

	SET(pane, "no thread is in an MPI call now", 2, false, { "RANK", 6, false },
	    { "CALL", 20, true }, { "FOR", 11, false }, { "WAITS IN", 10, true },
	    { "PEER", 5, false }, { "TAG", 6, false }, { "CALLED FROM", 0, true });
	for (size_t i = 0; i < count; i++) {
		const struct live_thread *thread = &all[i];
		struct pane_cell *cells;

		if (!thread->function)
			continue;
		cells = row_of(pane);
		who(&cells[0], thread->process);
		name(&cells[1], thread->function);
		age(&cells[2], live_age(live, thread), thread->since);
		name(&cells[3], thread->op);
		say(&cells[4], thread->peer_rank >= 0 ? "%d" : "?", thread->peer_rank);
		say(&cells[5], thread->tag >= 0 ? "%d" : "?", thread->tag);
		name(&cells[6], thread->place);
	}
}

static void ports(struct pane *pane, const struct top_nics *nics)
{
	SET(pane, "no port of this node is known", 4, false, { "NIC", 16, true },
	    { "STATE", 8, true }, { "LINK/s", 11, false }, { "IN/s", 11, false },
	    { "OUT/s", 11, false }, { "TRACED/s", 11, false }, { "OF PORT", 0, false });
	for (size_t i = 0; nics && i < nics->all.len; i++) {
		const struct top_nic *nic = &nics->all.data[i];
		struct pane_cell *cells = row_of(pane);

		name(&cells[0], nic->name);
		name(&cells[1], nic->state);
		speed(&cells[2], nic->rate, false);
		speed(&cells[3], nic->in, false);
		speed(&cells[4], nic->out, false);
		speed(&cells[5], nic->traced, false);
		percent(&cells[6],
			nic->in + nic->out > 0 ? nic->traced / (nic->in + nic->out) : NAN);
	}
}

static void errors(struct pane *pane, const struct live *live)
{
	const struct live_path *all;
	size_t count = live_paths(live, &all);
	const struct fact_reason *notes = live_notes(live);

	SET(pane, "no transfer found UCT without room, and nothing is known to be missing", 1,
	    false, { "RANK", 8, false }, { "RETRIES/s", 12, false }, { "SO FAR", 12, false },
	    { "WHERE", 0, true });
	for (size_t i = 0; i < count; i++) {
		struct pane_cell *cells;

		if (!all[i].amount.total.retries)
			continue;
		cells = row_of(pane);
		who(&cells[0], all[i].process);
		number(&cells[1], count_rate(live, all[i].amount.now.retries));
		number(&cells[2], (double)all[i].amount.total.retries);
		say(&cells[3], "%s/%s: no resource", all[i].transport ? all[i].transport : "?",
		    all[i].device ? all[i].device : "?");
	}
	for (size_t i = 0; i < FACT_MAX_REASONS && notes[i].reason; i++) {
		struct pane_cell *cells = row_of(pane);

		say(&cells[0], "-");
		say(&cells[1], "-");
		number(&cells[2], (double)notes[i].count);
		name(&cells[3], notes[i].reason);
	}
}

static struct pane_cell *fact(struct pane *pane, const char *what)
{
	struct pane_cell *cells = row_of(pane);

	name(&cells[0], what);
	cells[0].key = (double)pane->rows.len;
	return &cells[1];
}

static void tracer(struct pane *pane, const struct live *live)
{
	const struct live_tracer *of = live_tracer(live);
	const double ns = of->to > of->from ? (double)(of->to - of->from) : NAN;

	SET(pane, "", 0, true, { "WHAT", 44, true }, { "", 0, true });
	percent(fact(pane, "CPU of the tracer, of one"), of->cpu);
	size(fact(pane, "memory of the tracer"), of->memory ? (double)of->memory : NAN);
	number(fact(pane, "probe hits per second"), of->hits * 1e9 / ns);
	percent(fact(pane, "CPU for their traps, of one (estimate)"), live_trap_cpus(of));
	percent(fact(pane, "CPU in BPF programs, of one (estimate)"), live_program_cpus(of));
	percent(fact(pane, "the thread that pays most (estimate)"), of->paid);
	percent(fact(pane, "budget, of a thread's time"), of->budget > 0 ? of->budget : NAN);
	if (of->budget <= 0)
		say(&pane->rows.data[pane->rows.len - 1].cells[1], "none");
	percent(fact(pane, "watched, of the interval"), of->watched / ns);
	number(fact(pane, "records of objects that were lost"), (double)of->lost);
	number(fact(pane, "processes that ended before a look"), (double)of->missed);
}

void pane_fill(struct pane *pane, enum pane_kind kind, const struct live *live,
	       const struct top_nics *nics)
{
	pane->title = pane_names[kind];
	switch (kind) {
	case PANE_RANKS:
		ranks(pane, live);
		break;
	case PANE_PATHS:
		paths(pane, live, nics);
		break;
	case PANE_PAIRS:
		pairs(pane, live);
		break;
	case PANE_FUNCTIONS:
		functions(pane, live);
		break;
	case PANE_SITES:
		sites(pane, live);
		break;
	case PANE_STUCK:
		stuck(pane, live);
		break;
	case PANE_NICS:
		ports(pane, nics);
		break;
	case PANE_ERRORS:
		errors(pane, live);
		break;
	default:
		tracer(pane, live);
	}
}

void pane_release(struct pane *pane)
{
	vec_release(&pane->rows);
}

/* ---- order, filter ---- */

struct pane_order {
	int column;
	bool up;
};

/* By key, else by text; a cell without a key comes last. */
static int compare_cells(const struct pane_cell *a, const struct pane_cell *b, bool up)
{
	int order;

	if (isnan(a->key) != isnan(b->key))
		return isnan(a->key) ? 1 : -1;
	order = isnan(a->key) ? strcmp(a->text, b->text) : (a->key > b->key) - (a->key < b->key);
	return up ? order : -order;
}

static int compare_rows(const void *left, const void *right, void *arg)
{
	const struct pane_row *a = *(struct pane_row *const *)left,
			      *b = *(struct pane_row *const *)right;
	const struct pane_order *by = arg;
	int order = compare_cells(&a->cells[by->column], &b->cells[by->column], by->up);

	return order ? order : (a > b) - (a < b);
}

void pane_sort(struct pane *pane, int column, bool up)
{
	struct pane_order order = { column, up };
	VEC(struct pane_row *) places = { 0 };
	VEC(struct pane_row) sorted = { 0 };

	for (size_t i = 0; i < pane->rows.len; i++)
		vec_push(&places, &pane->rows.data[i]);
	if (places.len)
		qsort_r(places.data, places.len, sizeof(*places.data), compare_rows, &order);
	for (size_t i = 0; i < places.len; i++)
		vec_push(&sorted, *places.data[i]);
	vec_release(&places);
	vec_release(&pane->rows);
	pane->rows.data = sorted.data;
	pane->rows.len = sorted.len;
	pane->rows.cap = sorted.cap;
}

void pane_filter(struct pane *pane, const char *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < pane->rows.len; i++) {
		bool found = !*text;

		for (int k = 0; k < pane->count && !found; k++)
			found = strcasestr(pane->rows.data[i].cells[k].text, text);
		if (found)
			pane->rows.data[kept++] = pane->rows.data[i];
	}
	pane->rows.len = kept;
}

/* ---- head ---- */

void pane_head(const struct live *live, char first[160], char second[600])
{
	const struct live_tracer *of = live_tracer(live);
	const double ns = of->to > of->from ? (double)(of->to - of->from) : NAN;
	struct pane_cell out = { 0 }, sends = { 0 }, cpu = { 0 }, paid = { 0 }, watched = { 0 };
	struct live_process *const *all;
	size_t count = live_processes(live, &all), alive = 0;
	time_t seconds = (time_t)(of->real / 1000000000u);
	const char *host = count ? all[0]->host : NULL;
	struct live_sums sum = { 0 };
	char budget[32] = "no budget";
	struct tm now;

	for (size_t i = 0; i < count; i++) {
		alive += !all[i]->ended;
		live_add(&sum, &all[i]->sends.now);
	}
	localtime_r(&seconds, &now);
	snprintf(first, 160, "ucxbpf top  %s  %02d:%02d:%02d  %zu process%s  %.1f s",
		 host ? host : "", now.tm_hour, now.tm_min, now.tm_sec, alive,
		 alive == 1 ? "" : "es", ns / 1e9);
	speed(&out, bytes_rate(live, &sum), sum.unsized);
	number(&sends, count_rate(live, sum.count));
	percent(&cpu, of->cpu);
	percent(&paid, of->paid);
	percent(&watched, of->watched / ns);
	if (of->budget > 0)
		snprintf(budget, sizeof(budget), "%.3g%%", 100 * of->budget);
	snprintf(second, 600, "sent %s/s, %s sends/s  tracer %s CPU, costs %s of %s, watched %s",
		 out.text, sends.text, cpu.text, paid.text, budget, watched.text);
	plain(first);
	plain(second);
}
