// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct filter_info filter_infos[FILTER_FIELDS] = {
	[FILTER_FUNCTION] = { "function", "LIST", "MPI functions, none = outside MPI",
			      "calls, operations, transfers, messages" },
	[FILTER_OP] = { "op", "LIST", "UCT operations (am_bcopy, get_*)", "transfers" },
	[FILTER_UCP_OP] = { "ucp-op", "LIST", "UCP operations (tag_send, put)",
			    "operations, transfers, messages" },
	[FILTER_TRANSPORT] = { "transport", "LIST", "UCX transports (posix, rc_*)", "transfers" },
	[FILTER_DEVICE] = { "device", "LIST", "UCX devices (memory, mlx5_0:*)", "transfers" },
	[FILTER_PROCESS] = { "process", "LIST",
			     "Processes: rank or pid (a plain number is either), rank:N, pid:N, "
			     "index:N, or command name",
			     "calls, operations, transfers, messages" },
	[FILTER_HOST] = { "host", "LIST", "Hosts, by name or boot id",
			  "calls, operations, transfers, messages" },
	[FILTER_KIND] = { "kind", "data|control|copy",
			  "Payload, UCX's own traffic, or copies within a process", "transfers" },
	[FILTER_MEMORY] = { "memory", "LIST",
			    "Memory (gpu0, gpu*, pinned, managed, host) of a buffer or of either end",
			    "operations, transfers, messages" },
	[FILTER_CALL_SITE] = { "call-site", "LIST",
			       "Where MPI was called: file:line, function or module (solve.c:*)",
			       "calls, operations, transfers" },
};

void filter_release(struct filter *filter)
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

int filter_add(struct filter *filter, enum filter_field field, const char *list, const char **why)
{
	char *copy = strdup(list), *rest = copy, *word;
	int err = copy ? 0 : -ENOMEM;

	*why = "out of memory";
	while (!err && (word = strsep(&rest, ","))) {
		if (!valid(field, word)) {
			*why = field == FILTER_KIND ? "not data, control or copy"
						    : "empty name in the list";
			err = -EINVAL;
			break;
		}
		vec_push(&filter->lists[field].patterns, strdup(word));
	}
	free(copy);
	return err;
}

bool filter_active(const struct filter *filter)
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

/* Strings are interned, so each is matched against the globs only once. */
static bool pass(struct filter *filter, enum filter_field field, const char *word)
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

/* Any of a place's names may fit; a place has one key, so each is matched only once. */
static bool pass_place(struct filter *filter, const struct place *place)
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

bool filter_process(const struct filter *filter, const struct fact_process *process)
{
	const struct filter_list *who, *host;

	if (!filter)
		return true;
	who = &filter->lists[FILTER_PROCESS];
	host = &filter->lists[FILTER_HOST];
	if (host->patterns.len && !any(host, process->host_name) && !any(host, process->host_id))
		return false;
	for (size_t i = 0; i < who->patterns.len; i++)
		if (is_process(who->patterns.data[i], process))
			return true;
	return !who->patterns.len;
}

static bool pass_either(struct filter *filter, const char *one, const char *other)
{
	return pass(filter, FILTER_MEMORY, one) || pass(filter, FILTER_MEMORY, other);
}

bool filter_call(struct filter *filter, const struct fact_call *call)
{
	return pass(filter, FILTER_FUNCTION, call->function) && pass_place(filter, call->place);
}

bool filter_op(struct filter *filter, const struct fact_op *op)
{
	return pass(filter, FILTER_FUNCTION, op->function) && pass(filter, FILTER_UCP_OP, op->op) &&
	       pass(filter, FILTER_MEMORY, op->memory) && pass_place(filter, op->place);
}

bool filter_transfer(struct filter *filter, const struct fact_transfer *transfer)
{
	return pass(filter, FILTER_KIND, fact_kind_names[transfer->kind]) &&
	       pass(filter, FILTER_OP, transfer->op) &&
	       pass(filter, FILTER_TRANSPORT, transfer->transport) &&
	       pass(filter, FILTER_DEVICE, transfer->device) &&
	       pass(filter, FILTER_UCP_OP, transfer->ucp_op) &&
	       pass_either(filter, transfer->src_mem, transfer->dst_mem) &&
	       pass_place(filter, transfer->place) &&
	       pass(filter, FILTER_FUNCTION, transfer->function);
}

bool filter_message(struct filter *filter, const struct fact_message *message)
{
	return pass(filter, FILTER_FUNCTION, message->function) &&
	       pass(filter, FILTER_UCP_OP, message->send_op) &&
	       pass_either(filter, message->src_mem, message->dst_mem);
}
