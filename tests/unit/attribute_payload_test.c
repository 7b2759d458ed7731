// SPDX-License-Identifier: BSD-3-Clause
/* The user's share of every kind of transfer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/attribute/internal.h"

static const struct {
	uint8_t am_id;
	uint64_t w0, header; /* header: what is not the user's */
	bool control;
} messages[] = {
	{ 1, 0, 0, true },
	{ 2, 0, 8, false },
	{ 3, 0, 24, false },
	{ 4, 0, 16, false },
	{ 6, 0, 24, false },
	{ 7, 0, 40, false },
	{ 8, 0, 0, true },
	{ 9, 0, 0, true },
	{ 10, 0, 0, true },
	{ 11, 0, 0, true },
	{ 12, 0, 16, false },
	{ 14, 0, 0, true },
	{ 15, 0, 8, false },
	{ 16, 0, 0, true },
	{ 17, 0, 20, false },
	{ 18, 0, 0, true },
	{ 19, 0, 16, false },
	{ 20, 0, 26, false },
	{ 21, 0, 8, false },
	{ 22, 0, 0, true },
	{ 23, 0, 8, false },
	{ 24, 0, 32, false },
	{ 25, 0, 24, false },
	{ 26, 0, 16, false },
	/* with a user's header of 16 bytes */
	{ 23, 16ull << 32, 24, false },
	{ 24, 16ull << 32, 48, false },
	{ 26, 16ull << 32, 32, false },
};

static void by_message(void **state)
{
	const struct site_info site = { .verb = VERB_AM, .mode = MODE_SHORT };

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++) {
		struct ub_xfer xfer = { .am_id = messages[i].am_id,
					.length = 1000,
					.w = { messages[i].w0 },
					.h.flags = UB_F_WIRE };
		uint64_t payload = messages[i].control ? 0 : 1000 - messages[i].header;

		assert_int_equal(xfer_is_control(&site, &xfer), messages[i].control);
		assert_int_equal(xfer_payload(&site, &xfer, NULL), payload);
	}
}

static void by_verb(void **state)
{
	const struct site_info put = { .verb = VERB_PUT, .mode = MODE_ZCOPY };
	struct ub_xfer xfer = { .length = 1000 };

	(void)state;
	assert_int_equal(xfer_payload(&put, &xfer, NULL), 1000);
	xfer.status = -2;
	assert_int_equal(xfer_payload(&put, &xfer, NULL), 0);
	assert_false(xfer_sent(&xfer));
	xfer.status = 0;
	xfer.length = 0;
	assert_true(xfer_is_control(&put, &xfer));
}

/* Counts and lengths may be anything in a capture that is damaged or foreign. */
static void by_fragments(void **state)
{
	static const struct {
		int64_t length;
		uint32_t count, each;
		uint64_t payload;
	} all[] = {
		{ 2500, 3, 1000, 2500 },
		{ 1000, 1, 1000, 1000 },
		{ 0, UINT32_MAX, UINT32_MAX, 0 },
		{ INT64_MIN, 2, UINT32_MAX, (uint64_t)INT64_MAX + 1 },
	};
	const struct site_info put = { .verb = VERB_PUT, .mode = MODE_ZCOPY };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct ub_frags frags = { .xfer.length = all[i].length,
						.count = all[i].count,
						.each = all[i].each };

		assert_int_equal(frags_payload(&put, &frags, NULL), all[i].payload);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_message),
		cmocka_unit_test(by_verb),
		cmocka_unit_test(by_fragments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
