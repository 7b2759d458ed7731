// SPDX-License-Identifier: BSD-3-Clause
/*
 * ucxbpf sweep merge: files that belong together are gathered together, and all of them become one
 * file of evidence (docs/evidence.md).
 */
#include "cmd/sweep/args.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/readable.h"
#include "base/vec.h"
#include "cmd/input/gather.h"
#include "cmd/output/output.h"
#include "site/judge/evidence/evidence.h"
#include "site/policy/policy.h"

/* ---- units: the files of a folder, or single files ---- */

struct unit {
	const char *name; /* of the folder, or of its first file */
	VEC(char *) files;
};

struct units {
	VEC(struct unit) list;
};

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static int by_unit(const void *left, const void *right)
{
	const struct unit *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static void unit_add_file(struct unit *unit, const char *path)
{
	vec_push(&unit->files, xstrdup(path));
}

/* A file too damaged to recognise counts as ours if its path follows the sweep's layout. */
static bool is_wanted(const char *path)
{
	char *node;
	bool known;

	if (gather_has(path))
		return true;
	node = unread_node(path);
	known = node;
	free(node);
	return known;
}

/* Adds the entry if it is a file of ours. -errno (printed): its content cannot be read. */
static int add_entry(struct unit *unit, const FTSENT *entry)
{
	int err = 0;

	if (entry->fts_info == FTS_F) {
		if (is_wanted(entry->fts_path))
			unit_add_file(unit, entry->fts_path);
	} else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
		   entry->fts_info == FTS_NS) {
		err = -entry->fts_errno;
		log_error("%s: %s", entry->fts_path, strerror(-err));
	}
	return err;
}

static int add_folder(struct units *units, const char *path)
{
	char *const roots[] = { (char *)path, NULL };
	struct unit *unit = vec_add(&units->list);
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int err = 0;

	unit->name = path;
	if (!walk) {
		err = -errno;
		log_error("%s: %s", path, strerror(-err));
		return err;
	}
	/* at the end errno is 0, else the walk broke off */
	while (!err && (entry = fts_read(walk)))
		err = add_entry(unit, entry);
	if (!err && errno) {
		err = -errno;
		log_error("%s: %s", path, strerror(-err));
	}
	fts_close(walk);
	if (unit->files.len)
		qsort(unit->files.data, unit->files.len, sizeof(char *), by_name);
	return err;
}

static void add_evidence(struct units *units, const char *path)
{
	struct unit *unit = vec_add(&units->list);

	unit->name = path;
	unit_add_file(unit, path);
}

/*
 * Makes units in an order that does not depend on that of the names: all single files are one unit,
 * each evidence file and each folder one more. Foreign files in a folder are skipped. Returns
 * -errno for an unreadable name (printed).
 */
static int units_find(struct units *units, char *const *names, size_t count)
{
	struct unit single = { 0 };
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		struct stat file;

		if (stat(names[i], &file)) {
			err = -errno;
			log_error("%s: %s", names[i], readable_why(-errno));
		} else if (S_ISDIR(file.st_mode)) {
			err = add_folder(units, names[i]);
		} else if (evidence_is(names[i])) {
			add_evidence(units, names[i]);
		} else {
			unit_add_file(&single, names[i]);
		}
	}
	if (single.files.len) {
		qsort(single.files.data, single.files.len, sizeof(char *), by_name);
		single.name = single.files.data[0];
		vec_push(&units->list, single);
	}
	if (units->list.len)
		qsort(units->list.data, units->list.len, sizeof(struct unit), by_unit);
	return err;
}

static void units_release(struct units *units)
{
	for (size_t i = 0; i < units->list.len; i++) {
		for (size_t k = 0; k < units->list.data[i].files.len; k++)
			free(units->list.data[i].files.data[k]);
		vec_release(&units->list.data[i].files);
	}
	vec_release(&units->list);
}

/* ---- shards ---- */

struct shard {
	unsigned long index, count; /* 0 and 1: all */
};

static bool number(const char *text, char end, unsigned long *to, const char **rest)
{
	char *stop;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*to = strtoul(text, &stop, 10);
	*rest = stop + 1;
	return !errno && *stop == end;
}

/* An array may begin anywhere: 1-16, or 5-20. */
static unsigned long first_of(const char *variable)
{
	const char *text = variable ? getenv(variable) : NULL, *rest;
	unsigned long first;

	return number(text, '\0', &first, &rest) ? first : 0;
}

static bool from_environment(struct shard *shard)
{
	static const struct {
		const char *index, *count, *first;
	} launchers[] = {
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL },
		{ "PMI_RANK", "PMI_SIZE", NULL },
		{ "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN" },
		{ "SLURM_PROCID", "SLURM_NTASKS", NULL },
	};

	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		const char *rest;

		if (!number(getenv(launchers[i].index), '\0', &shard->index, &rest) ||
		    !number(getenv(launchers[i].count), '\0', &shard->count, &rest))
			continue;
		shard->index -= first_of(launchers[i].first);
		return true;
	}
	return false;
}

/* "3/16", or "auto": from the environment of a Slurm array, srun or mpirun. */
static bool shard_parse(struct shard *shard, const char *text)
{
	const char *rest;
	bool known = !strcmp(text, "auto") ? from_environment(shard)
					   : number(text, '/', &shard->index, &rest) &&
						     number(rest, '\0', &shard->count, &rest);

	return known && shard->count && shard->index < shard->count;
}

/* ---- the command line ---- */

enum { KEY_SHARD = 0x100 };

struct merging {
	VEC(char *) names;
	const char *policy_path; /* NULL: the catalogue's defaults */
	const char *output;
	struct shard shard;
	bool sharded; /* by --shard */
	bool broken; /* some evidence is incomplete */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct merging *merging = state->input;

	switch (key) {
	case 'P':
		merging->policy_path = arg;
		return 0;
	case 'o':
		merging->output = arg;
		return 0;
	case KEY_SHARD:
		if (!shard_parse(&merging->shard, arg))
			argp_error(state,
				   "--shard=%s: not I/N with I below N, or no launcher's "
				   "environment to take it from",
				   arg);
		merging->sharded = true;
		return 0;
	case ARGP_KEY_ARG:
		vec_push(&merging->names, arg);
		return 0;
	case ARGP_KEY_END:
		if (!merging->output)
			argp_error(state, "where to? Give -o FILE");
		if (!merging->names.len)
			argp_error(state, "which files? Give folders, captures or evidence");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Write the evidence there; with --shard, % is its number", 1 },
	{ "policy", 'P', "FILE", 0, "Also separate messages by this policy's sizes", 1 },
	{ "shard", KEY_SHARD, "I/N", 0,
	  "Only the I-th of N parts of the input, from 0 on; 'auto': as the launcher assigns", 1 },
	{ 0 },
};

static const char doc[] =
	"Makes one file of evidence, which 'ucxbpf check' judges as it would the captures. Each "
	"folder is gathered by itself: messages are matched within it. Captures that are named "
	"singly are matched with each other. Files of evidence are added up, in any order."
	"\v"
	"Examples:\n"
	"  ucxbpf sweep merge -o part.evidence pairs/0001 pairs/0002\n"
	"  ucxbpf sweep merge -o all.evidence part*.evidence\n"
	"  ucxbpf check -P site.yaml all.evidence\n"
	"  mpirun -n 16 ucxbpf sweep merge --shard auto -o parts/%.evidence pairs/*\n\n"
	"Exit status: 0 done, 3 done, but some of the evidence is incomplete, 4 usage, or files "
	"that do not go together, 5 anything else.";

/* ---- one unit ---- */

static int add_file(struct evidence_merge *merge, int file, const char *name)
{
	struct evidence_error error;
	int err = file < 0 ? file : evidence_merge_add(merge, file, name, &error);

	if (err)
		log_error("%s: %s", file >= 0 && error.file ? error.file : name,
			  file < 0 ? readable_why(file) : error.text);
	return err;
}

/* Adds what the judge was fed. */
static int add_evidence_of(struct evidence_merge *merge, struct judge *judge,
			   const struct fact_totals *totals, const char *name)
{
	struct evidence_error error;
	int file = evidence_merge_room(merge);
	int err = file < 0 ? 0 : judge_evidence_write(judge, totals, file, &error);

	if (!err)
		return add_file(merge, file, name);
	log_error("%s: %s", name, error.text);
	close(file);
	return err;
}

/* An unusable file becomes a gap that the evidence records. */
static int add_gathered(struct merging *merging, struct evidence_merge *merge,
			const struct policy *policy, const struct unit *unit)
{
	struct gathered gathered;
	int err = gather(&gathered, policy, (const char *const *)unit->files.data, unit->files.len,
			 "sweep merge", false);

	if (err == -ENODATA) {
		log_warn("%s: holds nothing that can be judged", unit->name);
		judge_captures_broken(gathered.judge);
		gathered.broken = true;
		err = 0;
	}
	merging->broken = merging->broken || gathered.broken;
	if (!err)
		err = add_evidence_of(merge, gathered.judge, gathered.totals, unit->name);
	gathered_release(&gathered);
	return err;
}

static int add_unit(struct merging *merging, struct evidence_merge *merge,
		    const struct policy *policy, const struct unit *unit)
{
	const char *first = unit->files.len ? unit->files.data[0] : "";
	int file;

	if (unit->files.len != 1 || !evidence_is(first))
		return add_gathered(merging, merge, policy, unit);
	file = open(first, O_RDONLY | O_CLOEXEC);
	return add_file(merge, file < 0 ? -errno : file, first);
}

/* A shard without any unit makes a file that can be merged with the others. */
static int add_nothing(struct evidence_merge *merge, const struct policy *policy)
{
	struct judge *judge = judge_new(policy);
	int err = add_evidence_of(merge, judge, NULL, "an empty shard");

	judge_free(judge);
	return err;
}

/* ---- the result ---- */

/* The output's name, with the shard's number for % if there are several. */
static char *output_path(const struct merging *merging)
{
	const char *mark = merging->sharded ? strchr(merging->output, '%') : NULL;

	if (!mark)
		return xstrdup(merging->output);
	return xasprintf("%.*s%lu%s", (int)(mark - merging->output), merging->output,
			 merging->shard.index, mark + 1);
}

/* The first write error, printed once. */
struct writing {
	struct evidence_merge *merge;
	struct evidence_error error;
	bool of_evidence;
};

static int put(void *arg, FILE *out)
{
	struct writing *writing = arg;
	int err = evidence_merge_write(writing->merge, fileno(out), &writing->error);

	writing->of_evidence = err != 0;
	return err;
}

static int write_out(struct evidence_merge *merge, const char *path)
{
	struct writing writing = { .merge = merge };
	int err = output_write(path, NEWFILE_PRIVATE, put, &writing);

	if (err)
		log_error("%s: %s",
			  writing.of_evidence && writing.error.file ? writing.error.file : path,
			  writing.of_evidence ? writing.error.text : newfile_why(err));
	return err;
}

static int merge_units(struct merging *merging, const struct policy *policy,
		       const struct units *units, const char *path)
{
	char *folder = xstrdup(path);
	struct evidence_merge *merge = evidence_merge_new(dirname(folder));
	int err = 0;

	if (merging->shard.index >= units->list.len)
		err = add_nothing(merge, policy);
	for (size_t i = merging->shard.index; i < units->list.len && !err;
	     i += merging->shard.count)
		err = add_unit(merging, merge, policy, &units->list.data[i]);
	err = err ? err : write_out(merge, path);
	evidence_merge_free(merge);
	free(folder);
	return err;
}

static int status_of(const struct merging *merging, int err)
{
	if (err == -EINVAL)
		return UCXBPF_CHECK_USAGE;
	if (err)
		return UCXBPF_CHECK_FAILED;
	return merging->broken ? UCXBPF_CHECK_UNKNOWN : UCXBPF_CHECK_PASS;
}

static int run(struct merging *merging)
{
	struct policy *policy = policy_of(merging->policy_path);
	char *path = output_path(merging);
	struct units units = { 0 };
	int err;

	if (!policy) {
		free(path);
		return UCXBPF_CHECK_USAGE;
	}
	err = units_find(&units, merging->names.data, merging->names.len);
	err = err ? err : merge_units(merging, policy, &units, path);
	units_release(&units);
	policy_free(policy);
	free(path);
	return status_of(merging, err);
}

int sweep_merge(int argc, char **argv)
{
	const struct argp argp = { options, parse, "FOLDER|FILE...", doc, NULL, NULL, NULL };
	struct merging merging = { .shard = { 0, 1 } };
	int status = UCXBPF_CHECK_USAGE;

	if (!xargp_parse(&argp, argc, argv, 0, &merging)) {
		if (captures_has(merging.output)) {
			log_error("%s: is a capture, not overwritten", merging.output);
		} else {
			status = run(&merging);
		}
	}
	vec_release(&merging.names);
	return status;
}
