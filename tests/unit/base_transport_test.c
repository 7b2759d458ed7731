// SPDX-License-Identifier: BSD-3-Clause
/* The table of transports: rows do not contradict themselves or each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/transport.h"

static void found_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < transport_count; i++)
		assert_ptr_equal(transport_named(transports[i].name), &transports[i]);
	assert_null(transport_named("rc")->name);
	assert_null(transport_named("")->name);
	assert_null(transport_named(NULL)->name);
	assert_false(transport_named(NULL)->network);
}

/* A policy may name transports that the table has not: rules about networks must hold for them. */
static void families_of_networks(void **state)
{
	static const char *const networks[] = { "rc",   "rc_efa", "dc_x",   "ud_efa", "srd_v2",
						"srd0", "gga_v2", "ugni_x", "sockcm" };
	static const char *const others[] = { "rcx", "dcuda", "udp", "sockcmx", "shm", "tcp2" };

	(void)state;
	for (size_t i = 0; i < sizeof(networks) / sizeof(*networks); i++) {
		const struct transport *row = transport_named(networks[i]);

		if (row->name || !row->network || row->reach != REACH_UNKNOWN)
			fail_msg("%s is a network without a row", networks[i]);
		assert_int_equal(row->queue_pairs, !strncmp(networks[i], "rc", 2));
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (transport_named(others[i])->network)
			fail_msg("%s is of no family", others[i]);
}

static void rows_are_consistent(void **state)
{
	(void)state;
	for (size_t i = 0; i < transport_count; i++) {
		const struct transport *row = &transports[i];

		if (row->network && (row->reach != REACH_UNKNOWN || row->copies))
			fail_msg("%s leaves the node by a NIC", row->name);
		if ((row->fifo || row->pid_in_ep) && row->reach != REACH_NODE)
			fail_msg("%s is shared memory of a node", row->name);
		if (row->maps_peers && !row->fifo)
			fail_msg("%s maps memory, but has no FIFO there", row->name);
		if (row->copies && row->host_only)
			fail_msg("%s copies from and to GPUs", row->name);
		if ((row->queue_pairs || row->plain_verbs || row->level[0]) && !row->network)
			fail_msg("%s is no network", row->name);
		assert_null(row->level[sizeof(row->level) / sizeof(*row->level) - 1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_by_name),
		cmocka_unit_test(families_of_networks),
		cmocka_unit_test(rows_are_consistent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
