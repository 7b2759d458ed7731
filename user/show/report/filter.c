// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define KEY_BIT(key) (1u << KEY_##key)

#define CAUSED_BY_TRANSFERS "transfers, and the operations, calls and messages of these"
#define CAUSED_BY_OPS "operations, transfers, messages, and their calls"

const struct filter_info filter_infos[FILTER_FIELDS] = {
	[FILTER_FUNCTION] = { "function", "LIST", "MPI functions, none = outside MPI",
			      "calls, operations, transfers, messages", KEY_BIT(FUNCTION),
			      FILTER_CALLS },
	[FILTER_OP] = { "op", "LIST", "UCT operations (am_bcopy, get_*)", CAUSED_BY_TRANSFERS,
			KEY_BIT(OP), FILTER_TRANSFERS },
	[FILTER_UCP_OP] = { "ucp-op", "LIST", "UCP operations (tag_send, put)", CAUSED_BY_OPS,
			    KEY_BIT(UCP_OP), FILTER_OPS },
	[FILTER_PROTOCOL] = { "protocol", "LIST", "UCP protocols (eager/*, rndv/get)",
			      CAUSED_BY_OPS, KEY_BIT(PROTOCOL), FILTER_OPS },
	[FILTER_TRANSPORT] = { "transport", "LIST", "UCX transports (posix, rc_*)",
			       CAUSED_BY_TRANSFERS, KEY_BIT(TRANSPORT), FILTER_TRANSFERS },
	[FILTER_DEVICE] = { "device", "LIST", "UCX devices (memory, mlx5_0:*)", CAUSED_BY_TRANSFERS,
			    KEY_BIT(DEVICE), FILTER_TRANSFERS },
	[FILTER_PROCESS] = { "process", "LIST",
			     "Processes: rank or pid (a plain number is either), rank:N, pid:N, "
			     "index:N, or command name",
			     "calls, operations, transfers, messages", 0, FILTER_CALLS },
	[FILTER_HOST] = { "host", "LIST", "Hosts, by name or boot id",
			  "calls, operations, transfers, messages", 0, FILTER_CALLS },
	[FILTER_KIND] = { "kind", "data|control|copy",
			  "Payload, UCX's own traffic, or copies within a process",
			  CAUSED_BY_TRANSFERS, KEY_BIT(KIND), FILTER_TRANSFERS },
	[FILTER_MEMORY] = { "memory", "LIST",
			    "Memory (gpu0, gpu*, pinned, managed, host) of a buffer or of either end",
			    CAUSED_BY_OPS, KEY_BIT(MEMORY) | KEY_BIT(SRC_MEM) | KEY_BIT(DST_MEM),
			    FILTER_OPS },
	[FILTER_CALL_SITE] = { "call-site", "LIST",
			       "Where MPI, or UCP outside of it, was called: file:line, function or "
			       "library (solve.c:*, libucxx*)",
			       "calls, operations, transfers, and their messages", KEY_BIT(PLACE),
			       FILTER_CALLS },
};

/* The next analysis has them at other addresses. */
static void forget_names(struct report_filter *filter)
{
	for (int i = 0; i < FILTER_FIELDS; i++)
		map_release(&filter->lists[i].seen);
	strings_release(&filter->process_names);
}

void filter_release(struct report_filter *filter)
{
	forget_names(filter);
	map_release(&filter->causes.ops);
	map_release(&filter->causes.calls);
	for (int i = 0; i < FILTER_FIELDS; i++) {
		struct filter_list *list = &filter->lists[i];

		for (size_t k = 0; k < list->patterns.len; k++)
			free(list->patterns.data[k]);
		vec_release(&list->patterns);
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

static bool matches(const struct filter_list *list, const char *name)
{
	return name && any(list, name);
}

static bool matches_file(const struct filter_list *list, const char *path)
{
	return path && any(list, basename(path));
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
	seen = map_insert(&list->seen, (uintptr_t)place->label, (uintptr_t)place->key, NULL);
	if (!*seen)
		*seen = any(list, place->label) || any(list, place->frame) ||
					any(list, place->module) ||
					matches_file(list, place->module) ||
					matches(list, place->symbol) ||
					matches(list, place->demangled)
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

/* As a pattern that selects it alone among the processes of its job. */
static const char *process_name(struct report_filter *filter, const struct fact_process *process)
{
	char name[32];

	if (process->rank < 0)
		snprintf(name, sizeof(name), "pid:%u", process->pid);
	else
		snprintf(name, sizeof(name), "rank:%d", process->rank);
	return strings_keep(&filter->process_names, name);
}

/* To be listed where nothing passes. */
static void note_name(struct filter_list *list, const char *name)
{
	if (list->patterns.len && name)
		map_insert(&list->seen, (uintptr_t)name, 0, NULL);
}

static void note_names(struct report_filter *filter, const struct fact_process *process)
{
	note_name(&filter->lists[FILTER_PROCESS], process_name(filter, process));
	note_name(&filter->lists[FILTER_HOST],
		  process->host_name ? process->host_name : process->host_id);
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
	if (selection->filter)
		forget_names(selection->filter);
}

static void selection_process(struct selection *selection, const struct fact_process *process)
{
	if (process->index < 0)
		return;
	while (selection->processes.len <= (size_t)process->index)
		vec_push(&selection->processes, true);
	selection->processes.data[process->index] = filter_process(selection->filter, process);
	note_names(selection->filter, process);
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
		if (selection_has(selection, key_word(key_at(column), fact)))
			return true;
		owned = true;
	}
	return !owned;
}

static bool passes_itself(struct selection *selection, enum fact_type type, const void *fact)
{
	if (!selection_has_owner(selection, type, fact))
		return false;
	for (enum filter_field field = 0; field < FILTER_FIELDS; field++)
		if (selection->filter->lists[field].patterns.len &&
		    !filter_field_passes(selection->filter, field, type, fact))
			return false;
	return true;
}

static bool is_in(const struct map *ids, uint64_t id)
{
	return id && map_find(ids, id, 0);
}

/* Whether the filter has a field that messages lack: their operations decide. */
static bool beyond_messages(const struct report_filter *filter)
{
	return filter_lowest(filter) > FILTER_OPS || filter->lists[FILTER_PROTOCOL].patterns.len ||
	       filter->lists[FILTER_CALL_SITE].patterns.len;
}

/* Facts that stand for many have no id: their own fields decide. */
static bool passes_by_causes(struct selection *selection, enum fact_type type, const void *fact)
{
	const struct filter_causes *causes = &selection->filter->causes;
	const struct fact_message *message = fact;
	const struct fact_call *call = fact;
	const struct fact_wait *wait = fact;
	const struct fact_op *op = fact;

	switch (type) {
	case FACT_CALL:
		pass_place(selection->filter, call->place); /* to be listed where nothing passes */
		return is_in(&causes->calls, call->id);
	case FACT_CALLS:
		/* those of a loop in one thread made no operation */
		return (!call->tid || filter_lowest(selection->filter) == FILTER_CALLS) &&
		       passes_itself(selection, type, fact);
	case FACT_OP:
		return is_in(&causes->ops, op->id);
	case FACT_WAIT:
		return is_in(&causes->calls, wait->call);
	case FACT_MESSAGE:
		return passes_itself(selection, type, fact) &&
		       (!beyond_messages(selection->filter) || is_in(&causes->ops, message->send) ||
			is_in(&causes->ops, message->recv));
	default:
		return passes_itself(selection, type, fact);
	}
}

/* Any of its calls passes. */
static bool passes_by_members(struct selection *selection, const struct fact_collective *fact)
{
	const struct filter_causes *causes = &selection->filter->causes;

	if (!passes_itself(selection, FACT_COLLECTIVE, fact))
		return false;
	for (int i = 0; i < fact->member_count; i++)
		if (causes->known ? is_in(&causes->calls, fact->members[i].call)
				  : selection_has(selection, fact->members[i].process))
			return true;
	return false;
}

bool selection_passes(struct selection *selection, enum fact_type type, const void *fact)
{
	if (!selection->active)
		return true;
	if (type == FACT_COLLECTIVE)
		return passes_by_members(selection, fact);
	if (type == FACT_PROCESS)
		selection_process(selection, fact);
	return selection->filter->causes.known ? passes_by_causes(selection, type, fact)
					       : passes_itself(selection, type, fact);
}

static int by_name(const void *left, const void *right)
{
	return strverscmp(*(const char *const *)left, *(const char *const *)right);
}

size_t filter_names(const struct report_filter *filter, enum filter_field field, const char **names,
		    size_t room)
{
	const struct map_slot *slot;
	size_t pos = 0, count = 0, distinct = 0;

	while (count < room && (slot = map_next(&filter->lists[field].seen, &pos)))
		names[count++] = slot->a ? (const char *)(uintptr_t)slot->a : "none";
	qsort(names, count, sizeof(*names), by_name);
	for (size_t i = 0; i < count; i++) /* several places may have one label */
		if (!distinct || strcmp(names[distinct - 1], names[i]) != 0)
			names[distinct++] = names[i];
	return distinct;
}

/* ---- causes ---- */

struct filter_scan {
	struct selection selection;
	struct map calls_of; /* operation -> the call that made it */
	enum filter_layer layer; /* the lowest one that the filter asks for */
};

enum filter_layer filter_lowest(const struct report_filter *filter)
{
	enum filter_layer lowest = FILTER_CALLS;

	for (int i = 0; i < FILTER_FIELDS; i++)
		if (filter->lists[i].patterns.len && filter_infos[i].layer > lowest)
			lowest = filter_infos[i].layer;
	return lowest;
}

bool filter_wants_causes(const struct report_filter *filter)
{
	return filter && (filter_lowest(filter) > FILTER_CALLS ||
			  filter->lists[FILTER_CALL_SITE].patterns.len);
}

static void add_id(struct map *ids, uint64_t id)
{
	if (id)
		map_insert(ids, id, 0, NULL);
}

static void scan_fact(void *arg, enum fact_type type, const void *fact,
		      const struct fact_sums *sums)
{
	struct filter_scan *scan = arg;
	struct filter_causes *causes = &scan->selection.filter->causes;
	const struct fact_transfer *transfer = fact;
	const struct fact_call *call = fact;
	const struct fact_op *op = fact;
	const bool passes = selection_passes(&scan->selection, type, fact);

	(void)sums;
	switch (type) {
	case FACT_TRANSFER:
	case FACT_TRANSFERS:
		if (passes)
			add_id(&causes->ops, transfer->caused_by);
		return;
	case FACT_OP:
		if (passes && scan->layer < FILTER_TRANSFERS)
			add_id(&causes->ops, op->id);
		if (op->call && op->id)
			*map_insert(&scan->calls_of, op->id, 0, NULL) = op->call;
		return;
	case FACT_CALL:
		if (passes && scan->layer < FILTER_OPS)
			add_id(&causes->calls, call->id);
		return;
	default:
		return;
	}
}

struct filter_scan *filter_scan_begin(struct report_filter *filter, struct fact_sink *sink)
{
	struct filter_scan *scan = xcalloc(1, sizeof(*scan));

	selection_init(&scan->selection, filter);
	scan->layer = filter_lowest(filter);
	*sink = (struct fact_sink){ scan, scan_fact };
	return scan;
}

void filter_scan_end(struct filter_scan *scan)
{
	struct report_filter *filter = scan->selection.filter;
	const struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&filter->causes.ops, &pos))) {
		const uint64_t *call = map_find(&scan->calls_of, slot->a, 0);

		add_id(&filter->causes.calls, call ? *call : 0);
	}
	filter->causes.known = true;
	map_release(&scan->calls_of);
	selection_release(&scan->selection);
	free(scan);
}
