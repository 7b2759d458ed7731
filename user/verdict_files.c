// SPDX-License-Identifier: BSD-3-Clause
#include "verdict_files.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abandon.h"
#include "base/log.h"

#define LEAST_WIDTH 60

static const struct {
	const char *name;
	int (*write)(const struct judge *judge, const struct judge_output *how, FILE *out);
} forms[VERDICT_FORMS] = {
	[VERDICT_TEXT] = { "text", judge_text },
	[VERDICT_JSON] = { "json", judge_json },
	[VERDICT_JUNIT] = { "junit", judge_junit },
	[VERDICT_OPENMETRICS] = { "openmetrics", judge_openmetrics },
	[VERDICT_TEXTFILE] = { "textfile", judge_textfile },
};

enum verdict_form verdict_form_of(const char *name)
{
	enum verdict_form form = 0;

	while (form < VERDICT_FORMS && strcmp(forms[form].name, name))
		form++;
	return form;
}

static int write_to(const struct judge *judge, enum verdict_form form,
		    const struct judge_output *how, FILE *out)
{
	struct judge_output own = *how;
	struct winsize size;

	if (isatty(fileno(out))) {
		own.colour = !getenv("NO_COLOR");
		if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col >= LEAST_WIDTH)
			own.width = size.ws_col;
	}
	return forms[form].write(judge, &own, out);
}

/* Where the file is made: beside its place, unless that is a device or a pipe. */
static char *part_of(const char *path)
{
	struct stat place;
	char *part = NULL;

	if (!stat(path, &place) && !S_ISREG(place.st_mode))
		return NULL;
	if (asprintf(&part, "%s.%d.part", path, getpid()) < 0)
		abort();
	return part;
}

static int write_file(const struct judge *judge, enum verdict_form form, const char *path,
		      const struct judge_output *how)
{
	char *part = part_of(path);
	FILE *out = fopen(part ? part : path, "we");
	struct abandon abandon;
	int err;

	if (!out) {
		err = -errno;
		free(part);
		return err;
	}
	abandon_start(&abandon, part);
	err = write_to(judge, form, how, out);
	if (fclose(out) && !err)
		err = -errno;
	if (part && !err && rename(part, path))
		err = -errno;
	if (part && err)
		unlink(part);
	abandon_end(&abandon);
	free(part);
	return err;
}

int verdict_write(const struct judge *judge, enum verdict_form form, const char *path,
		  const struct judge_output *how)
{
	int err = path ? write_file(judge, form, path, how) : write_to(judge, form, how, stdout);

	if (err)
		log_error("%s: %s", path ? path : "standard output", strerror(-err));
	return err;
}
