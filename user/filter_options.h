/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that select among facts, the same for all commands that read captures. */
#ifndef UCXBPF_FILTER_OPTIONS_H
#define UCXBPF_FILTER_OPTIONS_H

#include <argp.h>

#include "report/report.h"

enum { FILTER_KEY = 0x200 }; /* the options' keys, one per field */

/* The rows that they take in a command's table, with their heading. */
#define FILTER_OPTIONS (FILTER_FIELDS + 1)

/* Writes the rows, as the options' group of that number. */
void filter_options_list(struct argp_option options[FILTER_OPTIONS], int group);

/* A parser's answer to a key: ARGP_ERR_UNKNOWN where it is no filter. */
error_t filter_options_parse(struct filter *filter, int key, const char *arg,
			     struct argp_state *state);

#endif
