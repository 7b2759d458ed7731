/* SPDX-License-Identifier: BSD-3-Clause */
/* Which UCX_* variables a release knows: by the table, and as the UCX that is here says itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/environment.h"

static void known(const char *name, const char *version, enum ucx_name expected)
{
	uint32_t release = ucx_release_mask(version);
	enum ucx_name got = !release                        ? UCX_NAME_NO_RELEASE
			    : ucx_name_mask(name) & release ? UCX_NAME_KNOWN
							    : UCX_NAME_NOT_KNOWN;

	if (got != expected)
		fail_msg("%s of %s", name, version ? version : "none");
}

static void test_known(void **state)
{
	(void)state;
	known("UCX_TLS", "1.13.1", UCX_NAME_KNOWN);
	known("MPI_UCX_TLS", "1.13.1", UCX_NAME_KNOWN);
	known("UCX_TCP_TX_SEG_SIZE", "1.13.1", UCX_NAME_KNOWN);
	/* of modules, by the name of each table that a transport's table has in it */
	known("UCX_RC_MLX5_TM_ENABLE", "1.13.1", UCX_NAME_KNOWN);
	known("UCX_RC_TM_ENABLE", "1.13.1", UCX_NAME_KNOWN);
	known("UCX_IB_SL", "1.10.0", UCX_NAME_KNOWN);
	known("UCX_CONFIG_DIR", "1.13.1", UCX_NAME_KNOWN);
	known("UCX_SL", "1.13.1", UCX_NAME_NOT_KNOWN);
	known("UCX_", "1.13.1", UCX_NAME_NOT_KNOWN);
	known("UCX_tls", "1.13.1", UCX_NAME_NOT_KNOWN);
	known("UCX_TLS ", "1.13.1", UCX_NAME_NOT_KNOWN);
	known("UCX_TLS TM_THRESH", "1.13.1", UCX_NAME_NOT_KNOWN);
}

static void test_kept(void **state)
{
	(void)state;
	assert_true(environment_kept("UCX_TLS"));
	assert_true(environment_kept("UCX_TLSS"));
	assert_true(environment_kept("OMPI_MCA_pml"));
	assert_true(environment_kept("UCX_IB_PKEY"));
	assert_true(environment_kept("MPI_UCX_IB_PKEY"));
	assert_true(environment_kept("UCX_KEEPALIVE_INTERVAL"));
	assert_false(environment_kept("UCX_SECRET_TOKEN"));
	assert_false(environment_kept("UCX_ApiKey"));
	assert_false(environment_kept("OMPI_MCA_pml_password"));
	assert_false(environment_kept("AWS_REGION"));
}

static void test_releases(void **state)
{
	char releases[UCX_NAME_MAX], expected[32], newer[16];

	(void)state;
	snprintf(expected, sizeof(expected), "1.13 to 1.%d", ucx_names_newest);
	snprintf(newer, sizeof(newer), "1.%d.0", ucx_names_newest + 1);
	known("UCX_PROTO_INFO", "1.12.1", UCX_NAME_NOT_KNOWN);
	known("UCX_PROTO_INFO", "1.13.0", UCX_NAME_KNOWN);
	assert_true(ucx_name_releases("UCX_PROTO_INFO", releases));
	assert_string_equal(releases, expected);
	assert_false(ucx_name_releases("UCX_PROTO_INFOS", releases));
	known("UCX_TLS", "1.9.0", UCX_NAME_NO_RELEASE);
	known("UCX_TLS", newer, UCX_NAME_NO_RELEASE);
	known("UCX_TLS", "2.13.0", UCX_NAME_NO_RELEASE);
	known("UCX_TLS", "1.", UCX_NAME_NO_RELEASE);
	known("UCX_TLS", "1.13b", UCX_NAME_NO_RELEASE);
	known("UCX_TLS", NULL, UCX_NAME_NO_RELEASE);
}

static void nearest(const char *name, const char *expected)
{
	char found[UCX_NAME_MAX];

	if (!ucx_name_nearest(name, "1.13.1", found))
		fail_msg("nothing is like %s", name);
	assert_string_equal(found, expected);
}

static void test_nearest(void **state)
{
	char found[UCX_NAME_MAX], lengthy[4096];

	(void)state;
	nearest("UCX_TSL", "UCX_TLS");
	nearest("UCX_TLSS", "UCX_TLS");
	nearest("UCX_NET_DEVICE", "UCX_NET_DEVICES");
	nearest("MPI_UCX_NET_DEVICE", "MPI_UCX_NET_DEVICES");
	nearest("UCX_RDNV_THRESH", "UCX_RNDV_THRESH");
	nearest("UCX_MAX_RNDV_RAIL", "UCX_MAX_RNDV_RAILS");
	nearest("UCX_IBSL", "UCX_IB_SL");
	assert_false(ucx_name_nearest("UCX_SOMETHING_ELSE_ALTOGETHER", "1.13.1", found));
	assert_false(ucx_name_nearest("UCX_TSL", "1.99.0", found));
	memset(lengthy, 'A', sizeof(lengthy));
	memcpy(lengthy, "UCX_", 4);
	lengthy[sizeof(lengthy) - 1] = '\0';
	assert_false(ucx_name_nearest(lengthy, "1.13.1", found));
	lengthy[UCX_NAME_MAX - 1] = '\0';
	assert_false(ucx_name_nearest(lengthy, "1.13.1", found));
}

/* Every variable that ucx_info prints; none with a letter more, which no release has. */
static void test_witness(void **state)
{
	FILE *info = popen("ucx_info -v -f -c 2>&1", "re");
	char line[4096], name[80], version[20] = "";
	int asked = 0;

	(void)state;
	assert_non_null(info);
	while (fgets(line, sizeof(line), info)) {
		/* "Library version:" since 1.14 */
		if (!sscanf(line, "# Version %19s", version))
			sscanf(line, "# Library version: %19s", version);
		if (sscanf(line, "%70[A-Z0-9_]=", name) != 1 || strncmp(name, "UCX_", 4))
			continue;
		known(name, version, UCX_NAME_KNOWN);
		strcat(name, "X");
		known(name, version, UCX_NAME_NOT_KNOWN);
		asked++;
	}
	if (pclose(info) || !asked)
		skip();
	assert_true(asked > 400);
}

/* Made up by hand, each of them near a name. */
static void test_misspelt(void **state)
{
	static const char *const names[] = {
		"UCX_TSL",
		"UCX_TL",
		"UCX_NET_DEVICE",
		"UCX_NETDEVICES",
		"UCX_RNDV_TRESH",
		"UCX_RNDV_SHEME",
		"UCX_ZCOPY_TRESH",
		"UCX_MAX_RNDV_RAIL",
		"UCX_LOG_LEVELS",
		"UCX_IB_SLS",
		"UCX_SHM_DEVICE",
		"UCX_PROTO_ENABLED",
		"UCX_MEMTYPE_CASH",
		"UCX_IB_GID_INDEXX",
		"UCX_RC_TIMEOUTS",
		"UCX_TCP_TXSEG_SIZE",
		"UCX_CMA_BWS",
		"UCX_ADRESS_VERSION",
		"UCX_SOCKADDR_TL_PRIORITY",
		"UCX_MODUL_DIR",
	};
	char found[UCX_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		known(names[i], "1.13.1", UCX_NAME_NOT_KNOWN);
		assert_true(ucx_name_nearest(names[i], "1.13.1", found));
		known(found, "1.13.1", UCX_NAME_KNOWN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),    cmocka_unit_test(test_kept),
		cmocka_unit_test(test_releases), cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_witness),  cmocka_unit_test(test_misspelt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
