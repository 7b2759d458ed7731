// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

#include "site/policy/bind.h"
#include "site/policy/values.h"

#define AT(member) offsetof(struct policy_expect, member)

static const char *const locs[] = { "self", "intra", "inter", NULL };
static const char *const memories[] = { "host", "cuda", "managed", "pinned",
					"rocm", "ze",   "any",     NULL };
static const char *const stagings[] = {
	[STAGING_ANY] = "any", [STAGING_NONE] = "none", [STAGING_HOST] = "host", NULL
};
static const char *const nics[] = { "any", "nearest", NULL };
static const char *const copies[] = { "cuda_copy", "gdr_copy", "rocm_copy",
				      "rocm_gdr",  "ze_copy",  NULL };

static const char *memory_named(const char *text, size_t length)
{
	for (int i = 0; memories[i]; i++)
		if (strlen(memories[i]) == length && !strncmp(memories[i], text, length))
			return memories[i];
	return NULL;
}

static const char *unless_any(const char *memory)
{
	return strcmp(memory, "any") ? memory : NULL;
}

/* cuda-host: from, to */
static void bind_mem(struct binder *binder, const struct policy_tree *tree, void *to)
{
	struct policy_expect *expect = to;
	const char *dash = tree->text ? strchr(tree->text, '-') : NULL;
	const char *src = dash ? memory_named(tree->text, dash - tree->text) : NULL;
	const char *dst = dash ? memory_named(dash + 1, strlen(dash + 1)) : NULL;

	if (!bind_is(binder, tree, NODE_SCALAR, "mem"))
		return;
	if (!src || !dst) {
		errors_add(binder->errors, tree->line,
			   "mem: '%.40s' is no pair such as cuda-host, of host, cuda, managed, "
			   "pinned, rocm, ze, any",
			   tree->text);
		return;
	}
	expect->src_mem = unless_any(src);
	expect->dst_mem = unless_any(dst);
}

/* [from, to) */
static void bind_size(struct binder *binder, const struct policy_tree *tree, void *to)
{
	struct policy_expect *expect = to;
	const struct policy_tree *from, *until;

	if (tree->type != NODE_LIST || tree->entries.len != 2) {
		errors_add(binder->errors, tree->line,
			   "size: two sizes such as [0, 8K] are wanted");
		return;
	}
	from = tree->entries.data[0].value;
	until = tree->entries.data[1].value;
	if (!from->text || !until->text || !value_size(from->text, &expect->from) ||
	    !value_size(until->text, &expect->to) || expect->from >= expect->to)
		errors_add(binder->errors, tree->line,
			   "size: [FROM, TO] with FROM below TO, such as [0, 8K] or [64K, inf]");
}

static void bind_nic(struct binder *binder, const struct policy_tree *tree, void *to)
{
	struct policy_expect *expect = to;

	if (!bind_is(binder, tree, NODE_SCALAR, "nic"))
		return;
	expect->nearest_nic = !strcmp(tree->text, nics[1]);
	if (!expect->nearest_nic && strcmp(tree->text, nics[0]))
		errors_add(binder->errors, tree->line, "nic: '%.40s' is none of any, nearest",
			   tree->text);
}

static const struct field fields[] = {
	{ "loc", FIELD_CHOICE, AT(loc), false, locs, 0, 0, NULL },
	{ "mem", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_mem },
	{ "size", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_size },
	{ "tl", FIELD_TEXTS, AT(tl), false, NULL, 0, 0, NULL },
	{ "forbid", FIELD_TEXTS, AT(forbid), false, NULL, 0, 0, NULL },
	{ "proto", FIELD_TEXTS, AT(proto), false, NULL, 0, 0, NULL },
	{ "min_share", FIELD_NUMBER, AT(min_share), false, NULL, 0, 1, NULL },
	{ "dst_copy", FIELD_CHOICE, AT(dst_copy), false, copies, 0, 0, NULL },
	{ "staging", FIELD_ENUM, AT(staging), false, stagings, 0, 0, NULL },
	{ "nic", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_nic },
	{ "sl", FIELD_COUNT, AT(sl), false, NULL, 0, 15, NULL },
	{ 0 },
};

static void check_asks(struct binder *binder, const struct policy_expect *expect)
{
	if (!expect->tl.len && !expect->forbid.len && !expect->proto.len && !expect->dst_copy &&
	    expect->staging == STAGING_ANY && !expect->nearest_nic && expect->sl < 0)
		errors_add(binder->errors, expect->line,
			   "expect: asks for nothing: tl, forbid, proto, dst_copy, staging, nic or "
			   "sl is wanted");
}

void bind_expect(struct binder *binder, const struct policy_tree *tree, void *to)
{
	(void)to;
	if (!bind_is(binder, tree, NODE_LIST, "expect"))
		return;
	for (size_t i = 0; i < tree->entries.len; i++) {
		const struct policy_tree *item = tree->entries.data[i].value;
		struct policy_expect *expect = vec_add(&binder->policy->expect);

		*expect = (struct policy_expect){
			.line = item->line,
			.to = UINT64_MAX,
			.min_share = 1,
			.sl = -1,
		};
		bind_map(binder, item, "expect", fields, expect);
		check_asks(binder, expect);
	}
}
