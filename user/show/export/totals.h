/* SPDX-License-Identifier: BSD-3-Clause */
/* What is no table of the report, as rows: section, name, reason, value. */
#ifndef UCXBPF_EXPORT_TOTALS_H
#define UCXBPF_EXPORT_TOTALS_H

#include <jansson.h>

struct totals_sink {
	void *arg;
	/* name and reason are NULL where there is none */
	void (*row)(void *arg, const char *section, const char *name, const char *reason,
		    const json_t *value);
};

/* The rows of one member of the report. */
void totals_rows(const struct totals_sink *sink, const char *section, const json_t *value);

#endif
