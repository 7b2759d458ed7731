/* SPDX-License-Identifier: BSD-3-Clause */
/* A database being written: its first error is kept, and nothing is done after it. */
#ifndef UCXBPF_EXPORT_SQL_H
#define UCXBPF_EXPORT_SQL_H

#include <sqlite3.h>

#include "show/export/fields.h"

struct sql {
	sqlite3 *db;
	int err; /* -errno of the first failure */
	char *why; /* EXPORT_WHY bytes, the caller's */
};

/* Makes a database of an empty file. */
void sql_open(struct sql *sql, const char *path, char *why);

/* Statements without results. */
void sql_run(struct sql *sql, const char *text);

/* "INSERT INTO table VALUES (...)" of so many columns; NULL after an error. */
sqlite3_stmt *sql_insert(struct sql *sql, const char *table, int columns);

/* Runs an insertion whose columns are bound. */
void sql_step(struct sql *sql, sqlite3_stmt *statement);

/* Columns count from 1. Texts are made safe. */
void sql_bind_text(sqlite3_stmt *statement, int column, const char *text);
void sql_bind(sqlite3_stmt *statement, int column, const struct field *field,
	      const struct field_value *value);

/* Closes; every statement must be finalized. Returns the first error, again if called again. */
int sql_close(struct sql *sql);

#endif
