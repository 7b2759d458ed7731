// SPDX-License-Identifier: BSD-3-Clause
/*
 * Plans of the libraries that this machine has: every site gets a probe, and what is hot is never
 * single-stepped. A library that is not installed is skipped.
 */
#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/map.h"
#include "observe/probe/plan.h"
#include "observe/probe/sites_tables.h"
#include "observe/process/library.h"
#include "unit/sites.h"

#define LIBDIR "/usr/lib/x86_64-linux-gnu/"
#define LIBUCP LIBDIR "libucp.so.0"
#define LIBUCT LIBDIR "libuct.so.0"
#define LIBUCS LIBDIR "libucs.so.0"
#define LIBUCT_IB LIBDIR "ucx/libuct_ib.so.0"
#define LIBUCT_CMA LIBDIR "ucx/libuct_cma.so.0"
#define PML_UCX LIBDIR "openmpi/lib/openmpi3/mca_pml_ucx.so"
#define SPML_UCX LIBDIR "openmpi/lib/openmpi3/mca_spml_ucx.so"
#define LIBMPI LIBDIR "libmpi.so.40"
#define LIBOSHMEM LIBDIR "liboshmem.so.40"
#define LIBMPICH LIBDIR "libmpich.so.12"

static void open_library(struct library *library, const char *path, unsigned int roles)
{
	*library = (struct library){ .roles = roles };
	if (elf_load(&library->elf, path))
		skip();
}

static void check_probes(const struct probe_plan *plan, const char *path)
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
		assert_true(!probe->needs_return || !probe->sp_words);
		assert_true(probe->needs_return || !site->wire.needs_return);
		if (probe->class == PLACE_STEPPED && !site_may_step(site))
			fail_msg("%s: %s is single-stepped", path, site->symbol);
		classes[probe->class]++;
	}
	map_release(&functions);
	for (size_t i = 0; i < plan->left_out.len; i++)
		fail_msg("%s: %s is left out: it would be single-stepped", path,
			 site_row(plan->left_out.data[i])->symbol);
	assert_int_equal(classes[PLACE_REFUSED], 0);
	printf("%s: %u nop5, %u emulated, %u stepped\n", path, classes[PLACE_NOP5],
	       classes[PLACE_EMULATED], classes[PLACE_STEPPED]);
}

/* Returns how many probes it gets. */
static size_t plan_stock_library(struct library_set *set, const char *path)
{
	struct probe_plan plan = { 0 };
	struct library *library;
	struct stat st;
	size_t probes;
	int err;

	/* each file once, by its own name */
	if (lstat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	library = library_set_get(set, st.st_dev, st.st_ino, path, path, &err);
	if (!library)
		return 0;
	assert_int_equal(plan_library(&plan, library, LEVEL_UCT), 0);
	probes = plan.probes.len;
	check_probes(&plan, path);
	plan_release(&plan);
	return probes;
}

static void plan_and_check(const char *path, unsigned int roles, size_t probes)
{
	struct probe_plan plan = { 0 };
	struct library library;

	open_library(&library, path, roles);
	assert_int_equal(plan_library(&plan, &library, LEVEL_UCT), 0);
	check_probes(&plan, path);
	assert_true(plan.probes.len >= probes);
	for (size_t i = 0; i < plan.missing.len; i++)
		fail_msg("%s lacks %s", path, site_row(plan.missing.data[i])->symbol);
	plan_release(&plan);
	elf_free(library.elf);
}

/* Every library that this machine has, and those of the Debian 13 beside it. */
static void every_stock_library(void **state)
{
	static const char *const places[] = {
		"lib*mpi*.so*",      "libmpich.so*", "liboshmem.so*",
		"libuc[pt].so*",     "ucx/lib*.so*", "openmpi/lib/openmpi*/mca_*_ucx.so",
		"openmpi/lib/*.so*",
	};
	const char *build = getenv("BUILD");
	struct library_set set = { 0 };
	size_t probes = 0;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(places) / sizeof(places[0]); i++) {
		char pattern[512];
		glob_t files;

		snprintf(pattern, sizeof(pattern), "%s%s" LIBDIR "%s",
			 i % 2 ? (build ? build : "build") : "", i % 2 ? "/debian13" : "",
			 places[i / 2]);
		if (glob(pattern, 0, NULL, &files))
			continue;
		for (size_t k = 0; k < files.gl_pathc; k++)
			probes += plan_stock_library(&set, files.gl_pathv[k]);
		globfree(&files);
	}
	library_set_release(&set);
	if (!probes)
		skip();
	printf("%zu probes in all\n", probes);
}

/* Exact ends of calls: of all functions that return, and no step dearer for it. */
static void call_ends(void **state)
{
	static const char *const paths[] = { LIBMPI, LIBMPICH };

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct probe_plan plan = { .call_ends = true };
		struct library library;

		open_library(&library, paths[i], LIB_MPI);
		assert_int_equal(plan_library(&plan, &library, LEVEL_MPI), 0);
		check_probes(&plan, paths[i]);
		for (size_t k = 0; k < plan.probes.len; k++) {
			const struct site *site = site_row(plan.probes.data[k].row);

			assert_int_equal(plan.probes.data[k].needs_return,
					 strcmp(site->name, "MPI_Abort") != 0);
			assert_int_equal(plan.probes.data[k].class, PLACE_EMULATED);
		}
		plan_release(&plan);
		elf_free(library.elf);
	}
}

/* A hot function whose only cheap instruction comes too late is left out. */
static void hot_functions_are_never_stepped(void **state)
{
	struct planned_probe probe;
	struct library library;
	uint64_t function;

	(void)state;
	open_library(&library, LIBUCP, LIB_UCP);
	/* sub $0x58,%rsp: no return probe behind it; as a row that needs one, hot or rare */
	assert_int_equal(elf_function(library.elf, "ucp_tag_send_nb", &function, NULL), 0);
	assert_int_equal(
		plan_function(&probe, &library, site_by_symbol("ucp_tag_send_nbx"), function),
		-ENOTSUP);
	assert_int_equal(
		plan_function(&probe, &library, site_by_symbol("ucp_worker_create"), function), 0);
	assert_int_equal(probe.class, PLACE_STEPPED);
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
	plan_and_check(LIBUCS, LIB_UCS, 1);
}

static void modules(void **state)
{
	(void)state;
	plan_and_check(LIBUCT_CMA, LIB_UCT_MODULE, 0);
	plan_and_check(PML_UCX, LIB_MPI_PLUGIN, 8);
	plan_and_check(SPML_UCX, LIB_SHMEM_PLUGIN, 2);
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

/* Functions of liboshmem that neither communicate nor wait; the functions that they call show
 * order. */
static const char *const silent[] = {
	"pshmem_fence",
	"pshmem_ctx_fence",
	"pshmem_quiet",
	"pshmem_ctx_quiet",
	"pshmem_addr_accessible",
	"pshmem_clear_cache_inv",
	"pshmem_clear_cache_line_inv",
	"pshmem_my_pe",
	"pshmem_n_pes",
	"pshmem_pe_accessible",
	"pshmem_ptr",
	"pshmem_query_thread",
	"pshmem_set_cache_inv",
	"pshmem_set_cache_line_inv",
	"pshmem_udcflush",
	"pshmem_udcflush_line",
};

static int has_row(void *arg, const struct elf_symbol *symbol)
{
	unsigned int *rows = arg;

	if (!symbol->defined || !symbol->function || strncmp(symbol->name, "pshmem", 6) != 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		if (!strcmp(symbol->name, silent[i]))
			return 0;
	if (!site_by_symbol(symbol->name))
		fail_msg("%s has no row", symbol->name);
	++*rows;
	return 0;
}

/* All of its functions have rows; where calls are derived, puts, gets and atomics get no probe. */
static void openshmem(void **state)
{
	struct probe_plan plan = { .sparse = true };
	struct library library;
	unsigned int rows = 0;

	(void)state;
	plan_and_check(LIBOSHMEM, LIB_SHMEM, 892);
	open_library(&library, LIBOSHMEM, LIB_SHMEM);
	elf_each_symbol(library.elf, true, has_row, &rows);
	assert_int_equal(rows, 888);
	assert_int_equal(plan_library(&plan, &library, LEVEL_UCT), 0);
	for (size_t i = 0; i < plan.probes.len; i++)
		assert_int_not_equal(site_row(plan.probes.data[i].row)->wire.derivable,
				     UB_UNPROBED);
	printf("%zu of %u functions have a probe\n", plan.probes.len, rows);
	assert_true(plan.probes.len > 200 && plan.probes.len < 300);
	plan_release(&plan);
	elf_free(library.elf);
}

/* ud_verbs and ud_mlx5: put_short, am_short, am_short_iov, am_bcopy, am_zcopy each */
static void hidden_operations(void **state)
{
	struct probe_plan plan = { 0 };
	struct library library;
	unsigned int hidden = 0;

	(void)state;
	open_library(&library, LIBUCT_IB, LIB_UCT_MODULE);
	assert_int_equal(plan_library(&plan, &library, LEVEL_UCT), 0);
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
	struct probe_plan plan = { 0 };
	struct library library;
	unsigned int found = 0;

	(void)state;
	open_library(&library, LIBUCP, LIB_UCP);
	assert_int_equal(plan_library(&plan, &library, LEVEL_UCP), 0);
	for (size_t i = 0; i < plan.probes.len; i++)
		found += plan.probes.data[i].row == row;
	assert_int_equal(found, 1);
	plan_release(&plan);
	elf_free(library.elf);
}

static unsigned int count_rows(const char *marker)
{
	unsigned int rows = 0;

	for (unsigned int row = 1; row < site_count(); row++)
		rows += site_marker(row) && !strcmp(site_marker(row), marker);
	return rows;
}

/* All rows of its table, none of its probes where others patch, nor a return probe. */
static void whole_table(const char *name, unsigned int role, const char *marker)
{
	const char *build = getenv("BUILD");
	unsigned int entries = 0, exits = 0, rows = count_rows(marker);
	struct probe_plan plan = { 0 };
	struct library library;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/progs/lib/%s", build ? build : "build", name);
	open_library(&library, path, role);
	assert_int_equal(elf_roles(library.elf), role);
	assert_int_equal(plan_library(&plan, &library, LEVEL_MPI), 0);
	assert_int_equal(plan.probes.len, 0);
	assert_int_equal(plan_library(&plan, &library, LEVEL_UCP), 0);
	assert_int_equal(plan.missing.len + plan.left_out.len, 0);
	for (size_t i = 0; i < plan.probes.len; i++) {
		const struct planned_probe *probe = &plan.probes.data[i];

		entries += !probe->at_exit;
		exits += probe->at_exit;
		assert_false(probe->needs_return);
		assert_true(probe->offset >= probe->function + 14);
		assert_string_equal(site_marker(probe->row), marker);
	}
	assert_true(rows > 1);
	assert_int_equal(entries, rows);
	assert_true(exits >= 2 * rows);
	plan_release(&plan);
	/* what is no GPU library has functions of these names for another end */
	library.roles = LIB_UCT_MODULE;
	plan = (struct probe_plan){ 0 };
	assert_int_equal(plan_library(&plan, &library, LEVEL_UCP), 0);
	assert_int_equal(plan.probes.len, 0);
	plan_release(&plan);
	elf_free(library.elf);
}

static void gpu_libraries(void **state)
{
	(void)state;
	whole_table("lib_cuda.so", LIB_CUDA, "cuInit");
	whole_table("lib_cudart.so", LIB_CUDA, "cudaRuntimeGetVersion");
	whole_table("lib_hip.so", LIB_ROCM, "hipInit");
	whole_table("lib_hsa.so", LIB_ROCM, "hsa_init");
	whole_table("lib_ze.so", LIB_ZE, "zeInit");
}

static void levels_limit_layers(void **state)
{
	size_t counts[LEVEL_UCT + 1];
	struct library library;

	(void)state;
	open_library(&library, LIBUCP, LIB_UCP);
	for (int level = LEVEL_MPI; level <= LEVEL_UCT; level++) {
		struct probe_plan plan = { 0 };

		assert_int_equal(plan_library(&plan, &library, level), 0);
		counts[level] = plan.probes.len;
		plan_release(&plan);
	}
	assert_int_equal(counts[LEVEL_MPI], 0);
	assert_true(counts[LEVEL_UCP] > 50);
	assert_int_equal(counts[LEVEL_UCT], counts[LEVEL_UCP]);
	elf_free(library.elf);
}

static void missing_rows_are_told(void **state)
{
	struct probe_plan plan = { 0 };
	struct library library;

	(void)state;
	open_library(&library, LIBUCP, LIB_MPI);
	assert_int_equal(plan_library(&plan, &library, LEVEL_MPI), 0);
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

/* The address of a callback is the traced process's own word. */
static void learnt_place_in_a_function(void **state)
{
	const uint32_t row = site_for_completion(UB_COMP_SEND_CB);
	struct planned_probe probe;
	struct library library;
	uint64_t function;

	(void)state;
	open_library(&library, LIBUCP, LIB_UCP);
	assert_int_equal(elf_function(library.elf, "ucp_rndv_get_completion", &function, NULL), 0);
	for (uint64_t at = 1; at < 12; at++)
		assert_int_equal(plan_function(&probe, &library, row, function + at), -EINVAL);
	elf_free(library.elf);
	open_library(&library, "/lib/x86_64-linux-gnu/libc.so.6", 0);
	assert_int_equal(elf_function(library.elf, "malloc", &function, NULL), 0);
	assert_int_equal(plan_function(&probe, &library, row, function), -EPERM);
	elf_free(library.elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_stock_library),
		cmocka_unit_test(call_ends),
		cmocka_unit_test(hot_functions_are_never_stepped),
		cmocka_unit_test(ucp),
		cmocka_unit_test(uct),
		cmocka_unit_test(modules),
		cmocka_unit_test(open_mpi),
		cmocka_unit_test(mpich),
		cmocka_unit_test(openshmem),
		cmocka_unit_test(hidden_operations),
		cmocka_unit_test(hidden_arrival_handler),
		cmocka_unit_test(gpu_libraries),
		cmocka_unit_test(levels_limit_layers),
		cmocka_unit_test(missing_rows_are_told),
		cmocka_unit_test(learnt_function),
		cmocka_unit_test(learnt_place_in_a_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
