/* SPDX-License-Identifier: BSD-3-Clause */
/* One export as an OTF2 archive (docs/otf2.md). */
#ifndef UCXBPF_EXPORT_OTF2_H
#define UCXBPF_EXPORT_OTF2_H

#include "show/export/export.h"
#include "show/export/otf2_out.h"
#include "show/export/spans.h"
#include "show/export/worlds.h"

/* Communicators; behind them one of each world. */
enum { COMM_MPI, COMM_OUTSIDE, COMM_WORLDS };
/* Groups of processes, likewise. */
enum { GROUP_LOCATIONS, GROUP_MEMBERS, GROUP_WORLDS };

struct otf2 {
	struct export_target *target;
	struct otf2_out out;
	struct spans spans;
	struct placing placing;
	struct worlds worlds;
	uint64_t collectives; /* collective events */
	VEC(struct fact_reason) not_collective; /* why calls of such functions have none */
	VEC(uint32_t) ranks; /* in both communicators, by process */
	VEC(bool) begun; /* its first location is there, by process */
	uint32_t nobody; /* location group of what is of no process; 0: none yet */
};

/* ---- otf2_defs.c ---- */

/* Before the first event: the clock, hosts, processes, attributes. */
void otf2_define(struct otf2 *otf2, const struct fact_totals *totals);

/* After the last one: communicators. */
void otf2_define_rest(struct otf2 *otf2);

/* A location whose events were written. */
void otf2_define_location(struct otf2 *otf2, OTF2_LocationRef id, OTF2_StringRef name,
			  OTF2_LocationGroupRef group, uint64_t events);

/* ---- otf2_hosts.c ---- */

/* And what could not be told of all of them. */
void otf2_define_hosts(struct otf2 *otf2, const struct fact_totals *totals);

/* A number that is said of all hosts: "loss: stored". Before or after events. */
void otf2_define_number(struct otf2 *otf2, const char *topic, const char *what, uint64_t number);

/* ---- otf2_processes.c ---- */

/* And their ranks. */
void otf2_define_processes(struct otf2 *otf2);

/* The location group of a process or, for -1, of nobody. */
OTF2_LocationGroupRef otf2_group(struct otf2 *otf2, int process);

/* A new location group of a host, -1: of all. */
OTF2_LocationGroupRef otf2_host_group(struct otf2 *otf2, OTF2_StringRef name, int host);

/* ---- otf2_collectives.c ---- */

/* After the last fact, before the first event. Returns 0 or -errno. */
int otf2_settle_worlds(struct otf2 *otf2, const struct fact_totals *totals);

/* After the last event: communicators, and what could not be told. */
void otf2_define_worlds(struct otf2 *otf2);

/* ---- otf2_spans.c: 0 or -errno ---- */
int otf2_spans(struct otf2 *otf2);

#endif
