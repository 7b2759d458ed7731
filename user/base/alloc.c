// SPDX-License-Identifier: BSD-3-Clause
#include "base/alloc.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/text.h"
#include "base/vec.h"

static int alloc_status = UCXBPF_EXIT_FAILED;

void alloc_set_status(int status)
{
	alloc_status = status;
}

void alloc_failed(void)
{
	fputs("ucxbpf: error: out of memory\n", stderr);
	_exit(alloc_status);
}

static void *checked(void *data)
{
	if (!data)
		alloc_failed();
	return data;
}

/* A request for nothing may return NULL, which is no failure: ask for a byte. */
void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *xreallocarray(void *data, size_t count, size_t size)
{
	return checked(reallocarray(data, count ? count : 1, size ? size : 1));
}

char *xstrdup(const char *text)
{
	return checked(strdup(text));
}

char *xstrndup(const char *text, size_t size)
{
	return checked(strndup(text, size));
}

char *xvasprintf(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		alloc_failed();
	return text;
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	return text;
}

ssize_t xgetline(char **line, size_t *room, FILE *file)
{
	ssize_t length;

	errno = 0;
	length = getline(line, room, file);
	if (length < 0 && errno == ENOMEM)
		alloc_failed();
	return length;
}

static ssize_t write_plain(void *to, const char *bytes, size_t count)
{
	char *lines = xstrndup(bytes, count), *rest = lines, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *plain = text_plain(line);

		fprintf(to, "%s%s", plain, rest ? "\n" : "");
		free(plain);
	}
	free(lines);
	return (ssize_t)count;
}

/* argp knows --help and -?, people type -h. */
static error_t parse_help(int key, char *value, struct argp_state *state)
{
	(void)value;
	if (key != 'h')
		return ARGP_ERR_UNKNOWN;
	argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
	return 0;
}

static const struct argp_option help_options[] = { { NULL, 'h', NULL, OPTION_HIDDEN, "", 0 },
						   { 0 } };
static const struct argp help_argp = { .options = help_options, .parser = parse_help };

/* getopt(3) and argp write the words they complain of as they are, and know no other stream. */
int xargp_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input)
{
	const struct argp_child *child = argp->children;
	VEC(struct argp_child) children = { 0 };
	struct argp with_help = *argp;
	FILE *terminal = stderr;
	int err;

	/* last: each of the others has its place among the inputs */
	for (; child && child->argp; child++)
		vec_push(&children, *child);
	vec_push(&children, ((struct argp_child){ .argp = &help_argp }));
	vec_push(&children, (struct argp_child){ 0 });
	with_help.children = children.data;

	stderr = checked(
		fopencookie(terminal, "w", (cookie_io_functions_t){ .write = write_plain }));
	setlinebuf(stderr);
	err = argp_parse(&with_help, argc, argv, flags, NULL, input);
	fclose(stderr);
	stderr = terminal;
	vec_release(&children);
	if (err == ENOMEM)
		alloc_failed();
	return err;
}

void alloc_json(void)
{
	json_set_alloc_funcs(xmalloc, free);
}

/* The C library's open_memstream() drops what finds no memory, without an error. */
struct memstream {
	VEC(char) data;
	char **text;
	size_t *size;
};

static ssize_t memstream_write(void *cookie, const char *bytes, size_t count)
{
	struct memstream *stream = cookie;

	vec_reserve(&stream->data, stream->data.len + count + 1);
	memcpy(stream->data.data + stream->data.len, bytes, count);
	stream->data.len += count;
	return (ssize_t)count;
}

static int memstream_close(void *cookie)
{
	struct memstream *stream = cookie;

	vec_reserve(&stream->data, stream->data.len + 1);
	stream->data.data[stream->data.len] = '\0';
	*stream->text = stream->data.data;
	*stream->size = stream->data.len;
	free(stream);
	return 0;
}

FILE *xmemstream(char **text, size_t *size)
{
	const cookie_io_functions_t functions = { .write = memstream_write,
						  .close = memstream_close };
	struct memstream *stream = xcalloc(1, sizeof(*stream));

	*stream = (struct memstream){ .text = text, .size = size };
	return checked(fopencookie(stream, "w", functions));
}
