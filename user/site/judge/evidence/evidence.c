// SPDX-License-Identifier: BSD-3-Clause
/* The kinds of lines, a row each, and by them a whole judge from a file or into one. */
#include "site/judge/evidence/evidence.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "site/judge/evidence/file.h"
#include "site/judge/evidence/kinds.h"

/* ---- kinds ---- */

const char *field_kept(struct aggregates *aggregates, struct line_ref field)
{
	char *room = xmalloc(field.size + 1);
	const char *word = words_keep(&aggregates->words, field_word(field, room));

	free(room);
	return word;
}

bool field_index(struct line_ref field, int *index)
{
	uint64_t number;

	*index = -1;
	if (field.size && *field.text == '\\')
		return true;
	if (!field_number(field, &number) || number > INT32_MAX)
		return false;
	*index = number;
	return true;
}

int field_process(struct aggregates *aggregates, struct line_ref field)
{
	const char *id = field_kept(aggregates, field);

	return id ? (int)(aggregates_member(aggregates, id) - aggregates->members.data) : -1;
}

/* In the order of their names; behind the last one, a name that is NULL. */
static const struct evidence_kind evidence_kinds[] = {
	{ "capture", 3, "",
	  "holds a capture that another part holds, too: a sum of both counts it "
	  "twice",
	  write_captures, read_capture },
	{ "cell", 11, "++<>3", NULL, write_cells, read_cell },
	{ "collective", 1, "+++", NULL, write_collectives, read_collective },
	{ "cpus", 1, "w", NULL, write_cpus, read_cpus },
	{ "death", 1, ">>", NULL, write_deaths, read_death },
	{ "environment", 2, "w", NULL, write_environment, read_environment },
	{ "inventory", 3, "w", NULL, write_inventories, read_inventory },
	{ "lanes", 6, "w", NULL, write_lanes, read_lanes },
	{ "level", 1, "", NULL, write_levels, read_level },
	{ "library", 2, "wwww", NULL, write_libraries, read_library },
	{ "loss", 2, "+", NULL, write_losses, read_loss },
	{ "met", 3, "+", NULL, write_met, read_met },
	{ "plan", 1, "w", NULL, write_plans, read_plan },
	{ "process", 1, "++wwwwwwwwwwww", NULL, write_processes, read_process },
	{ "rank", 2, "wwwwwwwwwwwwwww", NULL, write_ranks, read_rank },
	{ "reason", 2, "+", NULL, write_reasons, read_reason },
	{ "sent", 3, "+", NULL, write_sent, read_sent },
	{ "start", 1, "", NULL, write_starts, read_start },
	{ "stray", 1, "+", NULL, write_strays, read_stray },
	{ "sum", 9, "+++<>", NULL, write_sums, read_sum },
	{ "total", 1, "+", NULL, write_totals, read_total },
	{ "transfer", 6, "wwww+wwww", NULL, write_transfers, read_transfer },
	{ "wait", 1, "+<>+++>", NULL, write_waits, read_waits },
	{ 0 },
};

const struct evidence_kind *evidence_kind(struct line_ref line)
{
	const char *tab = memchr(line.text, '\t', line.size);
	size_t size = tab ? (size_t)(tab - line.text) : line.size;

	for (const struct evidence_kind *kind = evidence_kinds; kind->name; kind++)
		if (strlen(kind->name) == size && !memcmp(kind->name, line.text, size))
			return kind;
	return NULL;
}

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
	input_begins(judge);
	return feed_file(judge, file, error);
}

/* ---- writing ---- */

/* The limits of the size classes: "\t1024\t2048". */
static struct text head_of(const struct aggregates *aggregates)
{
	struct evidence_lines head = { 0 };

	for (size_t i = 0; i < aggregates->sizes.len; i++)
		if (aggregates->sizes.data[i] && aggregates->sizes.data[i] != UINT64_MAX)
			line_number(&head, aggregates->sizes.data[i]);
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

	assert(judge->phase <= JUDGE_FED);
	judge->phase = JUDGE_WRITTEN;
	aggregates_finish(&judge->aggregates, totals);
	head = head_of(&judge->aggregates);
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
