// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/transport.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

bool is_network(const char *transport)
{
	static const char *const networks[] = { "tcp", "rc_*", "rc",   "dc_*",  "dc",     "ud_*",
						"ud",  "srd*", "gga*", "ugni*", "sockcm", NULL };

	for (int i = 0; transport && networks[i]; i++)
		if (!fnmatch(networks[i], transport, 0))
			return true;
	return false;
}

bool is_gpu(const char *memory)
{
	return memory && !strncmp(memory, "gpu", 3);
}
