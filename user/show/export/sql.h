/* SPDX-License-Identifier: BSD-3-Clause */
/* A database being written; after its first error nothing more is done. */
#ifndef UCXBPF_EXPORT_SQL_H
#define UCXBPF_EXPORT_SQL_H

#include <sqlite3.h>

#include "base/map.h"
#include "explain/facts/columns.h"

struct sql {
	sqlite3 *db;
	int err; /* -errno of the first failure */
	char *why; /* EXPORT_WHY bytes, owned by the caller */
};

/* An empty file that is there already; why: struct sql's. */
void sql_open(struct sql *sql, const char *path, char *why);

/* Closes; every statement must be finalized. Returns the first error, again if called again. */
int sql_close(struct sql *sql);

/* Runs statements without results. */
void sql_run(struct sql *sql, const char *text);

/* "INSERT INTO table VALUES (...)" of so many columns; NULL after an error. */
sqlite3_stmt *sql_insert(struct sql *sql, const char *table, int columns);

/* Runs an insertion whose columns are bound. */
void sql_step(struct sql *sql, sqlite3_stmt *statement);

/* Columns count from 1. Texts are made safe to print. */
void sql_bind_text(sqlite3_stmt *statement, int column, const char *text);
void sql_bind(sqlite3_stmt *statement, int at, const struct fact_column *column,
	      const struct column_value *value);

/* ---- sql_tables.c ---- */

/*
 * The tables of docs/sqlite.md. Millions of events share few combinations of names: these are rows
 * of call_key, op_key..., and an event is a row of numbers with a reference to one. A column's type
 * decides where it goes.
 */
struct sql_tables {
	struct sql *sql;
	sqlite3_stmt *rows[FACT_TYPES]; /* of the type's own table */
	sqlite3_stmt *keys[FACT_TYPES]; /* of call_key... */
	struct map known[FACT_TYPES]; /* hash of a key -> its number */
	sqlite3_stmt *stack, *frame;
	struct map places, stacks; /* key -> number */
};

/* Creates all tables. */
void sql_tables_open(struct sql_tables *tables, struct sql *sql);

/* Adds a fact; sums NULL: a single one. */
void sql_tables_add(struct sql_tables *tables, enum fact_type type, const void *fact,
		    const struct fact_sums *sums);

/* Finalizes the statements. */
void sql_tables_release(struct sql_tables *tables);

/* The views of docs/sqlite.md, and the indices. */
void sql_views(struct sql *sql);

#endif
