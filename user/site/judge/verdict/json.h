/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the verdict's document; what each has is in docs/check.schema.json. */
#ifndef UCXBPF_JUDGE_VERDICT_JSON_H
#define UCXBPF_JUDGE_VERDICT_JSON_H

#include <jansson.h>

#include "site/judge/internal.h"

/* All return a new reference. */

/* As text, beyond what a double holds exactly. */
json_t *verdict_exact_json(uint64_t number);

/* As UTF-8; NULL: null. */
json_t *verdict_text_json(const char *text);

/* "pass", "fail"... */
const char *verdict_word(enum verdict verdict);

json_t *verdict_summary_json(const struct judge *judge, const struct judge_output *how);
json_t *verdict_evidence_json(const struct judge *judge);
json_t *verdict_actions_json(const struct judge *judge);

/* Of captures, then those of which there is but an inventory; two of one name are one. */
json_t *verdict_nodes_json(const struct judge *judge);
json_t *verdict_nics_json(const struct judge *judge);

/* Without what holds for all findings of its rule. */
json_t *verdict_finding_json(const struct judge *judge, const struct finding *finding);

/* Adds that; cause: of the one finding, before the rule's, or NULL. */
void verdict_set_rule_json(json_t *to, const struct catalogue_rule *rule, const char *cause);

/* For the page: what each rule says, by id; and lines, which name findings by their position. */
json_t *verdict_rules_json(void);
json_t *verdict_lines_json(const struct judge *judge);

#endif
