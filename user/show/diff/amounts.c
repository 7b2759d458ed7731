// SPDX-License-Identifier: BSD-3-Clause
/*
 * Compares counts, bytes, times and waits. A count that is the same in all runs of a side differs
 * where that of the other side is another one; a number with a spread where it is outside of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "show/diff/internal.h"

#define RUNS_FOR_SPREAD 5u /* runs of each side that show how far runs differ by themselves */
#define RUNS_FOR_ENDS 8u /* so many that their ends show it, too */
#define SAMPLES 30u /* durations of a run that show how they lie */
#define SHIFT_PERCENT 10u /* a time that differs less is the same */
#define FACTOR_ALONE 5u /* that a transfer's time differs by where no spread of runs is known */
#define SHARE_PERCENT 1u /* of its side, that a path has to carry to be missed on the other one */

/* Sums of an amount in a run, of one role or of all. */
struct run_sums {
	uint64_t count, sum, unknown;
	const struct spread *spread;
};

struct amounts {
	struct diff *diff;
	const struct diff_cell **cells; /* by amount, role and run */
	struct run_sums *total, *one; /* by run */
	uint64_t *values;
	uint64_t all[DIFF_TABLES][DIFF_SIDES][DIFF_MEASURES]; /* of tables, for shares */
};

static bool has_time(const struct diff_table *table)
{
	return table->measures[0].unit == UNIT_NS;
}

static size_t least_runs(const struct diff *diff)
{
	const size_t *count = diff->run_count;

	return count[DIFF_BEFORE] < count[DIFF_AFTER] ? count[DIFF_BEFORE] : count[DIFF_AFTER];
}

static uint64_t measure_of(const struct run_sums *sums, int measure)
{
	return measure ? sums->sum : sums->count;
}

/* ---- values of sides ---- */

static bool is_known(const struct amounts *amounts, const struct run_sums *sums, int measure)
{
	const struct diff *diff = amounts->diff;

	for (size_t i = 0; measure && i < diff->runs.len; i++)
		if (sums[i].unknown)
			return false;
	return true;
}

static struct diff_number number_at(struct amounts *amounts, const struct run_sums *sums,
				    enum diff_side side, int measure)
{
	const struct diff *diff = amounts->diff;
	size_t count = 0;

	if (!is_known(amounts, sums, measure))
		return (struct diff_number){ 0 };
	for (size_t i = 0; i < diff->runs.len; i++)
		if (diff->runs.data[i].side == side)
			amounts->values[count++] = measure_of(&sums[i], measure);
	return number_of(amounts->values, count);
}

static void set_amounts(struct amounts *amounts, struct diff_row *row, const struct run_sums *sums)
{
	for (enum diff_side side = DIFF_BEFORE; side < DIFF_SIDES; side++)
		for (int m = 0; m < DIFF_MEASURES && row->table->measures[m].name; m++) {
			row->values[side].numbers[m] = number_at(amounts, sums, side, m);
			row->values[side].there =
				row->values[side].there || row->values[side].numbers[0].high;
		}
}

/* All durations of a side together, or the medians of its runs. */
static void set_times(struct amounts *amounts, struct diff_row *row, enum diff_side side)
{
	const struct diff *diff = amounts->diff;
	struct diff_value *value = &row->values[side];
	struct spread *all = xcalloc(1, sizeof(*all));
	size_t count = 0;

	for (size_t i = 0; i < diff->runs.len; i++) {
		const struct spread *spread = amounts->total[i].spread;

		if (diff->runs.data[i].side != side || !spread)
			continue;
		amounts->values[count++] = spread_number(spread).median;
		spread_join(all, spread);
	}
	value->numbers[0] = least_runs(diff) < RUNS_FOR_SPREAD ? spread_number(all)
							       : number_of(amounts->values, count);
	value->there = count == diff->run_count[side];
	value->samples = all->count;
	free(all);
}

/* ---- verdicts ---- */

static const char bytes_unknown[] = "bytes not known of all";

#define FEW_RUNS "fewer than five runs a side: their spread is not known"

static uint64_t gap(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t range(const struct diff_number *number)
{
	return number->high - number->low;
}

/*
 * How far medians must be apart, in spreads of both sides together. Few runs lie close to each
 * other by chance; a comparison has dozens of numbers, and none may differ for runs of the same.
 */
static uint64_t spreads_apart(size_t runs)
{
	return runs < RUNS_FOR_ENDS; /* else it is enough that the spreads do not overlap */
}

/* Whether runs of one side lie so far from those of the other as runs of the same do not. */
static bool runs_differ(const struct diff *diff, const struct diff_number *a,
			const struct diff_number *b)
{
	return numbers_apart(a, b) &&
	       gap(a->median, b->median) > spreads_apart(least_runs(diff)) * (range(a) + range(b));
}

static enum diff_verdict judge_count(const struct diff *diff, const struct diff_number *a,
				     const struct diff_number *b)
{
	const bool steady = !range(a) && !range(b);

	if (!a->known || !b->known)
		return DIFF_UNCOMPARED;
	if (!numbers_apart(a, b))
		return DIFF_SAME;
	if (steady)
		return DIFF_CHANGED;
	return least_runs(diff) >= RUNS_FOR_SPREAD && runs_differ(diff, a, b) ? DIFF_CHANGED
									      : DIFF_VARIES;
}

static bool shifted(const struct diff_number *a, const struct diff_number *b, unsigned int percent)
{
	const uint64_t least = a->median < b->median ? a->median : b->median;

	return gap(a->median, b->median) * 100 > least * percent;
}

/*
 * Durations of one run lie close to each other, and elsewhere in the next run of the same: by which
 * cores ranks got, by what else ran. Those of calls and operations have waits for a peer in them,
 * to which no bound holds; a transfer's are the work of its own process and the way.
 */
static enum diff_verdict judge_time_alone(struct diff_row *row, const struct diff_number *a,
					  const struct diff_number *b)
{
	const uint64_t least = a->median < b->median ? a->median : b->median;

	if (row->table != &diff_tables[TABLE_TRANSFER_TIMES]) {
		row->reason = FEW_RUNS;
		return DIFF_UNCOMPARED;
	}
	if (gap(a->median, b->median) >= least * (FACTOR_ALONE - 1))
		return DIFF_CHANGED;
	row->reason = "less than five times, of fewer than five runs a side";
	return DIFF_UNCOMPARED;
}

/* A key that one side alone has is a row of paths or counts, not of times. */
static enum diff_verdict judge_time(const struct diff *diff, struct diff_row *row)
{
	const struct diff_value *a = &row->values[DIFF_BEFORE], *b = &row->values[DIFF_AFTER];

	if (!a->there || !b->there) {
		row->reason = "not all runs have exact times of it";
		return DIFF_UNCOMPARED;
	}
	if (!numbers_apart(&a->numbers[0], &b->numbers[0]))
		return DIFF_SAME;
	if (a->samples < SAMPLES || b->samples < SAMPLES) {
		row->reason = "fewer than 30 exact times of it";
		return DIFF_UNCOMPARED;
	}
	if (least_runs(diff) < RUNS_FOR_SPREAD)
		return judge_time_alone(row, &a->numbers[0], &b->numbers[0]);
	return shifted(&a->numbers[0], &b->numbers[0], SHIFT_PERCENT) &&
			       runs_differ(diff, &a->numbers[0], &b->numbers[0])
		       ? DIFF_CHANGED
		       : DIFF_SAME;
}

static enum diff_verdict judge_wait(const struct diff *diff, struct diff_row *row)
{
	const struct diff_number *a = &row->values[DIFF_BEFORE].numbers[1];
	const struct diff_number *b = &row->values[DIFF_AFTER].numbers[1];

	row->reason = diff->limits.waits;
	if (row->reason)
		return DIFF_UNCOMPARED;
	if (least_runs(diff) < RUNS_FOR_SPREAD) {
		row->reason = FEW_RUNS;
		return DIFF_UNCOMPARED;
	}
	return shifted(a, b, SHIFT_PERCENT) && runs_differ(diff, a, b) ? DIFF_CHANGED : DIFF_SAME;
}

/*
 * Captures of a part of a run: whether only one side has it, and as no small part of its own. That
 * records of it are not in a damaged capture says nothing.
 */
static bool is_missed(const struct amounts *amounts, const struct diff_row *row)
{
	const enum diff_table_id table = (enum diff_table_id)(row->table - diff_tables);
	const enum diff_side side = row->values[DIFF_AFTER].there ? DIFF_AFTER : DIFF_BEFORE;
	const struct diff_number *numbers = row->values[side].numbers;
	const uint64_t runs = amounts->diff->run_count[side];

	if (row->values[DIFF_BEFORE].there == row->values[DIFF_AFTER].there ||
	    amounts->diff->limits.gaps[!side])
		return false;
	for (int m = 0; m < DIFF_MEASURES; m++)
		if (numbers[m].known && numbers[m].median &&
		    numbers[m].median * runs * 100 >= amounts->all[table][side][m] * SHARE_PERCENT)
			return true;
	return false;
}

static bool polls(const struct diff_row *row)
{
	switch (row->table - diff_tables) {
	case TABLE_CALLS:
		return diff_function_polls(row->keys[0]);
	case TABLE_OPS:
	case TABLE_PROTOCOLS:
	case TABLE_FAILED:
		return diff_op_polls(row->keys[0]);
	case TABLE_CALLERS:
		return diff_op_polls(row->keys[2]);
	case TABLE_PATHS:
		return diff_transfer_polls(row->keys[2]);
	case TABLE_COLLECTIVES:
		return !row->keys[3]; /* it depends on what was seen */
	default:
		return row->table->timing;
	}
}

/* Operations of this function whose algorithm is not known, the most of a run of the side. */
static uint64_t unknown_algorithms(const struct diff *diff, const char *function,
				   enum diff_side side)
{
	const struct diff_amount amount = { .table = TABLE_COLLECTIVES, .keys = { function } };
	const size_t at = rowset_find(&diff->amounts_by_key,
				      ROWSET_ROWS(&diff->amounts, sizeof(amount)), &amount);
	uint64_t most = 0;

	for (size_t i = 0; at < diff->amounts.len && i < diff->cells.len; i++) {
		const struct diff_cell *cell = &diff->cells.data[i];

		if (cell->amount == at && diff_side_of(diff, cell->run) == side &&
		    cell->count > most)
			most = cell->count;
	}
	return most;
}

/* Whether as many operations can have had the algorithm on both sides. */
static bool may_be_equal(const struct diff *diff, const struct diff_row *row)
{
	const struct diff_number *a = &row->values[DIFF_BEFORE].numbers[0];
	const struct diff_number *b = &row->values[DIFF_AFTER].numbers[0];

	return a->low <= b->high + unknown_algorithms(diff, row->keys[0], DIFF_AFTER) &&
	       b->low <= a->high + unknown_algorithms(diff, row->keys[0], DIFF_BEFORE);
}

/* NULL: the row's counts are whole on both sides. */
static const char *limit_of(const struct diff *diff, const struct diff_row *row)
{
	const struct diff_limits *limits = &diff->limits;

	switch (row->table - diff_tables) {
	case TABLE_CALLS:
		if (!limits->calls && row->keys[0] &&
		    strings_find(&limits->derived, row->keys[0], strlen(row->keys[0])))
			return "calls without an operation are not seen while it has no probe";
		return limits->calls;
	case TABLE_PATHS:
		if (!limits->counts && limits->unproven && row->keys[2] &&
		    !strcmp(row->keys[2], "am_short"))
			return "some short transfers were not seen while they had no probes";
		return limits->counts;
	case TABLE_PROTOCOLS:
	case TABLE_COLLECTIVES:
		return limits->protocols ? limits->protocols : limits->counts;
	case TABLE_FAILED:
		return limits->failed ? limits->failed : limits->counts;
	default:
		return limits->counts;
	}
}

/* A change counts first; that bytes are not known hides nothing of the count, which is a. */
static enum diff_verdict worse(enum diff_verdict a, enum diff_verdict b)
{
	if (a == DIFF_CHANGED || b == DIFF_CHANGED)
		return DIFF_CHANGED;
	return a == DIFF_SAME ? b : a;
}

static enum diff_verdict judge_numbers(const struct diff *diff, const struct diff_row *row)
{
	enum diff_verdict verdict = DIFF_SAME;

	for (int m = 0; m < DIFF_MEASURES && row->table->measures[m].name; m++)
		verdict = worse(verdict, judge_count(diff, &row->values[DIFF_BEFORE].numbers[m],
						     &row->values[DIFF_AFTER].numbers[m]));
	return verdict;
}

static enum diff_verdict judge_amount(const struct amounts *amounts, struct diff_row *row)
{
	const enum diff_verdict verdict = judge_numbers(amounts->diff, row);
	const char *why = limit_of(amounts->diff, row);

	if (verdict == DIFF_SAME)
		return verdict;
	if (verdict == DIFF_UNCOMPARED) {
		row->reason = bytes_unknown;
		return verdict;
	}
	if (polls(row)) {
		row->reason = "timing decides how many there are";
		return DIFF_VARIES;
	}
	if (row->table == &diff_tables[TABLE_COLLECTIVES] && may_be_equal(amounts->diff, row)) {
		row->reason = "as many operations have an algorithm that is not known";
		return DIFF_VARIES;
	}
	if (verdict == DIFF_VARIES)
		row->reason = "it varies between runs of a side";
	if (!why)
		return verdict;
	if (row->table->section == DIFF_PATHS && row->table != &diff_tables[TABLE_COLLECTIVES] &&
	    is_missed(amounts, row) && why != amounts->diff->limits.protocols)
		return DIFF_CHANGED;
	row->reason = why;
	return DIFF_UNCOMPARED;
}

/* ---- by role ---- */

static void take(struct run_sums *to, const struct diff_cell *cell)
{
	to[cell->run].count += cell->count;
	to[cell->run].sum += cell->sum;
	to[cell->run].unknown += cell->unknown;
	if (cell->spread)
		to[cell->run].spread = cell->spread;
}

/* How many roles differ though all together do not: cells[from .. to - 1] of an amount. */
static size_t roles_differ(struct amounts *amounts, const struct diff_row *row, size_t from,
			   size_t to)
{
	const size_t size = amounts->diff->runs.len * sizeof(*amounts->one);
	size_t differ = 0;

	while (from < to) {
		const uint64_t role = amounts->cells[from]->role;
		struct diff_row of_role = { .table = row->table };

		memset(amounts->one, 0, size);
		for (; from < to && amounts->cells[from]->role == role; from++)
			take(amounts->one, amounts->cells[from]);
		set_amounts(amounts, &of_role, amounts->one);
		differ += judge_numbers(amounts->diff, &of_role) == DIFF_CHANGED;
	}
	return differ;
}

/* Programs that hand out work as it is done do so, too: one run a side does not tell. */
static void judge_roles(struct amounts *amounts, struct diff_row *row, size_t from, size_t to)
{
	struct diff *diff = amounts->diff;
	const size_t differ = roles_differ(amounts, row, from, to);

	if (!differ || polls(row) || limit_of(diff, row))
		return;
	row->verdict = least_runs(diff) > 1 ? DIFF_CHANGED : DIFF_VARIES;
	row->reason = diff_keepf(diff, "the same in all, but not of %zu ranks%s", differ,
				 least_runs(diff) > 1 ? "" : ": one run a side does not tell");
}

/* ---- rows ---- */

static bool left_out(const struct diff *diff, const struct diff_table *table)
{
	return table->level > diff->limits.level ||
	       (diff->limits.callers && table == &diff_tables[TABLE_CALLERS]) ||
	       (diff->limits.protocols && (table == &diff_tables[TABLE_PROTOCOLS] ||
					   table == &diff_tables[TABLE_COLLECTIVES]));
}

static void compare_amount(struct amounts *amounts, size_t from, size_t to)
{
	struct diff *diff = amounts->diff;
	const struct diff_amount *amount = &diff->amounts.data[amounts->cells[from]->amount];
	const struct diff_table *table = &diff_tables[amount->table];
	struct diff_row *row;

	if (left_out(diff, table))
		return;
	row = diff_row_add(diff, (enum diff_table_id)amount->table, amount->keys);
	memset(amounts->total, 0, diff->runs.len * sizeof(*amounts->total));
	for (size_t i = from; i < to; i++)
		take(amounts->total, amounts->cells[i]);
	if (has_time(table)) {
		set_times(amounts, row, DIFF_BEFORE);
		set_times(amounts, row, DIFF_AFTER);
		row->verdict = judge_time(diff, row);
		return;
	}
	set_amounts(amounts, row, amounts->total);
	row->verdict =
		table->section == DIFF_WAITS ? judge_wait(diff, row) : judge_amount(amounts, row);
	if (table->section != DIFF_WAITS &&
	    (row->verdict == DIFF_SAME || row->reason == bytes_unknown))
		judge_roles(amounts, row, from, to);
}

static int by_amount(const void *left, const void *right)
{
	const struct diff_cell *a = *(const struct diff_cell *const *)left;
	const struct diff_cell *b = *(const struct diff_cell *const *)right;

	if (a->amount != b->amount)
		return a->amount < b->amount ? -1 : 1;
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	return (a->run > b->run) - (a->run < b->run);
}

/* Over all runs of a side. */
static void sum_tables(struct amounts *amounts)
{
	const struct diff *diff = amounts->diff;

	for (size_t i = 0; i < diff->cells.len; i++) {
		const struct diff_cell *cell = &diff->cells.data[i];
		uint64_t *all = amounts->all[diff->amounts.data[cell->amount].table]
					    [diff->runs.data[cell->run].side];

		all[0] += cell->count;
		all[1] += cell->sum;
	}
}

/* Equal counts alone do not show that nothing differs. */
static void note_unknown(struct diff *diff)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->rows.len; i++) {
		const struct diff_row *row = &diff->rows.data[i];

		count += row->reason == bytes_unknown;
		diff->limits.unsized =
			diff->limits.unsized ||
			(row->reason == bytes_unknown && row->table == &diff_tables[TABLE_OPS]);
	}
	if (count)
		vec_push(&diff->limits.notes,
			 diff_keepf(
				 diff,
				 "bytes of %zu row%s are not known in full: they are not compared",
				 count, count > 1 ? "s" : ""));
}

void diff_compare_amounts(struct diff *diff)
{
	struct amounts amounts = {
		.diff = diff,
		.cells = xcalloc(diff->cells.len + 1, sizeof(*amounts.cells)),
		.total = xcalloc(diff->runs.len, sizeof(*amounts.total)),
		.one = xcalloc(diff->runs.len, sizeof(*amounts.one)),
		.values = xcalloc(diff->runs.len, sizeof(*amounts.values)),
	};

	for (size_t i = 0; i < diff->cells.len; i++)
		amounts.cells[i] = &diff->cells.data[i];
	qsort(amounts.cells, diff->cells.len, sizeof(*amounts.cells), by_amount);
	sum_tables(&amounts);
	for (size_t i = 0, end; i < diff->cells.len; i = end) {
		for (end = i; end < diff->cells.len &&
			      amounts.cells[end]->amount == amounts.cells[i]->amount;
		     end++)
			;
		compare_amount(&amounts, i, end);
	}
	note_unknown(diff);
	free(amounts.cells);
	free(amounts.total);
	free(amounts.one);
	free(amounts.values);
}
