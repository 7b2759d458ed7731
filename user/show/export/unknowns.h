/* SPDX-License-Identifier: BSD-3-Clause */
/* The totals of an analysis as rows: what was lost, what is not known, what the captures say. */
#ifndef UCXBPF_EXPORT_UNKNOWNS_H
#define UCXBPF_EXPORT_UNKNOWNS_H

#include "explain/match/facts.h"

/* topic: "loss", "matching"...; what: "stored", a reason. Both live as long as the analysis. */
typedef void (*unknowns_put)(void *arg, const char *topic, const char *what, uint64_t number);

/* One line over all of them: whether there are single events at all. facts: how many there are. */
const char *unknowns_heading(const struct fact_totals *totals, uint64_t facts);

void unknowns_each(const struct fact_totals *totals, unknowns_put put, void *arg);

#endif
