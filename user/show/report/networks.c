// SPDX-License-Identifier: BSD-3-Clause
/* What went between hosts, by NIC. */
#include <string.h>

#include "show/report/internal.h"

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
 * The device by which a process is reached over a transport; NULL: it has several, or none is
 * known. No other host is reached by lo (UCX 1.13 to 1.22, uct/tcp/tcp_iface.c, is_reachable).
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

static void add(struct cube *nics, int64_t host, const char *device, bool out,
		const struct cube_sums *sums)
{
	const uint64_t key[CUBE_MAX_KEYS] = {
		[N_HOST] = host,
		[N_DEVICE] = (uintptr_t)device,
		[N_DIRECTION] = (uintptr_t)(out ? "out" : "in"),
	};

	cube_sums_add(&cube_at(nics, key)->sums, sums);
}

static void collect(const struct report *report, const struct cube_row *row, struct cube *nics,
		    struct cube *routes)
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

	add(nics, here, near, !fetches, &row->sums);
	add(nics, there, far, fetches, &row->sums);
	cube_sums_add(&cube_at(routes, route)->sums, &row->sums);
}

void report_networks(const struct report *report, struct cube *nics, struct cube *routes)
{
	const struct cube *transfers = &report->transfers;

	for (size_t i = 0; i < transfers->rows.len; i++) {
		const struct cube_row *row = &transfers->rows.data[i];

		if (row->key[T_KIND] == KIND_DATA && row->key[T_LOCALITY] == LOCALITY_REMOTE)
			collect(report, row, nics, routes);
	}
	cube_join(nics);
	cube_join(routes);
}
