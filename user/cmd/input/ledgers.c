// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/input/ledgers.h"

#include <string.h>

#include "base/log.h"
#include "site/judge/judge.h"
#include "site/plan/ledger.h"

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

static void read_all(struct ledgers *ledgers, struct judge *judge,
		     void (*take)(void *arg, const struct ledger_entry *entry))
{
	char why[PLAN_WHY];

	for (size_t i = 0; i < ledgers->paths.len; i++) {
		if (!ledger_read(ledgers->paths.data[i], take, judge, why))
			continue;
		log_error("%s: %s", ledgers->paths.data[i], why);
		vec_push(&ledgers->unread, ledgers->paths.data[i]);
	}
}

static void take(void *arg, const struct ledger_entry *entry)
{
	judge_ledger(arg, entry);
}

void ledgers_feed(struct ledgers *ledgers, struct judge *judge)
{
	if (!ledgers->plan)
		return;
	judge_plan(judge, ledgers->plan);
	read_all(ledgers, judge, take);
}

void ledgers_free(struct ledgers *ledgers)
{
	plan_free(ledgers->plan);
	vec_release(&ledgers->paths);
	vec_release(&ledgers->unread);
}
