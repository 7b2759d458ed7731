// SPDX-License-Identifier: BSD-3-Clause
/* What is not of one call, operation or transfer. */
#include "show/export/perfetto.h"
#include "show/export/totals.h"

enum { RANK_GPUS, RANK_WINDOWS, RANK_DEVICES, RANK_RATES };
#define RANK_MEMORY LAYERS /* among the layers of a process */

/* The tracks of the device and the transport that came last. */
struct devices {
	struct perfetto *perfetto;
	const struct traffic_device *device;
	uint64_t device_track;
	int host;
	const char *transport;
	uint64_t rate_track, rate_end; /* rate_end: of the last bucket */
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
	struct devices *devices = arg;
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
					       .note_count = sizeof(notes) / sizeof(*notes) });
	perfetto_put(out, sequence, busy->end,
		     &(struct perfetto_event){ .type = TRACK_EVENT_TYPE__TYPE_SLICE_END,
					       .track = devices->device_track });
}

static void put_rate_value(struct devices *devices, uint64_t time, double value)
{
	perfetto_put(&devices->perfetto->out, sequence_of_host(devices->host), time,
		     &(struct perfetto_event){ .type = TRACK_EVENT_TYPE__TYPE_COUNTER,
					       .track = devices->rate_track,
					       .counter = value });
}

/* Nothing from the end of the last bucket on. */
static void end_rate(struct devices *devices)
{
	if (devices->rate_track)
		put_rate_value(devices, devices->rate_end, 0);
}

static void begin_rates(struct devices *devices, const struct rate *rate)
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
	struct devices *devices = arg;

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

int perfetto_devices(struct perfetto *perfetto)
{
	struct devices devices = { .perfetto = perfetto };
	struct traffic_sink sink = { &devices, put_busy, put_rate };
	int err = traffic_each(&perfetto->traffic, &sink);

	end_rate(&devices);
	return err;
}

void perfetto_windows(struct perfetto *perfetto)
{
	struct perfetto_out *out = &perfetto->out;
	uint64_t track = 0;

	for (size_t i = 0; i < perfetto->spans.windows.len; i++) {
		const struct fact_window *window = &perfetto->spans.windows.data[i];
		uint32_t sequence = sequence_of_host(window->host);

		if (!i || window[-1].capture != window->capture)
			track = perfetto_track(
				out, sequence, host_track(perfetto, window->host),
				perfetto_text(out, "recorded by capture %d", window->capture),
				RANK_WINDOWS);
		perfetto_put(out, sequence, window->from,
			     &(struct perfetto_event){ .type = TRACK_EVENT_TYPE__TYPE_SLICE_BEGIN,
						       .track = track,
						       .category = "window",
						       .name = "window" });
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
	size_t count = sizeof(notes) / sizeof(*notes) - 3;

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

/* Sums over the whole trace, so they are told at its beginning. */
void perfetto_memory(struct perfetto *perfetto)
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
			     .note_count = sizeof(notes) / sizeof(*notes) - (device->numa_node < 0),
		     });
	free(text.name);
	free(text.users);
}

/* At the beginning of their host's time. */
void perfetto_gpus(struct perfetto *perfetto, const struct fact_totals *totals)
{
	uint64_t track = 0;

	for (int i = 0; i < totals->device_count; i++) {
		const struct fact_device *device = &totals->devices[i];

		if ((size_t)device->host >= perfetto->host_tracks.len)
			continue; /* of a host that nothing was seen of */
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
			     .note_count = sizeof(notes) / sizeof(*notes),
		     });
}

void perfetto_unknowns(struct perfetto *perfetto, const struct fact_totals *totals)
{
	struct unknowns unknowns = { perfetto, 0 };

	unknowns.track = perfetto_track(&perfetto->out, SEQUENCE_GLOBAL, 0,
					unknowns_heading(totals, perfetto->spans.facts), -1);
	unknowns_each(totals, put_unknown, &unknowns);
}
