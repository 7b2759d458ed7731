/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cells of CSV (RFC 4180, lines ending in \n): texts are always quoted, one line, and never begin
 * as a formula would; null is an empty cell.
 */
#ifndef UCXBPF_EXPORT_CSV_CELL_H
#define UCXBPF_EXPORT_CSV_CELL_H

#include <jansson.h>
#include <stdio.h>

void csv_text(FILE *out, const char *text);

/* A number, a text, null, or the frames of a stack: "outermost;...;innermost". */
void csv_value(FILE *out, const json_t *value);

/* A line of one row's columns, NULL behind the last one. */
void csv_row(FILE *out, const char *const *columns, const json_t *row);

/* A line of their names. */
void csv_header(FILE *out, const char *const *columns);

#endif
