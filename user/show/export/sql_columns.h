/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields as columns of SQL. */
#ifndef UCXBPF_EXPORT_SQL_COLUMNS_H
#define UCXBPF_EXPORT_SQL_COLUMNS_H

#include <stdio.h>

#include "show/export/fields.h"

enum sql_part {
	SQL_WHOLE, /* every field, in one table */
	SQL_KEY, /* names and the like, of which few combinations appear */
	SQL_EVENT, /* the rest: numbers of one event */
};

/* Calls, operations, transfers and messages are in two parts, and sums of them too. */
bool sql_has_key(enum subject subject);

/* Those that sums are of; else the subject itself. */
enum subject sql_single(enum subject subject);

/* Whether a field of the subject is in that part of it. */
bool sql_in(enum subject subject, const struct field *field, enum sql_part part);

/* Times are in ns and say so, and thereby are no keywords of SQL. */
const char *sql_suffix(const struct field *field);

/* Writes "name TYPE -- what it is" for each field of a part; first: of the table. Returns how many.
 */
int sql_put_columns(FILE *out, enum subject subject, enum sql_part part, bool first);

#endif
