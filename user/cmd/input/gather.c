// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/input/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/readable.h"
#include "base/vec.h"
#include "explain/analysis/analysis.h"
#include "site/inventory/inventory.h"
#include "site/judge/evidence/evidence.h"
#include "site/judge/judge.h"
#include "site/plan/ledger.h"
#include "site/policy/policy.h"

/* ---- what a file is ---- */

static const char *const schemas[] = { "inventory", "ledger", "evidence", "plan" };

static const char *skip_past(const char *at, const char *wanted)
{
	at += strspn(at, " \t\r\n");
	return strncmp(at, wanted, strlen(wanted)) ? NULL : at + strlen(wanted);
}

static const char *schema_of(const char *text)
{
	static const char *const parts[] = { "{", "\"schema\"", ":", "\"ucxbpf." };

	for (size_t i = 0; text && i < ARRAY_SIZE(parts); i++)
		text = skip_past(text, parts[i]);
	for (size_t i = 0; text && i < ARRAY_SIZE(schemas); i++) {
		size_t length = strlen(schemas[i]);

		if (!strncmp(text, schemas[i], length) && text[length] == '/')
			return schemas[i];
	}
	return NULL;
}

/*
 * The schema of a JSON document, "inventory" of {"schema": "ucxbpf.inventory/1", or NULL: none of
 * ours. The first member of an object must name it, in the first bytes of a file.
 */
static const char *evidence_schema(const char *path)
{
	char text[256] = { 0 };
	struct stat file;
	FILE *in;

	/* reading a pipe here would consume its data */
	if (stat(path, &file) || !S_ISREG(file.st_mode))
		return NULL;
	in = readable_open(path);
	if (!in)
		return NULL;
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
	return schema_of(text);
}

/* ---- inventories ---- */

/*
 * Adds the file's inventory. If it cannot be read, prints that and adds its path to those unread.
 */
static void inventories_read(struct inventories *inventories, const char *path)
{
	struct inventory *inventory;
	char why[INVENTORY_WHY];

	if (!inventory_read(path, &inventory, why)) {
		vec_push(&inventories->list, inventory);
		return;
	}
	log_error("%s: %s", path, why);
	vec_push(&inventories->unread, path);
}

static void inventories_free(struct inventories *inventories)
{
	for (size_t i = 0; i < inventories->list.len; i++)
		inventory_free(inventories->list.data[i]);
	vec_release(&inventories->list);
	vec_release(&inventories->unread);
}

/* ---- files that could not be read ---- */

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length > size && !strncmp(text + length - size, end, size);
}

/* Begin of the part of a path that ends before to; its length. */
static const char *part_before(const char *path, const char *to, size_t *length)
{
	const char *from = to;

	while (from > path && from[-1] != '/')
		from--;
	*length = to - from;
	return from;
}

static bool part_is(const char *part, size_t length, const char *name)
{
	return length == strlen(name) && !strncmp(part, name, length);
}

/* NODE.RANK.ndjson: a node's name may have dots. */
static char *of_ledger(const char *file, size_t length)
{
	const char *dot = memrchr(file, '.', length - strlen(".ndjson"));

	return dot && dot > file ? xstrndup(file, dot - file) : NULL;
}

char *unread_node(const char *path)
{
	size_t length, folder_length, above_length = 0;
	const char *file = part_before(path, path + strlen(path), &length), *folder, *above;

	if (file == path)
		return NULL;
	folder = part_before(path, file - 1, &folder_length);
	if (ends_with(file, length, ".ndjson"))
		return part_is(folder, folder_length, "ledger") ? of_ledger(file, length) : NULL;
	if (folder == path || !folder_length)
		return NULL;
	above = part_before(path, folder - 1, &above_length);
	if (!part_is(above, above_length, "nodes") ||
	    !(ends_with(file, length, ".ucxb") || ends_with(file, length, ".json")))
		return NULL;
	return xstrndup(folder, folder_length);
}

/* Reports missing files to the judge. */
static void unread_tell(struct judge *judge, const unread *paths)
{
	for (size_t i = 0; i < paths->len; i++) {
		char *node = unread_node(paths->data[i]);

		judge_loss(judge, &(struct judge_loss){ .node = node, .files = 1 });
		judge_file(judge, node, paths->data[i], "cannot be read");
		free(node);
	}
}

/* ---- plan and ledgers ---- */

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

static void read_ledgers(struct ledgers *ledgers, struct judge *judge,
			 void (*take_entry)(void *arg, const struct ledger_entry *entry))
{
	char why[PLAN_WHY];

	for (size_t i = 0; i < ledgers->paths.len; i++) {
		if (!ledger_read(ledgers->paths.data[i], take_entry, judge, why))
			continue;
		log_error("%s: %s", ledgers->paths.data[i], why);
		vec_push(&ledgers->unread, ledgers->paths.data[i]);
	}
}

static void take_entry(void *arg, const struct ledger_entry *entry)
{
	judge_ledger(arg, entry);
}

/* Feeds plan and ledgers. */
static void ledgers_feed(struct ledgers *ledgers, struct judge *judge)
{
	if (!ledgers->plan)
		return;
	judge_plan(judge, ledgers->plan);
	read_ledgers(ledgers, judge, take_entry);
}

void ledgers_free(struct ledgers *ledgers)
{
	plan_free(ledgers->plan);
	vec_release(&ledgers->paths);
	vec_release(&ledgers->unread);
}

/* ---- policy ---- */

struct policy *policy_of(const char *path)
{
	struct policy_errors errors = { 0 };
	struct policy *policy;
	int err;

	if (!path)
		return policy_default();
	err = policy_read(path, &policy, &errors);
	if (err && !errors.list.len)
		log_error("%s: %s", path, readable_why(err));
	for (size_t i = 0; i < errors.list.len; i++) {
		const struct policy_error *error = &errors.list.data[i];

		if (error->line)
			log_error("%s:%d: %s", path, error->line, error->text);
		else
			log_error("%s: %s", path, error->text);
	}
	policy_errors_release(&errors);
	return policy;
}

/* ---- all of them ---- */

bool gather_has(const char *path)
{
	return captures_has(path) || evidence_schema(path) || evidence_is(path);
}

bool gather_is_plan(const char *path)
{
	const char *schema = evidence_schema(path);

	if (schema && !strcmp(schema, "plan"))
		return true;
	if (access(path, R_OK))
		log_error("%s: %s", path, readable_why(-errno));
	else
		log_error("%s: is not a plan of ucxbpf sweep", path);
	return false;
}

/* Treats unknown files as captures, so that errors read as capture errors. */
static bool sort_files(struct gathered *gathered, const char *const *paths, size_t count)
{
	bool right = true;

	for (size_t i = 0; i < count; i++) {
		const char *path = paths[i], *schema = evidence_schema(path);

		if (schema && !strcmp(schema, "inventory"))
			inventories_read(&gathered->inventories, path);
		else if (schema && !strcmp(schema, "ledger"))
			vec_push(&gathered->ledgers.paths, path);
		else if (schema && !strcmp(schema, "plan"))
			right = ledgers_plan(&gathered->ledgers, path) && right;
		else if (evidence_is(path))
			vec_push(&gathered->evidence, path);
		else
			vec_push(&gathered->captures.paths, path);
	}
	if (!right || !gathered->ledgers.paths.len || gathered->ledgers.plan)
		return right;
	log_error("%s: a ledger cannot be judged without its plan; add --plan FILE",
		  gathered->ledgers.paths.data[0]);
	return false;
}

static struct judge *judge_of(const struct policy *policy, bool learn)
{
	struct judge *judge = judge_new(policy);

	if (learn)
		judge_learn_sizes(judge);
	return judge;
}

/* Names captures that are not whole; analysis_losses() counts them. */
static void mark_incomplete(const struct captures *captures, struct judge *judge)
{
	for (size_t i = 0; i < captures->added.len; i++) {
		const struct captured *one = &captures->added.data[i];

		if (one->why)
			judge_file(judge, *one->host_name ? one->host_name : NULL, one->path,
				   one->why);
	}
}

/* Passes losses in the files that were read, and files that were not, to the judge. */
static void tell_losses(const struct gathered *gathered, struct judge *judge)
{
	const struct analysis_loss *losses;
	size_t count = analysis_losses(gathered->analysis, &losses);

	for (size_t i = 0; i < count; i++)
		judge_loss(judge, &(struct judge_loss){ .node = losses[i].host_name,
							.records = losses[i].lost,
							.missing = losses[i].missing,
							.hits = losses[i].unseen,
							.bytes = losses[i].damaged,
							.files = losses[i].broken,
							.thinned = losses[i].thinned,
							.windows = losses[i].windows,
							.spans = losses[i].spans });
	mark_incomplete(&gathered->captures, judge);
	unread_tell(judge, &gathered->captures.unread);
}

static int feed_captures(struct gathered *gathered, struct judge *judge, const char *command)
{
	struct captures *captures = &gathered->captures;
	const struct fact_sink sink = judge_sink(judge);

	for (size_t i = 0; i < captures->added.len; i++)
		judge_capture(judge, captures->added.data[i].host_id,
			      captures->added.data[i].host_name, captures->added.data[i].start);
	if (captures_analyse(captures, gathered->analysis, command, &sink, &gathered->sums))
		return -EIO;
	tell_losses(gathered, judge);
	gathered->totals = &gathered->sums;
	return 0;
}

/* ---- evidence ---- */

static int said(const char *name, int err, const struct evidence_error *error)
{
	if (!err)
		return 0;
	log_error("%s: %s", error->file ? error->file : name, error->text);
	return err == -EINVAL ? err : -EIO;
}

/* parts/N.evidence, as a sweep in parts leaves them. */
static bool is_part(const char *path)
{
	return !fnmatch("*/parts/[0-9]*.evidence", path, 0) ||
	       !fnmatch("parts/[0-9]*.evidence", path, 0);
}

static int add_file(struct gathered *gathered, struct evidence_merge *merge, const char *path)
{
	struct evidence_error error;
	int file = open(path, O_RDONLY | O_CLOEXEC), err;

	if (file < 0) {
		log_error("%s: %s", path, readable_why(-errno));
		return -EIO;
	}
	/* a damaged part counts as not carried out: COV-03 names its nodes */
	err = is_part(path) ? evidence_check(file, &error) : 0;
	if (!err) {
		err = evidence_merge_add(merge, file, path, &error);
	} else {
		close(file);
		if (err == -EBADMSG) {
			log_warn("%s: %s; left out", path, error.text);
			gathered->broken = true;
			return 0;
		}
	}
	return said(path, err, &error);
}

static int add_files(struct gathered *gathered, struct evidence_merge *merge)
{
	int err = 0;

	for (size_t i = 0; i < gathered->evidence.len && !err; i++)
		err = add_file(gathered, merge, gathered->evidence.data[i]);
	return err;
}

/* Below 0 (printed): no temporary file can be made. */
static int room_of(const struct evidence_merge *merge)
{
	int file = evidence_merge_room(merge);

	if (file < 0)
		log_error("cannot create a temporary file: %s", strerror(-file));
	return file;
}

/* Turns captures into evidence, so that there is one way to merge. */
static int add_captures(struct gathered *gathered, struct evidence_merge *merge,
			const struct policy *policy, const char *command, bool learn)
{
	static const char name[] = "the captures as evidence";
	struct evidence_error error;
	struct judge *judge;
	int file, err;

	if (!gathered->captures.paths.len)
		return 0;
	judge = judge_of(policy, learn);
	err = feed_captures(gathered, judge, command);
	file = err ? -1 : room_of(merge);
	if (file < 0) {
		err = -EIO;
	} else {
		err = judge_evidence_write(judge, gathered->totals, file, &error);
		if (err)
			close(file);
		else
			err = evidence_merge_add(merge, file, name, &error);
		err = said(name, err, &error);
	}
	gathered->totals = NULL;
	judge_free(judge);
	return err;
}

static int read_merged(struct gathered *gathered, struct evidence_merge *merge)
{
	struct evidence_error error;
	int file = room_of(merge), err;

	if (file < 0)
		return -EIO;
	err = evidence_merge_write(merge, file, &error);
	err = err ? err : judge_evidence_read(gathered->judge, file, &error);
	close(file);
	return said("the evidence", err, &error);
}

static int feed_evidence(struct gathered *gathered, const struct policy *policy,
			 const char *command, bool learn)
{
	const char *folder = getenv("TMPDIR");
	struct evidence_merge *merge = evidence_merge_new(folder ? folder : "/tmp");
	int err = add_captures(gathered, merge, policy, command, learn);

	err = err ? err : add_files(gathered, merge);
	err = err ? err : read_merged(gathered, merge);
	evidence_merge_free(merge);
	return err;
}

static int feed(struct gathered *gathered, const struct policy *policy, const char *command,
		bool learn)
{
	size_t added = captures_add(&gathered->captures, gathered->analysis);
	int err;

	ledgers_feed(&gathered->ledgers, gathered->judge);
	unread_tell(gathered->judge, &gathered->inventories.unread);
	unread_tell(gathered->judge, &gathered->ledgers.unread);
	if (!added && !gathered->inventories.list.len && !gathered->evidence.len &&
	    !gathered->ledgers.plan)
		return -ENODATA;
	if (captures_twice(&gathered->captures))
		return -EINVAL;
	for (size_t i = 0; i < gathered->inventories.list.len; i++)
		judge_inventory(gathered->judge, gathered->inventories.list.data[i]);
	err = gathered->evidence.len ? feed_evidence(gathered, policy, command, learn)
				     : feed_captures(gathered, gathered->judge, command);
	gathered->broken = gathered->broken || gathered->captures.broken ||
			   gathered->inventories.unread.len || gathered->ledgers.unread.len;
	return err;
}

int gather(struct gathered *gathered, const struct policy *policy, const char *const *paths,
	   size_t count, const char *command, bool learn)
{
	*gathered = (struct gathered){ .captures.refuses_twins = true };
	if (!sort_files(gathered, paths, count))
		return -EINVAL;
	gathered->analysis = analysis_new();
	gathered->judge = judge_of(policy, learn);
	return feed(gathered, policy, command, learn);
}

void gathered_release(struct gathered *gathered)
{
	judge_free(gathered->judge);
	analysis_free(gathered->analysis);
	captures_release(&gathered->captures);
	inventories_free(&gathered->inventories);
	ledgers_free(&gathered->ledgers);
	vec_release(&gathered->evidence);
}
