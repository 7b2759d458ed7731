// SPDX-License-Identifier: BSD-3-Clause
#include "observe/doctor/print_library.h"

#include <string.h>

const char *doctor_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "-";
}

static void print_strings(const char *title, const json_t *strings, FILE *out)
{
	size_t i;
	json_t *string;

	if (!json_array_size(strings))
		return;
	fprintf(out, "      %s:", title);
	json_array_foreach((json_t *)strings, i, string)
		fprintf(out, " %s", json_string_value(string));
	fputc('\n', out);
}

static void print_sites(const json_t *library, FILE *out)
{
	size_t i;
	json_t *site;

	json_array_foreach(json_object_get(library, "sites"), i, site)
		fprintf(out, "      %-3s %-40s +%-3lld %s\n", doctor_text(site, "layer"),
			doctor_text(site, "symbol"),
			(long long)json_integer_value(json_object_get(site, "delta")),
			doctor_text(site, "place"));
	print_strings("missing", json_object_get(library, "missing"), out);
}

static void print_stepped(const json_t *library, FILE *out)
{
	json_t *names = json_array(), *site;
	size_t i;

	json_array_foreach(json_object_get(library, "sites"), i, site)
	{
		if (!strcmp(doctor_text(site, "place"), "single-stepped"))
			json_array_append(names, json_object_get(site, "symbol"));
	}
	print_strings("rare and single-stepped", names, out);
	json_decref(names);
}

static void print_plan(const json_t *library, bool verbose, FILE *out)
{
	const json_t *left_out = json_object_get(library, "left_out");
	const char *place;
	json_t *count;

	fprintf(out, "      sites: %zu", json_array_size(json_object_get(library, "sites")));
	json_object_foreach(json_object_get(library, "places"), place, count)
	{
		if (json_integer_value(count))
			fprintf(out, ", %lld %s", (long long)json_integer_value(count), place);
	}
	fprintf(out, ", %zu left out, %zu missing\n", json_array_size(left_out),
		json_array_size(json_object_get(library, "missing")));
	if (verbose)
		print_sites(library, out);
	else
		print_stepped(library, out);
	print_strings("left out", left_out, out);
}

void doctor_print_library(const json_t *library, bool verbose, FILE *out)
{
	size_t i;
	json_t *role;

	fprintf(out, "    %s\n     ", doctor_text(library, "path"));
	json_array_foreach(json_object_get(library, "roles"), i, role)
		fprintf(out, " %s", json_string_value(role));
	fprintf(out, ", version %s, layout %s, build id %s\n", doctor_text(library, "version"),
		doctor_text(library, "layout"), doctor_text(library, "build_id"));
	if (json_object_get(library, "places"))
		print_plan(library, verbose, out);
}

/* ns per hit, from measurements on Linux 6.18: docs/overhead.md. */
static const struct {
	const char *place, *cost;
} costs[] = {
	{ "optimised", "0.25 us a hit (0.55 before Linux 6.18)" },
	{ "emulated", "0.55 us" },
	{ "single-stepped", "3 to 18 us" },
};

static long long count_places(const json_t *processes, const char *place)
{
	long long sum = 0;
	json_t *process, *library;
	size_t i, k;

	json_array_foreach((json_t *)processes, i, process)
	{
		json_array_foreach(json_object_get(process, "libraries"), k, library) sum +=
			json_integer_value(
				json_object_get(json_object_get(library, "places"), place));
	}
	return sum;
}

static size_t count_left_out(const json_t *processes)
{
	size_t sum = 0, i, k;
	json_t *process, *library;

	json_array_foreach((json_t *)processes, i, process)
	{
		json_array_foreach(json_object_get(process, "libraries"), k, library) sum +=
			json_array_size(json_object_get(library, "left_out"));
	}
	return sum;
}

/* All libraries together, with what a probe there is expected to cost. */
void doctor_print_placement(const json_t *processes, FILE *out)
{
	const size_t left_out = count_left_out(processes);
	long long count, any = 0;

	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		count = count_places(processes, costs[i].place);
		if (count)
			fprintf(out, "%-11s %lld sites %s: %s\n", any ? "" : "placement", count,
				costs[i].place, costs[i].cost);
		any += count;
	}
	if (!any)
		return;
	if (left_out)
		fprintf(out, "%-11s no hot site is single-stepped: %zu are left out\n", "",
			left_out);
	else
		fprintf(out, "%-11s no hot site is single-stepped\n", "");
}
