// SPDX-License-Identifier: BSD-3-Clause
#include <stddef.h>
#include <string.h>

#include "policy/values.h"

/* UCT_TL_DEFINE in src/uct of UCX 1.13.1 to 1.22.0; "net": all that use a NIC. */
static const char *const transports[] = {
	"self",     "tcp",       "posix",     "sysv",      "xpmem",     "cma",      "knem",
	"rc_verbs", "rc_mlx5",   "dc_mlx5",   "ud_verbs",  "ud_mlx5",   "gga_mlx5", "rc_gda",
	"srd",      "cuda_copy", "cuda_ipc",  "gdr_copy",  "rocm_copy", "rocm_ipc", "rocm_gdr",
	"ze_copy",  "gaudi_gdr", "ugni_rdma", "ugni_smsg", "ugni_udt",  "net",
};

static bool is_transport(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(transports) / sizeof(*transports); i++)
		if (strlen(transports[i]) == length && !strncmp(transports[i], name, length))
			return true;
	return false;
}

bool value_transport(const char *text)
{
	if (strpbrk(text, "*?["))
		return true;
	for (;; text++) {
		size_t length = strcspn(text, "+");

		if (!is_transport(text, length))
			return false;
		text += length;
		if (!*text)
			return true;
	}
}
