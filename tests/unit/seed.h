/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs made by hand as inputs of a fuzzer (tests/fuzz/README.md): they have what no recorded job
 * had. Where UCXBPF_SEEDS names a folder, every analysis of a unit test leaves its jobs there.
 */
#ifndef TESTS_UNIT_SEED_H
#define TESTS_UNIT_SEED_H

#include "fuzz/parts.h"
#include "unit/job.h"

#define SEED_MOST (48u << 10) /* bytes; longer ones only make a fuzzer slow */

/* Whether a side record is no row of a site that no record is from: they are the most of a seed. */
static inline bool seed_wants(const struct job *job, const json_t *side)
{
	json_int_t row = json_integer_value(json_object_get(side, "row"));

	if (strcmp(json_string_value(json_object_get(side, "t")), "site"))
		return true;
	for (size_t i = 0; i < job->records.len; i++)
		if (job->records.data[i].h.site == row)
			return true;
	return false;
}

static inline void seed_put_job(FILE *out, const struct job *job, const struct ub_stats *stats)
{
	const json_t *side;
	size_t i;

	part_put_capture(out, job->damaged ? CAPTURE_KILLED : 0, stats, sizeof(*stats));
	json_array_foreach(job->sides, i, side)
	{
		char *text = json_dumps(side, JSON_COMPACT);
		size_t size = strlen(text);

		text[size] = '\n';
		if (seed_wants(job, side))
			part_put(out, PART_SIDES, 0, text, size + 1);
		free(text);
	}
	for (i = 0; i < job->records.len; i++)
		part_put(out, PART_RECORD, 0, &job->records.data[i],
			 ub_kind_size(job->records.data[i].h.kind));
}

/* stats: of each job. */
static inline void seed_keep(struct job *const *jobs, const struct ub_stats *stats, int count)
{
	static int number;
	const char *folder = getenv("UCXBPF_SEEDS");
	char path[4096];
	size_t size;
	char *seed;
	FILE *out;

	if (!folder)
		return;
	out = open_memstream(&seed, &size);
	for (int i = 0; i < count; i++)
		seed_put_job(out, jobs[i], &stats[i]);
	fclose(out);
	snprintf(path, sizeof(path), "%s/%s-%d", folder, program_invocation_short_name, number++);
	out = size <= SEED_MOST ? fopen(path, "wbe") : NULL;
	if (out) {
		fwrite(seed, 1, size, out);
		fclose(out);
	}
	free(seed);
}

#endif
