// SPDX-License-Identifier: BSD-3-Clause
/* Timelines of facts that no capture of the test programs has: hostile names, many at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <otf2/otf2.h>

#include "base/text.h"
#include "show/export/export.h"
#include "perfetto.pb-c.h"

#define OPS 200 /* under way at once: more than there are open locations */

static char hostile[4200];

static void fill_hostile(void)
{
	static const char head[] = "</script>\n\"',;=\x1b[31m\xff\xfe\xed\xa0\x80%s%n";

	memset(hostile, 'x', sizeof(hostile) - 1);
	memcpy(hostile, head, sizeof(head) - 1);
}

static bool harmless(const char *name)
{
	unsigned int code;

	while (*name) {
		size_t len = text_character(name, &code);

		if (!len || text_steers(code))
			return false;
		name += len;
	}
	return true;
}

static void feed(const struct fact_sink *sink)
{
	struct fact_process process = { .host_name = hostile,
					.comm = hostile,
					.exe = hostile,
					.mpi = hostile,
					.tgid = 7,
					.pid = 7,
					.rank = -1 };
	/* it ended before it could be looked at */
	const struct fact_process undescribed = { .index = 1,
						  .host_name = "n1",
						  .comm = "short",
						  .exe = "/bin/short",
						  .tgid = 8,
						  .pid = 8,
						  .rank = -1,
						  .undescribed = true };
	struct fact_op op = { .op = "tag_send",
			      .protocol = hostile,
			      .memory_reason = hostile,
			      .peer = -1,
			      .tid = 7,
			      .end_precision = TIME_EXACT };
	struct fact_call call = { .function = hostile, .tid = 7, .start = 1000, .end = 1000 + OPS };
	struct fact_message message = { .send_op = hostile,
					.recv_op = hostile,
					.function = hostile,
					.bytes = UINT64_MAX,
					.send_start = 1001,
					.send_tid = 7,
					.arrival = 2000 };

	fact_put(sink, FACT_PROCESS, &process);
	fact_put(sink, FACT_PROCESS, &undescribed);
	fact_put(sink, FACT_CALL, &call);
	for (uint64_t i = 0; i < OPS; i++) {
		op.id = i + 1;
		op.start = 1000 + i;
		op.end = i % 10 ? 5000 - i : 0;
		fact_put(sink, FACT_OP, &op);
	}
	fact_put(sink, FACT_MESSAGE, &message);
}

static void export_to(const char *format, const char *path)
{
	struct export_request request = { .format = export_format_find(format), .path = path };
	const struct fact_device_user user = { .process = 0, .ordinal = 1 };
	const struct fact_device gpu = { .pci = "0000:01:00.0",
					 .model = hostile,
					 .numa_node = -1,
					 .users = &user,
					 .user_count = 1 };
	struct fact_totals totals = {
		.captures = 1, .notes = { { hostile, 3 } }, .devices = &gpu, .device_count = 1
	};
	char why[EXPORT_WHY];
	struct export *export;
	struct fact_sink sink;
	int err;

	fill_hostile();
	export = export_open(&request, &err, why);
	assert_non_null(export);
	sink = export_sink(export);
	feed(&sink);
	assert_int_equal(export_finish(export, &totals, why), 0);
	export_free(export);
}

/* What the trace has of each. */
struct found {
	size_t begins, ends, instants, tracks, words, flows;
	size_t unknown; /* MPIs of processes */
	bool user; /* of the GPU */
};

static void look_at_event(struct found *found, const TrackEvent *event)
{
	found->begins += event->type == TRACK_EVENT_TYPE__TYPE_SLICE_BEGIN;
	found->ends += event->type == TRACK_EVENT_TYPE__TYPE_SLICE_END;
	found->instants += event->type == TRACK_EVENT_TYPE__TYPE_INSTANT;
	found->flows += event->n_flow_ids;
}

static void look_at_words(struct found *found, size_t count, InternedName **words)
{
	for (size_t i = 0; i < count; i++) {
		assert_true(harmless(words[i]->name));
		found->user = found->user || !strcmp(words[i]->name, "process 0 as 1");
	}
	found->words += count;
}

static void look_at(struct found *found, const TracePacket *packet)
{
	const InternedData *data = packet->interned_data;
	const TrackDescriptor *track = packet->track_descriptor;

	if (packet->track_event)
		look_at_event(found, packet->track_event);
	if (data) {
		look_at_words(found, data->n_event_names, data->event_names);
		look_at_words(found, data->n_debug_annotation_string_values,
			      data->debug_annotation_string_values);
	}
	if (!track)
		return;
	found->tracks++;
	assert_true(harmless(track->name));
	for (size_t i = 0; track->process && i < track->process->n_process_labels; i++) {
		assert_true(harmless(track->process->process_labels[i]));
		found->unknown += !strcmp(track->process->process_labels[i], "MPI unknown");
	}
}

static void perfetto(void **state)
{
	char path[] = "/tmp/ucxbpf-test-XXXXXX";
	static uint8_t bytes[1 << 20];
	struct found found = { 0 };
	int fd = mkstemp(path);
	Trace *trace;
	ssize_t len;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	export_to("perfetto", path);
	FILE *file = fopen(path, "r");
	len = (ssize_t)fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	unlink(path);
	trace = trace__unpack(NULL, (size_t)len, bytes);
	assert_non_null(trace);
	for (size_t i = 0; i < trace->n_packet; i++)
		look_at(&found, trace->packet[i]);
	trace__free_unpacked(trace, NULL);
	assert_int_equal(found.begins, OPS - OPS / 10 + 1);
	assert_int_equal(found.ends, found.begins);
	assert_int_equal(found.flows, 2);
	assert_true(found.user);
	assert_int_equal(found.unknown, 1);
	/* host, its GPUs, processes, totals, MPI, lanes of UCP, both ends of the message */
	assert_int_equal(found.tracks, 6 + OPS - OPS / 10 + 2);
}

struct archive {
	size_t strings, locations, enters, messages;
	OTF2_LocationRef ids[2 * OPS];
	OTF2_StringRef unknown; /* that word */
	size_t unknown_words; /* properties of processes that are it */
	bool user;
};

static OTF2_CallbackCode got_string(void *arg, OTF2_StringRef self, const char *string)
{
	struct archive *archive = arg;

	assert_true(harmless(string));
	archive->strings++;
	if (!strcmp(string, "unknown"))
		archive->unknown = self;
	archive->user = archive->user || !strcmp(string, "process 0 as 1");
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode got_property(void *arg, OTF2_LocationGroupRef group, OTF2_StringRef name,
				      OTF2_Type type, OTF2_AttributeValue value)
{
	struct archive *archive = arg;

	(void)group;
	(void)name;
	if (type == OTF2_TYPE_STRING)
		archive->unknown_words += value.stringRef == archive->unknown;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_Reader *reader; /* to say which locations are read */

static OTF2_CallbackCode got_location(void *arg, OTF2_LocationRef self, OTF2_StringRef name,
				      OTF2_LocationType type, uint64_t events,
				      OTF2_LocationGroupRef group)
{
	(void)name;
	(void)type;
	(void)events;
	(void)group;
	struct archive *archive = arg;

	archive->ids[archive->locations++] = self;
	OTF2_Reader_SelectLocation(reader, self);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode got_enter(OTF2_LocationRef location, OTF2_TimeStamp time, void *arg,
				   OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	(void)location;
	(void)time;
	(void)attributes;
	(void)region;
	((struct archive *)arg)->enters++;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode got_message(OTF2_LocationRef location, OTF2_TimeStamp time, void *arg,
				     OTF2_AttributeList *attributes, uint32_t peer,
				     OTF2_CommRef comm, uint32_t tag, uint64_t length)
{
	(void)location;
	(void)time;
	(void)attributes;
	(void)comm;
	(void)tag;
	assert_int_equal(peer, 0);
	assert_int_equal(length, 0);
	((struct archive *)arg)->messages++;
	return OTF2_CALLBACK_SUCCESS;
}

static void read_definitions(struct archive *archive)
{
	OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
	uint64_t count;

	OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, got_string);
	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, got_location);
	OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(callbacks, got_property);
	OTF2_Reader_RegisterGlobalDefCallbacks(reader, OTF2_Reader_GetGlobalDefReader(reader),
					       callbacks, archive);
	assert_int_equal(OTF2_Reader_ReadAllGlobalDefinitions(
				 reader, OTF2_Reader_GetGlobalDefReader(reader), &count),
			 OTF2_SUCCESS);
	OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
}

static void read_events(struct archive *archive)
{
	OTF2_GlobalEvtReaderCallbacks *callbacks = OTF2_GlobalEvtReaderCallbacks_New();
	OTF2_GlobalEvtReader *events;
	uint64_t count;

	OTF2_Reader_OpenEvtFiles(reader);
	for (size_t i = 0; i < archive->locations; i++)
		OTF2_Reader_GetEvtReader(reader, archive->ids[i]);
	events = OTF2_Reader_GetGlobalEvtReader(reader);
	OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(callbacks, got_enter);
	OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(callbacks, got_message);
	OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(callbacks, got_message);
	OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, callbacks, archive);
	assert_int_equal(OTF2_Reader_ReadAllGlobalEvents(reader, events, &count), OTF2_SUCCESS);
	OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
	OTF2_Reader_CloseGlobalEvtReader(reader, events);
	OTF2_Reader_CloseEvtFiles(reader);
}

static void otf2(void **state)
{
	char path[] = "/tmp/ucxbpf-test-XXXXXX", command[64], anchor[64];
	struct archive archive = { 0 };

	(void)state;
	assert_non_null(mkdtemp(path));
	export_to("otf2", path);
	snprintf(anchor, sizeof(anchor), "%s/traces.otf2", path);
	reader = OTF2_Reader_Open(anchor);
	assert_non_null(reader);
	OTF2_Reader_SetSerialCollectiveCallbacks(reader);
	read_definitions(&archive);
	read_events(&archive);
	OTF2_Reader_Close(reader);
	snprintf(command, sizeof(command), "rm -r %s", path);
	assert_int_equal(system(command), 0);
	/* and the program */
	assert_int_equal(archive.enters, OPS + 2);
	assert_int_equal(archive.messages, 2);
	/* MPI and its thread that is not known, lanes of UCP; MPI of the second process */
	assert_int_equal(archive.locations, 3 + OPS - OPS / 10);
	assert_true(archive.strings > 50);
	assert_true(archive.user);
	/* the MPI of the second process */
	assert_int_equal(archive.unknown_words, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfetto),
		cmocka_unit_test(otf2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
