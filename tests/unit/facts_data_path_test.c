// SPDX-License-Identifier: BSD-3-Clause
/* How a transfer's data takes its way, by what is known of the transfer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "explain/facts/facts.h"

static const struct {
	const char *path, *op, *ucp_op, *protocol;
	enum fact_kind kind;
} cases[] = {
	{ "direct", "put_zcopy", "tag_send", "rndv/put", KIND_DATA },
	{ "direct", "am_zcopy", "tag_send", "eager/zcopy", KIND_DATA },
	{ "buffered", "am_short", "tag_send", "eager/short", KIND_DATA },
	{ "buffered", "am_short_iov", "am_send", "am/short", KIND_DATA },
	{ "buffered", "am_bcopy", NULL, NULL, KIND_DATA },
	{ "buffered", "put_short", "put", "put/short", KIND_DATA },
	{ "buffered", "put_bcopy", "put", "put/offload/short", KIND_DATA },
	/* by the protocol, also where the operation is another process's */
	{ "emulated", "am_bcopy", "put", "put/am/bcopy", KIND_DATA },
	{ "emulated", "am_bcopy", NULL, "get/am", KIND_DATA },
	{ "emulated", "am_short", "atomic", "amo/am", KIND_DATA },
	{ "emulated", "am_short", "atomic", "amo/post/sw", KIND_DATA },
	{ "emulated", "am_bcopy", NULL, "amo/fetch/sw", KIND_DATA },
	{ "emulated", "am_zcopy", "put", "put/am/zcopy", KIND_DATA },
	/* by the operation, where sums have no protocol */
	{ "emulated", "am_bcopy", "put", NULL, KIND_DATA },
	{ "emulated", "am_short", "get", NULL, KIND_DATA },
	{ "emulated", "am_short", "atomic", NULL, KIND_DATA },
	/* never of what is not the operation's own data */
	{ "control", "am_short", "get", "get/am", KIND_CONTROL },
	{ "staged", "get_zcopy", "tag_send", NULL, KIND_COPY },
	{ "staged", "am_bcopy", "put", NULL, KIND_COPY },
	{ NULL, "atomic_cswap64", "atomic", "amo", KIND_DATA },
	{ NULL, NULL, NULL, NULL, KIND_DATA },
};

static void data_paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct fact_transfer transfer = {
			.op = cases[i].op,
			.ucp_op = cases[i].ucp_op,
			.protocol = cases[i].protocol,
			.kind = cases[i].kind,
		};
		const char *path = fact_data_path(&transfer);

		if (cases[i].path)
			assert_string_equal(path, cases[i].path);
		else
			assert_null(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
