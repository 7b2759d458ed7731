// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static enum log_level max_level = LOG_WARN;

void log_set_level(enum log_level level)
{
	max_level = level;
}

void log_printf(enum log_level level, const char *format, ...)
{
	static const char *const prefix[] = { "error: ", "warning: ", "", "" };
	int saved_errno = errno;
	va_list args;

	if (level > max_level)
		return;
	flockfile(stderr);
	fprintf(stderr, "ucxbpf: %s", prefix[level]);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	funlockfile(stderr);
	errno = saved_errno;
}
