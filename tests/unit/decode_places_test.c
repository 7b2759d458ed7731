// SPDX-License-Identifier: BSD-3-Clause
/* Return addresses become places: what side records say of modules, addresses and symbols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "explain/decode/decode.h"

struct bed {
	struct decoder decoder;
	struct capture capture;
	json_t *sides;
	struct event event;
};

static void add(struct bed *bed, json_t *side)
{
	assert_non_null(side);
	json_array_append_new(bed->sides, side);
}

/* Two processes, 7 and 8; sides is then added to. */
static void bed_init(struct bed *bed)
{
	memset(bed, 0, sizeof(*bed));
	decoder_init(&bed->decoder);
	bed->sides = json_pack("[{s:s, s:{s:s, s:s}, s:s, s:i}]", "t", "capture", "host", "id",
			       "h1", "name", "n1", "mode", "run", "ts", 1);
	for (int tgid = 7; tgid <= 8; tgid++)
		add(bed, json_pack("{s:s, s:i, s:i, s:i}", "t", "process", "tgid", tgid,
				   "start_time", tgid, "ts", 2));
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

static void add_address(struct bed *bed, int tgid, const char *address, const char *offset)
{
	add(bed, json_pack("{s:s, s:i, s:s, s:i, s:i, s:s}", "t", "address", "tgid", tgid,
			   "address", address, "ts", 5, "module", 3, "offset", offset));
}

static const struct place *place_of(struct bed *bed, uint32_t tgid, uint64_t address)
{
	struct ub_call call = { .h = { .ts = 100, .tgid = tgid, .tid = tgid, .kind = UB_CALL },
				.ret_addr = address };

	assert_true(decoder_event(&bed->decoder, &bed->capture, &call.h, &bed->event));
	return decoder_place(&bed->decoder, &bed->event, address);
}

static void an_old_capture_says_nothing(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_ready(&bed);
	assert_null(place_of(&bed, 7, 0x1000));
	bed_release(&bed);
}

/* A short process may end before it is described, and its addresses may still be known. */
static void a_process_without_a_record(void **state)
{
	struct ub_task fork = { .h = { .ts = 90, .tgid = 7, .tid = 7, .kind = UB_TASK },
				.what = UB_FORK,
				.other = 9 };
	const struct place *place;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	add_address(&bed, 9, "0x9000", "0x100");
	add(&bed, json_pack("{s:s, s:i, s:s}", "t", "module", "id", 3, "path", "/opt/lib/a.so"));
	bed_ready(&bed);
	assert_true(decoder_event(&bed.decoder, &bed.capture, &fork.h, &bed.event));
	place = place_of(&bed, 9, 0x9000);
	assert_string_equal(place->module, "/opt/lib/a.so");
	assert_true(bed.event.process->from_start);
	assert_false(bed.event.process->described);
	assert_string_equal(place_of(&bed, 9, 0x9001)->reason, "not recorded");
	bed_release(&bed);
}

/* A file that code ran in may tell whether it is a program: it is that of a process that was not
 * read. */
static void program_by_its_file(void **state)
{
	static const struct {
		json_t *(*program)(void);
		const char *described, *role, *exe;
	} rows[] = {
		{ NULL, NULL, NULL, NULL },
		{ json_true, NULL, "program", "/opt/app" },
		{ json_false, NULL, "other", NULL },
		{ NULL, "/opt/app", "program", "/opt/app" },
		{ NULL, "/bin/env", "other", "/bin/env" },
		{ json_true, "/bin/env", "program", "/bin/env" }, /* before its exec */
		{ json_false, "/bin/env", "other", "/bin/env" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *module =
			json_pack("{s:s, s:i, s:s}", "t", "module", "id", 3, "path", "/opt/app");
		const struct place *place;
		struct bed bed;

		if (rows[i].program)
			json_object_set_new(module, "program", rows[i].program());
		bed_init(&bed);
		add_address(&bed, 9, "0x9000", "0x100");
		add(&bed, module);
		if (rows[i].described)
			add(&bed, json_pack("{s:s, s:i, s:i, s:i, s:s}", "t", "process", "tgid", 9,
					    "start_time", 1, "ts", 1, "exe", rows[i].described));
		bed_ready(&bed);
		place = place_of(&bed, 9, 0x9000);
		if (rows[i].role)
			assert_string_equal(place->role, rows[i].role);
		else
			assert_null(place->role);
		if (rows[i].exe)
			assert_string_equal(bed.event.process->exe, rows[i].exe);
		else
			assert_null(bed.event.process->exe);
		bed_release(&bed);
	}
}

/* The label is the best name there is; one place has one key, in whatever process. */
static void names(void **state)
{
	const struct place *place;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	/* as in a file: addresses as they come, symbols at the end */
	add_address(&bed, 7, "0x7000", "0x100");
	add_address(&bed, 7, "0x7001", "0x101");
	add_address(&bed, 7, "0x7002", "0x102");
	add_address(&bed, 8, "0x8000", "0x100");
	add(&bed, json_pack("{s:s, s:i, s:s, s:s}", "t", "module", "id", 3, "path", "/opt/lib/a.so",
			    "build_id", "beef"));
	add(&bed, json_pack("{s:s, s:i, s:s, s:s, s:i, s:s, s:i}", "t", "symbol", "module", 3,
			    "offset", "0x100", "symbol", "solve", "symbol_offset", 17, "file",
			    "src/solve.c", "line", 41));
	add(&bed, json_pack("{s:s, s:i, s:s, s:s, s:i}", "t", "symbol", "module", 3, "offset",
			    "0x101", "symbol", "solve", "symbol_offset", 18));
	bed_ready(&bed);

	place = place_of(&bed, 7, 0x7000);
	assert_string_equal(place->label, "solve.c:41");
	assert_string_equal(place->frame, "solve");
	assert_string_equal(place->file, "src/solve.c");
	assert_int_equal(place->line, 41);
	assert_string_equal(place->build_id, "beef");
	assert_null(place->reason);
	assert_ptr_equal(place_of(&bed, 8, 0x8000)->key, place->key);
	assert_string_equal(place_of(&bed, 7, 0x7001)->label, "solve+0x12");
	assert_string_equal(place_of(&bed, 7, 0x7002)->label, "a.so+0x102");
	assert_string_equal(place_of(&bed, 7, 0x7002)->frame, "a.so+0x102");
	bed_release(&bed);
}

/* What is not known says why, and is not mixed up with another process's same address. */
static void unknown(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	add(&bed, json_pack("{s:s, s:i, s:s, s:i, s:s}", "t", "address", "tgid", 7, "address",
			    "0x7000", "ts", 5, "reason", "code made at run time"));
	add_address(&bed, 7, "0x7004", "0x104"); /* of a module that no record tells of */
	bed_ready(&bed);
	assert_string_equal(place_of(&bed, 7, 0x7000)->label, "0x7000");
	assert_string_equal(place_of(&bed, 7, 0x7000)->reason, "code made at run time");
	assert_null(place_of(&bed, 7, 0x7000)->module);
	assert_string_equal(place_of(&bed, 8, 0x7000)->reason, "not recorded");
	assert_string_equal(place_of(&bed, 7, 0x7004)->reason, "its module is not recorded");
	assert_ptr_equal(place_of(&bed, 8, 0x7000), place_of(&bed, 8, 0x7000));
	bed_release(&bed);
}

/* Numbers out of range in a damaged or foreign file reach nothing. */
static void nonsense(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	add(&bed, json_pack("{s:s, s:I, s:s}", "t", "module", "id", (json_int_t)-1, "path", "/x"));
	add(&bed, json_pack("{s:s, s:i, s:s, s:i, s:I, s:s}", "t", "address", "tgid", 7, "address",
			    "0x7000", "ts", 5, "module", (json_int_t)-1, "offset", "0x1"));
	add(&bed, json_pack("{s:s}", "t", "symbol"));
	add(&bed, json_pack("{s:s}", "t", "address"));
	bed_ready(&bed);
	assert_null(place_of(&bed, 7, 0x7000)->module);
	bed_release(&bed);
}

/* A symbol of C++ is kept as it is; what is shown is its name. */
static void cxx(void **state)
{
	const struct place *place;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	add(&bed, json_pack("{s:s, s:i, s:s, s:s}", "t", "module", "id", 3, "path", "/opt/libm.so",
			    "build_id", "b1"));
	add(&bed, json_pack("{s:s, s:i, s:s, s:s, s:i}", "t", "symbol", "module", 3, "offset",
			    "0x100", "symbol", "_ZN3gmx4sendIfEEvPKT_", "symbol_offset", 17));
	add_address(&bed, 7, "0x7f00", "0x100");
	bed_ready(&bed);
	place = place_of(&bed, 7, 0x7f00);
	assert_string_equal(place->symbol, "_ZN3gmx4sendIfEEvPKT_");
	assert_string_equal(place->demangled, "void gmx::send<float>(float const*)");
	assert_string_equal(place->frame, "gmx::send<float>");
	assert_string_equal(place->label, "gmx::send<float>+0x11");
	bed_release(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_old_capture_says_nothing),
		cmocka_unit_test(a_process_without_a_record),
		cmocka_unit_test(program_by_its_file),
		cmocka_unit_test(names),
		cmocka_unit_test(unknown),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(cxx),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
