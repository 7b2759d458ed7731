// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/input/filter_options.h"

enum { FILTER_KEY = 0x200 }; /* the options' keys, one per field */

static error_t parse(int key, char *arg, struct argp_state *state)
{
	int field = key - FILTER_KEY;
	const char *why;

	if (field < 0 || field >= FILTER_FIELDS)
		return ARGP_ERR_UNKNOWN;
	if (filter_add(state->input, field, arg, &why))
		argp_error(state, "--%s=%s: %s", filter_infos[field].name, arg, why);
	return 0;
}

const struct argp_child *filter_options_init(struct filter_options *options)
{
	*options = (struct filter_options){ .argp = { .parser = parse } };
	for (int i = 0; i < FILTER_FIELDS; i++)
		options->list[i] = (struct argp_option){
			.name = filter_infos[i].name,
			.key = FILTER_KEY + i,
			.arg = filter_infos[i].metavar,
			.doc = filter_infos[i].doc,
		};
	options->argp.options = options->list;
	options->children[0] = (struct argp_child){ &options->argp, 0, "Only these:", 2 };
	return options->children;
}
