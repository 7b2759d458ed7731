/* SPDX-License-Identifier: BSD-3-Clause */
/* One export to Perfetto's trace format (docs/perfetto.md). */
#ifndef UCXBPF_EXPORT_PERFETTO_H
#define UCXBPF_EXPORT_PERFETTO_H

#include "show/export/export.h"
#include "show/export/perfetto_out.h"
#include "show/export/spans.h"
#include "show/export/traffic.h"

struct perfetto {
	struct export_target *target;
	struct perfetto_out out;
	struct spans spans;
	struct traffic traffic;
	struct placing placing;
	VEC(uint64_t) host_tracks; /* by number */
	VEC(uint64_t) process_tracks; /* by index; 0: none */
};

/* ---- perfetto_setup.c ---- */
void perfetto_setup(struct perfetto *perfetto);

/* ---- perfetto_spans.c: 0 or -errno ---- */
int perfetto_spans(struct perfetto *perfetto);

/* ---- perfetto_rest.c ---- */
int perfetto_devices(struct perfetto *perfetto);
void perfetto_windows(struct perfetto *perfetto);
void perfetto_memory(struct perfetto *perfetto);
void perfetto_gpus(struct perfetto *perfetto, const struct fact_totals *totals);
void perfetto_unknowns(struct perfetto *perfetto, const struct fact_totals *totals);

#endif
