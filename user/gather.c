// SPDX-License-Identifier: BSD-3-Clause
#include "gather.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "evidence.h"
#include "judge/evidence.h"

bool gather_has(const char *path)
{
	return captures_has(path) || evidence_schema(path) || evidence_is(path);
}

/* What is none of the others is taken for a capture: what is wrong with it is said of one. */
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
	log_error("%s: a ledger says nothing without its plan; add --plan FILE",
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

static int feed_captures(struct gathered *gathered, struct judge *judge, const char *command)
{
	struct captures *captures = &gathered->captures;
	const struct fact_sink sink = judge_sink(judge);

	for (size_t i = 0; i < captures->added.len; i++)
		judge_capture(judge, captures->added.data[i].host_id,
			      captures->added.data[i].host_name, captures->added.data[i].start);
	if (captures_analyse(captures, gathered->analysis, command, &sink, &gathered->sums))
		return -EIO;
	if (captures->broken)
		judge_captures_broken(judge);
	gathered->totals = &gathered->sums;
	return 0;
}

/* ---- evidence ---- */

static int said(const char *name, int err, const struct evidence_error *error)
{
	if (!err)
		return 0;
	log_error("%s: %s", name, error->text);
	return err == -EINVAL ? err : -EIO;
}

static int add_files(struct gathered *gathered, struct evidence_merge *merge)
{
	struct evidence_error error;
	int err = 0;

	for (size_t i = 0; i < gathered->evidence.len && !err; i++) {
		const char *path = gathered->evidence.data[i];
		int file = open(path, O_RDONLY | O_CLOEXEC);

		if (file < 0)
			log_error("%s: %s", path, strerror(errno));
		err = file < 0 ? -EIO : evidence_merge_add(merge, file, &error);
		if (err && file >= 0)
			said(path, err, &error);
	}
	return err;
}

/* What the captures tell, as evidence as well: then there is one way to merge. */
static int add_captures(struct gathered *gathered, struct evidence_merge *merge,
			const struct policy *policy, const char *command, bool learn)
{
	struct evidence_error error;
	struct judge *judge;
	int file, err;

	if (!gathered->captures.paths.len)
		return 0;
	judge = judge_of(policy, learn);
	err = feed_captures(gathered, judge, command);
	file = err ? -1 : evidence_merge_room(merge);
	if (!err && file < 0)
		err = -EIO;
	if (!err)
		err = judge_evidence_write(judge, gathered->totals, file, &error);
	if (!err)
		err = evidence_merge_add(merge, file, &error);
	gathered->totals = NULL;
	judge_free(judge);
	return said("the captures as evidence", err, &error);
}

static int read_merged(struct gathered *gathered, struct evidence_merge *merge)
{
	struct evidence_error error;
	int file = evidence_merge_room(merge), err;

	if (file < 0) {
		log_error("no room for a file: %s", strerror(-file));
		return -EIO;
	}
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
	gathered->broken = gathered->captures.broken || gathered->inventories.broken ||
			   gathered->ledgers.broken;
	if (!added && !gathered->inventories.list.len && !gathered->evidence.len &&
	    !gathered->ledgers.plan)
		return -ENODATA;
	if (captures_twice(&gathered->captures))
		return -EINVAL;
	for (size_t i = 0; i < gathered->inventories.list.len; i++)
		judge_inventory(gathered->judge, gathered->inventories.list.data[i]);
	err = gathered->evidence.len ? feed_evidence(gathered, policy, command, learn)
				     : feed_captures(gathered, gathered->judge, command);
	gathered->broken = gathered->broken || gathered->captures.broken;
	if (gathered->broken)
		judge_captures_broken(gathered->judge);
	return err;
}

int gather(struct gathered *gathered, const struct policy *policy, const char *const *paths,
	   size_t count, const char *command, bool learn)
{
	*gathered = (struct gathered){ 0 };
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
