// SPDX-License-Identifier: BSD-3-Clause
/* What UCP's headers tell, by the sizes and words of UCX's structs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/decode/am.h"

#define NONE UINT64_MAX
#define HEADED (7 | 30ull << 32) /* AM id 7, a user's header of 30 bytes */

static const struct {
	uint8_t am_id;
	enum message_class class;
	uint64_t ep, req, receive, message, payload, total; /* of 1000 bytes */
	uint64_t first;
} headers[] = {
	{ 1, CLASS_NONE, .total = NONE },
	{ 2, CLASS_EAGER, .payload = 992, .total = 992 },
	{ 3, CLASS_MULTI, .message = 13, .payload = 976, .total = 12 },
	{ 4, CLASS_NONE, .message = 11, .payload = 984, .total = NONE },
	{ 6, CLASS_REQUEST, .ep = 12, .req = 13, .payload = 976, .total = 976 },
	{ 7, CLASS_MULTI, .ep = 14, .req = 15, .message = 13, .payload = 960, .total = 12 },
	{ 8, CLASS_NONE, .req = 11, .total = NONE },
	{ 9, CLASS_REQUEST, .ep = 12, .req = 13, .total = 15 },
	{ 10, CLASS_NONE, .req = 11, .total = NONE },
	{ 11, CLASS_NONE, .req = 11, .receive = 12, .total = NONE },
	{ 12, CLASS_NONE, .req = 11, .payload = 984, .total = NONE },
	{ 15, CLASS_STREAM, .ep = 11, .payload = 992, .total = 992 },
	{ 16, CLASS_NONE, .req = 11, .total = NONE },
	{ 17, CLASS_NONE, .payload = 980, .total = NONE },
	{ 18, CLASS_NONE, .req = 14, .total = NONE },
	{ 19, CLASS_NONE, .req = 11, .payload = 984, .total = NONE },
	{ 20, CLASS_NONE, .req = 13, .payload = 974, .total = NONE },
	{ 21, CLASS_NONE, .req = 11, .payload = 992, .total = NONE },
	{ 22, CLASS_NONE, .total = NONE },
	{ 23, CLASS_AM, .payload = 962, .total = 962, .first = HEADED },
	{ 24, CLASS_AM_FIRST, .payload = 938, .total = NONE, .first = HEADED },
	{ 25, CLASS_NONE, .payload = 976, .total = NONE, .first = HEADED },
	{ 26, CLASS_AM, .payload = 954, .total = 954, .first = HEADED },
	{ 27, CLASS_AM_FIRST, .payload = 938, .total = NONE, .first = HEADED },
	{ 28, CLASS_NONE, .payload = 976, .total = NONE, .first = HEADED },
	{ 29, CLASS_NONE, .total = NONE },
};

static void by_id(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		const __u64 words[] = { headers[i].first ? headers[i].first : 11, 12, 13, 14, 15 };
		struct am_header header = am_header_read(headers[i].am_id, words, 5, 1000);

		assert_int_equal(am_class(headers[i].am_id), headers[i].class);
		assert_int_equal(am_is_control(headers[i].am_id), !headers[i].payload);
		assert_int_equal(header.first, words[0]);
		assert_int_equal(header.ep, headers[i].ep);
		assert_int_equal(header.req, headers[i].req);
		assert_int_equal(header.receive, headers[i].receive);
		assert_int_equal(header.message, headers[i].message);
		assert_int_equal(header.payload, headers[i].payload);
		assert_int_equal(header.total, headers[i].total);
	}
}

/* A sent header is read to its third word. */
static void words_not_read(void **state)
{
	const __u64 words[] = { 11, 12, 13 };
	struct am_header header = am_header_read(7, words, 3, 1000);

	(void)state;
	assert_int_equal(header.message, 13);
	assert_int_equal(header.ep, 0);
	assert_int_equal(header.req, 0);
}

/* Cut short: shorter than its own header. */
static void too_short(void **state)
{
	const __u64 words[] = { HEADED, 0, 0 };

	(void)state;
	assert_int_equal(am_header_read(24, words, 3, 20).payload, 0);
	assert_int_equal(am_header_read(2, words, 3, 8).payload, 0);
}

/* Which first fragments the kernel looks up by position: those without an id. */
static void without_id(void **state)
{
	(void)state;
	for (uint8_t id = 0; id < 32; id++) {
		enum message_class class = am_class(id);

		assert_int_equal(AM_WITHOUT_ID >> id & 1, class != CLASS_NONE &&
								  class != CLASS_MULTI &&
								  class != CLASS_REQUEST);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_id),
		cmocka_unit_test(words_not_read),
		cmocka_unit_test(too_short),
		cmocka_unit_test(without_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
