// SPDX-License-Identifier: BSD-3-Clause
/* NICs of hosts, their balance, and the routes between hosts. */
#include <string.h>

#include "base/units.h"
#include "base/vec.h"
#include "show/report/text.h"

struct networks {
	const struct text_report *text;
	struct cube nics, routes;
	uint64_t bytes; /* of all routes */
};

/* A NIC, both directions. */
struct nic {
	int64_t host;
	const char *device;
	uint64_t in, out, of_host; /* bytes; of_host: of all NICs of the host */
	uint64_t most; /* of the host's NICs */
	size_t nics; /* of the host */
};

static bool exact(const void *context)
{
	return ((const struct networks *)context)->text->options->exact;
}

static const char *host_name(const struct networks *networks, int64_t host)
{
	const struct report *report = networks->text->report;

	if (host < 0 || (size_t)host >= report->hosts.len || !report->hosts.data[host].name)
		return "?";
	return report->hosts.data[host].name;
}

/* ---- NICs ---- */

static void print_nic(char *cell, size_t size, const void *row, const void *context)
{
	const struct nic *nic = row;

	snprintf(cell, size, "%s %s", host_name(context, nic->host),
		 nic->device ? nic->device : "unknown");
}

static void print_out(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, ((const struct nic *)row)->out, exact(context));
}

static void print_in(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, ((const struct nic *)row)->in, exact(context));
}

static void print_of_host(char *cell, size_t size, const void *row, const void *context)
{
	const struct nic *nic = row;

	(void)context;
	unit_share(cell, size, nic->in + nic->out, nic->of_host);
}

/* 1.00: all NICs of the host carry the same; unknown NICs are left out. */
static void print_balance(char *cell, size_t size, const void *row, const void *context)
{
	const struct nic *nic = row;

	(void)context;
	if (nic->nics < 2 || !nic->device)
		snprintf(cell, size, "-");
	else
		snprintf(cell, size, "%.2f", (double)nic->most * nic->nics / nic->of_host);
}

static const struct table_column nic_columns[] = {
	{ "NICS (between hosts)", true, 12, 0, print_nic },
	{ "out", false, 0, 0, print_out },
	{ "in", false, 0, 0, print_in },
	{ "of host's", false, 0, 2, print_of_host },
	{ "max/mean", false, 0, 1, print_balance },
};

struct nic_list {
	VEC(struct nic) list;
};

/* Rows are sorted by host, then by device. */
static void nic_list_fill(struct nic_list *nics, const struct networks *networks)
{
	const struct cube_row **rows = cube_sorted(&networks->nics, CUBE_BY_KEYS);

	for (size_t i = 0; i < networks->nics.rows.len; i++) {
		const char *device = (const char *)(uintptr_t)rows[i]->key[N_DEVICE];
		bool out = !strcmp((const char *)(uintptr_t)rows[i]->key[N_DIRECTION], "out");
		struct nic *nic = nics->list.len ? &nics->list.data[nics->list.len - 1] : NULL;

		if (!nic || nic->host != (int64_t)rows[i]->key[N_HOST] || nic->device != device) {
			nic = vec_add(&nics->list);
			nic->host = rows[i]->key[N_HOST];
			nic->device = device;
		}
		*(out ? &nic->out : &nic->in) += rows[i]->sums.bytes;
	}
	free(rows);
}

static void compare(struct nic_list *nics)
{
	for (size_t i = 0; i < nics->list.len; i++) {
		struct nic *nic = &nics->list.data[i];

		for (size_t k = 0; k < nics->list.len; k++) {
			const struct nic *other = &nics->list.data[k];
			uint64_t bytes = other->in + other->out;

			if (other->host != nic->host || !other->device != !nic->device)
				continue;
			nic->nics++;
			nic->of_host += bytes;
			if (bytes > nic->most)
				nic->most = bytes;
		}
	}
}

/* If each host has one NIC, routes add no information. */
static bool worth_a_table(const struct networks *networks, const struct nic_list *nics)
{
	bool several = networks->text->options->verbose > 0;

	for (size_t i = 0; i < nics->list.len; i++)
		several = several || nics->list.data[i].nics > 1;
	return several;
}

static void print_nics(const struct networks *networks)
{
	static const size_t limits[TEXT_LIMITS] = { 16, 64 };
	VEC(const void *) rows = { 0 };
	struct nic_list nics = { 0 };
	size_t shown;

	nic_list_fill(&nics, networks);
	compare(&nics);
	for (size_t i = 0; i < nics.list.len; i++)
		vec_push(&rows, &nics.list.data[i]);
	shown = text_limit(networks->text, rows.len, limits);
	if (worth_a_table(networks, &nics)) {
		table_print(networks->text->out, networks->text->options,
			    &(struct report_table){ nic_columns, ARRAY_SIZE(nic_columns), networks,
						    rows.data, shown });
		text_end(networks->text, shown, rows.len);
	}
	vec_release(&rows);
	vec_release(&nics.list);
}

/* ---- routes ---- */

static const char *word(const void *row, int key)
{
	return cube_key_text(&report_routes_shape.keys[key],
			     ((const struct cube_row *)row)->key[key]);
}

static void print_route(char *cell, size_t size, const void *row, const void *context)
{
	const struct networks *networks = context;
	const struct cube_row *route = row;
	const char *arrow = networks->text->arrow;

	snprintf(cell, size, "%s %s %s %s %s %s %s %s %s",
		 host_name(networks, route->key[R_SRC_HOST]), word(row, R_SRC_MEM), arrow,
		 word(row, R_SRC_NIC), arrow, word(row, R_DST_NIC), arrow,
		 host_name(networks, route->key[R_DST_HOST]), word(row, R_DST_MEM));
}

static void print_count(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, ((const struct cube_row *)row)->sums.count, exact(context));
}

static void print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, ((const struct cube_row *)row)->sums.bytes, exact(context));
}

static void print_share(char *cell, size_t size, const void *row, const void *context)
{
	unit_share(cell, size, ((const struct cube_row *)row)->sums.bytes,
		   ((const struct networks *)context)->bytes);
}

static const struct table_column route_columns[] = {
	{ "BETWEEN HOSTS", true, 24, 0, print_route },
	{ "transfers", false, 0, 1, print_count },
	{ "bytes", false, 0, 0, print_bytes },
	{ "share", false, 0, 2, print_share },
};

static void print_routes(struct networks *networks)
{
	static const size_t limits[TEXT_LIMITS] = { 3, 40 };
	const struct cube_row **rows = cube_sorted(&networks->routes, CUBE_BY_BYTES);
	size_t count = networks->routes.rows.len, shown = text_limit(networks->text, count, limits);

	for (size_t i = 0; i < count; i++)
		networks->bytes += rows[i]->sums.bytes;
	table_print(networks->text->out, networks->text->options,
		    &(struct report_table){ route_columns, ARRAY_SIZE(route_columns), networks,
					    (const void *const *)rows, shown });
	text_end(networks->text, shown, count);
	free(rows);
}

void text_networks(const struct text_report *text)
{
	struct networks networks = { .text = text };

	cube_init(&networks.nics, &report_nics_shape);
	cube_init(&networks.routes, &report_routes_shape);
	report_networks(text->report, &networks.nics, &networks.routes);
	if (networks.nics.rows.len) {
		print_nics(&networks);
		print_routes(&networks);
	}
	cube_release(&networks.nics);
	cube_release(&networks.routes);
}
