// SPDX-License-Identifier: BSD-3-Clause
/* A policy is read whole or refused with the line that is wrong. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "site/policy/policy.h"

#define SPEC "spec: ucxbpf-policy-v1\n"

static const char whole[] = SPEC
	"site: example\n"
	"classes:\n"
	"  gpu: { nodes: \"n[08-10],m7\", gpus: 4, nics: [\"mlx5_0:1\", \"mlx5_1:1\"],\n"
	"         nic_rate: 100Gb/s, pcie: {gen: 4, width: 16}, rails: 2, features: [a100],\n"
	"         map: {gpu0: mlx5_0, gpu1: \"mlx5_1:1\"} }\n"
	"  cpu: { nodes: \"c[1,3]\" }\n"
	"topology: { file: topology.conf, levels: [switch, group] }\n"
	"expect:\n"
	"  - { loc: intra, mem: cuda-cuda, size: [64K, inf], tl: [cuda_ipc], min_share: 0.99 }\n"
	"  - { loc: inter, mem: any-host, size: [0, 8K], forbid: tcp, sl: 1, nic: nearest,\n"
	"      staging: none, dst_copy: gdr_copy, proto: [\"rndv*\"] }\n"
	"reference:\n"
	"  inter.host-host.32M: [95, -0.05, null, Gb/s]\n"
	"rules:\n"
	"  RAIL-02: { max_over_mean: 1.20, severity: critical }\n"
	"  PATH-04: { size: 1M, share: 0.5 }\n"
	"  PATH-06: { severity: off }\n"
	"  COV-02: { high: auto, untraced: [storage] }\n"
	"  PERF-01: { confirm: false }\n"
	"waive:\n"
	"  - { rule: RAIL-05, subject: \"n0*\", until: 2026-12-01, reason: \"cable\" }\n"
	"act: { drain: never, max_drain: {nodes: 3, share: 0.5}, reason_prefix: x }\n";

static struct policy *right(const char *text)
{
	struct policy_errors errors = { 0 };
	struct policy *policy;
	int err = policy_parse(text, strlen(text), &policy, &errors);

	for (size_t i = 0; i < errors.list.len; i++)
		print_error("%d: %s\n", errors.list.data[i].line, errors.list.data[i].text);
	assert_int_equal(err, 0);
	policy_errors_release(&errors);
	return policy;
}

static void every_key(void **state)
{
	struct policy *policy = right(whole);
	const struct policy_class *gpu = policy_class_of(policy, "n09");
	const struct policy_rule *rule;

	(void)state;
	assert_string_equal(policy->site, "example");
	assert_int_equal(policy->classes.len, 2);
	assert_string_equal(gpu->name, "gpu");
	assert_int_equal(gpu->nodes.len, 4);
	assert_string_equal(gpu->nodes.data[0], "n08");
	assert_string_equal(gpu->nodes.data[3], "m7");
	assert_true(gpu->nic_rate == 100e9);
	assert_int_equal(gpu->pcie_width, 16);
	assert_string_equal(gpu->map[1].nic, "mlx5_1:1");
	assert_string_equal(policy_class_of(policy, "c3")->name, "cpu");
	assert_null(policy_class_of(policy, "c2"));
	assert_null(policy_class_of(policy, "n8"));

	assert_int_equal(policy->expect.len, 2);
	assert_int_equal(policy->expect.data[0].from, 65536);
	assert_true(policy->expect.data[0].to == UINT64_MAX);
	assert_string_equal(policy->expect.data[0].src_mem, "cuda");
	assert_null(policy->expect.data[1].src_mem);
	assert_string_equal(policy->expect.data[1].dst_mem, "host");
	assert_string_equal(policy->expect.data[1].forbid.data[0], "tcp");
	assert_int_equal(policy->expect.data[1].sl, 1);
	assert_true(policy->expect.data[1].nearest_nic);
	assert_int_equal(policy->expect.data[1].staging, STAGING_NONE);

	assert_true(policy->references.data[0].lower == -0.05);
	assert_true(isnan(policy->references.data[0].upper));

	rule = policy_rule(policy, catalogue_find("RAIL-02"));
	assert_true(policy->settings.rail_02.max_over_mean == 1.2);
	assert_true(policy->settings.rail_02.critical == 1.5);
	assert_int_equal(rule->severity, SEVERITY_CRITICAL);
	assert_int_equal(policy->settings.path_04.size, 1 << 20);
	assert_true(policy_rule(policy, catalogue_find("PATH-06"))->off);
	assert_true(isnan(policy->settings.cov_02.high));
	assert_false(policy->settings.perf_01.confirm);

	assert_int_equal(policy->waivers.data[0].until, 20788);
	assert_int_equal(policy->act.drain, DRAIN_NEVER);
	assert_int_equal(policy->act.max_nodes, 3);
	policy_free(policy);
}

static void same_meaning_same_hash(void **state)
{
	char one[65], other[65], third[65];
	struct policy *a = right(SPEC "site: x\nrules: { PATH-04: { size: 64K } }\n");
	struct policy *b = right("{\"site\": \"x\", \"spec\": \"ucxbpf-policy-v1\"}");
	struct policy *c = right(SPEC "site: x\nrules: { PATH-04: { size: 65537 } }\n");

	(void)state;
	policy_hash(a, one);
	policy_hash(b, other);
	policy_hash(c, third);
	assert_string_equal(one, other);
	assert_string_not_equal(one, third);
	assert_int_equal(strlen(one), 64);
	policy_free(a);
	policy_free(b);
	policy_free(c);
}

/* The first error, of a line and with words in it. */
static void refused(const char *text, size_t length, int line, const char *words)
{
	struct policy_errors errors = { 0 };
	struct policy *policy = NULL;

	if (policy_parse(text, length, &policy, &errors) != -EINVAL || policy)
		fail_msg("%.80s: was taken", text);
	if (errors.list.data[0].line != line || !strstr(errors.list.data[0].text, words))
		fail_msg("%.60s: line %d: %s", text, errors.list.data[0].line,
			 errors.list.data[0].text);
	policy_errors_release(&errors);
}

static void wrong(void **state)
{
	static const struct {
		const char *text;
		int line;
		const char *words;
	} cases[] = {
		{ "", 0, "empty" },
		{ "site: x\n", 1, "'spec' is missing" },
		{ "spec: ucxbpf-policy-v2\n", 1, "not ucxbpf-policy-v1" },
		{ "- spec\n", 1, "a map is wanted" },
		{ SPEC "sight: x\n", 2, "no key 'sight'" },
		{ SPEC "site: [x]\n", 2, "a word or number" },
		{ SPEC "site: ''\n", 2, "not a word" },
		{ SPEC "site: a\nsite: b\n", 3, "there twice" },
		{ SPEC "site: &a x\n", 2, "anchors" },
		{ SPEC "site: *a\n", 2, "aliases" },
		{ SPEC "site: !!str x\n", 2, "tags" },
		{ SPEC "? [a]\n: b\n", 2, "a key must be a word" },
		{ SPEC "---\nsite: x\n", 2, "a second document" },
		{ SPEC "site: {\n", 3, "not YAML" },
		{ SPEC "\tsite: x\n", 2, "not YAML" },
		{ SPEC "classes: { a: {} }\n", 2, "'nodes' is missing" },
		{ SPEC "classes: { a: { nodes: 'n[3-1]' } }\n", 2, "not a list of nodes" },
		{ SPEC "classes: { a: { nodes: 'n[1' } }\n", 2, "not a list of nodes" },
		{ SPEC "classes: { a: { nodes: 'n[0-99999]' } }\n", 2, "not a list of nodes" },
		{ SPEC "classes: { a: { nodes: 'n1,' } }\n", 2, "not a list of nodes" },
		{ SPEC "classes: { a: { nodes: 'n[1][2]' } }\n", 2, "not a list of nodes" },
		{ SPEC "classes:\n  a: { nodes: n1 }\n  b: { nodes: 'n[0-1]' }\n", 4,
		  "named twice" },
		{ SPEC "classes: { a: { nodes: n1, gpus: -1 } }\n", 2, "whole number" },
		{ SPEC "classes: { a: { nodes: n1, gpus: 1.5 } }\n", 2, "whole number" },
		{ SPEC "classes: { a: { nodes: n1, rails: 0 } }\n", 2, "whole number" },
		{ SPEC "classes: { a: { nodes: n1, nic_rate: fast } }\n", 2, "a rate" },
		{ SPEC "classes: { a: { nodes: n1, pcie: { gen: 4 } } }\n", 2,
		  "'width' is missing" },
		{ SPEC "classes: { a: { nodes: n1, nics: [x], map: { gpu0: y } } }\n", 2,
		  "not one of the class's nics" },
		{ SPEC "expect: { loc: intra }\n", 2, "a list is wanted" },
		{ SPEC "expect:\n  - { loc: near, tl: [tcp] }\n", 3,
		  "not one of self, intra, inter" },
		{ SPEC "expect:\n  - { loc: intra }\n", 3, "asks for nothing" },
		{ SPEC "expect:\n  - { mem: cuda, tl: [tcp] }\n", 3, "no pair" },
		{ SPEC "expect:\n  - { mem: cuda-disk, tl: [tcp] }\n", 3, "no pair" },
		{ SPEC "expect:\n  - { size: [8K, 1], tl: [tcp] }\n", 3, "FROM below TO" },
		{ SPEC "expect:\n  - { size: [8Q, 9Q], tl: [tcp] }\n", 3, "FROM below TO" },
		{ SPEC "expect:\n  - { size: 8K, tl: [tcp] }\n", 3, "two sizes" },
		{ SPEC "expect:\n  - { tl: [tcp], min_share: 1.5 }\n", 3, "in its range" },
		{ SPEC "expect:\n  - { tl: [tcp], min_share: nan }\n", 3, "in its range" },
		{ SPEC "expect:\n  - { tl: [[tcp]] }\n", 3, "a word or number" },
		{ SPEC "expect:\n  - { tl: [tcp, rc] }\n", 3, "tl: 'rc' is no transport" },
		{ SPEC "expect:\n  - { tl: [gdr_copy+rc_mlx] }\n", 3, "is no transport" },
		{ SPEC "expect:\n  - { tl: [gdr_copy+] }\n", 3, "is no transport" },
		{ SPEC "expect:\n  - { tl: ['gdr_copy+rc_*'] }\n", 3, "is no transport" },
		{ SPEC "expect:\n  - { tl: ['tpc*'] }\n", 3, "is no transport" },
		{ SPEC "expect:\n  - { tl: [net] }\n", 3, "is no transport" },
		{ SPEC "expect:\n  - { tl: [''] }\n", 3, "is no transport" },
		{ SPEC "expect:\n  - { forbid: tpc }\n", 3, "forbid: 'tpc' is no transport" },
		{ SPEC "expect:\n  - { forbid: 'net*' }\n", 3, "is no transport" },
		{ SPEC "expect:\n  - { forbid: [tcp+cma] }\n", 3, "is no transport" },
		{ SPEC "expect:\n  - { forbid: [fast] }\ntransports: [faster]\n", 3,
		  "is no transport" },
		{ SPEC "expect:\n  - { dst_copy: gdr }\n", 3, "not one of cuda_copy, gdr_copy" },
		{ SPEC "expect:\n  - { staging: some }\n", 3, "not one of any, none, host" },
		{ SPEC "expect:\n  - { nic: best }\n", 3, "not one of any, nearest" },
		{ SPEC "expect:\n  - { sl: 16 }\n", 3, "whole number" },
		{ SPEC "rules: { PATH-99: {} }\n", 2, "no rule 'PATH-99'" },
		{ SPEC "rules: { path-01: {} }\n", 2, "no rule" },
		{ SPEC "rules: { PATH-04: { sice: 1K } }\n", 2, "no setting 'sice'" },
		{ SPEC "rules: { PATH-04: { size: 1.5K } }\n", 2, "a size" },
		{ SPEC "rules: { PATH-04: { share: 2 } }\n", 2, "a share" },
		{ SPEC "rules: { PATH-04: { share: auto } }\n", 2, "a share" },
		{ SPEC "rules: { RAIL-02: { severity: fatal } }\n", 2, "info, warning, critical" },
		{ SPEC "rules: { PERF-01: { confirm: yes } }\n", 2, "true or false" },
		{ SPEC "rules: [PATH-04]\n", 2, "a map is wanted" },
		{ SPEC "reference: { a: [1, 2, 3] }\n", 2, "VALUE, LOWER" },
		{ SPEC "reference: { a: [1, 0.5, 0.5, s] }\n", 2, "VALUE, LOWER" },
		{ SPEC "reference: { a: [null, null, null, s] }\n", 2, "VALUE, LOWER" },
		{ SPEC "waive: [ { rule: PATH-01, subject: n1, until: 2026-12-01 } ]\n", 2,
		  "'reason' is missing" },
		{ SPEC "waive: [ { rule: X, subject: n, until: 2026-12-01, reason: r } ]\n", 2,
		  "no rule 'X'" },
		{ SPEC "waive: [ { rule: PATH-01, subject: n, until: 2026-02-30, reason: r } ]\n",
		  2, "a date" },
		{ SPEC "waive: [ { rule: PATH-01, subject: n, until: soon, reason: r } ]\n", 2,
		  "a date" },
		{ SPEC "act: { drain: always }\n", 2, "not one of propose, never" },
		{ SPEC "act: { max_drain: { share: -1 } }\n", 2, "in its range" },
		{ SPEC "topology: {}\n", 2, "'file' is missing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		refused(cases[i].text, strlen(cases[i].text), cases[i].line, cases[i].words);
}

static void too_much(void **state)
{
	static char large[(1 << 20) + 64];
	static const char nodes[] = SPEC "classes: { c: { nodes: 'n[0-65535],m' } }\n";
	char deep[256] = SPEC "site: ", classes[2000];

	(void)state;
	memset(large, ' ', sizeof(large));
	refused(large, sizeof(large), 0, "1 MiB");
	for (int i = 0; i < 40; i++)
		strcat(deep, "[");
	for (int i = 0; i < 40; i++)
		strcat(deep, "]");
	refused(deep, strlen(deep), 2, "deeper than 16");
	refused(SPEC "site: \"a\\0b\"\n", strlen(SPEC) + 13, 2, "zero byte");
	refused(nodes, strlen(nodes), 2, "up to 65,536");
	strcpy(classes, SPEC "classes:\n");
	for (int i = 0; i <= 64; i++)
		sprintf(classes + strlen(classes), " c%d: { nodes: n%d }\n", i, i);
	refused(classes, strlen(classes), 67, "more than 64");
}

/* Each line of a right policy, one character of it changed: right, or refused with a line. */
static void changed(void **state)
{
	static const char others[] = "x:[{\"&*!-\t";
	size_t length = strlen(whole), refusals = 0;
	char text[sizeof(whole)];

	(void)state;
	for (size_t at = 0; at < length; at++) {
		struct policy_errors errors = { 0 };
		struct policy *policy;

		memcpy(text, whole, sizeof(text));
		text[at] = others[at % (sizeof(others) - 1)];
		if (policy_parse(text, length, &policy, &errors)) {
			refusals++;
			assert_true(errors.list.len > 0);
			assert_true(errors.list.data[0].line > 0);
		}
		policy_errors_release(&errors);
		policy_free(policy);
	}
	assert_true(refusals >= 500);
}

static void many_errors(void **state)
{
	struct policy_errors errors = { 0 };
	struct policy *policy;
	char text[2048] = SPEC;

	(void)state;
	for (int i = 0; i < 30; i++)
		sprintf(text + strlen(text), "key%d: 1\n", i);
	assert_int_equal(policy_parse(text, strlen(text), &policy, &errors), -EINVAL);
	assert_int_equal(errors.list.len, POLICY_MAX_ERRORS);
	assert_int_equal(errors.list.data[0].line, 2);
	assert_int_equal(errors.list.data[19].line, 21);
	policy_errors_release(&errors);
}

/* What is found last is of an earlier line. */
static void errors_in_order(void **state)
{
	static const char text[] = SPEC "expect: [ { forbid: tpc } ]\nsite: []\nrules: 1\n";
	struct policy_errors errors = { 0 };
	struct policy *policy;

	(void)state;
	assert_int_equal(policy_parse(text, strlen(text), &policy, &errors), -EINVAL);
	assert_int_equal(errors.list.len, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(errors.list.data[i].line, 2 + i);
	policy_errors_release(&errors);
}

/* Of another UCX, whatever the order. */
static void more_transports(void **state)
{
	static const char text[] =
		SPEC "expect: [ { tl: ['fast_*', gdr_copy+fast_tl], forbid: [fast_tl, 'rc_*'] } ]\n"
		     "transports: [fast_tl]\n";
	struct policy_errors errors = { 0 };
	struct policy *policy;

	(void)state;
	assert_int_equal(policy_parse(text, strlen(text), &policy, &errors), 0);
	assert_int_equal(policy->transports.len, 1);
	policy_free(policy);
	policy_errors_release(&errors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key),       cmocka_unit_test(same_meaning_same_hash),
		cmocka_unit_test(wrong),           cmocka_unit_test(too_much),
		cmocka_unit_test(changed),         cmocka_unit_test(many_errors),
		cmocka_unit_test(errors_in_order), cmocka_unit_test(more_transports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
