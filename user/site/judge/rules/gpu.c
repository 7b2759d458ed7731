// SPDX-License-Identifier: BSD-3-Clause
/* How messages of GPU memory go: 'staging' and 'dst_copy' of PATH-01, PATH-04, PATH-06, PATH-07. */
#include "site/judge/rules/ways.h"

#define SIZE 0
#define SHARE 1

static bool large(const struct trial *trial, const struct cell *cell)
{
	return cell_at_least(trial->exhibits, cell, trial->setting->number[SIZE]);
}

static bool of_gpu(const struct cell *cell)
{
	return is_gpu(cell->src_mem) || is_gpu(cell->dst_mem);
}

/* ---- PATH-01 ---- */

static bool fits(const struct trial *trial, const struct cell *cell, const void *expect)
{
	return expectation_fits(trial->exhibits, cell, expect) == FITS;
}

static bool breaks(const struct sum *way, const void *arg)
{
	const struct policy_expect *expect = arg;

	if (expect->staging != STAGING_ANY && way_staged(way) != (expect->staging == STAGING_HOST))
		return true;
	return expect->dst_copy && !way_copied_by(way, expect->dst_copy);
}

static const char *expect_text(const struct trial *trial, const struct policy_expect *expect)
{
	const char *copy = expect->dst_copy
				   ? say(trial->judge, "copied to the receiver's buffer by %s",
					 expect->dst_copy)
				   : NULL;
	const char *staging = expect->staging == STAGING_NONE ? "no host memory between the buffers"
			      : expect->staging == STAGING_HOST ? "staged through host memory"
								: NULL;

	return say(trial->judge, "%s%s%s (line %d)", staging ? staging : "",
		   staging && copy ? ", " : "", copy ? copy : "", expect->line);
}

void judge_ways(const struct trial *trial, const struct policy_expect *expect)
{
	ask_ways(trial, &(struct way_question){
				.about = fits,
				.wrong = breaks,
				.arg = expect,
				.allowed = 1 - expect->min_share,
				.expected = expect_text(trial, expect),
			});
}

/* ---- PATH-04 ---- */

static bool gpus_of_a_node(const struct trial *trial, const struct cell *cell, const void *arg)
{
	(void)arg;
	return cell_intra(cell) && is_gpu(cell->src_mem) && is_gpu(cell->dst_mem) &&
	       large(trial, cell);
}

static bool not_cuda_ipc(const struct sum *way, const void *arg)
{
	(void)arg;
	return !way_uses(way, "cuda_ipc");
}

void rule_cuda_ipc(const struct trial *trial)
{
	ask_ways(trial, &(struct way_question){
				.about = gpus_of_a_node,
				.wrong = not_cuda_ipc,
				.allowed = 1 - trial->setting->number[SHARE],
				.expected = "cuda_ipc",
				.why_none = "no two GPUs of one node exchanged large messages",
			});
}

/* ---- PATH-06 ---- */

static bool small_of_gpu(const struct trial *trial, const struct cell *cell, const void *arg)
{
	(void)arg;
	return of_gpu(cell) && !large(trial, cell);
}

static bool copied_by_driver(const struct sum *way, const void *arg)
{
	(void)arg;
	return way_uses(way, "cuda_copy");
}

void rule_gdr_copy(const struct trial *trial)
{
	ask_ways(trial, &(struct way_question){
				.about = small_of_gpu,
				.wrong = copied_by_driver,
				.expected = "gdr_copy",
				.why_none = "no small messages of GPU memory",
			});
}

/* ---- PATH-07 ---- */

static bool large_between_nodes(const struct trial *trial, const struct cell *cell, const void *arg)
{
	(void)arg;
	return cell_inter(cell) && of_gpu(cell) && large(trial, cell);
}

static bool is_staged(const struct sum *way, const void *arg)
{
	(void)arg;
	return way_staged(way);
}

void rule_staging(const struct trial *trial)
{
	ask_ways(trial, &(struct way_question){
				.about = large_between_nodes,
				.wrong = is_staged,
				.expected = "zcopy from and to GPU memory",
				.why_none = "no large messages of GPU memory between nodes",
			});
}
