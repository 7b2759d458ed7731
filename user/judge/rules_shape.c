// SPDX-License-Identifier: BSD-3-Clause
/* PROTO-01, FAB-03: how times depend on the size, and how they spread. */
#include <math.h>
#include <string.h>

#include "judge/rules.h"
#include "judge/times.h"

/* As many cohorts, from one on, as differ in size alone. */
static size_t run_length(const struct times *times, size_t from)
{
	size_t to = from;

	while (to < times->cohorts.len &&
	       cohort_alike(&times->cohorts.data[from], &times->cohorts.data[to]))
		to++;
	return to - from;
}

static const char *name_of(const struct trial *trial, const struct cohort *cohort)
{
	char *name = cohort_name(cohort, trial->judge->sweep.plan, trial->judge->policy);
	const char *kept = say(trial->judge, "%s", name);

	free(name);
	return kept;
}

/* ---- PROTO-01 ---- */

#define LEAST_FOR_MEDIAN 10

/* The protocol that most messages of that size took there; NULL: no capture tells. */
static const char *protocol_at(const struct trial *trial, const struct cohort *cohort)
{
	const struct exhibits *exhibits = trial->exhibits;
	const struct cell *best = NULL;

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];

		if (cell->protocol && cell->function && !strcmp(cell->function, "MPI_Isend") &&
		    cell_intra(cell) == cohort->intra && cell->least <= cohort->size &&
		    cohort->size <= cell->most && (!best || cell->bytes > best->bytes))
			best = cell;
	}
	return best ? best->protocol : NULL;
}

static const char *size_text(const struct trial *trial, const struct cohort *cohort, double ns)
{
	const char *protocol = protocol_at(trial, cohort);

	return say(trial->judge, "%lu B take %.4g us%s%s%s", (unsigned long)cohort->size, ns / 1e3,
		   protocol ? " (" : "", protocol ? protocol : "", protocol ? ")" : "");
}

/*
 * The hump that is highest: a size whose quick ones take longer than a larger one's slow ones, so
 * that noise does not make one.
 */
static void judge_humps(const struct trial *trial, const struct cohort *sizes, size_t count)
{
	const struct cohort *high = NULL, *low = NULL;
	double worst = trial->setting->number[0];
	struct finding *finding;

	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++) {
			double ratio = sizes[i].median[P25] / sizes[k].median[P75];

			if (ratio <= worst)
				continue;
			worst = ratio;
			high = &sizes[i];
			low = &sizes[k];
		}
	finding = found(trial, high ? VERDICT_FAIL : VERDICT_PASS, name_of(trial, &sizes[0]));
	finding->count = count;
	finding->expected = say(trial->judge, "no size takes %.2f times as long as a larger one",
				trial->setting->number[0]);
	if (high)
		finding->seen =
			say(trial->judge, "%s, %s", size_text(trial, high, high->median[P50]),
			    size_text(trial, low, low->median[P50]));
}

static uint32_t least_timed(const struct cohort *sizes, size_t count)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < count; i++)
		least = sizes[i].timed < least ? sizes[i].timed : least;
	return least;
}

void rule_monotone(const struct trial *trial)
{
	size_t before = trial->judge->findings.len, count;
	struct times times;

	times_make(&times, &trial->judge->sweep);
	for (size_t from = 0; from < times.cohorts.len; from += count) {
		count = run_length(&times, from);
		if (least_timed(&times.cohorts.data[from], count) >= LEAST_FOR_MEDIAN)
			judge_humps(trial, &times.cohorts.data[from], count);
	}
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "it takes 10 times of a message");
	times_release(&times);
}

/* ---- FAB-03 ---- */

#define LEAST_FOR_TAIL 100 /* of fewer, the 99th percentile is the longest */
#define LEAST_FOR_SPREAD 10

/* Of the smallest size the tail, of the largest the spread: latency, and goodput. */
static void judge_tail(const struct trial *trial, const struct cohort *least,
		       const struct cohort *most)
{
	double tail = least->median[P99] / least->median[P50];
	double spread = (most->median[P75] - most->median[P25]) / most->median[P50];
	bool long_tail = least->timed >= LEAST_FOR_TAIL && tail > trial->setting->number[0];
	bool wide = most->timed >= LEAST_FOR_SPREAD && spread > trial->setting->number[1];
	struct finding *finding;

	if (least->timed < LEAST_FOR_TAIL && most->timed < LEAST_FOR_SPREAD)
		return;
	finding = found(trial, long_tail || wide ? VERDICT_FAIL : VERDICT_PASS,
			name_of(trial, least));
	finding->count = least->ns[P50].list.len + most->ns[P50].list.len;
	finding->expected =
		say(trial->judge, "p99 at most %.4g times p50, quartiles at most %.4g %% apart",
		    trial->setting->number[0], 100 * trial->setting->number[1]);
	if (long_tail)
		finding->seen = say(trial->judge, "%lu B: p99 is %.1f times p50, %.4g us",
				    (unsigned long)least->size, tail, least->median[P50] / 1e3);
	else if (wide)
		finding->seen =
			say(trial->judge, "%lu B: quartiles are %.0f %% of %.4g us apart",
			    (unsigned long)most->size, 100 * spread, most->median[P50] / 1e3);
}

void rule_tail(const struct trial *trial)
{
	size_t before = trial->judge->findings.len, count;
	struct times times;

	times_make(&times, &trial->judge->sweep);
	for (size_t from = 0; from < times.cohorts.len; from += count) {
		count = run_length(&times, from);
		if (!times.cohorts.data[from].intra)
			judge_tail(trial, &times.cohorts.data[from],
				   &times.cohorts.data[from + count - 1]);
	}
	if (before == trial->judge->findings.len)
		found_nothing(
			trial, VERDICT_SKIP,
			"it takes 100 times of the smallest message between nodes, or 10 of the "
			"largest");
	times_release(&times);
}
