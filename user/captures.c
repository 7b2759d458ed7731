// SPDX-License-Identifier: BSD-3-Clause
#include "captures.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "facts_progress.h"
#include "file/file.h"
#include "match/facts.h"

void captures_release(struct captures *captures)
{
	vec_release(&captures->paths);
}

bool captures_has(const char *path)
{
	struct file_reader *reader;
	const char *why;
	struct stat file;

	if (stat(path, &file) || !S_ISREG(file.st_mode) || file_reader_open(&reader, path, &why))
		return false;
	file_reader_free(reader);
	return true;
}

/* Says what is wrong with a file, in one line. Returns -errno if it cannot be used at all. */
static int check(struct captures *captures, const char *path)
{
	struct file_reader *reader;
	const char *why = NULL;
	int err = file_reader_open(&reader, path, &why);

	if (err) {
		log_error("%s: %s", path, why ? why : strerror(-err));
		return err;
	}
	if (!file_reader_complete(reader, &why)) {
		log_warn("%s: %s", path, why ? why : "incomplete");
		captures->broken = true;
	}
	file_reader_free(reader);
	return 0;
}

size_t captures_add(struct captures *captures, struct analysis *analysis)
{
	size_t added = 0;

	for (size_t i = 0; i < captures->paths.len; i++) {
		const char *path = captures->paths.data[i], *why = NULL;
		int err = check(captures, path);

		if (!err) {
			err = analysis_add_file(analysis, path, &why);
			if (err)
				log_error("%s: %s", path, why ? why : strerror(-err));
		}
		added += !err;
		captures->broken = captures->broken || err;
	}
	return added;
}

static void say_damage(struct captures *captures, uint64_t damaged)
{
	if (!damaged)
		return;
	log_warn("%" PRIu64 " bytes of the captures are damaged and were skipped", damaged);
	captures->broken = true;
}

int captures_analyse(struct captures *captures, struct analysis *analysis, const char *command,
		     const struct fact_sink *sink, struct fact_totals *totals)
{
	struct facts_progress progress;
	const struct fact_sink counting = facts_progress_start(&progress, command, sink);
	int err = analysis_run(analysis, &counting, totals);

	facts_progress_end(&progress);
	if (err)
		log_error("the captures cannot be analysed: %s", strerror(-err));
	else
		say_damage(captures, totals->damaged_bytes);
	return err;
}
