// SPDX-License-Identifier: BSD-3-Clause
#include "base/exit_codes.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/vec.h"

static const char *const plugins[] = { "check", "diff", "policy", "sweep" };

static bool is_plugin(const char *command)
{
	for (size_t i = 0; i < ARRAY_SIZE(plugins); i++)
		if (!strcmp(command, plugins[i]))
			return true;
	return false;
}

int exit_usage(const char *command)
{
	return is_plugin(command) ? (int)UCXBPF_CHECK_USAGE : (int)UCXBPF_EXIT_USAGE;
}

int exit_failed(const char *command)
{
	return is_plugin(command) ? (int)UCXBPF_CHECK_FAILED : (int)UCXBPF_EXIT_FAILED;
}

int exit_unwritten(const char *command, int err)
{
	const bool full = err == -ENOSPC || err == -EDQUOT || err == -EFBIG;

	return full && !is_plugin(command) ? (int)UCXBPF_EXIT_NO_SPACE : exit_failed(command);
}
