// SPDX-License-Identifier: BSD-3-Clause
/* Who starts a transfer, by the operation that caused it and the process that ran it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "explain/facts/facts.h"

static const struct {
	const char *initiator, *ucp_op;
	int caused_in, process;
} cases[] = {
	{ "sender", "tag_send", 3, 3 },
	{ "sender", "tag_send_sync", 3, 3 },
	{ "sender", "am_send", 3, 3 },
	{ "sender", "stream_send", 3, 3 },
	{ "receiver", "tag_recv", 3, 3 },
	{ "receiver", "tag_msg_recv", 3, 3 },
	{ "receiver", "am_recv_data", 3, 3 },
	{ "receiver", "stream_recv", 3, 3 },
	{ "origin", "put", 3, 3 },
	{ "origin", "get", 3, 3 },
	{ "origin", "atomic", 3, 3 },
	/* the data of an emulated get is sent by another process than asked for it */
	{ "target", "get", 3, 4 },
	{ "target", "atomic", 3, 4 },
	/* nothing is guessed */
	{ NULL, "flush", 3, 3 },
	{ NULL, "other", 3, 3 },
	{ NULL, NULL, -1, 3 },
	{ NULL, NULL, -1, -1 },
};

static void initiators(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct fact_transfer transfer = {
			.op = "am_bcopy",
			.ucp_op = cases[i].ucp_op,
			.caused_in = cases[i].caused_in,
			.process = cases[i].process,
		};
		const char *initiator = fact_initiator(&transfer);

		if (cases[i].initiator)
			assert_string_equal(initiator, cases[i].initiator);
		else
			assert_null(initiator);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(initiators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
