/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of diff/. Layers: number.c, tables.c, texts.c; gather.c and software.c, which
 * take facts; limits.c, which finds the parts that can be compared; amounts.c, settings.c and
 * switches.c, which compare and make rows; compare.c, which runs these; lines.c; text.c, json.c and
 * html.c.
 */
#ifndef UCXBPF_DIFF_INTERNAL_H
#define UCXBPF_DIFF_INTERNAL_H

#include "base/level.h"
#include "base/map.h"
#include "base/rowset.h"
#include "base/strings.h"
#include "base/vec.h"
#include "show/diff/diff.h"
#include "show/diff/number.h"
#include "show/diff/tables.h"

/* ---- input: sums and texts of runs ---- */

/* Counts of a run: a row for each key, a cell for each run and role. */
struct diff_amount {
	uint64_t table;
	const char *keys[DIFF_KEYS]; /* of diff.names; NULL: not known, or no such key */
};

struct diff_cell {
	uint64_t amount, run, role; /* key */
	uint64_t count;
	uint64_t sum; /* of bytes, of waits ns */
	uint64_t unknown; /* of count, those of unknown bytes */
	struct spread *spread; /* of exact durations; NULL: none */
};

/* In order; hosts and the job are places, no processes. */
enum diff_role_kind { DIFF_RANK, DIFF_PROGRAM, DIFF_HOST, DIFF_JOB };

/* The part that a process or a place has in every run, by which runs are compared. */
struct diff_role {
	uint64_t kind; /* enum diff_role_kind */
	uint64_t number; /* the rank; of a host its position, 1 has the lowest rank; else 0 */
	const char *name; /* of a program, of diff.names; NULL: not known, or no program */
};

/* A text that a role has in a run: a variable's value, a library's path. */
struct diff_setting {
	uint64_t table;
	const char *keys[DIFF_KEYS];
	uint64_t role, run;
	const char *value;
};

/* A size at which an operation of a side used a protocol. */
struct diff_size {
	const char *op, *locality, *memory;
	const char *function; /* the function that made it; NULL: none, or any */
	uint64_t side, size;
	const char *protocol;
};

struct diff_run {
	enum diff_side side;
	const char *name;
	size_t processes, hosts;
	const char *mpi, *ucx; /* of the first process that has one; NULL: none has */
	enum level level; /* the lowest that some capture recorded */
	bool level_varies; /* a budget recorded more layers at other times */
	bool counted; /* some capture was made with --count */
	bool thinned; /* detail of some was left out on purpose, sums are whole */
	bool lossy; /* likewise, and it was lost */
	bool damaged; /* totals are not whole */
	bool windows; /* it was not recorded all the time */
	bool attached; /* some process was joined in mid-run */
	bool uncalled; /* the caller of UCP is unknown for some operation outside MPI */
	bool undescribed; /* some process may have had an MPI, or a UCX, that is not known */
	bool late_mpi; /* first MPI calls may be missing */
	bool killed; /* a signal ended some process */
	bool ends_known; /* how each process ended is known */
	bool whole; /* the environment of each process is known */
};

/* A process of the current run. */
struct diff_member {
	bool known;
	int host, rank;
	uint64_t role;
};

struct diff_host {
	bool known;
	int first_rank; /* least of its ranks, -1: none */
	const char *name;
};

/* ---- output: rows ---- */

enum diff_verdict {
	DIFF_SAME,
	DIFF_CHANGED,
	DIFF_VARIES, /* it differs, as it does between runs of the same */
	DIFF_UNCOMPARED, /* it differs, or may, without significance */
	DIFF_VERDICTS
};

extern const char *const diff_verdict_names[DIFF_VERDICTS]; /* "same", "changed"... */

struct diff_value {
	bool there;
	const char *text; /* of settings and switch points; else NULL */
	struct diff_number numbers[DIFF_MEASURES];
	uint64_t samples; /* of times */
};

struct diff_row {
	const struct diff_table *table;
	const char *keys[DIFF_KEYS];
	const char *ranks; /* "0-3,7", a program, "host 1"; NULL: of all together */
	enum diff_verdict verdict;
	const char *reason; /* NULL: none is needed */
	uint64_t order; /* larger ones come first in their table */
	struct diff_value values[DIFF_SIDES];
};

/*
 * The parts that both sides can be compared by. Reasons are sentences for readers; NULL: the part
 * is compared.
 */
struct diff_limits {
	enum level level; /* the layers that all runs have */
	const char *counts, *calls, *protocols, *callers, *waits;
	const char *failed; /* sums do not have how operations ended */
	VEC(const char *) notes; /* notes that readers need */
	struct strings derived; /* MPI functions that had no probe for a while, of some run */
	bool unsized; /* bytes of some operations are not known, so not compared */
	bool unproven; /* short transfers may be missing in some run */
	bool gaps[DIFF_SIDES]; /* a run of the side may lack any data */
	bool incomplete; /* for the reason of struct diff_outcome */
};

struct diff {
	struct strings names;
	VEC(struct diff_role) roles;
	struct rowset roles_by_key;
	VEC(struct diff_run) runs;
	size_t run_count[DIFF_SIDES];
	VEC(struct diff_amount) amounts;
	struct rowset amounts_by_key;
	VEC(struct diff_cell) cells;
	struct rowset cells_by_key;
	VEC(struct diff_setting) settings;
	struct rowset settings_by_key;
	VEC(struct diff_size) sizes;
	struct rowset sizes_by_key;
	const char *classes[64]; /* names of sizes of 2^i bytes and more; NULL: not made yet */
	struct map kept; /* of this run: pointer to a fact's string -> that of names */
	VEC(struct diff_member) members; /* of this run, by index */
	VEC(struct diff_host) hosts; /* likewise */
	struct diff_limits limits;
	VEC(struct diff_row) rows; /* by section and table, the changed ones first */
	size_t changed[DIFF_SECTIONS];
	struct diff_outcome outcome;
};

/* The one copy of a text; NULL for NULL. */
const char *diff_keep(struct diff *diff, const char *text);
const char *diff_keepf(struct diff *diff, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- texts.c ---- */

/* Distinct texts in an order that is the same for equal sets; a zeroed one is empty. */
struct diff_texts {
	VEC(const char *) shown; /* the first ones; the caller's */
	size_t count; /* of all */
	size_t bytes; /* of those shown */
	uint64_t digest; /* of all, in order */
};

void diff_texts_add(struct diff_texts *texts, const char *text);

/*
 * The kept text of all, NULL: there are none; empties the list. A long list gives the first texts,
 * the number of the others and the digest of all.
 */
const char *diff_texts_join(struct diff *diff, struct diff_texts *texts, const char *between);

/* The current run. */
static inline struct diff_run *diff_now(struct diff *diff)
{
	return &diff->runs.data[diff->runs.len - 1];
}

static inline enum diff_side diff_side_of(const struct diff *diff, uint64_t run)
{
	return diff->runs.data[run].side;
}

/* ---- software.c: environment and libraries of the current run ---- */
void diff_feed_process(struct diff *diff, const struct fact_process *fact);
void diff_feed_software(struct diff *diff, const struct fact_totals *totals);

/* ---- limits.c ---- */
/* Notes the limits of the current run. */
void diff_run_limits(struct diff *diff, const struct fact_totals *totals);
void diff_find_limits(struct diff *diff);

/* ---- amounts.c, settings.c, switches.c: each appends its rows ---- */
void diff_compare_amounts(struct diff *diff);
void diff_compare_settings(struct diff *diff);
void diff_compare_switches(struct diff *diff);

/* A zeroed row of these keys, at the end. */
struct diff_row *diff_row_add(struct diff *diff, enum diff_table_id table, const char *const *keys);

/* ---- lines.c: rows as words, for text and page ---- */

enum diff_column { DIFF_SUBJECT, DIFF_OF_BEFORE, DIFF_OF_AFTER, DIFF_CHANGE, DIFF_COLUMNS };

/* Cells of any length; names in them are as captures have them: they may hold any bytes. */
struct diff_line {
	char *cells[DIFF_COLUMNS];
};

struct diff_line diff_line(const struct diff_row *row, bool exact);
void diff_line_release(struct diff_line *line);

/* "7 differences: environment 1, times 6"; "no difference found in ..." The caller frees it. */
char *diff_verdict(const struct diff *diff);

/* "cg.ucxb: 2 processes, 1 host, level uct, Open MPI 4.1.4, UCX 1.13.1" The caller frees it. */
char *diff_run_line(const struct diff_run *run);

/* Whether a row is shown: changed ones always, all but equal ones with verbose. */
bool diff_shows(const struct diff_row *row, int verbose);

#endif
