/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of one subject after another: of a node with each of its partners, or of a pair. */
#ifndef UCXBPF_JUDGE_STATISTICS_SAMPLES_H
#define UCXBPF_JUDGE_STATISTICS_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "site/judge/statistics/statistics.h"

struct sample {
	uint64_t subject;
	int partner; /* of a node, in that value */
	double value; /* logarithm of a ratio: half as much is as far as twice as much */
};

struct samples {
	VEC(struct sample) list;
};

/* By subject, then by partner: what all functions below want. */
void samples_sort(struct samples *samples);

/* A value of both its nodes, each as the subject with the other one as its partner. */
void samples_add_ends(struct samples *samples, int a, int b, double value);

/* As many samples, from one on, as are of its subject; with its partner alone, if wanted. */
size_t samples_run(const struct samples *samples, size_t from, bool partner);

/* Appends the values of so many samples. */
void samples_take(const struct samples *samples, size_t from, size_t count,
		  struct numbers *numbers);

/*
 * Of the runs within so many samples, the first sample of that whose median is least; -1: no
 * samples. runs: how many there are.
 */
long samples_slowest_run(const struct samples *samples, size_t from, size_t count, bool partner,
			 size_t *runs);

#endif
