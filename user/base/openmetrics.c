// SPDX-License-Identifier: BSD-3-Clause
#include "base/openmetrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void openmetrics_family(FILE *out, bool open, const char *name, const char *type, const char *help)
{
	const char *total = !open && !strcmp(type, "counter") ? "_total" : "";

	fprintf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, total, help, name, total, type);
}

/* Both forms escape backslashes and quotes; text_plain() leaves no newline. */
void openmetrics_label(FILE *out, const char *name, const char *value)
{
	char *plain = text_plain(value ? value : "");

	fprintf(out, "%s=\"", name);
	for (const char *c = plain; *c; c++) {
		if (*c == '\\' || *c == '"')
			putc('\\', out);
		putc(*c, out);
	}
	putc('"', out);
	free(plain);
}

int openmetrics_end(FILE *out, bool open)
{
	if (open)
		fputs("# EOF\n", out);
	return text_finish(out);
}
