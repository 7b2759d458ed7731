// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/evidence/kinds.h"

#include <string.h>

const char *field_kept(struct exhibits *exhibits, struct line_ref field)
{
	char *room = malloc(field.size + 1);
	const char *word = words_keep(&exhibits->words, field_word(field, room));

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

int field_process(struct exhibits *exhibits, struct line_ref field)
{
	const char *id = field_kept(exhibits, field);

	return id ? (int)(exhibits_member(exhibits, id) - exhibits->members.data) : -1;
}

const struct evidence_kind evidence_kinds[] = {
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
