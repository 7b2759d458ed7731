/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that select among facts, the same for all commands that read captures. */
#ifndef UCXBPF_CMD_INPUT_FILTER_OPTIONS_H
#define UCXBPF_CMD_INPUT_FILTER_OPTIONS_H

#include <argp.h>

#include "show/report/report.h"

/* They are a child of a command's parser: as its first, their input is child_inputs[0]. */
struct filter_options {
	struct argp_option list[FILTER_FIELDS + 1];
	struct argp argp;
	struct argp_child children[2];
};

/* The list of children, of this one alone; it lives in options. Its input: a struct filter. */
const struct argp_child *filter_options_init(struct filter_options *options);

#endif
