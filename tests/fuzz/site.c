// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files of a site: policies, plans, ledgers, inventories, evidence. Each part is one; what can be
 * read of them is judged together, as `ucxbpf check` does, and the verdict is written.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "fuzz/harness.h"
#include "fuzz/parts.h"
#include "site/inventory/inventory.h"
#include "site/judge/evidence/evidence.h"
#include "site/judge/judge.h"
#include "site/plan/ledger.h"
#include "site/plan/make.h"
#include "site/plan/plan.h"
#include "site/policy/policy.h"

#define MERGED 1 /* arg of evidence: it is merged before it is read */
#define MOST_STEPS 16 /* of a plan: nodes and rounds whose steps are looked at */

struct site {
	struct policy *policy;
	struct plan *plan;
	VEC(struct inventory *) inventories;
	VEC(struct part) ledgers, evidence, earlier;
	FILE *out; /* NULL: results are not written */
};

static void put_text(const struct site *site, char *text)
{
	fputs(text, site->out);
	free(text);
}

/* What the traffic asks of a plan. */
static void look_at(const struct plan *plan)
{
	plan_steps_t steps = { 0 };

	for (size_t i = 0; i < plan->stages.len; i++)
		for (uint32_t j = 0; j < MOST_STEPS; j++) {
			const struct plan_stage *stage = &plan->stages.data[i];
			int node = (int)(j % (plan->nodes.len ? plan->nodes.len : 1));
			uint32_t round = j % (stage->rounds ? stage->rounds : 1);

			if (!plan->nodes.len || !stage->rounds)
				continue;
			steps.len = 0;
			plan_steps(plan, stage, round, node, (int)(j % PLAN_MAX_RANKS), &steps);
			plan_part(plan, stage, round, node);
		}
	plan_seconds(plan, 1e9);
	vec_release(&steps);
}

/* What a sweep by this policy would do. */
static void make_plan(struct site *site, const struct policy *policy, unsigned int which)
{
	static const char *const variants[] = { NULL, "all-pairs", "topo:2", "cross-class" };
	const struct plan_options options = { .variant = variants[which % ARRAY_SIZE(variants)],
					      .chunk = which & 4 ? 2 : 0 };
	struct plan *plan;
	char why[PLAN_WHY];

	if (plan_make(policy, &options, &plan, why))
		return;
	look_at(plan);
	if (site->out)
		put_text(site, plan_text(plan));
	plan_free(plan);
}

static void read_policy(struct site *site, const struct part *part)
{
	struct policy_errors errors = { 0 };
	struct policy *policy = NULL;
	char hash[65];

	if (!policy_parse((const char *)part->data, part->size, &policy, &errors)) {
		if (site->out) {
			put_text(site, policy_normal_form(policy));
			policy_hash(policy, hash);
		}
		make_plan(site, policy, part->arg);
		policy_free(site->policy);
		site->policy = policy;
	}
	policy_errors_release(&errors);
}

static void read_plan(struct site *site, const struct part *part)
{
	struct plan *plan;
	char why[PLAN_WHY];

	if (plan_parse((const char *)part->data, part->size, &plan, why))
		return;
	look_at(plan);
	if (site->out)
		put_text(site, plan_json(plan));
	plan_free(site->plan);
	site->plan = plan;
}

static void read_inventory(struct site *site, const struct part *part)
{
	char *text = xstrndup((const char *)part->data, part->size);
	struct inventory *inventory;
	char why[INVENTORY_WHY];

	if (!inventory_parse(text, &inventory, why)) {
		if (site->out) {
			inventory_write(inventory, site->out);
			inventory_text(inventory, site->out);
		}
		vec_push(&site->inventories, inventory);
	}
	free(text);
}

static void take_entry(void *judge, const struct ledger_entry *entry)
{
	if (judge)
		judge_ledger(judge, entry);
}

static void read_ledger(const struct part *part, struct judge *judge)
{
	static bytes text;
	char why[PLAN_WHY];

	text.len = 0;
	bytes_add(&text, part->data, part->size);
	harness_file(0, &text);
	ledger_read(harness_path(0), take_entry, judge, why);
}

static int evidence_file(unsigned int number, const struct part *part)
{
	static bytes frame;

	frame.len = 0;
	bytes_add_frame(&frame, part->data, part->size);
	return harness_file(number, &frame);
}

/* A file that was refused may have been fed in part, as it is by `ucxbpf check` before it ends. */
static bool read_evidence(struct judge *judge, const struct part *parts, size_t count)
{
	struct evidence_merge *merge;
	struct evidence_error error;
	bytes none = { 0 };
	int file, err = 0;

	if (!(parts[0].arg & MERGED))
		return !judge_evidence_read(judge, evidence_file(0, &parts[0]), &error);
	merge = evidence_merge_new("/dev/shm");
	for (unsigned int i = 0; i < count && i + 1 < HARNESS_FILES && !err; i++) {
		file = evidence_file(i, &parts[i]);
		err = evidence_check(file, &error);
		err = err ? err : evidence_merge_add(merge, dup(file), "part", &error);
	}
	file = harness_file(HARNESS_FILES - 1, &none);
	err = err ? err : evidence_merge_write(merge, file, &error);
	err = err ? err : judge_evidence_read(judge, file, &error);
	evidence_merge_free(merge);
	return !err;
}

static void read_part(struct site *site, const struct part *part)
{
	if (part->type == PART_POLICY)
		read_policy(site, part);
	else if (part->type == PART_PLAN)
		read_plan(site, part);
	else if (part->type == PART_INVENTORY)
		read_inventory(site, part);
	else if (part->type == PART_LEDGER)
		vec_push(&site->ledgers, *part);
	else if (part->type == PART_EVIDENCE)
		vec_push(&site->evidence, *part);
	else if (part->type == PART_EARLIER)
		vec_push(&site->earlier, *part);
}

/* False: `ucxbpf check` would end here. */
static bool feed(struct site *site, struct judge *judge)
{
	if (site->plan)
		judge_plan(judge, site->plan);
	for (size_t i = 0; i < site->ledgers.len; i++)
		read_ledger(&site->ledgers.data[i], site->plan ? judge : NULL);
	for (size_t i = 0; i < site->inventories.len; i++)
		judge_inventory(judge, site->inventories.data[i]);
	return !site->evidence.len || read_evidence(judge, site->evidence.data, site->evidence.len);
}

/* NULL: there is none, or it cannot be read. */
static struct judge *earlier_judge(const struct site *site)
{
	const struct fact_totals totals = { 0 };
	struct judge *judge;

	if (!site->earlier.len)
		return NULL;
	judge = judge_new(site->policy);
	if (read_evidence(judge, site->earlier.data, site->earlier.len)) {
		judge_finish(judge, &totals, 0);
		return judge;
	}
	judge_free(judge);
	return NULL;
}

static void write_json(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	size_t size;
	char *text;
	FILE *memory = xmemstream(&text, &size);

	judge_json(judge, how, memory);
	fclose(memory);
	harness_check_json(text, size);
	fwrite(text, 1, size, out);
	free(text);
}

static void write_verdict(const struct judge *judge, unsigned int form, FILE *out)
{
	const struct judge_output how = { .verbose = true, .width = 80 };

	if (form % 5 == 0)
		write_json(judge, &how, out);
	else if (form % 5 == 1)
		judge_text(judge, &how, out);
	else if (form % 5 == 2)
		judge_junit(judge, &how, out);
	else
		judge_openmetrics(judge, &how, out);
}

/* What was fed as evidence again, which then is as a reader wants it. */
static void write_evidence(struct judge *judge, const struct fact_totals *totals)
{
	const bytes none = { 0 };
	struct evidence_error error;
	int file = harness_file(0, &none);

	if (!judge_evidence_write(judge, totals, file, &error) && evidence_check(file, &error))
		harness_fail(error.text);
}

static void judge(struct site *site, unsigned int form)
{
	const struct fact_totals totals = { 0 };
	struct judge *judge = judge_new(site->policy), *earlier = NULL;
	struct judge_suspects suspects;

	if (!feed(site, judge))
		goto out;
	if (form % 5 == 4) {
		write_evidence(judge, site->evidence.len ? NULL : &totals);
	} else {
		earlier = earlier_judge(site);
		if (earlier)
			judge_baseline(judge, earlier);
		judge_finish(judge, site->evidence.len ? NULL : &totals, 0);
		judge_suspects(judge, &suspects);
		judge_suspects_release(&suspects);
		if (site->out) {
			write_verdict(judge, form, site->out);
			judge_learn(judge, site->out);
		}
	}
out:
	judge_free(judge);
	judge_free(earlier);
}

static void site_release(struct site *site)
{
	for (size_t i = 0; i < site->inventories.len; i++)
		inventory_free(site->inventories.data[i]);
	vec_release(&site->inventories);
	vec_release(&site->ledgers);
	vec_release(&site->evidence);
	vec_release(&site->earlier);
	plan_free(site->plan);
	policy_free(site->policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	struct site site = { 0 };
	struct part part;
	unsigned int form = 0;
	size_t length;
	char *text;

	if (harness_shows(data, size))
		site.out = xmemstream(&text, &length);
	while (part_next(&data, end, &part)) {
		form += part.arg >> 1;
		read_part(&site, &part);
	}
	if (!site.policy)
		site.policy = policy_default();
	judge(&site, form);
	if (site.out) {
		fclose(site.out);
		free(text);
	}
	site_release(&site);
	return 0;
}
