// SPDX-License-Identifier: BSD-3-Clause
/*
 * Plans of the libraries that this machine has: every site gets a probe, and what is hot is never
 * single-stepped. A library that is not installed is skipped.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "probe/plan.h"

#define LIBDIR "/usr/lib/x86_64-linux-gnu/"
#define LIBUCP LIBDIR "libucp.so.0"
#define LIBUCT LIBDIR "libuct.so.0"
#define LIBUCT_IB LIBDIR "ucx/libuct_ib.so.0"
#define LIBUCT_CMA LIBDIR "ucx/libuct_cma.so.0"
#define PML_UCX LIBDIR "openmpi/lib/openmpi3/mca_pml_ucx.so"
#define LIBMPI LIBDIR "libmpi.so.40"
#define LIBMPICH LIBDIR "libmpich.so.12"

/* Too small or too early with its registers for anything better; none is on a message's path. */
static const char *const stepped_ok[] = {
	"ucp_rndv_put_completion",   "uct_sm_ep_put_bcopy",      "uct_sm_ep_atomic_cswap64",
	"uct_sm_ep_atomic_cswap32",  "uct_sm_ep_atomic64_fetch", "uct_sm_ep_atomic32_fetch",
	"uct_rc_verbs_ep_put_zcopy",
};

static void open_library(struct library *library, const char *path, unsigned int roles)
{
	*library = (struct library){ .roles = roles };
	if (elf_load(&library->elf, path))
		skip();
}

static int may_step(const char *symbol)
{
	for (size_t i = 0; i < sizeof(stepped_ok) / sizeof(stepped_ok[0]); i++)
		if (!strcmp(stepped_ok[i], symbol))
			return 1;
	return 0;
}

static void check_probes(const struct plan *plan, const char *path)
{
	unsigned int classes[PLACE_REFUSED + 1] = { 0 };
	struct map functions = { 0 };

	for (size_t i = 0; i < plan->probes.len; i++) {
		const struct planned_probe *probe = &plan->probes.data[i];
		const struct site *site = site_row(probe->row);
		bool fresh;

		map_insert(&functions, probe->function, 0, &fresh);
		assert_true(fresh);
		assert_true(probe->offset - probe->function < 64);
		assert_true(!site->wire.needs_return || !probe->sp_words);
		if (probe->class == PLACE_STEPPED && !may_step(site->symbol))
			fail_msg("%s: %s is single-stepped", path, site->symbol);
		classes[probe->class]++;
	}
	map_release(&functions);
	assert_int_equal(classes[PLACE_REFUSED], 0);
	printf("%s: %u nop5, %u emulated, %u stepped\n", path, classes[PLACE_NOP5],
	       classes[PLACE_EMULATED], classes[PLACE_STEPPED]);
}

static void plan_and_check(const char *path, unsigned int roles, size_t probes)
{
	struct plan plan = { 0 };
	struct library library;

	open_library(&library, path, roles);
	assert_int_equal(plan_library(&plan, &library, LAYER_UCT), 0);
	check_probes(&plan, path);
	assert_true(plan.probes.len >= probes);
	for (size_t i = 0; i < plan.missing.len; i++)
		fail_msg("%s lacks %s", path, site_row(plan.missing.data[i])->symbol);
	plan_release(&plan);
	elf_free(library.elf);
}

static void ucp(void **state)
{
	(void)state;
	plan_and_check(LIBUCP, LIB_UCP, 50);
}

static void uct(void **state)
{
	(void)state;
	plan_and_check(LIBUCT, LIB_UCT, 26);
}

static void modules(void **state)
{
	(void)state;
	plan_and_check(LIBUCT_CMA, LIB_UCT_MODULE, 0);
	plan_and_check(PML_UCX, LIB_MPI_PLUGIN, 8);
}

static void open_mpi(void **state)
{
	(void)state;
	plan_and_check(LIBMPI, LIB_MPI, 150);
}

static void mpich(void **state)
{
	(void)state;
	plan_and_check(LIBMPICH, LIB_MPI, 260);
}

/* ud_verbs and ud_mlx5: put_short, am_short, am_short_iov, am_bcopy, am_zcopy each */
static void hidden_operations(void **state)
{
	struct plan plan = { 0 };
	struct library library;
	unsigned int hidden = 0;

	(void)state;
	open_library(&library, LIBUCT_IB, LIB_UCT_MODULE);
	assert_int_equal(plan_library(&plan, &library, LAYER_UCT), 0);
	check_probes(&plan, LIBUCT_IB);
	for (size_t i = 0; i < plan.probes.len; i++) {
		const struct site *site = site_row(plan.probes.data[i].row);

		hidden += site->ops_slot >= 0 &&
			  plan.probes.data[i].row == site_by_slot(site->ops_slot);
	}
	assert_int_equal(hidden, 10);
	plan_release(&plan);
	elf_free(library.elf);
}

/* The stream handler is static; the exported table of handlers leads to it. */
static void hidden_arrival_handler(void **state)
{
	unsigned int row = site_by_symbol("ucp_stream_am_handler");
	struct plan plan = { 0 };
	struct library library;
	unsigned int found = 0;

	(void)state;
	open_library(&library, LIBUCP, LIB_UCP);
	assert_int_equal(plan_library(&plan, &library, LAYER_UCP), 0);
	for (size_t i = 0; i < plan.probes.len; i++)
		found += plan.probes.data[i].row == row;
	assert_int_equal(found, 1);
	plan_release(&plan);
	elf_free(library.elf);
}

static void levels_limit_layers(void **state)
{
	size_t counts[LAYER_UCT + 1];
	struct library library;

	(void)state;
	open_library(&library, LIBUCP, LIB_UCP);
	for (int level = LAYER_MPI; level <= LAYER_UCT; level++) {
		struct plan plan = { 0 };

		assert_int_equal(plan_library(&plan, &library, level), 0);
		counts[level] = plan.probes.len;
		plan_release(&plan);
	}
	assert_int_equal(counts[LAYER_MPI], 0);
	assert_true(counts[LAYER_UCP] > 50);
	assert_int_equal(counts[LAYER_UCT], counts[LAYER_UCP]);
	elf_free(library.elf);
}

static void missing_rows_are_told(void **state)
{
	struct plan plan = { 0 };
	struct library library;

	(void)state;
	open_library(&library, LIBUCP, LIB_MPI);
	assert_int_equal(plan_library(&plan, &library, LAYER_MPI), 0);
	assert_true(plan.missing.len > 100);
	assert_string_equal(site_row(plan.missing.data[0])->name, "MPI_Send");
	plan_release(&plan);
	elf_free(library.elf);
}

static void learnt_function(void **state)
{
	struct planned_probe probe;
	struct library library;
	uint64_t function;

	(void)state;
	open_library(&library, LIBUCP, LIB_UCP);
	assert_int_equal(elf_function(library.elf, "ucp_rndv_get_completion", &function, NULL), 0);
	assert_int_equal(
		plan_function(&probe, &library, site_for_completion(UB_COMP_UCT), function), 0);
	assert_int_equal(probe.function, function);
	assert_int_equal(probe.class, PLACE_EMULATED);
	assert_int_equal(plan_function(&probe, &library, 0, function), -EINVAL);
	elf_free(library.elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ucp),
		cmocka_unit_test(uct),
		cmocka_unit_test(modules),
		cmocka_unit_test(open_mpi),
		cmocka_unit_test(mpich),
		cmocka_unit_test(hidden_operations),
		cmocka_unit_test(hidden_arrival_handler),
		cmocka_unit_test(levels_limit_layers),
		cmocka_unit_test(missing_rows_are_told),
		cmocka_unit_test(learnt_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
