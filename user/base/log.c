// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"

static enum log_level max_level = LOG_WARN;

void log_set_level(enum log_level level)
{
	max_level = level;
}

void log_printf(enum log_level level, const char *format, ...)
{
	static const char *const prefix[] = { "error: ", "warning: ", "", "" };
	int saved_errno = errno;
	char *text, *plain;
	va_list args;

	if (level > max_level)
		return;
	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	plain = text_plain(text);
	fprintf(stderr, "ucxbpf: %s%s\n", prefix[level], plain);
	free(plain);
	free(text);
	errno = saved_errno;
}
