// SPDX-License-Identifier: BSD-3-Clause
#include "doctor/doctor.h"

#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "-";
}

static const char *yes_no(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "not known";
}

static void print_kernel(const json_t *kernel, FILE *out)
{
	fprintf(out, "kernel      %s %s: BTF %s, uprobes %s, BPF %s, links %s, lockdown %s\n",
		text_of(kernel, "release"), text_of(kernel, "machine"), yes_no(kernel, "btf"),
		yes_no(kernel, "uprobes"), yes_no(kernel, "bpf"), text_of(kernel, "links"),
		text_of(kernel, "lockdown"));
}

static void print_privileges(const json_t *privileges, FILE *out)
{
	const json_t *capabilities = json_object_get(privileges, "capabilities");
	json_int_t memlock = json_integer_value(json_object_get(privileges, "memlock_bytes"));
	const char *name;
	json_t *have;

	fprintf(out, "privileges ");
	json_object_foreach((json_t *)capabilities, name, have)
		fprintf(out, " %s %s,", name, json_is_true(have) ? "yes" : "no");
	if (memlock < 0)
		fprintf(out, " locked memory unlimited\n");
	else
		fprintf(out, " locked memory %lld KiB\n", (long long)memlock / 1024);
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
		fprintf(out, "      %-3s %-40s +%-3lld %s\n", text_of(site, "layer"),
			text_of(site, "symbol"),
			(long long)json_integer_value(json_object_get(site, "delta")),
			text_of(site, "place"));
	print_strings("missing", json_object_get(library, "missing"), out);
}

static long long place_count(const json_t *library, const char *place)
{
	const json_t *places = json_object_get(library, "places");

	return json_integer_value(json_object_get(places, place));
}

static void print_stepped(const json_t *library, FILE *out)
{
	json_t *names = json_array(), *site;
	size_t i;

	json_array_foreach(json_object_get(library, "sites"), i,
			   site) if (!strcmp(text_of(site, "place"), "stepped"))
		json_array_append(names, json_object_get(site, "symbol"));
	print_strings("single-stepped", names, out);
	json_decref(names);
}

static void print_plan(const json_t *library, bool verbose, FILE *out)
{
	long long fast = place_count(library, "nop5") + place_count(library, "emulated");
	long long stepped = place_count(library, "stepped");
	long long refused = place_count(library, "refused");

	fprintf(out, "      sites: %lld found", fast + stepped + refused);
	fprintf(out, ", %lld emulated, %lld single-stepped, %lld refused", fast, stepped, refused);
	fprintf(out, ", %zu missing\n", json_array_size(json_object_get(library, "missing")));
	if (verbose)
		print_sites(library, out);
	else
		print_stepped(library, out);
}

static void print_library(const json_t *library, bool verbose, FILE *out)
{
	size_t i;
	json_t *role;

	fprintf(out, "    %s\n     ", text_of(library, "path"));
	json_array_foreach(json_object_get(library, "roles"), i, role)
		fprintf(out, " %s", json_string_value(role));
	fprintf(out, ", version %s, layout %s, build id %s\n", text_of(library, "version"),
		text_of(library, "layout"), text_of(library, "build_id"));
	if (json_object_get(library, "places"))
		print_plan(library, verbose, out);
}

/* One line where sites were not asked for: which MPI and which UCX. */
static void print_summary(const json_t *process, FILE *out)
{
	size_t i, k;
	json_t *library, *role;
	const char *separator = ": ";

	json_array_foreach(json_object_get(process, "libraries"), i, library)
	{
		json_array_foreach(json_object_get(library, "roles"), k, role)
		{
			const char *name = json_string_value(role);

			if (!strcmp(name, "mpi"))
				fprintf(out, "%s%s", separator, text_of(library, "version"));
			else if (!strcmp(name, "ucp"))
				fprintf(out, "%sUCX %s (layout %s)", separator,
					text_of(library, "version"), text_of(library, "layout"));
			else
				continue;
			separator = ", ";
		}
	}
	fputc('\n', out);
}

static void print_processes(const json_t *processes, bool verbose, FILE *out)
{
	size_t i, k;
	json_t *process, *library, *libraries;

	json_array_foreach((json_t *)processes, i, process)
	{
		libraries = json_object_get(process, "libraries");
		fprintf(out, "process     %lld %s",
			(long long)json_integer_value(json_object_get(process, "pid")),
			text_of(process, "comm"));
		print_summary(process, out);
		json_array_foreach(libraries, k,
				   library) if (verbose || json_object_get(library, "places"))
			print_library(library, verbose, out);
	}
}

static void print_problems(const json_t *problems, FILE *out)
{
	size_t i;
	json_t *problem;

	json_array_foreach((json_t *)problems, i, problem)
	{
		fprintf(out, "%-11s %s\n",
			json_is_true(json_object_get(problem, "fatal")) ? "PROBLEM" : "note",
			text_of(problem, "text"));
		if (json_string_value(json_object_get(problem, "fix")))
			fprintf(out, "            -> %s\n", text_of(problem, "fix"));
	}
}

void doctor_print(const struct doctor *doctor, bool verbose, FILE *out)
{
	const json_t *report = doctor->report;

	print_kernel(json_object_get(report, "kernel"), out);
	print_privileges(json_object_get(report, "privileges"), out);
	print_processes(json_object_get(report, "processes"), verbose, out);
	print_problems(json_object_get(report, "problems"), out);
	fprintf(out, "verdict     %s\n",
		doctor->status ? "a trace would show nothing here, see PROBLEM above"
			       : "a trace would work here");
}
