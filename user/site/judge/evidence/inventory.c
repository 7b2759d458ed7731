// SPDX-License-Identifier: BSD-3-Clause
/* Inventories, as lines of evidence: all of each node, as they are. */
#include <stdio.h>
#include <stdlib.h>

#include "site/judge/evidence/kinds.h"

static void write_one(const struct inventory *inventory, struct evidence_lines *lines)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out || inventory_write(inventory, out) || fclose(out))
		abort();
	line_begin(lines, "inventory");
	line_word(lines, inventory->host);
	line_index(lines, inventory->mono_ns);
	line_word(lines, inventory->boot_id);
	line_word(lines, text);
	free(text);
}

void write_inventories(const struct judge *judge, struct evidence_lines *lines)
{
	for (size_t i = 0; i < judge->inventories.list.len; i++) {
		const struct node_inventory *node = &judge->inventories.list.data[i];

		for (size_t k = 0; k < node->all.len; k++)
			write_one(node->all.data[k], lines);
	}
}

const char *read_inventory(struct judge *judge, const struct line_ref *fields)
{
	struct inventory *inventory;
	char why[INVENTORY_WHY], *room = malloc(fields[3].size + 1);
	const char *text = field_word(fields[3], room);
	int err = text ? inventory_parse(text, &inventory, why) : -1;

	free(room);
	if (err)
		return "none that this version knows";
	vec_push(&judge->inventories.kept, inventory);
	judge_inventory(judge, inventory);
	return NULL;
}
