// SPDX-License-Identifier: BSD-3-Clause
/* A module of UCX that does not load, as the cause of a path that is wrong. */
#include "judge_nodes.h"

#define MIB (1 << 20)
#define FOLDER "/usr/lib/ucx/"

/* Of n0: the copy of UCX that its ranks have, or another one, with a module. */
struct module {
	const char *build_id, *file, *missing;
};

static void add_copy(struct inventory *inventory, const struct module *module)
{
	struct inventory_library *copy = inventory_add_library(inventory, "ucx");
	struct inventory_module *own = vec_add(&copy->modules);
	char path[64];

	snprintf(path, sizeof(path), FOLDER "%s", module->file);
	copy->build_id = strdup(module->build_id);
	copy->version = strdup("1.13.1");
	own->path = strdup(path);
	own->missing = module->missing ? strdup(module->missing) : NULL;
}

/* What is said of n0>n1, which goes by tcp, and of n0, whose ranks go by tcp, too. */
static void expect_cause(const struct module *module, const char *between, const char *within)
{
	static const char *const rules[][2] = { { "PATH-02", "n0>n1" }, { "PATH-03", "n0" } };
	const char *const wanted[] = { between, within };
	struct snapshots nodes = { 0 };
	struct bed bed;

	bed_begin(&bed, SPEC);
	add_copy(snapshot(&nodes, 0, 1000), module);
	snapshot(&nodes, 1, 1000);
	bed_move(&bed, &(struct moved){ 0, 2, "tcp", "eth0", .bytes = MIB, .count = 2 });
	bed_move(&bed, &(struct moved){ 0, 1, "tcp", "eth0", .bytes = MIB, .count = 2 });
	bed_move(&bed, &(struct moved){ 2, 3, "tcp", "eth0", .bytes = MIB, .count = 2 });
	snapshots_judge(&nodes, &bed);
	for (int i = 0; i < 2; i++) {
		bed_expect(&bed, rules[i][0], rules[i][1], VERDICT_FAIL);
		if (wanted[i])
			assert_string_equal(bed_finding(&bed, rules[i][0], rules[i][1])->cause,
					    wanted[i]);
		else
			assert_null(bed_finding(&bed, rules[i][0], rules[i][1])->cause);
	}
	assert_null(bed_finding(&bed, "PATH-03", "n1")->cause);
	snapshots_end(&nodes, &bed);
}

static void what_the_path_needs(void **state)
{
	(void)state;
	expect_cause(
		&(struct module){ "b1", "libuct_ib.so.0", "libibverbs.so.1 is not found" },
		"libuct_ib.so.0 of UCX 1.13.1 does not load on n0: libibverbs.so.1 is not found",
		NULL);
	expect_cause(&(struct module){ "b1", "libuct_cma.so.0", "there is no such file" }, NULL,
		     "libuct_cma.so.0 of UCX 1.13.1 does not load on n0: there is no such file");
}

static void what_loads_and_what_nobody_uses(void **state)
{
	(void)state;
	expect_cause(&(struct module){ "b1", "libuct_ib.so.0", NULL }, NULL, NULL);
	expect_cause(&(struct module){ "b2", "libuct_ib.so.0", "not found" }, NULL, NULL);
	expect_cause(&(struct module){ "b1", "libuct_ibx.so.0", "not found" }, NULL, NULL);
	expect_cause(&(struct module){ "b1", "libucx_perftest_rocm.so.0", "not found" }, NULL,
		     NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_path_needs),
		cmocka_unit_test(what_loads_and_what_nobody_uses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
