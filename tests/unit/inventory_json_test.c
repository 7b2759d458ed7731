// SPDX-License-Identifier: BSD-3-Clause
/* An inventory is the same after a file; what is no inventory is refused, and said where. */
#include <errno.h>

#include "fake_sysfs.h"

/* The caller's. (Inlined, GCC 12 takes what it returns for a pointer into its stack.) */
static __attribute__((noinline)) char *text_of(const struct inventory *inventory)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(inventory_write(inventory, out), 0);
	fclose(out);
	return text;
}

/* What reading a text gives; the reason in why. */
static int read_text(const struct fake *fake, const char *text, struct inventory **inventory,
		     char why[INVENTORY_WHY])
{
	char path[128];

	fake_file(fake, "read.json", text);
	snprintf(path, sizeof(path), "%s/read.json", fake->root);
	return inventory_read(path, inventory, why);
}

static void there_and_back(void **state)
{
	struct inventory *inventory, *again;
	char *first, *second, why[INVENTORY_WHY];
	struct fake fake;

	(void)state;
	fake_begin(&fake);
	fake_adapter(&fake);
	inventory = inventory_collect(fake.root);
	first = text_of(inventory);
	assert_int_equal(read_text(&fake, first, &again, why), 0);
	second = text_of(again);
	assert_string_equal(first, second);
	assert_int_equal(again->mono_ns, inventory->mono_ns);
	assert_true(inventory_counter(inventory_nic(again, "mlx5_0"), "port_xmit_data") ==
		    INT64_MAX);
	free(first);
	free(second);
	inventory_free(inventory);
	inventory_free(again);
	fake_end(&fake);
}

/* One place of a good text changed. */
static const struct {
	const char *from, *to, *why;
} faults[] = {
	{ "ucxbpf.inventory/1", "ucxbpf.inventory/2", "schema: is not ucxbpf.inventory/1" },
	{ "\"host\": \"", "\"hosts\": \"", "hosts: is no member that this version knows" },
	{ "\"rate\": 100000000000", "\"rate\": -1",
	  "nics[0].rate: must be a whole number of 0 or more, or null" },
	{ "\"rate\": 100000000000", "\"rate\": 1.5", "nics[0].rate: must be" },
	{ "\"rate\": 100000000000", "\"rate\": \"99999999999999999999\"", "nics[0].rate: must be" },
	{ "\"rate\": 100000000000", "\"rate\": true", "nics[0].rate: must be" },
	{ "\"rate\": 100000000000", "\"rat\": 1", "nics[0].rat: is no member" },
	{ "\"width\": 8", "\"width\": {}", "nics[0].pci.width: must be" },
	{ "\"name\": \"mlx5_0:1\"", "\"name\": null", "nics[0].name: must not be null" },
	{ "\"name\": \"mlx5_0:1\"", "\"name\": 7", "nics[0].name: must be a text or null" },
	{ "\"counters\": [", "\"counters\": [[],", "nics[0].counters[0]: must be an object" },
	{ "\"counters\": [", "\"counters\": {}, \"counter\": [", "nics[0].counter: is no member" },
	{ "\"gpus\": [", "\"gpus\": {}, \"x\": [", "x: is no member" },
	{ "\"kernel\"", "\"host\"", "line " },
	{ "\"mono_ns\": ", "\"mono_ns\": ,", "line " },
};

/* The caller's. */
static char *changed(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *result;

	assert_non_null(at);
	assert_true(asprintf(&result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) >
		    0);
	return result;
}

/* What files of older versions lack, and what all have. */
static void missing(void **state)
{
	struct inventory *inventory, *old = NULL;
	char *text, *less, why[INVENTORY_WHY];
	struct fake fake;

	(void)state;
	fake_begin(&fake);
	inventory = inventory_collect(fake.root);
	text = text_of(inventory);
	less = changed(text, "\"kernel_boot_id\": \"\",", "");
	assert_int_equal(read_text(&fake, less, &old, why), 0);
	assert_null(old->kernel_boot_id);
	inventory_free(old);
	free(less);
	less = changed(text, "\"boot_id\": \"\",", "");
	assert_int_equal(read_text(&fake, less, &old, why), -EINVAL);
	assert_string_equal(why, "boot_id: is missing");
	free(less);
	free(text);
	inventory_free(inventory);
	fake_end(&fake);
}

static void every_fault(void **state)
{
	struct inventory *inventory, *none;
	char *text, why[INVENTORY_WHY];
	struct fake fake;

	(void)state;
	fake_begin(&fake);
	fake_adapter(&fake);
	inventory = inventory_collect(fake.root);
	text = text_of(inventory);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		char *bad = changed(text, faults[i].from, faults[i].to);

		assert_int_equal(read_text(&fake, bad, &none, why), -EINVAL);
		if (strncmp(why, faults[i].why, strlen(faults[i].why)))
			fail_msg("'%s', not '%s'", why, faults[i].why);
		free(bad);
	}
	free(text);
	inventory_free(inventory);
	fake_end(&fake);
}

/* A file that ends anywhere is refused, whatever is left. */
static void cut_short(void **state)
{
	struct inventory *inventory, *none;
	char *text, why[INVENTORY_WHY];
	struct fake fake;
	size_t length;

	(void)state;
	fake_begin(&fake);
	fake_adapter(&fake);
	inventory = inventory_collect(fake.root);
	text = text_of(inventory);
	length = strlen(text) - 2; /* but for the line's end */
	for (size_t i = 0; i < 100; i++) {
		text[length * (99 - i) / 100] = '\0';
		assert_int_equal(read_text(&fake, text, &none, why), -EINVAL);
	}
	free(text);
	inventory_free(inventory);
	assert_int_equal(inventory_read(fake.root, &none, why), -EISDIR);
	assert_int_equal(inventory_read("/nonexistent", &none, why), -ENOENT);
	fake_end(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(every_fault),
		cmocka_unit_test(missing),
		cmocka_unit_test(cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
