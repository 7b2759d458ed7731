// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Shell patterns of names, NULL behind the last one. */
static const char *const patterns[] = {
	"UCX_*",
	/* Open MPI reads UCX's configuration with a prefix of its own (ompi/mca/common/ucx) */
	"MPI_UCX_*",
	"OMPI_MCA_pml*",
	"OMPI_MCA_mtl*",
	"OMPI_MCA_btl*",
	"OMPI_MCA_osc*",
	/* MPICH takes each of its variables by three prefixes (src/util/cvar) */
	"MPIR_CVAR_*NETMOD*",
	"MPIR_PARAM_*NETMOD*",
	"MPICH_*NETMOD*",
	"CUDA_VISIBLE_DEVICES",
	"ROCR_VISIBLE_DEVICES",
	"HIP_VISIBLE_DEVICES",
	"ZE_AFFINITY_MASK",
	NULL,
};

/* UCX's own variables, such as UCX_IB_PKEY, hold no secret. */
static bool is_secret(const char *name)
{
	static const char *const words[] = { "SECRET", "TOKEN", "PASSWORD", "KEY" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasestr(name, words[i]))
			return !ucx_name_mask(name);
	return false;
}

bool environment_kept(const char *name)
{
	if (is_secret(name))
		return false;
	for (int i = 0; patterns[i]; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}

#define OLDEST 10

/* Releases are 1.MINOR. */
uint32_t ucx_release_mask(const char *version)
{
	char *end;
	long minor;

	if (!version || strncmp(version, "1.", 2))
		return 0;
	minor = strtol(version + 2, &end, 10);
	if (end == version + 2 || (*end && *end != '.') || minor < OLDEST ||
	    minor > ucx_names_newest)
		return 0;
	return 1u << (minor - OLDEST);
}

/* What is before the table's part of a name. */
static size_t prefix_of(const char *name)
{
	static const char *const prefixes[] = { "UCX_", "MPI_UCX_" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return strlen(prefixes[i]);
	return 0;
}

/* The next name of a row, or NULL. */
static const char *next_name(const char **at, size_t *length)
{
	const char *name = *at;

	*length = strcspn(name, " ");
	*at = name + *length + (name[*length] == ' ');
	return *length ? name : NULL;
}

uint32_t ucx_name_mask(const char *name)
{
	const char *own = name + prefix_of(name);
	size_t wanted = strlen(own), length;

	for (const struct ucx_names *row = ucx_names; row->releases; row++) {
		const char *at = row->names, *one;

		while ((one = next_name(&at, &length)))
			if (length == wanted && !memcmp(one, own, length))
				return row->releases;
	}
	return 0;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * How many letters have to be added, taken away, changed, or swapped with their neighbour to come
 * from one word to the other.
 */
static unsigned int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned int rows[3][UCX_NAME_MAX], *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t k = 0; k <= b_length; k++)
		last[k] = k;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned int *freed = before;

		now[0] = i;
		for (size_t k = 1; k <= b_length; k++) {
			now[k] = least(last[k], now[k - 1]) + 1;
			now[k] = least(now[k], last[k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				now[k] = least(now[k], before[k - 2] + 1);
		}
		before = last;
		last = now;
		now = freed;
	}
	return last[b_length];
}

struct best {
	const char *name;
	size_t length;
	unsigned int distance;
};

static bool better(const struct best *one, const struct best *than)
{
	size_t shorter = one->length < than->length ? one->length : than->length;
	int order;

	if (one->distance != than->distance)
		return one->distance < than->distance;
	order = strncmp(one->name, than->name, shorter);
	return order ? order < 0 : one->length < than->length;
}

bool ucx_name_nearest(const char *name, const char *version, char nearest[UCX_NAME_MAX])
{
	size_t prefix = prefix_of(name), wanted = strlen(name + prefix);
	struct best best = { .distance = 2 + wanted / 4 }; /* the first one that is not alike */
	uint32_t release = ucx_release_mask(version);

	if (prefix + wanted >= UCX_NAME_MAX)
		return false;
	for (const struct ucx_names *row = ucx_names; row->releases; row++) {
		const char *at = row->names;
		struct best one;

		while (row->releases & release && (one.name = next_name(&at, &one.length))) {
			one.distance = distance(name + prefix, wanted, one.name, one.length);
			if (one.distance < best.distance || (best.name && better(&one, &best)))
				best = one;
		}
	}
	if (best.name)
		snprintf(nearest, UCX_NAME_MAX, "%.*s%.*s", (int)prefix, name, (int)best.length,
			 best.name);
	return best.name;
}

bool ucx_name_releases(const char *name, char releases[UCX_NAME_MAX])
{
	uint32_t mask = ucx_name_mask(name);
	int first = 0, last = 31;

	if (!mask)
		return false;
	while (!(mask >> first & 1))
		first++;
	while (!(mask >> last & 1))
		last--;
	snprintf(releases, UCX_NAME_MAX, "1.%d to 1.%d", OLDEST + first, OLDEST + last);
	return true;
}
