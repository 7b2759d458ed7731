// SPDX-License-Identifier: BSD-3-Clause
/* Completion functions of processes, of which one lies in a file that is rewritten in place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "observe/capture/completions.h"

enum { REWRITTEN_FILE = 10, OTHER_FILE = 11 }; /* inodes */
enum { BOTH = 7, OTHER = 8, NEW = 9 }; /* processes, by the files that they have functions in */

static bool claim(struct probes *probes, pid_t tgid, ino_t ino)
{
	return probes_claim_function(probes, tgid, 1, ino, 64);
}

static void functions_in_other_files_come_back(void **state)
{
	struct probes probes = { .by_process = true, .rewrites.fd = -1 };
	struct map keys = { 0 }, processes = { 0 };
	struct link_programs programs;

	(void)state;
	memset(&programs, -1, sizeof(programs));
	links_init(&probes.links, LINK_MULTI, &programs);
	hot_init(&probes.hot, LINK_MULTI, &programs, false);
	assert_true(claim(&probes, BOTH, REWRITTEN_FILE));
	assert_true(claim(&probes, BOTH, OTHER_FILE));
	assert_true(claim(&probes, OTHER, OTHER_FILE));
	map_insert(&keys, file_key(1, REWRITTEN_FILE), 0, NULL);
	probes_rewritten(&probes, &keys, &processes);
	assert_int_equal(processes.used, 1);
	assert_non_null(map_find(&processes, BOTH, 0));
	/* the rewritten file is left alone in the process that had a probe there */
	assert_false(claim(&probes, BOTH, REWRITTEN_FILE));
	assert_true(claim(&probes, BOTH, OTHER_FILE));
	assert_false(claim(&probes, OTHER, OTHER_FILE));
	assert_true(claim(&probes, NEW, REWRITTEN_FILE));
	probes_forget_process(&probes, BOTH);
	assert_true(claim(&probes, BOTH, REWRITTEN_FILE));
	map_release(&keys);
	map_release(&processes);
	probes_release(&probes);
}

static void see(struct completions *completions, pid_t tgid)
{
	const struct ub_xfer xfer = {
		.h = { .kind = UB_XFER, .layout = 1, .tgid = (uint32_t)tgid },
		.comp_func = 0x1000,
		.req = 0x2000,
	};

	completions_record(completions, &xfer.h);
}

static void functions_are_seen_anew_once_they_lost_their_probes(void **state)
{
	struct completions completions = { 0 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		see(&completions, BOTH);
		see(&completions, OTHER);
		assert_int_equal(completions.pending.len, 2);
	}
	completions_learn_again(&completions, BOTH);
	assert_int_equal(completions.pending.len, 1);
	for (int i = 0; i < 2; i++) {
		see(&completions, BOTH);
		see(&completions, OTHER);
		assert_int_equal(completions.pending.len, 2);
		assert_int_equal(completions.pending.data[1].tgid, BOTH);
	}
	completions_release(&completions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_in_other_files_come_back),
		cmocka_unit_test(functions_are_seen_anew_once_they_lost_their_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
