// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/input/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/input/schema.h"
#include "site/judge/evidence/evidence.h"

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

/* Of those that were read, and of those that were not. */
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
	log_error("%s: %s", name, error->text);
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
		log_error("%s: %s", path, strerror(errno));
		return -EIO;
	}
	/* a damaged part is like one that was never carried out: COV-03 says of whom */
	err = is_part(path) ? evidence_check(file, &error) : 0;
	if (err == -EBADMSG) {
		log_warn("%s: %s; left out", path, error.text);
		gathered->broken = true;
		close(file);
		return 0;
	}
	err = err ? err : evidence_merge_add(merge, file, &error);
	return said(path, err, &error);
}

static int add_files(struct gathered *gathered, struct evidence_merge *merge)
{
	int err = 0;

	for (size_t i = 0; i < gathered->evidence.len && !err; i++)
		err = add_file(gathered, merge, gathered->evidence.data[i]);
	return err;
}

/* Below 0, and said: there is none. */
static int room_of(const struct evidence_merge *merge)
{
	int file = evidence_merge_room(merge);

	if (file < 0)
		log_error("no room for a file: %s", strerror(-file));
	return file;
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
	file = err ? -1 : room_of(merge);
	if (file < 0) {
		err = -EIO;
	} else {
		err = judge_evidence_write(judge, gathered->totals, file, &error);
		err = err ? err : evidence_merge_add(merge, file, &error);
		err = said("the captures as evidence", err, &error);
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
