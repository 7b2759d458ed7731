// SPDX-License-Identifier: BSD-3-Clause
#include "filter_options.h"

void filter_options_list(struct argp_option options[FILTER_OPTIONS], int group)
{
	options[0] = (struct argp_option){ .doc = "Only these:", .group = group };
	for (int i = 0; i < FILTER_FIELDS; i++)
		options[1 + i] = (struct argp_option){
			.name = filter_infos[i].name,
			.key = FILTER_KEY + i,
			.arg = filter_infos[i].metavar,
			.doc = filter_infos[i].doc,
			.group = group,
		};
}

error_t filter_options_parse(struct filter *filter, int key, const char *arg,
			     struct argp_state *state)
{
	int field = key - FILTER_KEY;
	const char *why;

	if (field < 0 || field >= FILTER_FIELDS)
		return ARGP_ERR_UNKNOWN;
	if (filter_add(filter, field, arg, &why))
		argp_error(state, "--%s=%s: %s", filter_infos[field].name, arg, why);
	return 0;
}
