// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "show/report/table.h"

#define PLAIN_WIDTH 100
#define LEAST_WIDTH 60
#define MOST_WIDTH 1000

static bool set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

static bool locale_is_utf8(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (int i = 0; i < 3; i++)
		if (set(variables[i]))
			return strcasestr(getenv(variables[i]), "utf-8") ||
			       strcasestr(getenv(variables[i]), "utf8");
	return false;
}

static bool dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !strcmp(term, "dumb");
}

/* A pipe has no width, but who reads it may have said theirs. */
static int asked_width(void)
{
	long width = set("COLUMNS") ? strtol(getenv("COLUMNS"), NULL, 10) : 0;

	if (width <= 0 || width > MOST_WIDTH)
		return PLAIN_WIDTH;
	return width < LEAST_WIDTH ? LEAST_WIDTH : (int)width;
}

void report_text_options_detect(struct report_text_options *options, FILE *out)
{
	struct winsize size;
	int fd = fileno(out);

	options->width = asked_width();
	options->colour = options->utf8 = false;
	if (fd < 0 || !isatty(fd))
		return;
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		options->width = size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
	options->colour = !set("NO_COLOR") && !dumb();
	options->utf8 = locale_is_utf8() && !dumb();
}

static const char *const escapes[] = {
	[STYLE_PLAIN] = "",
	[STYLE_BOLD] = "\033[1m",
	[STYLE_DIM] = "\033[2m",
	[STYLE_WARN] = "\033[33m",
};

void style_on(FILE *out, const struct report_text_options *options, enum style style)
{
	if (options->colour)
		fputs(escapes[style], out);
}

void style_off(FILE *out, const struct report_text_options *options, enum style style)
{
	if (options->colour && style != STYLE_PLAIN)
		fputs("\033[0m", out);
}

static bool starts_character(char byte)
{
	return (byte & 0xc0) != 0x80;
}

int text_width(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += starts_character(*text);
	return width;
}

size_t text_fit(const char *text, int width)
{
	size_t len = 0;

	while (text[len] && (width > 0 || !starts_character(text[len]))) {
		width -= starts_character(text[len]);
		len++;
	}
	return len;
}
