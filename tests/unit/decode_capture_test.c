// SPDX-License-Identifier: BSD-3-Clause
/* Processes, objects and peers, as records and side records tell of them over time. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explain/decode/internal.h"

struct bed {
	struct decoder decoder;
	struct capture capture;
	json_t *sides;
};

static void bed_init(struct bed *bed)
{
	memset(bed, 0, sizeof(*bed));
	decoder_init(&bed->decoder);
	bed->sides = json_pack("[{s:s, s:{s:s, s:s}, s:s, s:i}]", "t", "capture", "host", "id",
			       "h1", "name", "n1", "mode", "attach", "ts", 1);
}

static void bed_process(struct bed *bed, int tgid, int start, int ts, const char *comm)
{
	json_array_append_new(bed->sides,
			      json_pack("{s:s, s:i, s:i, s:i, s:i, s:s, s:s}", "t", "process",
					"tgid", tgid, "start_time", start, "ts", ts, "ns_pid",
					tgid % 100, "comm", comm, "seen_from", "attach"));
}

static void bed_ready(struct bed *bed)
{
	decoder_add_capture(&bed->decoder, &bed->capture, bed->sides);
	decoder_ready(&bed->decoder);
}

static void bed_release(struct bed *bed)
{
	capture_release(&bed->capture);
	decoder_release(&bed->decoder);
	json_decref(bed->sides);
}

static struct process *process_of(struct bed *bed, const void *record)
{
	struct event event;

	assert_true(decoder_event(&bed->decoder, &bed->capture, record, &event));
	return event.process;
}

/* The process that the record of a fork, a program's begin or an exit is put down to. */
static struct process *task_of(struct bed *bed, int what, int tgid, int other, uint64_t ts)
{
	const struct ub_task task = {
		.h = { .ts = ts, .tgid = (uint32_t)tgid, .tid = (uint32_t)tgid, .kind = UB_TASK },
		.what = (uint16_t)what,
		.other = (uint32_t)other
	};

	return process_of(bed, &task);
}

static void strings_are_interned(void **state)
{
	struct strings strings = { 0 };

	(void)state;
	assert_ptr_equal(strings_intern(&strings, "posix"), strings_intern(&strings, "posix"));
	assert_ptr_not_equal(strings_intern(&strings, "a"), strings_intern(&strings, "b"));
	assert_null(strings_intern(&strings, ""));
	assert_null(strings_intern(&strings, NULL));
	strings_release(&strings);
}

/* One pid, two processes: the second one begins with the fork after the first one's exit. */
static void pid_reuse(void **state)
{
	struct bed bed;
	struct ub_call call = { .h = { .ts = 100, .tgid = 7, .tid = 7, .kind = UB_CALL } };
	struct process *first, *second;

	(void)state;
	bed_init(&bed);
	bed_process(&bed, 7, 10, 20, "first");
	bed_process(&bed, 7, 290, 310, "second");
	bed_ready(&bed);
	first = process_of(&bed, &call);
	task_of(&bed, UB_EXIT, 7, 0, 200);
	task_of(&bed, UB_FORK, 5, 7, 300);
	call.h.ts = 400;
	second = process_of(&bed, &call);
	assert_ptr_not_equal(first, second);
	assert_string_equal(first->comm, "first");
	assert_string_equal(second->comm, "second");
	assert_true(first->blind_until > 0);
	assert_true(first->described && second->described);
	bed_release(&bed);
}

/* Likewise, and no record tells of the second one. */
static void pid_reuse_unseen(void **state)
{
	struct bed bed;
	struct ub_call call = { .h = { .ts = 400, .tgid = 7, .tid = 7, .kind = UB_CALL } };
	struct process *first, *second;

	(void)state;
	bed_init(&bed);
	bed_process(&bed, 7, 10, 20, "first");
	bed_ready(&bed);
	first = task_of(&bed, UB_EXIT, 7, 0, 200);
	task_of(&bed, UB_FORK, 5, 7, 300);
	second = process_of(&bed, &call);
	assert_ptr_not_equal(first, second);
	assert_int_equal(second->start_time, 300);
	assert_true(first->described);
	assert_false(second->described);
	bed_release(&bed);
}

/* As wait(2) has it; captures of before say nothing. */
static void how_it_ended(void **state)
{
	static const uint32_t told[] = { 0, UB_EXIT_TOLD | 3 << 8, UB_EXIT_TOLD | 0x80 | 6 };

	(void)state;
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
		const struct ub_task exit = {
			.h = { .ts = 200, .tgid = 7, .tid = 7, .kind = UB_TASK },
			.what = UB_EXIT,
			.other = told[i],
		};
		struct process *process;
		struct bed bed;

		bed_init(&bed);
		bed_process(&bed, 7, 10, 20, "app");
		bed_ready(&bed);
		process = bed.decoder.processes.data[0];
		process_of(&bed, &exit);
		assert_true(process->exited);
		assert_int_equal(process->exit_told, told[i]);
		bed_release(&bed);
	}
}

#define MANY 200000

static void bed_library(struct bed *bed, int tgid, const char *path, json_t *roles)
{
	json_array_append_new(bed->sides, json_pack("{s:s, s:i, s:s, s:s, s:o, s:i}", "t",
						    "library", "tgid", tgid, "path", path,
						    "build_id", "abcd", "roles", roles, "ts", 20));
}

/* Each role that is known counts once for a path and build id, however many names there are. */
static void roles_of_libraries(void **state)
{
	json_t *roles = json_array();
	struct process *process;
	struct bed bed;
	char name[24];

	(void)state;
	bed_init(&bed);
	bed_process(&bed, 7, 10, 20, "app");
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "role-%d", i);
		json_array_append_new(roles, json_string(name));
	}
	for (int i = 0; i < 2; i++) {
		json_array_append_new(roles, json_string("ucp"));
		json_array_append_new(roles, json_string("uct"));
	}
	json_array_append_new(roles, json_integer(1));
	bed_library(&bed, 7, "/lib/one.so", json_incref(roles));
	bed_library(&bed, 7, "/lib/one.so", roles);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "/lib/%d.so", i);
		bed_library(&bed, 7, name, json_pack("[s]", "ucs"));
	}
	bed_ready(&bed);
	process = bed.decoder.processes.data[0];
	assert_int_equal(process->libraries.len, 2 + MANY);
	assert_string_equal(process->libraries.data[0].role, "ucp");
	assert_string_equal(process->libraries.data[1].role, "uct");
	assert_string_equal(process->libraries.data[2].role, "ucs");
	assert_int_equal(process->ucx.len, 1);
	bed_release(&bed);
}

/* A record with a byte behind it that is not its own. */
union overrun {
	struct ub_task task;
	struct ub_obj obj;
	struct ub_name name;
	char bytes[UB_MAX_RECORD + 1];
};

/* Names that fill their field have no 0 behind. */
static void names_fill_their_fields(void **state)
{
	union overrun task = { .task = { .h = { .ts = 100, .tgid = 7, .kind = UB_TASK },
					 .what = UB_EXEC } };
	union overrun obj = { .obj = { .h = { .ts = 100, .tgid = 7, .kind = UB_OBJ, .site = 1 },
				       .obj = 0x1000 } };
	union overrun name = { .name = { .h = { .ts = 100, .tgid = 7, .kind = UB_NAME },
					 .key = 0x2000 } };
	struct process *process;
	struct object *iface;
	struct bed bed;

	(void)state;
	memset(task.task.comm, 'c', sizeof(task.bytes) - offsetof(struct ub_task, comm) - 1);
	memset(obj.obj.tl_name, 't', sizeof(obj.obj.tl_name));
	memset(obj.obj.dev_name, 'd', sizeof(obj.bytes) - offsetof(struct ub_obj, dev_name) - 1);
	memset(name.name.name, 'n', sizeof(name.bytes) - offsetof(struct ub_name, name) - 1);
	bed_init(&bed);
	json_array_append_new(bed.sides, json_pack("{s:s, s:i, s:s, s:i}", "t", "site", "row", 1,
						   "name", "open", "what", UB_OBJ_IFACE_OPEN));
	bed_ready(&bed);
	process = process_of(&bed, &task);
	assert_string_equal(process->comm, "cccccccccccccccc");
	process_of(&bed, &obj);
	iface = decoder_object(&bed.decoder, process, OBJECT_IFACE, 0x1000, 100);
	assert_string_equal(iface->transport, "tttttttttttttttt");
	assert_string_equal(iface->device, "dddddddddddddddddddddddddddddddd");
	process_of(&bed, &name);
	assert_int_equal(strlen(decoder_name(&bed.decoder, process, 0x2000)),
			 sizeof(name.name.name));
	bed_release(&bed);
}

/* An object known from a snapshot only is what its address meant before the snapshot, too. */
static void snapshot_reaches_back(void **state)
{
	struct bed bed;
	struct ub_call call = { .h = { .ts = 100, .tgid = 7, .tid = 7, .kind = UB_CALL } };
	struct process *process;
	struct object *iface;

	(void)state;
	bed_init(&bed);
	bed_process(&bed, 7, 10, 20, "app");
	json_array_append_new(bed.sides,
			      json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:i}", "t", "iface", "tgid",
					7, "iface", "0x1000", "worker", "0x2000", "tl", "posix",
					"dev", "memory", "ts", 500));
	bed_ready(&bed);
	process = process_of(&bed, &call);
	iface = decoder_object(&bed.decoder, process, OBJECT_IFACE, 0x1000, 100);
	assert_non_null(iface);
	assert_string_equal(iface->transport, "posix");
	assert_null(decoder_object(&bed.decoder, process, OBJECT_IFACE, 0x1001, 100));
	bed_release(&bed);
}

static void add_ep(struct bed *bed, int tgid, const char *ep, const char *local, const char *remote)
{
	json_array_append_new(bed->sides, json_pack("{s:s, s:i, s:s, s:s, s:i}", "t", "worker",
						    "tgid", tgid, "worker", "0x2000", "uuid",
						    tgid == 7 ? "0x77" : "0x88", "ts", 30));
	json_array_append_new(bed->sides,
			      json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:i}", "t", "ep", "tgid",
					tgid, "ep", ep, "worker", "0x2000", "local_id", local,
					"remote_id", remote, "ts", 30));
}

/* Two endpoints that hold each other's ids are the two ends of one connection. */
static void mutual_ids(void **state)
{
	struct bed bed;
	struct object *ep;
	bool traced;

	(void)state;
	bed_init(&bed);
	bed_process(&bed, 7, 10, 20, "a");
	bed_process(&bed, 8, 10, 20, "b");
	add_ep(&bed, 7, "0x3000", "0x3000", "0x4000");
	add_ep(&bed, 8, "0x4000", "0x4000", "0x3000");
	bed_ready(&bed);
	ep = decoder_object(&bed.decoder, bed.decoder.processes.data[0], OBJECT_EP, 0x3000, 40);
	assert_true(decoder_peer(&bed.decoder, ep, &traced));
	assert_int_equal(ep->peer_process->tgid, 8);
	assert_int_equal(ep->peer->uuid, 0x88);
	bed_release(&bed);
}

/* A pair of ids that two processes hold names neither of them, however often it comes. */
static void ids_of_two_processes(void **state)
{
	struct bed bed;
	struct object *ep;
	bool traced;

	(void)state;
	bed_init(&bed);
	for (int tgid = 7; tgid <= 9; tgid++)
		bed_process(&bed, tgid, 10, 20, "a");
	add_ep(&bed, 7, "0x3000", "0x3000", "0x4000");
	add_ep(&bed, 8, "0x3000", "0x3000", "0x4000");
	add_ep(&bed, 7, "0x3000", "0x3000", "0x4000");
	add_ep(&bed, 9, "0x4000", "0x4000", "0x3000");
	bed_ready(&bed);
	ep = decoder_object(&bed.decoder, bed.decoder.processes.data[2], OBJECT_EP, 0x4000, 40);
	assert_false(decoder_peer(&bed.decoder, ep, &traced));
	bed_release(&bed);
}

static void set_uid(struct bed *bed, size_t process, int uid)
{
	if (uid >= 0)
		json_object_set_new(json_array_get(bed->sides, 1 + process), "uid",
				    json_integer(uid));
}

/* The peer of a shared memory lane that names pid 8, which a process of user b has; -1: unknown. */
static const struct object *peer_of_lane(struct bed *bed, int a, int b)
{
	struct object *ep;
	bool traced;

	bed_init(bed);
	bed_process(bed, 107, 10, 20, "a");
	bed_process(bed, 108, 10, 20, "b");
	set_uid(bed, 0, a);
	set_uid(bed, 1, b);
	add_ep(bed, 108, "0x4000", "0", "0");
	json_array_append_new(bed->sides,
			      json_pack("{s:s, s:i, s:s, s:s, s:s, s:[s], s:i}", "t", "ep", "tgid",
					107, "ep", "0x3000", "worker", "0x2000", "local_id", "0",
					"lanes", "0x5000", "ts", 30));
	json_array_append_new(bed->sides, json_pack("{s:s, s:i, s:s, s:s, s:i, s:i}", "t", "uct_ep",
						    "tgid", 107, "uct_ep", "0x5000", "iface",
						    "0x1000", "peer_pid", 8, "ts", 30));
	bed_ready(bed);
	ep = decoder_object(&bed->decoder, bed->decoder.processes.data[0], OBJECT_EP, 0x3000, 40);
	return decoder_peer(&bed->decoder, ep, &traced) ? ep->peer : NULL;
}

/* It knows the peer's pid. */
static void peer_pid(void **state)
{
	static const int uids[] = { -1, 0, 1000 };

	(void)state;
	for (size_t i = 0; i < sizeof(uids) / sizeof(*uids); i++) {
		struct bed bed;
		const struct object *peer = peer_of_lane(&bed, uids[i], uids[i]);

		assert_non_null(peer);
		assert_int_equal(peer->process->tgid, 108);
		bed_release(&bed);
	}
}

/* The pid is in memory of the process, which can write there whatever it likes. */
static void pid_of_another_user(void **state)
{
	static const int uids[][2] = { { 1000, 1001 }, { 1000, 0 }, { 1000, -1 }, { -1, 1000 } };

	(void)state;
	for (size_t i = 0; i < sizeof(uids) / sizeof(*uids); i++) {
		struct bed bed;

		assert_null(peer_of_lane(&bed, uids[i][0], uids[i][1]));
		bed_release(&bed);
	}
}

static void add_lanes(struct bed *bed, const char *iface, bool all, int ts)
{
	json_array_append_new(bed->sides,
			      json_pack("{s:s, s:i, s:s, s:s, s:i}", "t", "uct_ep", "tgid", 7,
					"uct_ep", "0x5000", "iface", iface, "ts", ts));
	json_array_append_new(bed->sides,
			      json_pack("{s:s, s:i, s:s, s:s, s:[s], s:b, s:i}", "t", "ep", "tgid",
					7, "ep", "0x3000", "worker", "0x2000", "lanes", "0x5000",
					"lanes_all", all, "ts", ts));
}

/* An endpoint that records introduced: until a snapshot has all its lanes, they are some of the
 * interfaces. */
static void lanes_of_a_known_endpoint(void **state)
{
	static const char *const names[] = { "posix", "tcp" };
	struct process *process;
	struct object *ep;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_process(&bed, 7, 10, 20, "app");
	for (int i = 0; i < 2; i++)
		json_array_append_new(
			bed.sides, json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:i}", "t", "iface",
					     "tgid", 7, "iface", i ? "0x1100" : "0x1000", "worker",
					     "0x2000", "tl", names[i], "dev", "x", "ts", 25));
	json_array_append_new(bed.sides,
			      json_pack("{s:s, s:i, s:s, s:s, s:i}", "t", "ep", "tgid", 7, "ep",
					"0x3000", "worker", "0x2000", "ts", 30));
	add_lanes(&bed, "0x1100", false, 40);
	add_lanes(&bed, "0x1100", true, 50);
	bed_ready(&bed);
	process = bed.decoder.processes.data[0];
	objects_apply(&bed.decoder, &bed.capture, 35);
	ep = decoder_object(&bed.decoder, process, OBJECT_EP, 0x3000, 35);
	assert_string_equal(decoder_lanes(&bed.decoder, ep), "some of posix/x, tcp/x");
	objects_apply(&bed.decoder, &bed.capture, 45);
	assert_string_equal(decoder_lanes(&bed.decoder, ep), "some of posix/x, tcp/x");
	objects_apply(&bed.decoder, &bed.capture, 55);
	assert_string_equal(decoder_lanes(&bed.decoder, ep), "tcp/x");
	bed_release(&bed);
}

static char *cpus_told(json_t *first, json_t *second)
{
	json_t *told[] = { first, second };
	const char *cpus;
	char *copy;
	struct bed bed;

	bed_init(&bed);
	for (int i = 0; i < 2; i++) {
		bed_process(&bed, 107, 10, 20 + i, "a");
		json_object_set_new(json_array_get(bed.sides, 1 + i), "cpus", told[i]);
	}
	bed_ready(&bed);
	cpus = bed.decoder.processes.data[0]->cpus;
	copy = cpus ? strdup(cpus) : NULL;
	bed_release(&bed);
	return copy;
}

/* The last that is told; of what is no list, nothing is known. */
static void allowed_cpus(void **state)
{
	char *cpus = cpus_told(json_string("0-3,8"), json_string("8"));

	(void)state;
	assert_string_equal(cpus, "8");
	free(cpus);
	cpus = cpus_told(json_string("0-3,8"), json_null());
	assert_string_equal(cpus, "0-3,8");
	free(cpus);
	assert_null(cpus_told(json_string("0-3\n"), json_string("all")));
	assert_null(cpus_told(json_integer(3), json_string("")));
}

/* Where its messages lie; and lanes of an endpoint, before the snapshot that told of them as well.
 */
static void fifo_and_lanes(void **state)
{
	static const int slots[] = { 64, 65 }; /* a power of two, or not to be trusted */

	(void)state;
	for (int bad = 0; bad < 2; bad++) {
		struct process *process;
		struct object *iface;
		struct bed bed;

		bed_init(&bed);
		bed_process(&bed, 7, 10, 20, "app");
		json_array_append_new(bed.sides,
				      json_pack("{s:s, s:i, s:s, s:i, s:{s:s, s:i, s:i}}", "t",
						"iface", "tgid", 7, "iface", "0x1000", "ts", 50,
						"fifo", "base", "0x7000", "slots", slots[bad],
						"stride", 128));
		json_array_append_new(bed.sides, json_pack("{s:s, s:i, s:s, s:i, s:[s, s]}", "t",
							   "ep", "tgid", 7, "ep", "0x3000", "ts",
							   50, "lanes", "0x4000", "0x5000"));
		bed_ready(&bed);
		process = bed.decoder.processes.data[0];
		iface = decoder_object(&bed.decoder, process, OBJECT_IFACE, 0x1000, 30);
		assert_int_equal(iface->fifo.slots, bad ? 0 : 64);
		assert_int_equal(iface->fifo.base, bad ? 0 : 0x7000);
		assert_int_equal(decoder_lane_ep(&bed.decoder, process, 0x5000), 0x3000);
		bed_release(&bed);
	}
}

static void make_ep(struct bed *bed, int i, uint64_t ts)
{
	const struct ub_obj ep = { .h = { .ts = ts, .tgid = 7, .kind = UB_OBJ, .site = 1 },
				   .obj = 0x10000 + 64 * (uint64_t)i };

	process_of(bed, &ep);
}

static struct object *ep_of(struct bed *bed, int i, uint64_t ts)
{
	return decoder_object(&bed->decoder, bed->decoder.processes.data[0], OBJECT_EP,
			      0x10000 + 64 * (uint64_t)i, ts);
}

/*
 * After a loss nothing but workers is known of its process, until a record makes it known again. A
 * loss takes no time to speak of, however many objects there are.
 */
static void losses(void **state)
{
	struct ub_loss loss = { .h = { .ts = 100, .tgid = 7, .kind = UB_LOSS }, .records = 1 };
	const struct process *process, *other;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_process(&bed, 7, 10, 20, "a");
	bed_process(&bed, 8, 10, 20, "b");
	json_array_append_new(bed.sides,
			      json_pack("{s:s, s:i, s:s, s:i}", "t", "site", "row", 1, "name",
					"ep_create", "what", UB_OBJ_UCP_EP_CREATE));
	for (int tgid = 7; tgid <= 8; tgid++)
		add_ep(&bed, tgid, "0x3000", "0", "0");
	bed.capture.lost_objects = true;
	bed_ready(&bed);
	process = bed.decoder.processes.data[0];
	other = bed.decoder.processes.data[1];
	for (int i = 0; i < MANY; i++)
		make_ep(&bed, i, 100);
	decoder_learn_lane(&bed.decoder, process, 0x4000, 0x3000);
	decoder_learn_lane(&bed.decoder, other, 0x4000, 0x3000);
	assert_non_null(ep_of(&bed, MANY - 1, 100));
	for (int i = 0; i < MANY; i++) {
		loss.h.ts = loss.until = 200 + (uint64_t)i;
		process_of(&bed, &loss);
	}
	assert_null(ep_of(&bed, 0, loss.until));
	assert_null(ep_of(&bed, MANY - 1, loss.until));
	assert_null(decoder_object(&bed.decoder, process, OBJECT_EP, 0x3000, loss.until));
	assert_non_null(decoder_object(&bed.decoder, process, OBJECT_WORKER, 0x2000, loss.until));
	assert_non_null(decoder_object(&bed.decoder, other, OBJECT_EP, 0x3000, loss.until));
	assert_int_equal(decoder_lane_ep(&bed.decoder, process, 0x4000), 0);
	assert_int_equal(decoder_lane_ep(&bed.decoder, other, 0x4000), 0x3000);
	make_ep(&bed, 1, loss.until + 1);
	decoder_learn_lane(&bed.decoder, process, 0x4000, 0x5000);
	assert_non_null(ep_of(&bed, 1, loss.until + 2));
	assert_null(ep_of(&bed, 2, loss.until + 2));
	assert_int_equal(decoder_lane_ep(&bed.decoder, process, 0x4000), 0x5000);
	bed_release(&bed);
}

#define SLICE (1ull << UB_SLICE_SHIFT)

/* Whether detail begins, or may have changed, at that time: by the definition. */
static bool is_edge(const struct capture *capture, uint64_t ts)
{
	const struct detail_change *in_force = NULL;

	for (size_t i = 0; i < capture->details.len; i++) {
		if (capture->details.data[i].ts == ts)
			return true;
		if (capture->details.data[i].ts < ts)
			in_force = &capture->details.data[i];
	}
	if (!in_force || ts % SLICE || !(in_force->slices >> ts / SLICE % UB_SLICES & 1))
		return false;
	return !(in_force->slices >> (ts / SLICE - 1) % UB_SLICES & 1) || ts - SLICE < in_force->ts;
}

/* Changes at the beginning of slices and within, close together and apart: no edge is passed over.
 */
static void edges_of_detail(void **state)
{
	static const uint64_t masks[] = { 0x1111111111111111, 0, UINT64_MAX, 0x8000000000000001,
					  6 };
	static const uint64_t halves[] = { 5, 6, 7, 160, 161, 500, 502, 503 };
	struct bed bed;
	uint64_t edge = 0;

	(void)state;
	bed_init(&bed);
	for (size_t i = 0; i < sizeof(halves) / sizeof(*halves); i++) {
		char slices[24];

		snprintf(slices, sizeof(slices), "%#" PRIx64, masks[i % 5]);
		json_array_append_new(bed.sides, json_pack("{s:s, s:I, s:s}", "t", "detail", "ts",
							   (json_int_t)(halves[i] * SLICE / 2),
							   "slices", slices));
	}
	bed_ready(&bed);
	assert_int_equal(bed.capture.details.len, sizeof(halves) / sizeof(*halves));
	for (uint64_t half = 1; half < 700; half++) {
		uint64_t ts = half * SLICE / 2;

		if (!is_edge(&bed.capture, ts))
			continue;
		assert_int_equal(capture_slice_edge(&bed.capture, edge), ts);
		assert_int_equal(capture_slice_edge(&bed.capture, ts - 1), ts);
		edge = ts;
	}
	assert_true(edge > 503 * SLICE / 2);
	bed_release(&bed);
}

static void bed_gap(struct bed *bed, int tgid, const char *path)
{
	json_array_append_new(bed->sides,
			      json_pack("{s:s, s:i, s:s, s:s, s:i, s:i}", "t", "gap", "tgid", tgid,
					"what", "library", "path", path, "from", 5, "to", 10));
}

/* First allocations may be missing where a GPU library was probed late, in that process alone. */
static void probed_late(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (int tgid = 101; tgid <= 103; tgid++) {
		bed_process(&bed, tgid, 5, 1, "app");
		bed_library(&bed, tgid, "/lib/libucp.so", json_pack("[s]", "ucp"));
		bed_library(&bed, tgid, "/lib/libcuda.so", json_pack("[s]", "cuda"));
	}
	bed_gap(&bed, 101, "/lib/libcuda.so");
	bed_gap(&bed, 102, "/lib/libucp.so");
	bed_ready(&bed);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(bed.decoder.processes.data[i]->evidence.late, i == 0);
		assert_int_equal(bed.decoder.processes.data[i]->unprobed, i == 1 ? 5 : 0);
	}
	bed_release(&bed);
}

/* A process that was gone, or had run, before its records began. */
static void unseen(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (int tgid = 101; tgid <= 102; tgid++) {
		bed_process(&bed, tgid, 5, 1, "app");
		json_array_append_new(bed.sides,
				      json_pack("{s:s, s:i, s:i, s:i, s:b}", "t", "unseen", "tgid",
						tgid, "from", 4, "to", 10, "ended", tgid == 102));
	}
	bed_ready(&bed);
	for (size_t i = 0; i < 2; i++) {
		const struct process *process = bed.decoder.processes.data[i];

		assert_int_equal(process->unprobed, 6);
		assert_int_equal(process->exited, i);
		assert_int_equal(process->exited_at, i ? 10 : 0);
	}
	bed_release(&bed);
}

/* A forked process has its parent's memory, until it begins another program. */
static void memory_of_a_fork(void **state)
{
	struct bed bed;
	const struct process *child;

	(void)state;
	bed_init(&bed);
	bed_process(&bed, 7, 10, 20, "app");
	json_object_set_new(json_array_get(bed.sides, 1), "seen_from", json_string("start"));
	bed_ready(&bed);
	child = bed.decoder.processes.data[0];
	assert_true(child->evidence.whole);
	task_of(&bed, UB_FORK, 5, 7, 30);
	assert_false(child->evidence.whole);
	task_of(&bed, UB_EXEC, 7, 0, 40);
	assert_true(child->evidence.whole);
	bed_release(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes_of_a_known_endpoint),
		cmocka_unit_test(strings_are_interned),
		cmocka_unit_test(pid_reuse),
		cmocka_unit_test(pid_reuse_unseen),
		cmocka_unit_test(how_it_ended),
		cmocka_unit_test(roles_of_libraries),
		cmocka_unit_test(names_fill_their_fields),
		cmocka_unit_test(snapshot_reaches_back),
		cmocka_unit_test(fifo_and_lanes),
		cmocka_unit_test(mutual_ids),
		cmocka_unit_test(ids_of_two_processes),
		cmocka_unit_test(peer_pid),
		cmocka_unit_test(pid_of_another_user),
		cmocka_unit_test(allowed_cpus),
		cmocka_unit_test(losses),
		cmocka_unit_test(edges_of_detail),
		cmocka_unit_test(probed_late),
		cmocka_unit_test(unseen),
		cmocka_unit_test(memory_of_a_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
