// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>

#include "site/judge/evidence/io.h"
#include "site/judge/evidence/kinds.h"

static struct line_ref ref_of(const struct text *text)
{
	return (struct line_ref){ text->bytes.data, text->bytes.len };
}

/* The line that waits is joined with this one. */
static int join(struct evidence_joiner *joiner, struct line_ref line, struct evidence_error *error)
{
	const char *why = line_join(joiner->kind, ref_of(&joiner->line), line, &joiner->joined);
	struct text spare = joiner->line;

	if (why)
		return evidence_fail(error, -EINVAL, "%.*s: %s", (int)joiner->key, line.text, why);
	joiner->line = joiner->joined;
	joiner->joined = spare;
	return 0;
}

static int put(struct evidence_joiner *joiner, struct evidence_error *error)
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
		return join(joiner, line, error);
	err = put(joiner, error);
	joiner->kind = kind;
	joiner->key = key.size;
	joiner->line.bytes.len = 0;
	text_add(&joiner->line, line.text, line.size);
	return err;
}

int joiner_end(struct evidence_joiner *joiner, int err, struct evidence_error *error)
{
	err = err ? err : put(joiner, error);
	vec_release(&joiner->line.bytes);
	vec_release(&joiner->joined.bytes);
	if (!err)
		return evidence_output_close(joiner->output, error);
	evidence_output_free(joiner->output);
	return err;
}
