// SPDX-License-Identifier: BSD-3-Clause
/* The report's tables, queries on the whole report, and traffic between hosts by NIC. */
#include "show/report/internal.h"

#include <string.h>

const struct cube_shape report_calls_shape = {
	2,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "function", CUBE_STRING, "unknown" },
	},
};

const struct cube_shape report_plain_ops_shape = {
	4,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "op", CUBE_STRING, "unknown" },
		{ "function", CUBE_STRING, NULL },
		{ "protocol", CUBE_STRING, "unknown" },
	},
};

static const struct cube_shape ops_shape = {
	7,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "op", CUBE_STRING, "unknown" },
		{ "function", CUBE_STRING, NULL },
		{ "protocol", CUBE_STRING, "unknown" },
		{ "memory", CUBE_STRING, "unknown" },
		{ "memory_reason", CUBE_STRING, NULL },
		{ "memory_known_by", CUBE_STRING, NULL },
	},
};

#define TRANSFER_KEYS                                                                              \
	[T_PROCESS] = { "process", CUBE_PROCESS, NULL },                                           \
	[T_PEER] = { "peer", CUBE_PROCESS, NULL }, [T_OP] = { "op", CUBE_STRING, "unknown" },      \
	[T_TRANSPORT] = { "transport", CUBE_STRING, "unknown" },                                   \
	[T_DEVICE] = { "device", CUBE_STRING, "unknown" },                                         \
	[T_LOCALITY] = { "locality", CUBE_LOCALITY, NULL },                                        \
	[T_KIND] = { "kind", CUBE_KIND, NULL },                                                    \
	[T_DATA_PATH] = { "data_path", CUBE_STRING, "unknown" },                                   \
	[T_INITIATOR] = { "initiator", CUBE_STRING, "unknown" },                                   \
	[T_UCP_OP] = { "ucp_op", CUBE_STRING, NULL },                                              \
	[T_FUNCTION] = { "function", CUBE_STRING, NULL },                                          \
	[T_PROTOCOL] = { "protocol", CUBE_STRING, "unknown" },                                     \
	[T_SRC_MEM] = { "src_mem", CUBE_STRING, "unknown" },                                       \
	[T_DST_MEM] = { "dst_mem", CUBE_STRING, "unknown" }

const struct cube_shape report_plain_transfers_shape = { 14, { TRANSFER_KEYS } };

static const struct cube_shape transfers_shape = {
	16,
	{
		TRANSFER_KEYS,
		[T_SRC_REASON] = { "src_reason", CUBE_STRING, NULL },
		[T_DST_REASON] = { "dst_reason", CUBE_STRING, NULL },
	},
};

#define PATH_KEYS                                                                                  \
	[P_TRANSPORT] = { "transport", CUBE_STRING, "unknown" },                                   \
	[P_DEVICE] = { "device", CUBE_STRING, "unknown" },                                         \
	[P_OP] = { "op", CUBE_STRING, "unknown" },                                                 \
	[P_PROTOCOL] = { "protocol", CUBE_STRING, "unknown" },                                     \
	[P_LOCALITY] = { "locality", CUBE_LOCALITY, NULL },                                        \
	[P_KIND] = { "kind", CUBE_KIND, NULL },                                                    \
	[P_DATA_PATH] = { "data_path", CUBE_STRING, "unknown" },                                   \
	[P_INITIATOR] = { "initiator", CUBE_STRING, "unknown" }

const struct cube_shape report_path_shape = {
	P_KEYS,
	{
		PATH_KEYS,
		[P_SRC_MEM] = { "src_mem", CUBE_STRING, "unknown" },
		[P_DST_MEM] = { "dst_mem", CUBE_STRING, "unknown" },
	},
};

static const struct cube_shape plain_path_shape = { P_SRC_MEM, { PATH_KEYS } };

static const unsigned char path_of_transfer[P_KEYS] = {
	T_TRANSPORT, T_DEVICE,    T_OP,        T_PROTOCOL, T_LOCALITY,
	T_KIND,      T_DATA_PATH, T_INITIATOR, T_SRC_MEM,  T_DST_MEM,
};
static const unsigned char path_of_path[P_KEYS] = {
	P_TRANSPORT, P_DEVICE,    P_OP,        P_PROTOCOL, P_LOCALITY,
	P_KIND,      P_DATA_PATH, P_INITIATOR, P_SRC_MEM,  P_DST_MEM,
};

static const struct cube_shape function_shape = { 1, { { "function", CUBE_STRING, "unknown" } } };
static const unsigned char function_of_call[] = { 1 };

static const struct cube_shape errors_shape = {
	7,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "what", CUBE_STRING, "unknown" },
		{ "status", CUBE_STRING, "unknown" },
		{ "op", CUBE_STRING, NULL },
		{ "function", CUBE_STRING, NULL },
		{ "transport", CUBE_STRING, NULL },
		{ "device", CUBE_STRING, NULL },
	},
};

const struct cube_shape report_call_sites_shape = {
	3,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "function", CUBE_STRING, "unknown" },
		{ "place", CUBE_STRING, NULL },
	},
};

const struct cube_shape report_callers_shape = {
	3,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "op", CUBE_STRING, "unknown" },
		{ "place", CUBE_STRING, NULL },
	},
};

const struct cube_shape report_stacks_shape = {
	3,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "function", CUBE_STRING, "unknown" },
		{ "stack", CUBE_STRING, NULL },
	},
};

#define MESSAGE_KEYS                                                                               \
	[M_SRC] = { "src", CUBE_PROCESS, NULL }, [M_DST] = { "dst", CUBE_PROCESS, NULL },          \
	[M_FUNCTION] = { "function", CUBE_STRING, NULL }

const struct cube_shape report_plain_messages_shape = { 3, { MESSAGE_KEYS } };

static const struct cube_shape messages_shape = {
	10,
	{
		MESSAGE_KEYS,
		[M_SRC_MEM] = { "src_mem", CUBE_STRING, "unknown" },
		[M_DST_MEM] = { "dst_mem", CUBE_STRING, "unknown" },
		[M_SRC_REASON] = { "src_reason", CUBE_STRING, NULL },
		[M_DST_REASON] = { "dst_reason", CUBE_STRING, NULL },
		[M_CHAIN] = { "chain", CUBE_LIST, NULL },
		[M_VIA] = { "via", CUBE_LIST, NULL },
		[M_CHAIN_REASON] = { "chain_reason", CUBE_STRING, NULL },
	},
};

bool report_knows_memory(const struct report *report)
{
	return report->gpu;
}

struct durations report_paths(const struct report *report)
{
	struct durations paths;

	durations_init(&paths, report_knows_memory(report) ? &report_path_shape : &plain_path_shape,
		       path_of_path);
	durations_join(&paths, &report->path_durations);
	return paths;
}

struct report *report_new(struct report_filter *filter)
{
	struct report *report = NULL;
	size_t room = 0;

	report = vec_grow(report, &room, 1, sizeof(*report));
	*report = (struct report){ .filter = filter, .filtering = filter_active(filter) };
	selection_init(&report->selection, filter);
	cube_init(&report->calls, &report_calls_shape);
	cube_init(&report->ops, &ops_shape);
	cube_init(&report->transfers, &transfers_shape);
	cube_init(&report->messages, &messages_shape);
	cube_bind(&report->calls, FACT_CALL);
	cube_bind(&report->ops, FACT_OP);
	cube_bind(&report->transfers, FACT_TRANSFER);
	cube_bind(&report->messages, FACT_MESSAGE);
	cube_init(&report->errors, &errors_shape);
	cube_bind(&report->errors, FACT_ERRORS);
	cube_init(&report->call_sites, &report_call_sites_shape);
	cube_init(&report->callers, &report_callers_shape);
	cube_init(&report->stacks, &report_stacks_shape);
	durations_init(&report->call_durations, &function_shape, function_of_call);
	durations_init(&report->path_durations, &report_path_shape, path_of_transfer);
	return report;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->processes.len; i++) {
		free((void *)report->processes.data[i].fact.ucx);
		free((void *)report->processes.data[i].fact.environment);
	}
	selection_release(&report->selection);
	vec_release(&report->processes);
	vec_release(&report->hosts);
	vec_release(&report->windows);
	vec_release(&report->memory);
	clocks_release(&report->clocks);
	report_functions_release(&report->functions);
	report_sizes_release(&report->sizes);
	report_waits_release(&report->waits);
	report_collectives_release(&report->collectives);
	report_tags_release(&report->tags);
	cube_release(&report->calls);
	cube_release(&report->ops);
	cube_release(&report->transfers);
	cube_release(&report->messages);
	cube_release(&report->errors);
	cube_release(&report->call_sites);
	cube_release(&report->callers);
	cube_release(&report->stacks);
	durations_release(&report->call_durations);
	durations_release(&report->path_durations);
	map_release(&report->places);
	map_release(&report->paths);
	free(report);
}

static int by_text(const char *left, const char *right)
{
	if (!left || !right)
		return !right - !left;
	return strcmp(left, right);
}

static int by_memory(const void *left, const void *right)
{
	const struct fact_memory *a = left, *b = right;
	int order = (a->process > b->process) - (a->process < b->process);

	order = order ? order : by_text(a->kind, b->kind);
	order = order ? order : by_text(a->sort, b->sort);
	order = order ? order : (a->device > b->device) - (a->device < b->device);
	order = order ? order : (a->exporter > b->exporter) - (a->exporter < b->exporter);
	order = order ? order : by_text(a->reason, b->reason);
	return order ? order : by_text(a->function, b->function);
}

void report_finish(struct report *report, const struct fact_totals *totals)
{
	report->totals = *totals;
	if (report->memory.len)
		qsort(report->memory.data, report->memory.len, sizeof(*report->memory.data),
		      by_memory);
	clocks_order(&report->clocks);
	report_waits_finish(&report->waits);
	report_collectives_finish(&report->collectives);
	report_tags_finish(&report->tags);
	report_sizes_finish(&report->sizes);
	cube_join(&report->calls);
	report_functions_sum(&report->functions, &report->calls, &report->call_durations);
	cube_join(&report->ops);
	cube_join(&report->callers);
	cube_join(&report->transfers);
	cube_join(&report->messages);
}

bool report_lacks_detail(const struct fact_totals *totals)
{
	return totals->calls.of > totals->calls.recorded || totals->ops.of > totals->ops.recorded ||
	       totals->transfers.of > totals->transfers.recorded || totals->unsummed;
}

bool report_only_counts(const struct report *report)
{
	return report->totals.counted && report->totals.counted == report->totals.captures;
}

bool report_selects_nothing(const struct report *report)
{
	const enum filter_layer layer =
		report->filtering ? filter_lowest(report->filter) : FILTER_CALLS;

	return report->filtering && !report->selected.transfers.count &&
	       (layer > FILTER_OPS || !report->selected.ops.count) &&
	       (layer > FILTER_CALLS || !report->selected.calls.count) &&
	       !report->selected.messages.count;
}

const struct report_process *report_process_at(const struct report *report, int64_t index)
{
	const struct report_process *process;

	if (index < 0 || (size_t)index >= report->processes.len)
		return NULL;
	process = &report->processes.data[index];
	return process->known ? process : NULL;
}

static const struct fact_process *known_process(const void *arg, size_t index)
{
	const struct report_process *process = report_process_at(arg, (int64_t)index);

	return process ? &process->fact : NULL;
}

void report_behind(const struct report *report, hang_rows *rows)
{
	const struct hang_processes processes = { report->processes.len, known_process, report };

	hang_find(&report->waits.hang, &processes, rows);
}

/* The part of a time that a host's windows cover: all of it without them, or with several captures.
 */
static uint64_t recorded(const struct report *report, int host, uint64_t from, uint64_t until)
{
	const struct fact_window *first = NULL;
	uint64_t ns = 0;

	for (size_t i = 0; i < report->windows.len; i++) {
		const struct fact_window *window = &report->windows.data[i];
		const uint64_t begin = window->from > from ? window->from : from;
		const uint64_t end = window->to < until ? window->to : until;

		if (window->host != host)
			continue;
		if (first && window->capture != first->capture)
			return until - from;
		first = window;
		ns += end > begin ? end - begin : 0;
	}
	return first ? ns : until - from;
}

uint64_t report_process_span(const struct report *report, int process)
{
	const struct report_process *found = report_process_at(report, process);
	const struct process_time *time = process >= 0 && (size_t)process < report->waits.times.len
						  ? &report->waits.times.data[process]
						  : NULL;

	if (!found || !time || !time->first || found->lifetime.until < time->first)
		return 0;
	return recorded(report, found->fact.host, time->first, found->lifetime.until);
}

uint64_t report_mpi_span(const struct report *report)
{
	uint64_t span = 0;

	for (size_t i = 0; i < report->waits.times.len; i++)
		if (report->waits.times.data[i].calls)
			span += report_process_span(report, (int)i);
	return span;
}

const struct place *report_place(const struct report *report, uint64_t key)
{
	const uint64_t *place = map_find(&report->places, key, 0);

	return place ? (const struct place *)(uintptr_t)*place : NULL;
}

const struct stack *report_stack(const struct report *report, uint64_t key)
{
	const uint64_t *stack = map_find(&report->paths, key, 0);

	return stack ? (const struct stack *)(uintptr_t)*stack : NULL;
}

static int by_reason(const void *left, const void *right)
{
	const struct fact_reason *a = left, *b = right;

	return strcmp(a->reason, b->reason);
}

int report_reasons(const struct fact_reason *from, struct fact_reason *to)
{
	int count = 0;

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		if (from[i].reason && from[i].count)
			to[count++] = from[i];
	qsort(to, count, sizeof(*to), by_reason);
	return count;
}

const struct cube_shape report_nics_shape = {
	3,
	{
		[N_HOST] = { "host", CUBE_PROCESS, NULL },
		[N_DEVICE] = { "device", CUBE_STRING, "unknown" },
		[N_DIRECTION] = { "direction", CUBE_STRING, NULL },
	},
};

const struct cube_shape report_routes_shape = {
	6,
	{
		[R_SRC_HOST] = { "src_host", CUBE_PROCESS, NULL },
		[R_SRC_MEM] = { "src_mem", CUBE_STRING, "unknown" },
		[R_SRC_NIC] = { "src_nic", CUBE_STRING, "unknown" },
		[R_DST_NIC] = { "dst_nic", CUBE_STRING, "unknown" },
		[R_DST_HOST] = { "dst_host", CUBE_PROCESS, NULL },
		[R_DST_MEM] = { "dst_mem", CUBE_STRING, "unknown" },
	},
};

static int64_t host_of(const struct report *report, int64_t process)
{
	const struct report_process *found = report_process_at(report, process);

	return found ? found->fact.host : -1;
}

static int by_process(const void *key, const void *element)
{
	const struct open_device *open = element;
	int process = *(const int *)key;

	return (process > open->process) - (process < open->process);
}

/*
 * The device over which a process is reached by a transport; NULL: several, or unknown. No other
 * host is reached over lo (since UCX 1.13, uct/tcp/tcp_iface.c, is_reachable).
 */
static const char *only_device(const struct report *report, int process, const char *transport)
{
	const struct fact_totals *totals = &report->totals;
	const struct open_device *at, *end = totals->open_devices + totals->open_device_count;
	const char *device = NULL;

	at = totals->open_device_count
		     ? bsearch(&process, totals->open_devices, totals->open_device_count,
			       sizeof(*totals->open_devices), by_process)
		     : NULL;
	while (at && at > totals->open_devices && at[-1].process == process)
		at--;
	for (; at && at < end && at->process == process; at++) {
		if (strcmp(at->transport, transport) || !strcmp(at->device, "lo"))
			continue;
		if (device && strcmp(device, at->device))
			return NULL;
		device = at->device;
	}
	return device;
}

static void nics_add(struct cube *nics, int64_t host, const char *device, bool out,
		     const struct cube_sums *sums)
{
	const uint64_t key[CUBE_MAX_KEYS] = {
		[N_HOST] = host,
		[N_DEVICE] = (uintptr_t)device,
		[N_DIRECTION] = (uintptr_t)(out ? "out" : "in"),
	};

	cube_sums_add(&cube_at(nics, key)->sums, sums);
}

static void networks_collect(const struct report *report, const struct cube_row *row,
			     struct cube *nics, struct cube *routes)
{
	const char *transport = (const char *)(uintptr_t)row->key[T_TRANSPORT];
	const char *op = (const char *)(uintptr_t)row->key[T_OP];
	const char *near = (const char *)(uintptr_t)row->key[T_DEVICE];
	const char *far = transport ? only_device(report, (int)row->key[T_PEER], transport) : NULL;
	int64_t here = host_of(report, row->key[T_PROCESS]),
		there = host_of(report, row->key[T_PEER]);
	bool fetches = fact_fetches(op, transport);
	const uint64_t route[CUBE_MAX_KEYS] = {
		[R_SRC_HOST] = fetches ? there : here,
		[R_SRC_MEM] = row->key[T_SRC_MEM],
		[R_SRC_NIC] = (uintptr_t)(fetches ? far : near),
		[R_DST_NIC] = (uintptr_t)(fetches ? near : far),
		[R_DST_HOST] = fetches ? here : there,
		[R_DST_MEM] = row->key[T_DST_MEM],
	};

	nics_add(nics, here, near, !fetches, &row->sums);
	nics_add(nics, there, far, fetches, &row->sums);
	cube_sums_add(&cube_at(routes, route)->sums, &row->sums);
}

void report_networks(const struct report *report, struct cube *nics, struct cube *routes)
{
	const struct cube *transfers = &report->transfers;

	for (size_t i = 0; i < transfers->rows.len; i++) {
		const struct cube_row *row = &transfers->rows.data[i];

		if (row->key[T_KIND] == KIND_DATA && row->key[T_LOCALITY] == LOCALITY_REMOTE)
			networks_collect(report, row, nics, routes);
	}
	cube_join(nics);
	cube_join(routes);
}
