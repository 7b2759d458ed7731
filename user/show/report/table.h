/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text tables that fit a width: columns are data, each formats its cell of a row. If too wide,
 * columns are dropped by their drop number, then the shrinkable ones are cut.
 */
#ifndef UCXBPF_REPORT_TABLE_H
#define UCXBPF_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "show/report/report.h"

#define TABLE_CELL 160
#define TABLE_MAX_COLUMNS 16

struct table_column {
	const char *header;
	bool left; /* words to the left, numbers to the right */
	int cut_to; /* may be cut down to this width, 0 = never cut */
	int drop; /* highest is dropped first, 0 = never */
	void (*print)(char *cell, size_t size, const void *row, const void *context);
};

struct report_table {
	const struct table_column *columns;
	int column_count;
	const void *context; /* handed to print */
	const void *const *rows;
	size_t row_count;
};

void table_print(FILE *out, const struct report_text_options *options,
		 const struct report_table *table);

/* Prints text dim, bold or plain, where colours are on. */
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_WARN };
void style_on(FILE *out, const struct report_text_options *options, enum style style);
void style_off(FILE *out, const struct report_text_options *options, enum style style);

/* Number of columns that a text takes up, and bytes of it that fit into width columns. */
int text_width(const char *text);
size_t text_fit(const char *text, int width);

#endif
