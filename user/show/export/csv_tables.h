/* SPDX-License-Identifier: BSD-3-Clause */
/* Which columns the report's tables have as CSV, in their order. */
#ifndef UCXBPF_EXPORT_CSV_TABLES_H
#define UCXBPF_EXPORT_CSV_TABLES_H

#include <stddef.h>

#define CSV_MAX_TABLES 24
#define CSV_MAX_COLUMNS 32

struct csv_table {
	const char *name;
	/* Members of a row; "a.b": member b of a. The header has '_' for the dot. */
	const char *columns[CSV_MAX_COLUMNS];
};

/* NULL behind the last one. */
const struct csv_table *csv_table_at(size_t i);

const struct csv_table *csv_table_find(const char *name);

#endif
