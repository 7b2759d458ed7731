// SPDX-License-Identifier: BSD-3-Clause
/* Evidence files: read line by line from zstd, and written to it, where lines of one key become
 * one. */
#include "site/judge/evidence/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/alloc.h"
#include "site/judge/evidence/kinds.h"

/* ---- reading ---- */

#define READ_SIZE (32 * 1024)
#define ROOM (128 * 1024) /* of text, at first; a longer line makes it grow */
#define MAX_LINE (64 * 1024 * 1024)
#define READ_WINDOW_LOG 23 /* most that is accepted: our files have 17, zstd writes up to 21 */
#define HEAD "#" EVIDENCE_SCHEMA

struct evidence_input {
	int file;
	off_t offset;
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer in;
	bool ended; /* no byte of the file is left */
	bool whole; /* and the compressed text has its end */
	char *text;
	size_t room, from, to; /* bytes not handed out yet */
	struct text last; /* the key before, to see that they ascend */
	char read[READ_SIZE];
};

int evidence_fail(struct evidence_error *error, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	error->file = NULL;
	return err;
}

void evidence_input_free(struct evidence_input *input)
{
	if (!input)
		return;
	ZSTD_freeDCtx(input->zstd);
	vec_release(&input->last.bytes);
	free(input->text);
	free(input);
}

static int read_file(struct evidence_input *input, struct evidence_error *error)
{
	ssize_t got = pread(input->file, input->read, READ_SIZE, input->offset);

	if (got < 0)
		return evidence_fail(error, -errno, "%s", strerror(errno));
	input->offset += got;
	input->in = (ZSTD_inBuffer){ input->read, got, 0 };
	input->ended = !got;
	return 0;
}

static int make_room(struct evidence_input *input, struct evidence_error *error)
{
	memmove(input->text, input->text + input->from, input->to - input->from);
	input->to -= input->from;
	input->from = 0;
	if (input->to < input->room)
		return 0;
	if (input->room >= MAX_LINE)
		return evidence_fail(error, -EBADMSG, "a line is longer than %d bytes", MAX_LINE);
	input->text = vec_grow(input->text, &input->room, 2 * input->room, 1);
	return 0;
}

/* More text, if there is any. */
static int fill(struct evidence_input *input, struct evidence_error *error)
{
	ZSTD_outBuffer out;
	size_t hint;
	int err = make_room(input, error);

	if (!err && input->in.pos == input->in.size)
		err = read_file(input, error);
	if (err || (input->ended && input->whole))
		return err;
	out = (ZSTD_outBuffer){ input->text, input->room, input->to };
	hint = ZSTD_decompressStream(input->zstd, &out, &input->in);
	if (ZSTD_isError(hint))
		return evidence_fail(error, -EBADMSG, "damaged: %s", ZSTD_getErrorName(hint));
	input->whole = !hint;
	if (input->ended && hint && out.pos == input->to)
		return evidence_fail(error, -EBADMSG, "cut short");
	input->to = out.pos;
	return 0;
}

/* The next line whatever it is: 1, 0 or -errno. */
static int input_next(struct evidence_input *input, struct line_ref *line,
		      struct evidence_error *error)
{
	size_t seen = 0;
	int err;

	for (;;) {
		const char *start = input->text + input->from;
		const char *end = memchr(start + seen, '\n', input->to - input->from - seen);

		if (end) {
			*line = (struct line_ref){ start, (size_t)(end - start) };
			input->from += line->size + 1;
			return 1;
		}
		if (input->ended && input->whole)
			break;
		seen = input->to - input->from;
		err = fill(input, error);
		if (err)
			return err;
	}
	return input->from == input->to ? 0 : evidence_fail(error, -EBADMSG, "cut short");
}

static int read_head(struct evidence_input *input, struct line_ref *head,
		     struct evidence_error *error)
{
	size_t size = strlen(HEAD);
	int got = input_next(input, head, error);

	if (got < 0)
		return got;
	if (!got || head->size < size || memcmp(head->text, HEAD, size) ||
	    (head->size > size && head->text[size] != '\t'))
		return evidence_fail(error, -EPROTONOSUPPORT,
				     "does not begin with '" HEAD
				     "': no evidence, or of another version");
	head->text += size;
	head->size -= size;
	return 0;
}

int evidence_input_open(struct evidence_input **to, int file, struct line_ref *head,
			struct evidence_error *error)
{
	struct evidence_input *input = xcalloc(1, sizeof(*input));
	int err;

	input->file = file;
	input->zstd = ZSTD_createDCtx();
	if (!input->zstd)
		alloc_failed();
	ZSTD_DCtx_setParameter(input->zstd, ZSTD_d_windowLogMax, READ_WINDOW_LOG);
	input->text = vec_grow(NULL, &input->room, ROOM, 1);
	err = read_head(input, head, error);
	if (err) {
		evidence_input_free(input);
		return err;
	}
	*to = input;
	return 0;
}

int evidence_input_next(struct evidence_input *input, struct line_ref *line,
			struct evidence_error *error)
{
	const struct evidence_kind *kind;
	struct line_ref key, last;
	int got = input_next(input, line, error);

	if (got <= 0)
		return got;
	kind = evidence_kind(*line);
	if (!kind)
		return evidence_fail(error, -EPROTONOSUPPORT,
				     "holds what this version does not know: %.*s",
				     (int)(line->size < 40 ? line->size : 40), line->text);
	key = line_key(kind, *line);
	last = (struct line_ref){ input->last.bytes.data, input->last.bytes.len };
	if (last.size && line_compare(last, key) >= 0)
		return evidence_fail(error, -EBADMSG, "its lines are not in order");
	input->last.bytes.len = 0;
	text_add(&input->last, key.text, key.size);
	return 1;
}

bool evidence_is(const char *path)
{
	static const unsigned char zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	unsigned char begin[sizeof(zstd)];
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = file >= 0 && pread(file, begin, sizeof(begin), 0) == sizeof(begin) &&
		  !memcmp(begin, zstd, sizeof(zstd));

	if (file >= 0)
		close(file);
	return is;
}

/* ---- writing ---- */

#define LEVEL 3
#define WRITE_WINDOW_LOG 17 /* what a reader keeps: many files are read at a time */
#define BLOCK (128 * 1024)

struct evidence_output {
	int file;
	ZSTD_CCtx *zstd;
	size_t used;
	/* Whole blocks go to the compressor, so that its output depends on the text alone. */
	char block[BLOCK];
	char packed[BLOCK];
};

static void evidence_output_free(struct evidence_output *output)
{
	if (output)
		ZSTD_freeCCtx(output->zstd);
	free(output);
}

static int write_all(int file, const char *data, size_t size, struct evidence_error *error)
{
	while (size) {
		ssize_t done = write(file, data, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return evidence_fail(error, -errno, "%s", strerror(errno));
		data += done;
		size -= done;
	}
	return 0;
}

static int put_block(struct evidence_output *output, ZSTD_EndDirective how,
		     struct evidence_error *error)
{
	ZSTD_inBuffer in = { output->block, output->used, 0 };
	size_t left;
	int err;

	do {
		ZSTD_outBuffer out = { output->packed, sizeof(output->packed), 0 };

		left = ZSTD_compressStream2(output->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return evidence_fail(error, -ENOMEM, "%s", ZSTD_getErrorName(left));
		err = write_all(output->file, output->packed, out.pos, error);
		if (err)
			return err;
	} while (how == ZSTD_e_end ? left != 0 : in.pos < in.size);
	output->used = 0;
	return 0;
}

static int output_put(struct evidence_output *output, const char *text, size_t size,
		      struct evidence_error *error)
{
	int err = 0;

	while (size && !err) {
		size_t room = BLOCK - output->used, part = size < room ? size : room;

		memcpy(output->block + output->used, text, part);
		output->used += part;
		text += part;
		size -= part;
		if (output->used == BLOCK)
			err = put_block(output, ZSTD_e_continue, error);
	}
	return err;
}

static int evidence_output_line(struct evidence_output *output, struct line_ref line,
				struct evidence_error *error)
{
	int err = output_put(output, line.text, line.size, error);

	return err ? err : output_put(output, "\n", 1, error);
}

int evidence_output_open(struct evidence_output **to, int file, struct line_ref head,
			 struct evidence_error *error)
{
	struct evidence_output *output = xcalloc(1, sizeof(*output));
	int err;

	output->file = file;
	output->zstd = ZSTD_createCCtx();
	if (!output->zstd)
		alloc_failed();
	ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_windowLog, WRITE_WINDOW_LOG);
	ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_checksumFlag, 1);
	err = output_put(output, HEAD, strlen(HEAD), error);
	err = err ? err : evidence_output_line(output, head, error);
	if (err) {
		evidence_output_free(output);
		return err;
	}
	*to = output;
	return 0;
}

/* Writes pending output, then frees in any case. */
static int evidence_output_close(struct evidence_output *output, struct evidence_error *error)
{
	int err = put_block(output, ZSTD_e_end, error);

	evidence_output_free(output);
	return err;
}

/* ---- writing lines, those of one key as one ---- */

static struct line_ref ref_of(const struct text *text)
{
	return (struct line_ref){ text->bytes.data, text->bytes.len };
}

/* Joins the pending line with this one. */
static int join_waiting(struct evidence_joiner *joiner, struct line_ref line,
			struct evidence_error *error)
{
	const char *why = line_join(joiner->kind, ref_of(&joiner->line), line, &joiner->joined);
	struct text spare = joiner->line;

	if (why)
		return evidence_fail(error, -EINVAL, "%.*s: %s", (int)joiner->key, line.text, why);
	joiner->line = joiner->joined;
	joiner->joined = spare;
	return 0;
}

static int joiner_put(struct evidence_joiner *joiner, struct evidence_error *error)
{
	return joiner->kind ? evidence_output_line(joiner->output, ref_of(&joiner->line), error)
			    : 0;
}

int joiner_take(struct evidence_joiner *joiner, struct line_ref line, struct evidence_error *error)
{
	const struct evidence_kind *kind = evidence_kind(line);
	struct line_ref key = line_key(kind, line),
			waiting = { joiner->line.bytes.data, joiner->key };
	int err;

	if (joiner->kind && !line_compare(key, waiting))
		return join_waiting(joiner, line, error);
	err = joiner_put(joiner, error);
	joiner->kind = kind;
	joiner->key = key.size;
	joiner->line.bytes.len = 0;
	text_add(&joiner->line, line.text, line.size);
	return err;
}

int joiner_end(struct evidence_joiner *joiner, int err, struct evidence_error *error)
{
	err = err ? err : joiner_put(joiner, error);
	vec_release(&joiner->line.bytes);
	vec_release(&joiner->joined.bytes);
	if (!err)
		return evidence_output_close(joiner->output, error);
	evidence_output_free(joiner->output);
	return err;
}
