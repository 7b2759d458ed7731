// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/output/verdict_files.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/output/output.h"
#include "show/page/page.h"

#define LEAST_WIDTH 60

static int write_page(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	char *data = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&data, &bytes);
	int err = memory ? judge_page_data(judge, how, memory) : -ENOMEM;

	if (memory && fclose(memory) && !err)
		err = -ENOMEM;
	if (!err)
		err = page_verdict(data, how->beside, out);
	free(data);
	return err;
}

static const struct {
	const char *name;
	int (*write)(const struct judge *judge, const struct judge_output *how, FILE *out);
} forms[VERDICT_FORMS] = {
	[VERDICT_TEXT] = { "text", judge_text },
	[VERDICT_JSON] = { "json", judge_json },
	[VERDICT_JUNIT] = { "junit", judge_junit },
	[VERDICT_OPENMETRICS] = { "openmetrics", judge_openmetrics },
	[VERDICT_TEXTFILE] = { "textfile", judge_textfile },
	[VERDICT_HTML] = { "html", write_page },
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

struct writing {
	const struct judge *judge;
	enum verdict_form form;
	const struct judge_output *how;
};

static int put(void *arg, FILE *out)
{
	const struct writing *writing = arg;

	return write_to(writing->judge, writing->form, writing->how, out);
}

int verdict_write(const struct judge *judge, enum verdict_form form, const char *path,
		  const struct judge_output *how)
{
	struct writing writing = { judge, form, how };
	int err = output_write(path, put, &writing);

	if (err)
		log_error("%s: %s", output_name(path), strerror(-err));
	return err;
}
