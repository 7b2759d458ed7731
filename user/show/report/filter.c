// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define KEY_BIT(key) (1u << KEY_##key)

const struct filter_info filter_infos[FILTER_FIELDS] = {
	[FILTER_FUNCTION] = { "function", "LIST", "MPI functions, none = outside MPI",
			      "calls, operations, transfers, messages", KEY_BIT(FUNCTION) },
	[FILTER_OP] = { "op", "LIST", "UCT operations (am_bcopy, get_*)", "transfers",
			KEY_BIT(OP) },
	[FILTER_UCP_OP] = { "ucp-op", "LIST", "UCP operations (tag_send, put)",
			    "operations, transfers, messages", KEY_BIT(UCP_OP) },
	[FILTER_TRANSPORT] = { "transport", "LIST", "UCX transports (posix, rc_*)", "transfers",
			       KEY_BIT(TRANSPORT) },
	[FILTER_DEVICE] = { "device", "LIST", "UCX devices (memory, mlx5_0:*)", "transfers",
			    KEY_BIT(DEVICE) },
	[FILTER_PROCESS] = { "process", "LIST",
			     "Processes: rank or pid (a plain number is either), rank:N, pid:N, "
			     "index:N, or command name",
			     "calls, operations, transfers, messages", 0 },
	[FILTER_HOST] = { "host", "LIST", "Hosts, by name or boot id",
			  "calls, operations, transfers, messages", 0 },
	[FILTER_KIND] = { "kind", "data|control|copy",
			  "Payload, UCX's own traffic, or copies within a process", "transfers",
			  KEY_BIT(KIND) },
	[FILTER_MEMORY] = { "memory", "LIST",
			    "Memory (gpu0, gpu*, pinned, managed, host) of a buffer or of either end",
			    "operations, transfers, messages",
			    KEY_BIT(MEMORY) | KEY_BIT(SRC_MEM) | KEY_BIT(DST_MEM) },
	[FILTER_CALL_SITE] = { "call-site", "LIST",
			       "Where MPI was called: file:line, function or module (solve.c:*)",
			       "calls, operations, transfers", KEY_BIT(PLACE) },
};

void filter_release(struct report_filter *filter)
{
	for (int i = 0; i < FILTER_FIELDS; i++) {
		struct filter_list *list = &filter->lists[i];

		for (size_t k = 0; k < list->patterns.len; k++)
			free(list->patterns.data[k]);
		vec_release(&list->patterns);
		map_release(&list->seen);
	}
}

static bool valid(enum filter_field field, const char *pattern)
{
	if (field == FILTER_KIND)
		return !strcmp(pattern, "data") || !strcmp(pattern, "control") ||
		       !strcmp(pattern, "copy");
	return *pattern != '\0';
}

int filter_add(struct report_filter *filter, enum filter_field field, const char *list,
	       const char **why)
{
	char *copy = xstrdup(list), *rest = copy, *word;
	int err = 0;

	while (!err && (word = strsep(&rest, ","))) {
		if (!valid(field, word)) {
			*why = field == FILTER_KIND ? "not data, control or copy"
						    : "empty name in the list";
			err = -EINVAL;
			break;
		}
		vec_push(&filter->lists[field].patterns, xstrdup(word));
	}
	free(copy);
	return err;
}

bool filter_active(const struct report_filter *filter)
{
	for (int i = 0; filter && i < FILTER_FIELDS; i++)
		if (filter->lists[i].patterns.len)
			return true;
	return false;
}

static bool glob(const char *pattern, const char *word)
{
	return !fnmatch(pattern, word ? word : "none", FNM_CASEFOLD);
}

static bool any(const struct filter_list *list, const char *word)
{
	for (size_t i = 0; i < list->patterns.len; i++)
		if (glob(list->patterns.data[i], word))
			return true;
	return false;
}

/* Strings are interned: each is matched against the globs only once. */
static bool pass(struct report_filter *filter, enum filter_field field, const char *word)
{
	struct filter_list *list = &filter->lists[field];
	uint64_t *seen;

	if (!list->patterns.len)
		return true;
	seen = map_insert(&list->seen, (uintptr_t)word, 0, NULL);
	if (!*seen)
		*seen = any(list, word) ? 1 : 2;
	return *seen == 1;
}

/* Any name of a place may match; a place has one key, so each is matched only once. */
static bool pass_place(struct report_filter *filter, const struct place *place)
{
	struct filter_list *list = &filter->lists[FILTER_CALL_SITE];
	uint64_t *seen;

	if (!list->patterns.len)
		return true;
	if (!place)
		return any(list, NULL);
	seen = map_insert(&list->seen, (uintptr_t)place->key, 0, NULL);
	if (!*seen)
		*seen = any(list, place->label) || any(list, place->frame) ||
					any(list, place->module)
				? 1
				: 2;
	return *seen == 1;
}

static bool number_is(const char *word, int64_t value)
{
	char *end;
	long long n = strtoll(word, &end, 10);

	return *word && !*end && value >= 0 && n == value;
}

static bool is_process(const char *who, const struct fact_process *process)
{
	if (!strncasecmp(who, "rank:", 5))
		return number_is(who + 5, process->rank);
	if (!strncasecmp(who, "pid:", 4))
		return number_is(who + 4, process->pid) || number_is(who + 4, process->tgid);
	if (!strncasecmp(who, "index:", 6))
		return number_is(who + 6, process->index);
	return number_is(who, process->rank) || number_is(who, process->pid) ||
	       number_is(who, process->tgid) || (process->comm && glob(who, process->comm));
}

static bool filter_process(const struct report_filter *filter, const struct fact_process *process)
{
	const struct filter_list *who, *host;

	who = &filter->lists[FILTER_PROCESS];
	host = &filter->lists[FILTER_HOST];
	if (host->patterns.len && !any(host, process->host_name) && !any(host, process->host_id))
		return false;
	for (size_t i = 0; i < who->patterns.len; i++)
		if (is_process(who->patterns.data[i], process))
			return true;
	return !who->patterns.len;
}

/* Whether a value fits; a fact without any of the field's keys passes. */
static bool filter_field_passes(struct report_filter *filter, enum filter_field field,
				enum fact_type type, const void *fact)
{
	const unsigned int keys = filter_infos[field].keys;
	const struct fact_column *column = fact_infos[type].columns;
	bool has = false;

	for (; column->name; column++) {
		struct column_value value;

		if (!(keys >> column->key & 1))
			continue;
		has = true;
		value = column_value(column, fact);
		if (column->type == COLUMN_PLACE ? pass_place(filter, value.pointer)
						 : pass(filter, field, value.text))
			return true;
	}
	return !has;
}

void selection_init(struct selection *selection, struct report_filter *filter)
{
	*selection = (struct selection){ .filter = filter, .active = filter_active(filter) };
}

void selection_release(struct selection *selection)
{
	vec_release(&selection->processes);
}

static void selection_process(struct selection *selection, const struct fact_process *process)
{
	if (process->index < 0)
		return;
	while (selection->processes.len <= (size_t)process->index)
		vec_push(&selection->processes, true);
	selection->processes.data[process->index] = filter_process(selection->filter, process);
}

static bool selection_has(const struct selection *selection, uint64_t process)
{
	return process >= selection->processes.len || selection->processes.data[process];
}

static bool selection_has_owner(const struct selection *selection, enum fact_type type,
				const void *fact)
{
	const unsigned int owners = KEY_BIT(PROCESS) | KEY_BIT(SRC) | KEY_BIT(DST);
	const struct fact_column *column = fact_infos[type].columns;
	bool owned = false;

	for (; column->name; column++) {
		if (!(owners >> column->key & 1))
			continue;
		if (selection_has(selection, column_word(column, fact)))
			return true;
		owned = true;
	}
	return !owned;
}

bool selection_passes(struct selection *selection, enum fact_type type, const void *fact)
{
	if (!selection->active)
		return true;
	if (type == FACT_PROCESS)
		selection_process(selection, fact);
	if (!selection_has_owner(selection, type, fact))
		return false;
	for (enum filter_field field = 0; field < FILTER_FIELDS; field++)
		if (selection->filter->lists[field].patterns.len &&
		    !filter_field_passes(selection->filter, field, type, fact))
			return false;
	return true;
}
