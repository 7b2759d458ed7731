// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/evidence/evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "site/judge/evidence/io.h"
#include "site/judge/evidence/kinds.h"

/* ---- reading ---- */

static int feed_line(struct judge *judge, struct line_ref line, struct evidence_error *error)
{
	const struct evidence_kind *kind = evidence_kind(line);
	struct line_ref fields[LINE_MAX_FIELDS];
	const char *why;

	if (!line_fields(kind, line, fields))
		return evidence_fail(error, -EBADMSG, "a line has other fields than its kind: %s",
				     kind->name);
	why = kind->read(judge, fields);
	return why ? evidence_fail(error, -EBADMSG, "%s: %s", kind->name, why) : 0;
}

static int feed_file(struct judge *judge, int file, struct evidence_error *error)
{
	struct evidence_input *input;
	struct line_ref line;
	int err = evidence_input_open(&input, file, &line, error), got;

	if (err)
		return err;
	while ((got = evidence_input_next(input, &line, error)) > 0 && !err)
		err = feed_line(judge, line, error);
	evidence_input_free(input);
	return err ? err : got;
}

int evidence_check(int file, struct evidence_error *error)
{
	struct evidence_input *input;
	struct line_ref line;
	int err = evidence_input_open(&input, file, &line, error);

	if (err)
		return err;
	while ((err = evidence_input_next(input, &line, error)) > 0)
		;
	evidence_input_free(input);
	return err;
}

int judge_evidence_read(struct judge *judge, int file, struct evidence_error *error)
{
	return feed_file(judge, file, error);
}

/* ---- writing ---- */

/* Where messages of different sizes are told apart: "\t1024\t2048". */
static struct text head_of(const struct exhibits *exhibits)
{
	struct evidence_lines head = { 0 };

	for (size_t i = 0; i < exhibits->sizes.len; i++)
		if (exhibits->sizes.data[i] && exhibits->sizes.data[i] != UINT64_MAX)
			line_number(&head, exhibits->sizes.data[i]);
	return head.text;
}

/* Lines in order; those of one key become one. */
static int write_lines(const struct line_ref *refs, size_t count, struct evidence_output *output,
		       struct evidence_error *error)
{
	struct evidence_joiner joiner = { .output = output };
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = joiner_take(&joiner, refs[i], error);
	return joiner_end(&joiner, err, error);
}

int judge_evidence_write(struct judge *judge, const struct fact_totals *totals, int file,
			 struct evidence_error *error)
{
	struct evidence_lines lines = { 0 };
	struct evidence_output *output;
	struct line_ref *refs;
	struct text head;
	int err;

	exhibits_finish(&judge->exhibits, totals);
	head = head_of(&judge->exhibits);
	for (const struct evidence_kind *kind = evidence_kinds; kind->name; kind++)
		kind->write(judge, &lines);
	refs = evidence_lines_sorted(&lines);
	err = evidence_output_open(&output, file,
				   (struct line_ref){ head.bytes.data, head.bytes.len }, error);
	if (!err)
		err = write_lines(refs, lines.starts.len, output, error);
	free(refs);
	vec_release(&head.bytes);
	evidence_lines_release(&lines);
	return err;
}
