/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of docs/sqlite.md. Events of millions share few combinations of names: those are rows
 * of call_key, op_key..., and an event is a row of numbers that refers to one. Fields go to the one
 * or the other by their type.
 */
#ifndef UCXBPF_EXPORT_SQL_TABLES_H
#define UCXBPF_EXPORT_SQL_TABLES_H

#include "base/map.h"
#include "show/export/sql.h"

struct sql_tables {
	struct sql *sql;
	sqlite3_stmt *rows[SUBJECTS]; /* of the subject's own table */
	sqlite3_stmt *keys[SUBJECTS]; /* of call_key... */
	struct map known[SUBJECTS]; /* hash of a combination -> its number */
	sqlite3_stmt *stack, *frame;
	struct map places, stacks; /* key -> number */
};

/* Makes all tables. */
void sql_tables_open(struct sql_tables *tables, struct sql *sql);

/* Adds a fact; sums NULL: a single one. */
void sql_tables_add(struct sql_tables *tables, enum subject subject, const void *fact,
		    const struct fact_sums *sums);

/* Finalizes the statements. */
void sql_tables_release(struct sql_tables *tables);

/* The views of docs/sqlite.md, and the indices. */
void sql_views(struct sql *sql);

#endif
