/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of jobs for monitoring systems (docs/serve.md). */
#ifndef UCXBPF_SHOW_SERVE_SERVE_H
#define UCXBPF_SHOW_SERVE_SERVE_H

#include <stdio.h>

#include "live/jobs.h"

#define SERVE_SCHEMA "ucxbpf.serve/1"

/* The service itself. */
struct serve_self {
	const char *host;
	double reader_cpu_s;
	uint64_t reader_memory; /* resident bytes; 0: unknown */
	uint64_t unwritten; /* textfiles and lines that could not be written */
};

struct serve_state {
	const struct live *live;
	const struct jobs *jobs;
	struct serve_self self;
};

/*
 * open: OpenMetrics 1.0; else the older text form of Prometheus, which node_exporter's textfile
 * collector reads. 0, or -errno of a write.
 */
int serve_metrics(const struct serve_state *state, bool open, FILE *out);

/* The interval and all counters as one JSON object on one line (docs/serve.schema.json). */
int serve_json(const struct serve_state *state, FILE *out);

#endif
