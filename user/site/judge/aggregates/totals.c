// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/aggregates/totals.h"

#include <stdlib.h>
#include <string.h>

#include "site/judge/words/words.h"

#define MEMBER(name)                                                                               \
	{                                                                                          \
#name, offsetof(struct fact_totals, name)                                          \
	}

const struct totals_member totals_numbers[TOTALS_NUMBERS] = {
	MEMBER(produced),
	MEMBER(stored),
	MEMBER(sends),
	MEMBER(receives),
	MEMBER(matched),
	MEMBER(ambiguous),
	MEMBER(data_bytes),
	MEMBER(to_op_bytes),
	MEMBER(to_call_bytes),
	MEMBER(unexplained_bytes),
	MEMBER(captures),
	MEMBER(damaged_bytes),
	MEMBER(short_sends.unproven),
	MEMBER(waits_hidden.waits),
	MEMBER(waits_hidden.progress),
	MEMBER(waits_hidden.collectives),
	MEMBER(unmapped),
	MEMBER(freed_unsure),
};

const struct totals_member totals_lists[TOTALS_LISTS] = {
	MEMBER(dropped),     MEMBER(unmatched_sends), MEMBER(unmatched_receives),
	MEMBER(unexplained), MEMBER(notes),
};

static void *member_of(struct fact_totals *totals, const struct totals_member *members,
		       size_t count, const char *name)
{
	for (size_t i = 0; name && i < count; i++)
		if (!strcmp(members[i].name, name))
			return (char *)totals + members[i].offset;
	return NULL;
}

uint64_t *totals_number(struct fact_totals *totals, const char *name)
{
	return member_of(totals, totals_numbers, TOTALS_NUMBERS, name);
}

struct fact_reason *totals_list(struct fact_totals *totals, const char *name)
{
	return member_of(totals, totals_lists, TOTALS_LISTS, name);
}

void totals_reason(struct fact_reason *list, const char *reason, uint64_t count)
{
	int i = 0;

	while (i < FACT_MAX_REASONS - 1 && list[i].reason && strcmp(list[i].reason, reason))
		i++;
	if (!list[i].reason)
		list[i].reason = reason;
	list[i].count += count;
}

static int by_count(const void *left, const void *right)
{
	const struct fact_reason *a = left, *b = right;

	if (!a->reason || !b->reason)
		return !a->reason - !b->reason;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return strcmp(a->reason, b->reason);
}

void totals_order(struct fact_totals *totals)
{
	for (size_t i = 0; i < TOTALS_LISTS; i++)
		qsort((char *)totals + totals_lists[i].offset, FACT_MAX_REASONS,
		      sizeof(struct fact_reason), by_count);
}

uint64_t reasons_sum(const struct fact_reason *reasons)
{
	uint64_t sum = 0;

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		sum += reasons[i].reason ? reasons[i].count : 0;
	return sum;
}

/* ---- losses by node ---- */

const char *const loss_names[LOSS_KINDS] = { "records", "missing", "hits",  "bytes", "files",
					     "thinned", "windows", "spans", "narrow" };

void losses_release(struct losses *losses)
{
	words_release(&losses->names);
	vec_release(&losses->list);
}

void losses_add(struct losses *losses, const char *node, enum loss_kind kind, uint64_t count)
{
	const char *name = count ? words_keep(&losses->names, node) : NULL;

	if (!name)
		return;
	for (size_t i = 0; i < losses->list.len; i++)
		if (losses->list.data[i].node == name) {
			losses->list.data[i].counts[kind] += count;
			return;
		}
	vec_push(&losses->list, (struct node_loss){ .node = name });
	losses->list.data[losses->list.len - 1].counts[kind] = count;
}

static int by_name(const void *left, const void *right)
{
	const struct node_loss *a = left, *b = right;

	return strcmp(a->node, b->node);
}

void losses_order(struct losses *losses)
{
	if (losses->list.len)
		qsort(losses->list.data, losses->list.len, sizeof(*losses->list.data), by_name);
}

uint64_t losses_sum(const struct losses *losses, enum loss_kind kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < losses->list.len; i++)
		sum += losses->list.data[i].counts[kind];
	return sum;
}

bool losses_has(const struct losses *losses, const char *node)
{
	return losses->list.len && node && words_find(&losses->names, node, strlen(node));
}

static enum lack lack_of(const struct node_loss *loss)
{
	for (int kind = 0; kind < LOSS_KINDS; kind++)
		if (loss->counts[kind] && kind != LOSS_WINDOWS && kind != LOSS_SPANS)
			return LACK_RECORDS;
	return loss->counts[LOSS_SPANS] ? LACK_TIMES : LACK_RECORDS;
}

enum lack losses_worst(const struct losses *losses, const char **node)
{
	enum lack worst = LACK_NOTHING;

	*node = NULL;
	for (size_t i = 0; i < losses->list.len; i++) {
		const struct node_loss *loss = &losses->list.data[i];
		enum lack lack = lack_of(loss);

		if (lack <= worst)
			continue;
		worst = lack;
		*node = loss->node;
	}
	return worst;
}

enum lack losses_in(const struct losses *losses, const struct subject *subject, const char **node)
{
	const char *found[SUBJECT_NODES];
	size_t count = subject_nodes(subject, &losses->names, found);
	enum lack worst = LACK_NOTHING;

	*node = NULL;
	for (size_t i = 0; i < count; i++) {
		const struct node_loss key = { .node = found[i] };
		const struct node_loss *loss =
			bsearch(&key, losses->list.data, losses->list.len, sizeof(key), by_name);
		enum lack lack = loss ? lack_of(loss) : LACK_NOTHING;

		if (lack <= worst)
			continue;
		worst = lack;
		*node = loss->node;
	}
	return worst;
}
