/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture as the analysis reads it: a file, or a test's own records. */
#ifndef UCXBPF_ANALYSIS_SOURCE_H
#define UCXBPF_ANALYSIS_SOURCE_H

#include <jansson.h>
#include <stdint.h>

#include "ucxbpf.h"

struct record_source {
	void *ctx;
	/* As file_reader_next(). */
	int (*next)(void *ctx, const struct ub_hdr **record);
	/* Back to the first record; 0 or -errno. */
	int (*rewind)(void *ctx);
	void (*release)(void *ctx); /* NULL: nothing to do */
	const json_t *sides; /* outlive the analysis */
	struct ub_stats stats;
	uint64_t damaged; /* bytes that could not be read */
	/* Damage that is known once the records were read, instead of damaged; NULL: the same. */
	uint64_t (*damage)(void *ctx);
	uint64_t refused; /* records that could not be stored */
	const char *incomplete; /* why the capture has no proper end; NULL */
};

#endif
