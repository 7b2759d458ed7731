/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of the catalogue, judged one by one. */
#ifndef UCXBPF_JUDGE_RULES_TABLE_H
#define UCXBPF_JUDGE_RULES_TABLE_H

#include "site/judge/rules/rules.h"

/* A rule at work on what the judge has. */
struct trial trial_of(struct judge *judge, const struct catalogue_rule *rule);

/* Adds the rule's findings: one SKIP where it is switched off, or what it looks at was not given.
 */
void judge_rule(struct judge *judge, const struct catalogue_rule *rule);

/* Whether captures have no part in what the rule looks at: what they lack is no doubt about it. */
bool judged_apart(const struct catalogue_rule *rule);

/*
 * Where captures recorded all in windows of time: whether a pass needs the rest of the time as
 * well. Other rules hold for windows.
 */
bool passes_of_all(const struct catalogue_rule *rule);

/* Whether the rule also fails because something was not seen: missing records may explain that. */
bool fails_by_absence(const struct catalogue_rule *rule);

#endif
