// SPDX-License-Identifier: BSD-3-Clause
/*
 * Compares texts: variables, systems, libraries. Each rank is compared with itself on the other
 * side; ranks with the same outcome share a row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "show/diff/internal.h"

/* The texts of a role under one key. */
struct role_texts {
	uint64_t role;
	const char *sides[DIFF_SIDES]; /* distinct texts of the runs, joined */
	enum diff_verdict verdict;
};

struct comparison {
	struct diff *diff;
	const struct diff_setting **settings; /* by table, keys, role, run, value */
	bool *present[DIFF_SIDES]; /* by role */
	bool merged; /* no rank is on both sides: all count as one */
	VEC(struct role_texts) roles; /* of the key at hand */
	bool found[DIFF_SIDES]; /* some role has the key at hand */
	const char **texts; /* of the role at hand, by run; NULL: it has none */
};

static bool is_place(const struct diff_role *role)
{
	return role->kind == DIFF_HOST || role->kind == DIFF_JOB;
}

static const struct diff_role *role_at(const struct comparison *comparison, uint64_t number)
{
	return &comparison->diff->roles.data[number];
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_roles(const struct diff_role *a, const struct diff_role *b)
{
	int order = (a->kind > b->kind) - (a->kind < b->kind);

	order = order ? order : (a->number > b->number) - (a->number < b->number);
	return order ? order : compare_text(a->name, b->name);
}

static int by_key(const void *left, const void *right, void *arg)
{
	const struct diff_role *roles = arg;
	const struct diff_setting *a = *(const struct diff_setting *const *)left;
	const struct diff_setting *b = *(const struct diff_setting *const *)right;
	int order = (a->table > b->table) - (a->table < b->table);

	for (int i = 0; i < DIFF_KEYS && !order; i++)
		order = compare_text(a->keys[i], b->keys[i]);
	order = order ? order : compare_roles(&roles[a->role], &roles[b->role]);
	order = order ? order : (a->run > b->run) - (a->run < b->run);
	return order ? order : strcmp(a->value, b->value);
}

static bool same_key(const struct diff_setting *a, const struct diff_setting *b)
{
	return a->table == b->table && !memcmp(a->keys, b->keys, sizeof(a->keys));
}

/* ---- the texts of a role ---- */

static int by_run(const void *left, const void *right)
{
	const struct diff_setting *a = *(const struct diff_setting *const *)left;
	const struct diff_setting *b = *(const struct diff_setting *const *)right;

	if (a->run != b->run)
		return a->run < b->run ? -1 : 1;
	return strcmp(a->value, b->value);
}

/* Values of one run, in order; roles that count as one may have the same one. */
static const char *run_text(struct diff *diff, const struct diff_setting *const *list, size_t count)
{
	struct diff_texts texts = { 0 };

	for (size_t i = 0; i < count; i++)
		if (!i || list[i]->value != list[i - 1]->value)
			diff_texts_add(&texts, list[i]->value);
	return diff_texts_join(diff, &texts, ", ");
}

/*
 * Reads settings of one key, from one on, up to the next role; all: of all roles. Returns the next
 * one's number.
 */
static size_t read_texts(struct comparison *comparison, size_t from, size_t to, bool all)
{
	const struct diff_setting **list = comparison->settings;
	const uint64_t role = list[from]->role;

	memset(comparison->texts, 0, comparison->diff->runs.len * sizeof(*comparison->texts));
	if (all)
		qsort(&list[from], to - from, sizeof(*list), by_run);
	for (size_t end; from < to && (all || list[from]->role == role); from = end) {
		for (end = from; end < to && (all || list[end]->role == role) &&
				 list[end]->run == list[from]->run;
		     end++)
			;
		comparison->texts[list[from]->run] =
			run_text(comparison->diff, &list[from], end - from);
	}
	return from;
}

/* The text of a run that has none; NULL: it may have one that is not known. */
static const char *absent_text(const struct comparison *comparison,
			       const struct diff_setting *setting, const struct diff_run *run)
{
	const char *key = setting->keys[0];

	if (setting->table != TABLE_VARIABLES && (run->damaged || run->killed))
		return NULL;
	if (setting->table == TABLE_VARIABLES)
		return run->whole ? "(not set)" : NULL;
	/* a tracer may miss that one rank of several has mapped a library */
	if (setting->table == TABLE_LIBRARIES)
		return !strcmp(setting->keys[1], "path") && !comparison->found[run->side]
			       ? "(not mapped)"
			       : NULL;
	if (!strcmp(key, "UCX") || !strcmp(key, "interfaces") || !strncmp(key, "gpu", 3))
		return "(none)";
	return NULL;
}

/* Distinct texts of a side's runs; NULL: some run does not tell. */
static const char *side_text(struct comparison *comparison, const struct diff_setting *setting,
			     enum diff_side side)
{
	struct diff *diff = comparison->diff;
	struct diff_texts texts = { 0 };

	for (size_t i = 0; i < diff->runs.len; i++) {
		const char *text = comparison->texts[i];
		bool known = false;

		if (diff->runs.data[i].side != side)
			continue;
		text = text ? text : absent_text(comparison, setting, &diff->runs.data[i]);
		if (!text) {
			vec_release(&texts.shown);
			return NULL;
		}
		text = comparison->texts[i] = diff_keep(diff, text);
		for (size_t before = 0; before < i; before++)
			known = known || (diff->runs.data[before].side == side &&
					  comparison->texts[before] == text);
		if (!known)
			diff_texts_add(&texts, text);
	}
	return diff_texts_join(diff, &texts, " or ");
}

/* Whether a run of one side has the text of a run of the other. */
static bool share_text(const struct comparison *comparison)
{
	const struct diff *diff = comparison->diff;

	for (size_t a = 0; a < diff->runs.len; a++)
		for (size_t b = 0; b < a; b++)
			if (diff->runs.data[a].side != diff->runs.data[b].side &&
			    comparison->texts[a] == comparison->texts[b])
				return true;
	return false;
}

static void add_role(struct comparison *comparison, const struct diff_setting *setting)
{
	struct role_texts role = { .role = setting->role };

	for (enum diff_side side = DIFF_BEFORE; side < DIFF_SIDES; side++) {
		if (!comparison->merged && !comparison->present[side][setting->role])
			return;
		role.sides[side] = side_text(comparison, setting, side);
	}
	if (!role.sides[DIFF_BEFORE] || !role.sides[DIFF_AFTER])
		role.verdict = DIFF_UNCOMPARED;
	else if (role.sides[DIFF_BEFORE] == role.sides[DIFF_AFTER])
		role.verdict = DIFF_SAME;
	else
		role.verdict = share_text(comparison) ? DIFF_VARIES : DIFF_CHANGED;
	vec_push(&comparison->roles, role);
}

/* ---- rows ---- */

static bool same_texts(const struct role_texts *a, const struct role_texts *b)
{
	return a->sides[DIFF_BEFORE] == b->sides[DIFF_BEFORE] &&
	       a->sides[DIFF_AFTER] == b->sides[DIFF_AFTER];
}

static void print_role(FILE *out, const struct diff_role *role)
{
	switch ((enum diff_role_kind)role->kind) {
	case DIFF_RANK:
		fprintf(out, "%" PRIu64, role->number);
		return;
	case DIFF_PROGRAM:
		fprintf(out, "%s%s", role->name ? "program " : "unknown program",
			role->name ? role->name : "");
		return;
	case DIFF_HOST:
		fprintf(out, "host %" PRIu64, role->number);
		return;
	case DIFF_JOB:
		fputs("the job", out);
	}
}

/* "0-3,7" of the roles with the texts of the first one at from, which come in order. */
static const char *ranks_of(const struct comparison *comparison, size_t from)
{
	const struct role_texts *roles = comparison->roles.data;
	const struct diff_role *first = NULL, *last = NULL; /* ranks that follow each other */
	const char *kept;
	char *list = NULL;
	size_t size;
	FILE *out = xmemstream(&list, &size);

	for (size_t i = from; i < comparison->roles.len; i++) {
		const struct diff_role *role = role_at(comparison, roles[i].role);

		if (!same_texts(&roles[i], &roles[from]))
			continue;
		if (role->kind == DIFF_RANK && last && role->number == last->number + 1) {
			last = role;
			continue;
		}
		if (last != first)
			fprintf(out, "-%" PRIu64, last->number);
		fputs(i > from ? "," : "", out);
		print_role(out, role);
		first = last = role->kind == DIFF_RANK ? role : NULL;
	}
	if (last != first)
		fprintf(out, "-%" PRIu64, last->number);
	fclose(out);
	kept = diff_keep(comparison->diff, list);
	free(list);
	return kept;
}

static bool seen_before(const struct comparison *comparison, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (same_texts(&comparison->roles.data[i], &comparison->roles.data[at]))
			return true;
	return false;
}

static bool is_setting(const struct diff_setting *setting, const char *key)
{
	return setting->table == TABLE_SYSTEM && !strcmp(setting->keys[0], key);
}

static const char *reason_of(const struct diff_setting *setting, enum diff_verdict verdict)
{
	if (verdict == DIFF_VARIES && is_setting(setting, "cores"))
		return "read before or after the MPI library binds them";
	if (verdict == DIFF_VARIES)
		return "it varies between runs of a side";
	return verdict == DIFF_UNCOMPARED ? "one side does not tell" : NULL;
}

static void add_row(struct comparison *comparison, const struct diff_setting *setting, size_t at)
{
	const struct role_texts *role = &comparison->roles.data[at];
	struct diff_row *row =
		diff_row_add(comparison->diff, (enum diff_table_id)setting->table, setting->keys);

	row->verdict = role->verdict;
	if (row->verdict == DIFF_CHANGED && is_setting(setting, "cores"))
		row->verdict = DIFF_VARIES;
	row->reason = reason_of(setting, row->verdict);
	if (role_at(comparison, role->role)->kind != DIFF_JOB &&
	    (!comparison->merged || is_place(role_at(comparison, role->role))))
		row->ranks = ranks_of(comparison, at);
	for (enum diff_side side = DIFF_BEFORE; side < DIFF_SIDES; side++)
		row->values[side] = (struct diff_value){ .there = role->sides[side],
							 .text = role->sides[side] };
}

/* Captures of a part of a run, or of few layers, do not have all interfaces. */
static bool is_partial(const struct diff *diff, const struct diff_setting *setting)
{
	return is_setting(setting, "interfaces") &&
	       (diff->limits.counts || diff->limits.level < LEVEL_UCT);
}

static void compare_key(struct comparison *comparison, size_t from, size_t to)
{
	const struct diff_setting *setting = comparison->settings[from];

	if (is_partial(comparison->diff, setting))
		return;
	comparison->roles.len = 0;
	comparison->found[DIFF_BEFORE] = comparison->found[DIFF_AFTER] = false;
	for (size_t i = from; i < to; i++)
		comparison->found[diff_side_of(comparison->diff, comparison->settings[i]->run)] =
			true;
	while (from < to) {
		const struct diff_setting *first = comparison->settings[from];
		const bool all = comparison->merged && !is_place(role_at(comparison, first->role));

		from = read_texts(comparison, from, to, all);
		add_role(comparison, first);
	}
	for (size_t i = 0; i < comparison->roles.len; i++)
		if (!seen_before(comparison, i))
			add_row(comparison, setting, i);
}

/* Each process and host has some setting. */
static void find_present(struct comparison *comparison)
{
	const struct diff *diff = comparison->diff;
	bool shared = false;

	for (size_t i = 0; i < diff->settings.len; i++) {
		const struct diff_setting *setting = &diff->settings.data[i];

		comparison->present[diff_side_of(diff, setting->run)][setting->role] = true;
	}
	for (size_t i = 0; i < diff->roles.len; i++)
		shared = shared ||
			 (comparison->present[DIFF_BEFORE][i] &&
			  comparison->present[DIFF_AFTER][i] && !is_place(&diff->roles.data[i]));
	comparison->merged = !shared;
}

void diff_compare_settings(struct diff *diff)
{
	const size_t count = diff->settings.len;
	struct comparison comparison = {
		.diff = diff,
		.settings = xcalloc(count + 1, sizeof(*comparison.settings)),
		.texts = xcalloc(diff->runs.len, sizeof(*comparison.texts)),
	};

	for (enum diff_side side = DIFF_BEFORE; side < DIFF_SIDES; side++)
		comparison.present[side] = xcalloc(diff->roles.len + 1, sizeof(bool));
	for (size_t i = 0; i < count; i++)
		comparison.settings[i] = &diff->settings.data[i];
	qsort_r(comparison.settings, count, sizeof(*comparison.settings), by_key, diff->roles.data);
	find_present(&comparison);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i;
		     end < count && same_key(comparison.settings[i], comparison.settings[end]);
		     end++)
			;
		compare_key(&comparison, i, end);
	}
	for (enum diff_side side = DIFF_BEFORE; side < DIFF_SIDES; side++)
		free(comparison.present[side]);
	vec_release(&comparison.roles);
	free(comparison.settings);
	free(comparison.texts);
}
