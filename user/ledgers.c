// SPDX-License-Identifier: BSD-3-Clause
#include "ledgers.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "judge/judge.h"
#include "plan/ledger.h"

bool ledgers_plan(struct ledgers *ledgers, const char *path)
{
	struct plan *old = ledgers->plan, *plan;
	char why[PLAN_WHY];

	if (plan_read(path, &plan, why)) {
		log_error("%s: %s", path, why);
		return false;
	}
	if (!old || !strcmp(plan->base, old->id)) {
		ledgers->plan = plan;
		plan_free(old);
		return true;
	}
	if (strcmp(old->base, plan->id))
		log_error("%s: a second plan; give the one that was carried out", path);
	else
		path = NULL;
	plan_free(plan);
	return !path;
}

bool ledgers_folder(struct ledgers *ledgers, const char *folder)
{
	char *path = NULL;
	bool right;
	glob_t found;

	if (asprintf(&path, "%s/plan.json", folder) < 0)
		abort();
	right = ledgers_plan(ledgers, path);
	free(path);
	if (asprintf(&path, "%s/ledger/*.ndjson", folder) < 0)
		abort();
	if (!glob(path, 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			vec_push(&ledgers->found, strdup(found.gl_pathv[i]));
			vec_push(&ledgers->paths, ledgers->found.data[i]);
		}
		globfree(&found);
	}
	free(path);
	return right;
}

static void read_all(struct ledgers *ledgers, struct judge *judge,
		     void (*take)(void *arg, const struct ledger_entry *entry))
{
	char why[PLAN_WHY];

	for (size_t i = 0; i < ledgers->paths.len; i++) {
		if (!ledger_read(ledgers->paths.data[i], take, judge, why))
			continue;
		log_error("%s: %s", ledgers->paths.data[i], why);
		ledgers->broken = true;
	}
}

static void take(void *arg, const struct ledger_entry *entry)
{
	judge_ledger(arg, entry);
}

static void take_baseline(void *arg, const struct ledger_entry *entry)
{
	judge_baseline_ledger(arg, entry);
}

void ledgers_feed(struct ledgers *ledgers, struct judge *judge)
{
	if (!ledgers->plan)
		return;
	judge_plan(judge, ledgers->plan);
	read_all(ledgers, judge, take);
}

void ledgers_feed_baseline(struct ledgers *ledgers, struct judge *judge)
{
	if (!ledgers->plan)
		return;
	judge_baseline_plan(judge, ledgers->plan);
	read_all(ledgers, judge, take_baseline);
}

void ledgers_free(struct ledgers *ledgers)
{
	plan_free(ledgers->plan);
	for (size_t i = 0; i < ledgers->found.len; i++)
		free(ledgers->found.data[i]);
	vec_release(&ledgers->found);
	vec_release(&ledgers->paths);
}
