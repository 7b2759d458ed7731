// SPDX-License-Identifier: BSD-3-Clause
/* A look reads the queues of living workers only, and says of which process it knows none. */
#include "file_records.h"

#include "observe/capture/existing.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(living_workers),
		cmocka_unit_test(no_worker),
		cmocka_unit_test(objects_of_two_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
