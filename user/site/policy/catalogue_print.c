// SPDX-License-Identifier: BSD-3-Clause
#include "site/policy/catalogue.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static const char *const families[][2] = {
	{ "COV", "Completeness: these gate all others" },
	{ "CFG", "Configuration" },
	{ "RAIL", "Rails" },
	{ "PATH", "Paths" },
	{ "AFF", "Affinity" },
	{ "PROTO", "Protocols" },
	{ "FAB", "Fabric" },
	{ "PERF", "Performance" },
};

static bool in_family(const struct catalogue_rule *rule, const char *family)
{
	size_t length = strlen(family);

	return !strncmp(rule->id, family, length) && rule->id[length] == '-';
}

static void print_size(double bytes, FILE *out)
{
	static const char units[] = " KMGT";
	size_t unit = 0;

	while (bytes >= 1024 && fmod(bytes, 1024) == 0 && units[unit + 1]) {
		bytes /= 1024;
		unit++;
	}
	fprintf(out, "%.0f%.*s", bytes, unit > 0, &units[unit]);
}

static void print_standard(const struct catalogue_param *param, FILE *out)
{
	if (isnan(param->standard))
		fputs("auto", out);
	else if (param->type == PARAM_SIZE)
		print_size(param->standard, out);
	else if (param->type == PARAM_BOOL)
		fputs(param->standard > 0 ? "true" : "false", out);
	else if (param->type == PARAM_LIST)
		fputs("[]", out);
	else
		fprintf(out, "%g", param->standard);
}

static void print_evidence(unsigned int needs, FILE *out)
{
	static const char *const names[] = { "port counters", "inventory", "a sweep's plan",
					     "a sweep's times", "a baseline" };
	const char *join = "";

	if (!needs)
		fputs("captures", out);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!(needs & 1u << i))
			continue;
		fprintf(out, "%s%s", join, names[i]);
		join = ", ";
	}
}

static void print_rule(const struct catalogue_rule *rule, FILE *out)
{
	fprintf(out, "\n### %s: %s\n\n%s; judged from ", rule->id, rule->title,
		severity_names[rule->severity]);
	print_evidence(rule->needs, out);
	fputs(".\n\n", out);
	for (size_t i = 0; i < CATALOGUE_CAUSES && rule->causes[i]; i++)
		fprintf(out, "%s%s", i ? "; " : "- likely: ", rule->causes[i]);
	fprintf(out, "\n- do: %s\n- seen in: %s\n", rule->remedy, rule->reference);
	for (size_t i = 0; i < CATALOGUE_PARAMS && rule->params[i].name; i++) {
		fprintf(out, "%s`%s: ", i ? ", " : "- settings: ", rule->params[i].name);
		print_standard(&rule->params[i], out);
		fputc('`', out);
	}
	if (rule->params[0].name)
		fputc('\n', out);
}

int catalogue_print(FILE *out)
{
	fputs("# Rules of site validation\n\n"
	      "What `ucxbpf check` asserts, as `ucxbpf policy rules` prints it. Every rule also has the\n"
	      "setting `severity`: info, warning, critical or off.\n",
	      out);
	for (size_t f = 0; f < sizeof(families) / sizeof(*families); f++) {
		fprintf(out, "\n## %s\n", families[f][1]);
		for (size_t i = 0; i < CATALOGUE_RULES; i++)
			if (in_family(&catalogue[i], families[f][0]))
				print_rule(&catalogue[i], out);
	}
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
