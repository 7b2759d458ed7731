// SPDX-License-Identifier: BSD-3-Clause
#include "judge/rules.h"

#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

const char *say(struct judge *judge, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	vec_push(&judge->made, text);
	return text;
}

struct finding *found(const struct trial *trial, enum verdict verdict, const char *subject)
{
	struct finding *finding = vec_add(&trial->judge->findings);

	finding->rule = trial->rule;
	finding->verdict = verdict;
	finding->severity = trial->setting->severity;
	finding->subject = subject;
	finding->share = NAN;
	return finding;
}

void found_why(const struct trial *trial, enum verdict verdict, const char *subject,
	       const char *why)
{
	found(trial, verdict, subject)->why = why;
}

void found_nothing(const struct trial *trial, enum verdict verdict, const char *why)
{
	found_why(trial, verdict, ALL_CAPTURES, why);
}

void nodes_without_inventory(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;

	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct node *node = &exhibits->nodes.data[i];

		if (node->name &&
		    !inventories_find(&trial->judge->inventories, node->id, node->name))
			found_why(trial, VERDICT_UNKNOWN, node->name,
				  "no inventory of this node was given");
	}
}

static const char *or_unknown(const char *word)
{
	return word ? word : "?";
}

const char *cell_text(const struct trial *trial, const struct cell *cell)
{
	return say(trial->judge, "%s over %s/%s%s%s, %s to %s", or_unknown(cell->op),
		   or_unknown(cell->transport), or_unknown(cell->device),
		   cell->protocol ? ", " : "", cell->protocol ? cell->protocol : "",
		   or_unknown(cell->src_mem), or_unknown(cell->dst_mem));
}

bool cell_placed(const struct cell *cell)
{
	return cell->locality != LOCALITY_UNKNOWN;
}

bool cell_inter(const struct cell *cell)
{
	return cell->locality == LOCALITY_REMOTE;
}

bool cell_intra(const struct cell *cell)
{
	return cell->locality == LOCALITY_NODE;
}

bool cell_over_nic(const struct cell *cell)
{
	return cell_inter(cell) && cell->device && is_network(cell->transport);
}

int cell_owner(const struct cell *cell)
{
	return fact_fetches(cell->op, cell->transport) ? cell->peer : cell->process;
}

bool is_network(const char *transport)
{
	static const char *const networks[] = { "tcp", "rc_*", "rc",   "dc_*",  "dc",     "ud_*",
						"ud",  "srd*", "gga*", "ugni*", "sockcm", NULL };

	for (int i = 0; transport && networks[i]; i++)
		if (!fnmatch(networks[i], transport, 0))
			return true;
	return false;
}

bool is_gpu(const char *memory)
{
	return memory && !strncmp(memory, "gpu", 3);
}

bool listed(const texts *list, const char *word)
{
	for (size_t i = 0; word && i < list->len; i++) {
		if (!fnmatch(list->data[i], word, 0))
			return true;
		if (!strcmp(list->data[i], "net") && is_network(word))
			return true;
	}
	return false;
}

static bool loc_fits(const char *loc, enum fact_locality locality)
{
	static const char *const names[] = {
		[LOCALITY_UNKNOWN] = NULL,
		[LOCALITY_SELF] = "self",
		[LOCALITY_NODE] = "intra",
		[LOCALITY_REMOTE] = "inter",
	};

	return !loc || (names[locality] && !strcmp(loc, names[locality]));
}

static bool mem_fits(const char *wanted, const char *memory)
{
	if (!wanted)
		return true;
	if (!strcmp(wanted, "cuda") || !strcmp(wanted, "rocm") || !strcmp(wanted, "ze"))
		return is_gpu(memory);
	return memory && !strcmp(wanted, memory);
}

const struct policy_expect *expectation(const struct exhibits *exhibits, const struct cell *cell)
{
	for (size_t i = 0; i < exhibits->policy->expect.len; i++) {
		const struct policy_expect *expect = &exhibits->policy->expect.data[i];

		if (loc_fits(expect->loc, cell->locality) &&
		    mem_fits(expect->src_mem, cell->src_mem) &&
		    mem_fits(expect->dst_mem, cell->dst_mem) &&
		    cell_at_least(exhibits, cell, expect->from) &&
		    (expect->to == UINT64_MAX || !cell_at_least(exhibits, cell, expect->to)))
			return expect;
	}
	return NULL;
}
