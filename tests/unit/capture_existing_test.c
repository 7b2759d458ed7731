// SPDX-License-Identifier: BSD-3-Clause
/*
 * A look reads the queues of living workers only, and names processes without a known one. Objects
 * that a process makes up do not make the tracer read its workers again and again.
 */
#include "file_records.h"

#include "base/deadline.h"
#include "observe/capture/existing.h"
#include "observe/process/bounds.h"

#define TGID 4242

static uint16_t row_of(enum ub_obj_what what)
{
	for (unsigned int row = 1; row < site_count(); row++)
		if (site_row(row)->wire.kind == UB_OBJ && site_row(row)->wire.what == what)
			return (uint16_t)row;
	fail();
	return 0;
}

static void tell(struct existing *existing, enum ub_obj_what what, uint64_t worker, uint64_t ts)
{
	const struct ub_obj record = {
		.h = { .kind = UB_OBJ, .site = row_of(what), .tgid = TGID, .ts = ts },
		.obj = worker,
	};

	existing_record(existing, &record.h);
}

static int living(const struct existing *existing)
{
	const struct map_slot *slot;
	size_t pos = 0;
	int count = 0;

	while ((slot = map_next(&existing->workers, &pos)))
		count += slot->value & 1;
	return count;
}

static void living_workers(void **state)
{
	struct track track = { 0 };
	struct existing existing;

	(void)state;
	existing_init(&existing, &track, NULL);
	for (uint64_t i = 1; i <= 4; i++)
		tell(&existing, UB_OBJ_WORKER_CREATE, i * 0x1000, i);
	assert_int_equal(living(&existing), 4);
	tell(&existing, UB_OBJ_WORKER_DESTROY, 0x2000, 10);
	assert_int_equal(living(&existing), 3);
	/* another one at the same address, whose record comes first */
	tell(&existing, UB_OBJ_WORKER_CREATE, 0x3000, 12);
	tell(&existing, UB_OBJ_WORKER_DESTROY, 0x3000, 11);
	assert_int_equal(living(&existing), 3);
	existing_forget(&existing, TGID);
	assert_int_equal(living(&existing), 0);
	existing_release(&existing);
}

/* Why queues of this process could not be read at its end: it has libucp, but no worker. */
static void expect_unread(bool from_start, bool with_layout, bool in_call, const char *reason)
{
	const struct layout layout = { 0 };
	struct library ucp = { .roles = LIB_UCP, .layout = with_layout ? &layout : NULL };
	struct track track = { 0 };
	struct existing existing;
	call_stacks stacks = { 0 };
	char *path = temp_path();
	struct file_writer *writer = must_create(path);
	struct file_reader *reader;
	const json_t *sides;

	vec_push(&track.processes, ((struct tracked){ .tgid = getpid(),
						      .alive = true,
						      .uses_ucp = true,
						      .from_start = from_start }));
	vec_push(&track.processes.data[0].libraries, &ucp);
	*map_insert(&track.latest, (uint64_t)getpid(), 0, NULL) = 1;
	if (in_call)
		vec_push(&stacks, ((struct call_stack){ .tgid = getpid() }));
	existing_init(&existing, &track, writer);
	existing_queues(&existing, &stacks, writer);
	existing_release(&existing);
	assert_int_equal(file_writer_close(writer, NULL), 0);

	reader = must_open(path);
	sides = file_reader_sides(reader);
	assert_int_equal(json_array_size(sides), reason != NULL);
	if (reason)
		assert_string_equal(
			json_string_value(json_object_get(json_array_get(sides, 0), "reason")),
			reason);
	file_reader_free(reader);
	temp_free(path);
	vec_release(&stacks);
	vec_release(&track.processes.data[0].libraries);
	vec_release(&track.processes);
	map_release(&track.latest);
}

static void no_worker(void **state)
{
	(void)state;
	expect_unread(false, true, true, "no worker was found in its memory");
	expect_unread(false, false, true, "the layout of its UCX is not known");
	/* has no call that waits; tells of its workers itself */
	expect_unread(false, true, false, NULL);
	expect_unread(true, true, true, NULL);
}

static const struct layout *met(const struct existing *existing, uint64_t pointer)
{
	for (size_t i = 0; i < existing->strangers.len; i++)
		if (existing->strangers.data[i].pointer == pointer)
			return existing->strangers.data[i].layout;
	return NULL;
}

/* Two copies of UCX in a process, of different versions. */
static void objects_of_two_copies(void **state)
{
	static const struct layout older, newer;
	struct probes probes = { .slots = { [1] = &older, [2] = &newer } };
	struct track track = { .probes = &probes };
	struct existing existing;

	(void)state;
	existing_init(&existing, &track, NULL);
	for (uint8_t slot = 0; slot <= 2; slot++) {
		const struct ub_xfer record = {
			.h = { .kind = UB_XFER, .tgid = TGID, .layout = slot },
			.iface = 0x1000u + slot,
		};

		existing_record(&existing, &record.h);
	}
	assert_int_equal(existing.strangers.len, 2);
	assert_ptr_equal(met(&existing, 0x1001), &older);
	assert_ptr_equal(met(&existing, 0x1002), &newer);
	existing_release(&existing);
}

#define EPS_MAX 4
#define FALSE_IFACES 4

/* A worker of this process, with endpoints that have no lanes, and false interfaces of it. */
struct scene {
	const struct layout *layout;
	struct probes probes;
	struct track track;
	struct existing existing;
	char *path;
	unsigned int eps;
	char worker[8192], context[4096], tls[256], wiface[512], iface[4096];
	uint64_t wifaces[1];
	char ep[EPS_MAX][512], ext[EPS_MAX][1024], false_iface[FALSE_IFACES][4096];
};

static void put(void *object, unsigned int offset, const void *pointer)
{
	*(const void **)((char *)object + offset) = pointer;
}

static const struct layout *plain_layout(void)
{
	const struct layout *layout;

	for (unsigned int i = 0; (layout = layout_at(i)); i++)
		if (!layout->ep_ext_is_stride && layout->ext_uct_eps != UB_OFF_UNKNOWN)
			return layout;
	fail();
	return NULL;
}

/* The list of endpoints, as a ring through their extensions. */
static void link_eps(struct scene *scene, unsigned int count)
{
	const struct layout *layout = scene->layout;
	char *head = scene->worker + layout->worker_all_eps, *last = head;

	scene->eps = count;
	for (unsigned int i = 0; i < count; i++) {
		char *link = scene->ext[i] + layout->ext_ep_list;

		put(scene->ext[i], 0, scene->ep[i]);
		put(scene->ep[i], layout->ep_ext, scene->ext[i]);
		put(scene->ep[i], layout->wire.ep_worker, scene->worker);
		put(link, 0, last);
		put(last, 8, link);
		last = link;
	}
	put(last, 8, head);
	put(head, 0, last);
}

static struct scene *scene_new(void)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	const struct layout *layout = plain_layout();

	assert_non_null(scene);
	scene->layout = layout;
	scene->probes.slots[1] = (struct layout *)layout;
	scene->track.probes = &scene->probes;
	scene->path = temp_path();
	existing_init(&scene->existing, &scene->track, must_create(scene->path));
	put(scene->worker, layout->worker_uuid, scene);
	strcpy(scene->worker + layout->worker_address_name, "host");
	put(scene->worker, layout->worker_context, scene->context);
	put(scene->worker, layout->worker_ifaces, scene->wifaces);
	scene->worker[layout->worker_num_ifaces] = 1;
	put(scene->context, layout->context_tl_rscs, scene->tls);
	scene->context[layout->context_num_tls] = 1;
	strcpy(scene->tls, "tcp");
	strcpy(scene->tls + 10, "lo");
	put(scene->wifaces, 0, scene->wiface);
	put(scene->wiface, 0, scene->iface);
	put(scene->wiface, layout->wiface_worker, scene->worker);
	put(scene->iface, layout->wire.iface_worker, scene->worker);
	for (int i = 0; i < FALSE_IFACES; i++)
		put(scene->false_iface[i], layout->wire.iface_worker, scene->worker);
	link_eps(scene, 3);
	return scene;
}

/* A transfer over an interface that nothing has introduced, in a step of the session. */
static void scene_transfer(struct scene *scene, int i)
{
	const struct ub_xfer record = {
		.h = { .kind = UB_XFER, .tgid = (uint32_t)getpid(), .layout = 1 },
		.iface = (uintptr_t)scene->false_iface[i],
	};

	existing_record(&scene->existing, &record.h);
	existing_apply(&scene->existing, DEADLINE_NONE);
}

static void scene_unpause(struct scene *scene)
{
	map_release(&scene->existing.pauses);
	for (size_t i = 0; i < scene->existing.strangers.len; i++)
		scene->existing.strangers.data[i].next = 0;
	existing_apply(&scene->existing, DEADLINE_NONE);
}

/* Closes the file, which must have so many records of that type; frees the scene. */
static void scene_end(struct scene *scene, const char *type, size_t count)
{
	struct file_writer *writer = scene->existing.writer;
	struct file_reader *reader;
	const json_t *side;
	size_t i, found = 0;

	existing_release(&scene->existing);
	assert_int_equal(file_writer_close(writer, NULL), 0);
	reader = must_open(scene->path);
	json_array_foreach(file_reader_sides(reader), i, side) found +=
		!strcmp(json_string_value(json_object_get(side, "t")), type);
	assert_int_equal(found, count);
	file_reader_free(reader);
	temp_free(scene->path);
	free(scene);
}

static void unchanged_objects(void **state)
{
	struct scene *scene = scene_new();

	(void)state;
	for (int i = 0; i < 3; i++) {
		scene_transfer(scene, i);
		scene_unpause(scene);
	}
	assert_int_equal(scene->existing.strangers.len, 0);
	link_eps(scene, 4);
	scene_transfer(scene, 3);
	scene_unpause(scene);
	/* three that are read four times and do not change, and one more */
	scene_end(scene, "ep", 4);
	scene = scene_new();
	scene_transfer(scene, 0);
	scene_transfer(scene, 1);
	scene_unpause(scene);
	scene_end(scene, "worker", 1);
}

/* A process whose workers were read waits; at the end it does not. */
static void strangers_wait(void **state)
{
	struct scene *scene = scene_new();

	(void)state;
	scene_transfer(scene, 0);
	assert_int_equal(scene->existing.strangers.len, 0);
	*map_find(&scene->existing.pauses, (uint64_t)getpid(), 0) = DEADLINE_NONE;
	link_eps(scene, 4);
	for (int i = 1; i < 4; i++)
		scene_transfer(scene, i);
	assert_int_equal(scene->existing.strangers.len, 3);
	existing_finish(&scene->existing, DEADLINE_NONE);
	assert_int_equal(scene->existing.strangers.len, 0);
	scene_end(scene, "ep", 4);
}

static void no_time(void **state)
{
	struct scene *scene = scene_new();

	(void)state;
	scene_transfer(scene, 0);
	scene_transfer(scene, 1);
	scene_unpause(scene);
	*map_find(&scene->existing.pauses, (uint64_t)getpid(), 0) = DEADLINE_NONE;
	scene_transfer(scene, 2);
	existing_finish(&scene->existing, 0);
	assert_int_equal(scene->existing.strangers.len, 1);
	scene_end(scene, "note", 1);
}

/* Pointers that a process makes up take its quota, and no other's. */
static void quota_of_objects(void **state)
{
	struct scene *scene = scene_new();
	struct ub_xfer record = { .h = { .kind = UB_XFER, .tgid = TGID, .layout = 1 } };

	(void)state;
	for (uint64_t i = 1; i <= BOUNDS_OBJECTS + 5; i++) {
		record.iface = i;
		existing_record(&scene->existing, &record.h);
	}
	assert_int_equal(scene->existing.known.used, BOUNDS_OBJECTS);
	assert_int_equal(scene->existing.strangers.len, BOUNDS_OBJECTS);
	record.h.tgid = TGID + 1;
	existing_record(&scene->existing, &record.h);
	assert_int_equal(scene->existing.known.used, BOUNDS_OBJECTS + 1);
	existing_forget(&scene->existing, TGID);
	assert_int_equal(scene->existing.known.used, 1);
	scene->existing.strangers.len = 0;
	existing_finish(&scene->existing, DEADLINE_NONE);
	scene_end(scene, "note", 1);
}

/* Workers that it says it creates, each of which would have a record in every look. */
static void quota_of_workers(void **state)
{
	struct scene *scene = scene_new();

	(void)state;
	for (uint64_t i = 1; i <= BOUNDS_WORKERS + 5; i++)
		tell(&scene->existing, UB_OBJ_WORKER_CREATE, i * 0x1000, i);
	assert_int_equal(living(&scene->existing), BOUNDS_WORKERS);
	/* those that are kept end as before */
	tell(&scene->existing, UB_OBJ_WORKER_DESTROY, 0x1000, BOUNDS_WORKERS + 10);
	assert_int_equal(living(&scene->existing), BOUNDS_WORKERS - 1);
	existing_forget(&scene->existing, TGID);
	tell(&scene->existing, UB_OBJ_WORKER_CREATE, 0x1000, BOUNDS_WORKERS + 11);
	assert_int_equal(living(&scene->existing), 1);
	existing_finish(&scene->existing, DEADLINE_NONE);
	scene_end(scene, "note", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(living_workers),        cmocka_unit_test(no_worker),
		cmocka_unit_test(objects_of_two_copies), cmocka_unit_test(unchanged_objects),
		cmocka_unit_test(strangers_wait),        cmocka_unit_test(no_time),
		cmocka_unit_test(quota_of_objects),      cmocka_unit_test(quota_of_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
