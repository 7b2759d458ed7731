// SPDX-License-Identifier: BSD-3-Clause
/* Transports that lines of 'expect' name: a misspelt one would forbid nothing, or allow nothing. */
#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#include "site/policy/bind.h"
#include "site/policy/values.h"

/* UCT_TL_DEFINE and, for those over mapped memory, UCT_MM_TL_DEFINE in src/uct of UCX 1.13.1 to
 * 1.22.0. */
static const char *const transports[] = {
	"self",     "tcp",       "posix",     "sysv",      "xpmem",     "cma",      "knem",
	"rc_verbs", "rc_mlx5",   "dc_mlx5",   "ud_verbs",  "ud_mlx5",   "gga_mlx5", "rc_gda",
	"srd",      "cuda_copy", "cuda_ipc",  "gdr_copy",  "rocm_copy", "rocm_ipc", "rocm_gdr",
	"ze_copy",  "gaudi_gdr", "ugni_rdma", "ugni_smsg", "ugni_udt",
};

#define COUNT (sizeof(transports) / sizeof(*transports))

bool value_transport(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (!strcmp(transports[i], name))
			return true;
	return false;
}

static bool fits_any(const char *const *names, size_t count, const char *pattern)
{
	for (size_t i = 0; i < count; i++)
		if (!fnmatch(pattern, names[i], 0))
			return true;
	return false;
}

static bool fits(const struct policy *policy, const char *pattern)
{
	return fits_any(transports, COUNT, pattern) ||
	       fits_any(policy->transports.data, policy->transports.len, pattern);
}

/* a+b: each is a name. */
static bool is_way(const struct policy *policy, const char *text)
{
	char part[64];

	for (;; text++) {
		size_t length = strcspn(text, "+");

		if (length >= sizeof(part))
			return false;
		memcpy(part, text, length);
		part[length] = '\0';
		if (strpbrk(part, "*?[\\") || !fits(policy, part))
			return false;
		text += length;
		if (!*text)
			return true;
	}
}

static void refuse(struct binder *binder, const struct policy_expect *expect, const char *key,
		   const char *text)
{
	errors_add(
		binder->errors, expect->line,
		"%s: '%.40s' is no transport of UCX 1.13 to 1.22, nor of this policy's 'transports'",
		key, text);
}

static void check_line(struct binder *binder, const struct policy_expect *expect)
{
	const struct policy *policy = binder->policy;

	for (size_t i = 0; i < expect->tl.len; i++)
		if (!fits(policy, expect->tl.data[i]) && !is_way(policy, expect->tl.data[i]))
			refuse(binder, expect, "tl", expect->tl.data[i]);
	for (size_t i = 0; i < expect->forbid.len; i++)
		if (!fits(policy, expect->forbid.data[i]) && strcmp(expect->forbid.data[i], "net"))
			refuse(binder, expect, "forbid", expect->forbid.data[i]);
}

void check_transports(struct binder *binder)
{
	for (size_t i = 0; i < binder->policy->expect.len; i++)
		check_line(binder, &binder->policy->expect.data[i]);
}
