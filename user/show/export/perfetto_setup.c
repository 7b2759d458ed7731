// SPDX-License-Identifier: BSD-3-Clause
/* Clocks, and the tracks of hosts and processes. */
#include <string.h>

#include "base/text.h"
#include "show/export/perfetto.h"

/* A point of a host's clock; the importer wants those of the common clock in order. */
struct point {
	int host;
	uint64_t mono, real;
};

typedef VEC(struct point) points;

static int by_real(const void *left, const void *right)
{
	const struct point *a = left, *b = right;

	if (a->real != b->real)
		return a->real < b->real ? -1 : 1;
	return a->host - b->host;
}

static void begin_sequences(struct perfetto *perfetto)
{
	const struct spans *spans = &perfetto->spans;
	points points = { 0 };

	for (size_t i = 0; i < spans->hosts.len; i++) {
		const struct fact_clock *clock = spans_clock(spans, (int)i);
		uint64_t mono = clock ? clock->mono : spans->hosts.data[i].first;

		vec_push(&points, ((struct point){ (int)i, mono,
						   mono + (uint64_t)placing_to_real(
								  &perfetto->placing, (int)i) }));
	}
	if (points.len)
		qsort(points.data, points.len, sizeof(*points.data), by_real);
	perfetto_sequence(&perfetto->out, SEQUENCE_GLOBAL, NULL,
			  points.len ? points.data[0].real : 0);
	for (size_t i = 0; i < points.len; i++)
		perfetto_sequence(&perfetto->out, sequence_of_host(points.data[i].host),
				  &points.data[i].mono, points.data[i].real);
	vec_release(&points);
}

static const char made_up[] = " (clock offset not known: placed at the beginning, compare no times "
			      "with others)";

static void add_hosts(struct perfetto *perfetto)
{
	const struct spans *spans = &perfetto->spans;

	for (size_t i = 0; i < spans->hosts.len; i++) {
		const char *name = spans->hosts.data[i].name;

		const char *caution = perfetto->placing.hosts.data[i].made_up ? made_up : "";
		uint64_t track = perfetto_track(&perfetto->out, sequence_of_host((int)i), 0,
						perfetto_text(&perfetto->out, "host %s%s",
							      name ? name : "unknown", caution),
						(int)i);

		vec_push(&perfetto->host_tracks, track);
	}
}

/* The viewer knows processes by their pid alone: what is not the first one of a pid gets another.
 */
static int32_t pid_of(const struct spans *spans, const struct fact_process *process)
{
	for (int i = 0; i < process->index; i++) {
		const struct fact_process *other = spans_process(spans, i);

		if (other && other->pid == process->pid)
			return 1 << 30 | process->index;
	}
	return (int32_t)process->pid;
}

static const char *seen_from(const struct fact_process *process)
{
	return process->from_start ? "seen from start" : "seen from attach";
}

static void add_process(struct perfetto *perfetto, const struct fact_process *fact)
{
	struct perfetto_out *out = &perfetto->out;
	TrackDescriptor track = TRACK_DESCRIPTOR__INIT;
	ProcessDescriptor process = PROCESS_DESCRIPTOR__INIT;
	const char *comm = fact->comm ? fact->comm : "unknown";
	const char *host = fact->host_name ? fact->host_name : "unknown";
	char rank[32] = "";

	if (fact->rank >= 0)
		snprintf(rank, sizeof(rank), "rank %d: ", fact->rank);
	track.name = (char *)perfetto_text(out, "%s%s, pid %u on %s", rank, comm, fact->pid, host);
	process.has_pid = true;
	process.pid = pid_of(&perfetto->spans, fact);
	process.process_name = text_plain(track.name);
	char *labels[] = {
		text_plain(perfetto_text(out, "id %d", fact->index)),
		text_plain(perfetto_text(out, "host %s", host)),
		text_plain(perfetto_text(out, "program %s", fact->exe ? fact->exe : "unknown")),
		text_plain(perfetto_text(out, "MPI %s", fact->mpi ? fact->mpi : "none")),
		text_plain(seen_from(fact)),
	};
	process.process_labels = labels;
	process.n_process_labels = sizeof(labels) / sizeof(*labels);
	track.process = &process;
	track.has_child_ordering = true;
	track.child_ordering = CHILD_TRACKS_ORDERING__ORDERING_EXPLICIT;
	perfetto->process_tracks.data[fact->index] =
		perfetto_describe(out, sequence_of_host(fact->host), &track);
	for (size_t i = 0; i < process.n_process_labels; i++)
		free(labels[i]);
	free(process.process_name);
}

void perfetto_setup(struct perfetto *perfetto)
{
	const struct spans *spans = &perfetto->spans;

	placing_make(&perfetto->placing, spans);
	begin_sequences(perfetto);
	add_hosts(perfetto);
	for (size_t i = 0; i < spans->processes.len; i++) {
		const struct fact_process *process = spans_process(spans, (int)i);

		vec_push(&perfetto->process_tracks, 0);
		if (process)
			add_process(perfetto, process);
	}
}
