// SPDX-License-Identifier: BSD-3-Clause
/* Which way messages go, by what may carry them: PATH-03, PATH-05, PATH-08. */
#include <string.h>

#include "site/judge/rules/tally.h"

#define LARGE 0 /* setting of PATH-05 */

static const struct node *from(const struct trial *trial, const struct cell *cell)
{
	return exhibits_node(trial->exhibits, cell->process);
}

/* ---- PATH-03 ---- */

void rule_node_over_nic(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct tallies tallies = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];

		if (cell_intra(cell))
			tally_add(tally_node(trial, &tallies, from(trial, cell)), cell,
				  is_network(cell->transport));
	}
	tallies_judge(trial, &tallies, 0, "shared memory, cma, xpmem or cuda_ipc",
		      "no two processes of one node exchanged data");
}

/* ---- PATH-05 ---- */

/* Which of the cells a rule is about, and which of those are wrong. */
struct question {
	enum fits (*about)(const struct trial *trial, const struct cell *cell);
	bool (*wrong)(const struct cell *cell);
	const char *expected, *why_none;
};

static void ask(const struct trial *trial, const struct question *question, double allowed)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct tallies tallies = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		enum fits about = cell_placed(cell) ? question->about(trial, cell) : FITS_NOT;

		if (about != FITS_NOT)
			tally_fits(tally_cell(trial, &tallies, cell), cell, about,
				   question->wrong(cell));
	}
	tallies_judge(trial, &tallies, allowed, question->expected, question->why_none);
}

static enum fits large(const struct trial *trial, const struct cell *cell)
{
	uint64_t least = trial->setting->number[LARGE];

	if (cell_below(trial->exhibits, cell, least))
		return FITS_NOT;
	return cell_at_least(trial->exhibits, cell, least) ? FITS : FITS_MAYBE;
}

static enum fits hosts_of_a_node(const struct trial *trial, const struct cell *cell)
{
	return cell_intra(cell) && !is_gpu(cell->src_mem) && !is_gpu(cell->dst_mem)
		       ? large(trial, cell)
		       : FITS_NOT;
}

static bool copied_twice(const struct cell *cell)
{
	bool shared = cell->transport &&
		      (!strcmp(cell->transport, "posix") || !strcmp(cell->transport, "sysv"));

	return shared && cell->op && !strcmp(cell->op, "am_bcopy");
}

void rule_single_copy(const struct trial *trial)
{
	static const struct question question = { hosts_of_a_node, copied_twice,
						  "cma, knem or xpmem",
						  "no large host messages within a node" };

	ask(trial, &question, 0);
}

/* ---- PATH-08 ---- */

static enum fits on_mlx5(const struct trial *trial, const struct cell *cell)
{
	(void)trial;
	return cell->device && !strncmp(cell->device, "mlx5", 4) ? FITS : FITS_NOT;
}

static bool plain_verbs(const struct cell *cell)
{
	return cell->transport &&
	       (!strcmp(cell->transport, "rc_verbs") || !strcmp(cell->transport, "ud_verbs"));
}

void rule_accelerated(const struct trial *trial)
{
	static const struct question question = { on_mlx5, plain_verbs, "rc_mlx5 or dc_mlx5",
						  "no mlx5 device was used" };

	ask(trial, &question, 0);
}
