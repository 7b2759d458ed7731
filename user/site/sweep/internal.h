/* SPDX-License-Identifier: BSD-3-Clause */
/* A sweep on its way. Private to sweep/. */
#ifndef UCXBPF_SWEEP_INTERNAL_H
#define UCXBPF_SWEEP_INTERNAL_H

#include "site/sweep/agents.h"
#include "site/sweep/sweep.h"

struct sweep {
	const struct sweep_options *options;
	const struct signals *signals;
	struct agents agents;
	struct child job;
	struct plan *plan;
	double rate; /* of sweep_link_rate() */
	bool whole; /* the traffic came to its end, whatever it found */
	int interrupted; /* by this signal; 0: not */
};

/* ---- run.c ---- */

/*
 * Listens to all nodes until done says so; false: the time is over, or the sweep was interrupted.
 * what: for the progress line.
 */
bool sweep_wait(struct sweep *sweep, double seconds, const char *what,
		bool (*done)(struct sweep *sweep));

/* A path in the sweep's folder, valid until the next but three. */
const char *sweep_path(const struct sweep *sweep, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "PATH: its first line", where there is one; valid until the next. */
const char *sweep_log(const char *path);

/* ---- rate.c ---- */

/*
 * bit/s of the slowest node's NIC, by the inventories of before: of those that are up its fastest,
 * which is what UCX takes. 0: the inventory of some node does not tell.
 */
double sweep_link_rate(const struct sweep *sweep);

/* ---- job.c ---- */

/* The traffic with its tracers, from its start to its end. */
void sweep_job(struct sweep *sweep);

/* How the traffic is started on these nodes. */
void sweep_job_command(const struct sweep *sweep, char *const *nodes, size_t count,
		       struct command *out);

#endif
