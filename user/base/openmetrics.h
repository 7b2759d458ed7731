/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMetrics 1.0 for a scrape, and the older text form for a node exporter's textfile collector,
 * which knows no end of file and names a counter's family by its sample.
 */
#ifndef UCXBPF_BASE_OPENMETRICS_H
#define UCXBPF_BASE_OPENMETRICS_H

#include <stdbool.h>
#include <stdio.h>

/* The lines before the samples of a family. name: without _total. */
void openmetrics_family(FILE *out, bool open, const char *name, const char *type, const char *help);

/* NAME="VALUE", of any bytes; NULL is "". */
void openmetrics_label(FILE *out, const char *name, const char *value);

/* Ends the exposition, in the form that has an end mark. 0, or -errno of a failed write. */
int openmetrics_end(FILE *out, bool open);

#endif
