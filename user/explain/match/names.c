// SPDX-License-Identifier: BSD-3-Clause
#include <stddef.h>

#include "explain/match/facts.h"

const char *const fact_kind_names[] = {
	[KIND_DATA] = "data", [KIND_CONTROL] = "control", [KIND_COPY] = "copy", NULL
};

const char *const fact_precision_names[] = {
	[TIME_UNKNOWN] = "unknown",         [TIME_EXACT] = "exact",
	[TIME_UPPER_BOUND] = "upper_bound", [TIME_LOWER_BOUND] = "lower_bound",
	[TIME_SAMPLED] = "sampled",         NULL,
};

const char *const fact_locality_names[] = {
	[LOCALITY_UNKNOWN] = "unknown",
	[LOCALITY_SELF] = "self",
	[LOCALITY_NODE] = "node",
	[LOCALITY_REMOTE] = "remote",
	NULL,
};
