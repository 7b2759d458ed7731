/* SPDX-License-Identifier: BSD-3-Clause */
/* All facts by one function: for what writes every field of every fact, going by subject_infos. */
#ifndef UCXBPF_EXPORT_ROWS_H
#define UCXBPF_EXPORT_ROWS_H

#include "show/export/fields.h"

struct rows {
	void *arg;
	/* fact: of the subject's struct; sums NULL: a single one */
	void (*add)(void *arg, enum subject subject, const void *fact,
		    const struct fact_sums *sums);
};

/* A sink that hands all to rows->add; valid as long as rows. */
struct fact_sink rows_sink(const struct rows *rows);

/* What is known only at the end: the GPUs, and who uses them. */
void rows_finish(const struct rows *rows, const struct fact_totals *totals);

#endif
