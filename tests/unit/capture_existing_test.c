// SPDX-License-Identifier: BSD-3-Clause
/* A look reads the queues of living workers only. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(living_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
