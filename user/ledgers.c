// SPDX-License-Identifier: BSD-3-Clause
#include "ledgers.h"

#include "base/log.h"
#include "judge/judge.h"
#include "plan/ledger.h"

bool ledgers_plan(struct ledgers *ledgers, const char *path)
{
	char why[PLAN_WHY];

	if (ledgers->plan) {
		log_error("%s: a second plan; give the one that was carried out", path);
		return false;
	}
	if (!plan_read(path, &ledgers->plan, why))
		return true;
	log_error("%s: %s", path, why);
	return false;
}

static void take(void *arg, const struct ledger_entry *entry)
{
	judge_ledger(arg, entry);
}

void ledgers_feed(struct ledgers *ledgers, struct judge *judge)
{
	char why[PLAN_WHY];

	if (!ledgers->plan)
		return;
	judge_plan(judge, ledgers->plan);
	for (size_t i = 0; i < ledgers->paths.len; i++) {
		if (!ledger_read(ledgers->paths.data[i], take, judge, why))
			continue;
		log_error("%s: %s", ledgers->paths.data[i], why);
		ledgers->broken = true;
	}
}

void ledgers_free(struct ledgers *ledgers)
{
	plan_free(ledgers->plan);
	vec_release(&ledgers->paths);
}
