// SPDX-License-Identifier: BSD-3-Clause
/* A Perfetto trace: clocks, tracks of hosts and processes, and everything that is not a span. */
#include "show/export/perfetto.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/vec.h"
#include "show/export/export.h"
#include "show/export/totals.h"
#include "show/report/report.h"

/* A clock snapshot of a host; the importer wants those of the common clock in order. */
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
						(int)perfetto->placing.host_turns.data[i]);

		vec_push(&perfetto->host_tracks, track);
	}
}

/*
 * The viewer identifies processes by pid alone: a second process with the same pid gets another
 * number.
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

/*
 * turn: its position among all processes. The viewer orders processes by the sort index, tools that
 * follow tracks by their ranks.
 */
static void add_process(struct perfetto *perfetto, const struct fact_process *fact, int turn)
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
	process.has_legacy_sort_index = true;
	process.legacy_sort_index = turn;
	char *labels[] = {
		text_plain(perfetto_text(out, "id %d", fact->index)),
		text_plain(perfetto_text(out, "host %s", host)),
		text_plain(perfetto_text(out, "program %s", fact->exe ? fact->exe : "unknown")),
		text_plain(perfetto_text(out, "MPI %s", fact_mpi_word(fact))),
		text_plain(seen_from(fact)),
	};
	process.process_labels = labels;
	process.n_process_labels = ARRAY_SIZE(labels);
	track.process = &process;
	track.has_sibling_order_rank = true;
	track.sibling_order_rank = turn;
	track.has_child_ordering = true;
	track.child_ordering = CHILD_TRACKS_ORDERING__ORDERING_EXPLICIT;
	perfetto->process_tracks.data[fact->index] =
		perfetto_describe(out, sequence_of_host(fact->host), &track);
	for (size_t i = 0; i < process.n_process_labels; i++)
		free(labels[i]);
	free(process.process_name);
}

static void perfetto_setup(struct perfetto *perfetto)
{
	const struct spans *spans = &perfetto->spans;

	placing_make(&perfetto->placing, spans);
	begin_sequences(perfetto);
	add_hosts(perfetto);
	for (size_t i = 0; i < spans->processes.len; i++)
		vec_push(&perfetto->process_tracks, 0);
	for (size_t i = 0; i < spans->processes.len; i++) {
		const struct fact_process *process =
			spans_process(spans, perfetto->placing.process_order.data[i]);

		if (process)
			add_process(perfetto, process, (int)i);
	}
}

enum { RANK_CLOCK, RANK_GPUS, RANK_WINDOWS, RANK_DEVICES, RANK_RATES };
#define RANK_MEMORY LEVELS /* order among the layers of a process */

/* The most recent tracks of a device and of its transport. */
struct device_tracks {
	struct perfetto *perfetto;
	const struct traffic_device *device;
	uint64_t device_track;
	int host;
	const char *transport;
	uint64_t rate_track, rate_end; /* rate_end: end of the last bucket */
};

static const char *or_unknown(const char *word)
{
	return word ? word : "unknown";
}

static uint64_t host_track(const struct perfetto *perfetto, int host)
{
	return perfetto->host_tracks.data[host];
}

static void put_busy(void *arg, const struct busy *busy)
{
	struct device_tracks *devices = arg;
	struct perfetto_out *out = &devices->perfetto->out;
	uint32_t sequence = sequence_of_host(busy->device->host);
	const struct perfetto_note notes[] = {
		{ "data", NULL, busy->count[KIND_DATA] },
		{ "control", NULL, busy->count[KIND_CONTROL] },
		{ "copies", NULL, busy->count[KIND_COPY] },
		{ "bytes", NULL, busy->bytes },
		{ "bytes_unknown", NULL, busy->bytes_unknown },
	};

	if (devices->device != busy->device)
		devices->device_track = perfetto_track(
			out, sequence, host_track(devices->perfetto, busy->device->host),
			perfetto_text(out, "%s/%s", or_unknown(busy->device->transport),
				      or_unknown(busy->device->device)),
			RANK_DEVICES);
	devices->device = busy->device;
	perfetto_put(out, sequence, busy->start,
		     &(struct perfetto_event){ .type = TRACK_EVENT_TYPE__TYPE_SLICE_BEGIN,
					       .track = devices->device_track,
					       .category = "device",
					       .name = "busy",
					       .notes = notes,
					       .note_count = ARRAY_SIZE(notes) });
	perfetto_put(out, sequence, busy->end,
		     &(struct perfetto_event){ .type = TRACK_EVENT_TYPE__TYPE_SLICE_END,
					       .track = devices->device_track });
}

static void put_rate_value(struct device_tracks *devices, uint64_t time, double value)
{
	perfetto_put(&devices->perfetto->out, sequence_of_host(devices->host), time,
		     &(struct perfetto_event){ .type = TRACK_EVENT_TYPE__TYPE_COUNTER,
					       .track = devices->rate_track,
					       .counter = value });
}

/* Drops the counter to 0 after the last bucket. */
static void end_rate(struct device_tracks *devices)
{
	if (devices->rate_track)
		put_rate_value(devices, devices->rate_end, 0);
}

static void begin_rates(struct device_tracks *devices, const struct rate *rate)
{
	struct perfetto_out *out = &devices->perfetto->out;
	TrackDescriptor track = TRACK_DESCRIPTOR__INIT;
	CounterDescriptor counter = COUNTER_DESCRIPTOR__INIT;

	counter.unit_name = (char *)"bytes/s";
	track.name = (char *)perfetto_text(out, "%s bytes/s", or_unknown(rate->transport));
	track.has_parent_uuid = true;
	track.parent_uuid = host_track(devices->perfetto, rate->host);
	track.has_sibling_order_rank = true;
	track.sibling_order_rank = RANK_RATES;
	track.counter = &counter;
	devices->rate_track = perfetto_describe(out, sequence_of_host(rate->host), &track);
	devices->host = rate->host;
	devices->transport = rate->transport;
}

static void put_rate(void *arg, const struct rate *rate)
{
	struct device_tracks *devices = arg;

	if (!devices->rate_track || devices->host != rate->host ||
	    devices->transport != rate->transport) {
		end_rate(devices);
		begin_rates(devices, rate);
	} else if (devices->rate_end != rate->start) {
		end_rate(devices);
	}
	put_rate_value(devices, rate->start, (double)rate->bytes * 1e9 / (double)rate->width);
	devices->rate_end = rate->start + rate->width;
}

static int perfetto_devices(struct perfetto *perfetto)
{
	struct device_tracks devices = { .perfetto = perfetto };
	struct traffic_sink sink = { &devices, put_busy, put_rate };
	int err = traffic_each(&perfetto->traffic, &sink);

	end_rate(&devices);
	return err;
}

/* With a budget: the recorded levels, and the reason. */
static const char *window_name(struct perfetto_out *out, const struct fact_window *window)
{
	return window->step ? perfetto_text(out, "%s (%s)", report_step_text(window->step),
					    or_unknown(window->reason))
			    : "window";
}

static void perfetto_windows(struct perfetto *perfetto)
{
	struct perfetto_out *out = &perfetto->out;
	uint64_t track = 0;

	for (size_t i = 0; i < perfetto->spans.windows.len; i++) {
		const struct fact_window *window = &perfetto->spans.windows.data[i];
		uint32_t sequence = sequence_of_host(window->host);
		const struct perfetto_note notes[] = {
			{ "step", window->step, 0 },
			{ "reason", window->reason, 0 },
			{ "paid_ppm", NULL, window->paid_ppm },
		};

		if (!i || window[-1].capture != window->capture)
			track = perfetto_track(
				out, sequence, host_track(perfetto, window->host),
				perfetto_text(out, "recorded by capture %d", window->capture),
				RANK_WINDOWS);
		perfetto_put(out, sequence, window->from,
			     &(struct perfetto_event){ .type = TRACK_EVENT_TYPE__TYPE_SLICE_BEGIN,
						       .track = track,
						       .category = "window",
						       .name = window_name(out, window),
						       .notes = notes,
						       .note_count = window->step ? 3 : 0 });
		perfetto_put(out, sequence, window->to,
			     &(struct perfetto_event){ .type = TRACK_EVENT_TYPE__TYPE_SLICE_END,
						       .track = track });
	}
}

static void put_memory(struct perfetto *perfetto, const struct fact_memory *memory, uint64_t track,
		       int host)
{
	struct perfetto_note notes[] = {
		{ "sort", or_unknown(memory->sort), 0 },
		{ "function", or_unknown(memory->function), 0 },
		{ "allocations", NULL, memory->allocations },
		{ "bytes", NULL, memory->bytes },
		{ "unsized", NULL, memory->unsized },
		{ "live_peak", NULL, memory->live_peak },
		{ 0 },
		{ 0 },
		{ 0 },
	};
	size_t count = ARRAY_SIZE(notes) - 3;

	if (memory->reason)
		notes[count++] = (struct perfetto_note){ "reason", memory->reason, 0 };
	if (memory->device >= 0)
		notes[count++] = (struct perfetto_note){ "device", NULL, (uint64_t)memory->device };
	if (memory->exporter >= 0)
		notes[count++] =
			(struct perfetto_note){ "exporter", NULL, (uint64_t)memory->exporter };
	perfetto_put(&perfetto->out, sequence_of_host(host), perfetto->spans.hosts.data[host].first,
		     &(struct perfetto_event){ .type = TRACK_EVENT_TYPE__TYPE_INSTANT,
					       .track = track,
					       .category = "memory",
					       .name = or_unknown(memory->kind),
					       .notes = notes,
					       .note_count = count });
}

/* Totals of the whole trace, placed at its start. */
static void perfetto_memory(struct perfetto *perfetto)
{
	uint64_t track = 0;
	int last = -1;

	for (size_t i = 0; i < perfetto->spans.memory.len; i++) {
		const struct fact_memory *memory = &perfetto->spans.memory.data[i];
		int host = spans_host_of(&perfetto->spans, memory->process);

		if (host < 0)
			continue;
		if (!track || memory->process != last)
			track = perfetto_track(&perfetto->out, sequence_of_host(host),
					       perfetto->process_tracks.data[memory->process],
					       "memory that GPU libraries made, in all",
					       RANK_MEMORY);
		last = memory->process;
		put_memory(perfetto, memory, track, host);
	}
}

/* An instant at the start of each host that messages join to another one. */
static void perfetto_clocks(struct perfetto *perfetto)
{
	struct perfetto_out *out = &perfetto->out;
	const struct spans *spans = &perfetto->spans;

	for (size_t i = 0; i < spans->hosts.len; i++) {
		const struct placing_host *host = &perfetto->placing.hosts.data[i];
		const struct perfetto_note notes[] = {
			{ "reference", or_unknown(spans->hosts.data[host->reference].name), 0 },
			{ "uncertainty", NULL, host->uncertainty },
		};
		const uint32_t sequence = sequence_of_host((int)i);

		if (host->reference == (int)i)
			continue;
		perfetto_put(
			out, sequence, spans->hosts.data[i].first,
			&(struct perfetto_event){
				.type = TRACK_EVENT_TYPE__TYPE_INSTANT,
				.track = perfetto_track(out, sequence, host_track(perfetto, (int)i),
							"clock", RANK_CLOCK),
				.category = "clock",
				.name = host->fitted ? "fitted to messages with other hosts"
						     : "what its CLOCK_REALTIME showed",
				.notes = notes,
				.note_count = ARRAY_SIZE(notes),
			});
	}
}

static void put_gpu(struct perfetto *perfetto, const struct fact_device *device, uint64_t track)
{
	struct gpu_text text = gpu_text(device);
	const struct perfetto_note notes[] = {
		{ "pci", or_unknown(device->pci), 0 },
		{ "uuid", or_unknown(device->uuid), 0 },
		{ "model", or_unknown(device->model), 0 },
		{ "used by", perfetto_text(&perfetto->out, "%s", text.users), 0 },
		{ "numa_node", NULL, (uint64_t)device->numa_node },
	};

	perfetto_put(&perfetto->out, sequence_of_host(device->host),
		     perfetto->spans.hosts.data[device->host].first,
		     &(struct perfetto_event){
			     .type = TRACK_EVENT_TYPE__TYPE_INSTANT,
			     .track = track,
			     .category = "gpu",
			     .name = perfetto_text(&perfetto->out, "%s", text.name),
			     .notes = notes,
			     .note_count = ARRAY_SIZE(notes) - (device->numa_node < 0),
		     });
	free(text.name);
	free(text.users);
}

/* At the start of their host's trace. */
static void perfetto_gpus(struct perfetto *perfetto, const struct fact_totals *totals)
{
	uint64_t track = 0;

	for (int i = 0; i < totals->device_count; i++) {
		const struct fact_device *device = &totals->devices[i];

		if ((size_t)device->host >= perfetto->host_tracks.len)
			continue; /* a host without any facts */
		if (!i || device[-1].host != device->host)
			track = perfetto_track(&perfetto->out, sequence_of_host(device->host),
					       host_track(perfetto, device->host), "GPUs",
					       RANK_GPUS);
		put_gpu(perfetto, device, track);
	}
}

struct unknowns {
	struct perfetto *perfetto;
	uint64_t track;
};

static void put_unknown(void *arg, const char *topic, const char *what, uint64_t number)
{
	struct unknowns *unknowns = arg;
	struct perfetto *perfetto = unknowns->perfetto;
	const struct perfetto_note notes[] = {
		{ "topic", topic, 0 },
		{ "what", what, 0 },
		{ "number", NULL, number },
	};

	perfetto_put(&perfetto->out, SEQUENCE_GLOBAL, perfetto->placing.begin,
		     &(struct perfetto_event){
			     .type = TRACK_EVENT_TYPE__TYPE_INSTANT,
			     .track = unknowns->track,
			     .category = "totals",
			     .name = perfetto_text(&perfetto->out, "%s: %s", topic, what),
			     .notes = notes,
			     .note_count = ARRAY_SIZE(notes),
		     });
}

static void perfetto_unknowns(struct perfetto *perfetto, const struct fact_totals *totals)
{
	struct unknowns unknowns = { perfetto, 0 };

	unknowns.track = perfetto_track(&perfetto->out, SEQUENCE_GLOBAL, 0,
					unknowns_heading(totals, perfetto->spans.facts), -1);
	unknowns_each(totals, put_unknown, &unknowns);
}

static void *perfetto_export_begin(struct export_target *target, int *err)
{
	struct perfetto *perfetto = xcalloc(1, sizeof(*perfetto));

	(void)err;
	perfetto->target = target;
	perfetto_out_init(&perfetto->out, target->file);
	spans_init(&perfetto->spans, LEVEL_UCP);
	traffic_init(&perfetto->traffic);
	perfetto->spans.traffic = &perfetto->traffic;
	return perfetto;
}

static struct fact_sink sink(void *arg)
{
	struct perfetto *perfetto = arg;

	return spans_sink(&perfetto->spans);
}

static int perfetto_export_end(void *arg, const struct fact_totals *totals)
{
	struct perfetto *perfetto = arg;
	int err = spans_finish(&perfetto->spans, perfetto->target->why);

	if (err)
		return err;
	perfetto_setup(perfetto);
	perfetto_unknowns(perfetto, totals);
	perfetto_clocks(perfetto);
	perfetto_windows(perfetto);
	perfetto_memory(perfetto);
	perfetto_gpus(perfetto, totals);
	err = perfetto_spans(perfetto);
	return err ? err : perfetto_devices(perfetto);
}

static void perfetto_export_free(void *arg)
{
	struct perfetto *perfetto = arg;

	perfetto_out_release(&perfetto->out);
	spans_release(&perfetto->spans);
	traffic_release(&perfetto->traffic);
	placing_release(&perfetto->placing);
	vec_release(&perfetto->host_tracks);
	vec_release(&perfetto->process_tracks);
	free(perfetto);
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.help = "a timeline for ui.perfetto.dev and trace_processor",
	.place = EXPORT_STREAM,
	.binary = true,
	.begin = perfetto_export_begin,
	.sink = sink,
	.end = perfetto_export_end,
	.free = perfetto_export_free,
};
