// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "site/judge/evidence/io.h"

#define LEVEL 3
#define WINDOW_LOG 17 /* what a reader keeps: many files are read at a time */
#define BLOCK (128 * 1024)
#define HEAD "#" EVIDENCE_SCHEMA

struct evidence_output {
	int file;
	ZSTD_CCtx *zstd;
	size_t used;
	/* Whole blocks go to the compressor, so that its output depends on the text alone. */
	char block[BLOCK];
	char packed[BLOCK];
};

void evidence_output_free(struct evidence_output *output)
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

static int put(struct evidence_output *output, const char *text, size_t size,
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

int evidence_output_line(struct evidence_output *output, struct line_ref line,
			 struct evidence_error *error)
{
	int err = put(output, line.text, line.size, error);

	return err ? err : put(output, "\n", 1, error);
}

int evidence_output_open(struct evidence_output **to, int file, struct line_ref head,
			 struct evidence_error *error)
{
	struct evidence_output *output = calloc(1, sizeof(*output));
	int err;

	output->file = file;
	output->zstd = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_windowLog, WINDOW_LOG);
	ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_checksumFlag, 1);
	err = put(output, HEAD, strlen(HEAD), error);
	err = err ? err : evidence_output_line(output, head, error);
	if (err) {
		evidence_output_free(output);
		return err;
	}
	*to = output;
	return 0;
}

int evidence_output_close(struct evidence_output *output, struct evidence_error *error)
{
	int err = put_block(output, ZSTD_e_end, error);

	evidence_output_free(output);
	return err;
}
