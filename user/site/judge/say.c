// SPDX-License-Identifier: BSD-3-Clause
/* Strings that live as long as the judge. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "site/judge/internal.h"

const char *say(struct judge *judge, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	vec_push(&judge->made, text);
	return text;
}

const char *say_bytes(struct judge *judge, uint64_t bytes)
{
	char text[40];

	unit_bytes(text, sizeof(text), bytes, true);
	return say(judge, "%s", text);
}

const char *say_time(struct judge *judge, double ns)
{
	char text[32];

	unit_time(text, sizeof(text), (uint64_t)ns, false);
	return say(judge, "%s", text);
}
