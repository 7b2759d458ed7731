// SPDX-License-Identifier: BSD-3-Clause
/* Writing to a database of SQLite. */
#include "show/export/sql.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "show/export/export.h"

static void sql_check(struct sql *sql, int rc)
{
	if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW || sql->err)
		return;
	sql->err = (rc & 0xff) == SQLITE_FULL ? -ENOSPC : -EIO;
	snprintf(sql->why, EXPORT_WHY, "%s", sql->db ? sqlite3_errmsg(sql->db) : "out of memory");
}

/*
 * The file is renamed only when complete, so no journal and no fsync are needed. The cache holds
 * the growing ends of all tables and indices, and bounds the memory for sorting.
 */
void sql_open(struct sql *sql, const char *path, char *why)
{
	*sql = (struct sql){ .why = why };
	sql_check(sql, sqlite3_open_v2(path, &sql->db, SQLITE_OPEN_READWRITE, NULL));
	sql_run(sql, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		     "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536; BEGIN");
}

void sql_run(struct sql *sql, const char *text)
{
	if (!sql->err)
		sql_check(sql, sqlite3_exec(sql->db, text, NULL, NULL, NULL));
}

sqlite3_stmt *sql_insert(struct sql *sql, const char *table, int columns)
{
	sqlite3_stmt *statement = NULL;
	char text[256];
	int len = snprintf(text, sizeof(text), "INSERT INTO %s VALUES (?", table);

	while (--columns > 0)
		len += snprintf(text + len, sizeof(text) - len, ",?");
	snprintf(text + len, sizeof(text) - len, ")");
	if (!sql->err)
		sql_check(sql, sqlite3_prepare_v2(sql->db, text, -1, &statement, NULL));
	return statement;
}

void sql_step(struct sql *sql, sqlite3_stmt *statement)
{
	if (!sql->err)
		sql_check(sql, sqlite3_step(statement));
	sqlite3_reset(statement);
}

void sql_bind_text(sqlite3_stmt *statement, int column, const char *text)
{
	if (text)
		sqlite3_bind_text(statement, column, text_plain(text), -1, free);
	else
		sqlite3_bind_null(statement, column);
}

void sql_bind(sqlite3_stmt *statement, int at, const struct fact_column *column,
	      const struct column_value *value)
{
	if (value->null)
		sqlite3_bind_null(statement, at);
	else if (column_words(column->type))
		sqlite3_bind_text(statement, at, value->text, -1, SQLITE_STATIC);
	else if (value->text)
		sql_bind_text(statement, at, value->text);
	else
		sqlite3_bind_int64(statement, at, (sqlite3_int64)value->number);
}

int sql_close(struct sql *sql)
{
	if (!sql->db)
		return sql->err;
	sql_run(sql, "COMMIT");
	if (sqlite3_close(sql->db) && !sql->err)
		sql->err = -EIO;
	sql->db = NULL;
	return sql->err;
}
