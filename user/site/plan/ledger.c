// SPDX-License-Identifier: BSD-3-Clause
#include "site/plan/ledger.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/readable.h"
#include "site/plan/internal.h"

struct ledger_reading {
	struct ledger_entry entry;
	const char *wrong; /* the first member that does not fit */
};

static int64_t number(struct ledger_reading *reading, const json_t *line, const char *key,
		      int64_t least)
{
	const json_t *value = json_object_get(line, key);

	if (json_is_integer(value) && json_integer_value(value) >= least)
		return json_integer_value(value);
	reading->wrong = reading->wrong ? reading->wrong : key;
	return least;
}

/* Null where it may be. */
static const char *text(struct ledger_reading *reading, const json_t *line, const char *key,
			bool wanted)
{
	const json_t *value = json_object_get(line, key);

	if ((wanted || !json_is_null(value)) && !json_is_string(value))
		reading->wrong = reading->wrong ? reading->wrong : key;
	return json_string_value(value);
}

static int choice(struct ledger_reading *reading, const json_t *line, const char *key,
		  const char *const *names, int count)
{
	int at = plan_name(names, count, json_string_value(json_object_get(line, key)));

	if (at < 0)
		reading->wrong = reading->wrong ? reading->wrong : key;
	return at < 0 ? 0 : at;
}

static unsigned int stages_of(struct ledger_reading *reading, const json_t *line)
{
	const json_t *list = json_object_get(line, "stages"), *name;
	unsigned int stages = 0;
	size_t i;

	json_array_foreach(list, i, name)
	{
		int stage = plan_name(plan_stage_names, STAGES, json_string_value(name));

		if (stage >= 0)
			stages |= 1u << stage;
	}
	if (!json_is_array(list))
		reading->wrong = "stages";
	return stages;
}

static void read_head(struct ledger_reading *reading, const json_t *line)
{
	struct ledger_entry *entry = &reading->entry;

	const char *schema = text(reading, line, "schema", true);

	if (!schema || strcmp(schema, LEDGER_SCHEMA))
		reading->wrong = "schema";
	entry->plan = text(reading, line, "plan", true);
	entry->node = text(reading, line, "node", true);
	entry->host = text(reading, line, "host", true);
	entry->mpi = text(reading, line, "mpi", true);
	entry->rank = number(reading, line, "rank", 0);
	entry->size = number(reading, line, "size", 1);
	entry->local = number(reading, line, "local", 0);
	entry->pid = number(reading, line, "pid", 1);
	entry->stages = stages_of(reading, line);
	if (json_object_get(line, "part"))
		entry->part = number(reading, line, "part", 0);
}

static void read_round(struct ledger_reading *reading, const json_t *line)
{
	reading->entry.stage = choice(reading, line, "stage", plan_stage_names, STAGES);
	reading->entry.round = number(reading, line, "round", 0);
}

static void read_ends(struct ledger_reading *reading, const json_t *line)
{
	struct ledger_entry *entry = &reading->entry;

	entry->src = text(reading, line, "src", false);
	entry->dst = text(reading, line, "dst", false);
	entry->src_rank = number(reading, line, "src_rank", -1);
	entry->dst_rank = number(reading, line, "dst_rank", -1);
	if (!entry->src)
		return;
	entry->sub = number(reading, line, "sub", 0);
	entry->op = choice(reading, line, "op", plan_op_names, PLAN_OPS);
	entry->src_mem = choice(reading, line, "src_mem", plan_memory_names, PLAN_MEMORIES);
	entry->dst_mem = choice(reading, line, "dst_mem", plan_memory_names, PLAN_MEMORIES);
	entry->msg_size = number(reading, line, "size", 1);
	entry->count = number(reading, line, "count", 1);
}

static void read_transfer(struct ledger_reading *reading, const json_t *line)
{
	struct ledger_entry *entry = &reading->entry;
	const json_t *ns = json_object_get(line, "ns");

	entry->bytes = number(reading, line, "bytes", 0);
	entry->errors = number(reading, line, "errors", 0);
	entry->ns.timed = number(reading, ns, "timed", 0);
	entry->ns.min = number(reading, ns, "min", 0);
	entry->ns.p25 = number(reading, ns, "p25", 0);
	entry->ns.p50 = number(reading, ns, "p50", 0);
	entry->ns.p75 = number(reading, ns, "p75", 0);
	entry->ns.p99 = number(reading, ns, "p99", 0);
	entry->ns.max = number(reading, ns, "max", 0);
	if (!entry->src)
		reading->wrong = "src";
}

static void read_line(struct ledger_reading *reading, const json_t *line, int rank)
{
	static const char *const kinds[LEDGER_KINDS] = { "head", "begin", "transfer", "stuck",
							 "end" };

	reading->entry = (struct ledger_entry){ .rank = rank, .src_rank = -1, .dst_rank = -1 };
	if (json_object_get(line, "schema")) {
		read_head(reading, line);
		return;
	}
	reading->entry.kind = choice(reading, line, "is", kinds, LEDGER_KINDS);
	if (reading->entry.kind == LEDGER_END) {
		reading->entry.transfers = number(reading, line, "transfers", 0);
		return;
	}
	read_round(reading, line);
	if (reading->entry.kind != LEDGER_BEGIN)
		read_ends(reading, line);
	reading->entry.late = json_is_true(json_object_get(line, "late"));
	reading->entry.by_signal = json_is_true(json_object_get(line, "ended"));
	if (json_object_get(line, "by"))
		reading->entry.ender = choice(reading, line, "by", plan_ender_names, PLAN_ENDERS);
	if (reading->entry.kind == LEDGER_TRANSFER)
		read_transfer(reading, line);
}

/* The head comes first, and once. */
static void check_place(struct ledger_reading *reading, bool first)
{
	if (!reading->wrong && first != (reading->entry.kind == LEDGER_HEAD))
		reading->wrong = "schema";
}

struct taker {
	void (*take)(void *arg, const struct ledger_entry *entry);
	void *arg;
	int rank; /* -1: before the head */
};

/* NULL, or the member that is wrong. */
static const char *take_line(struct taker *taker, const char *line, size_t length)
{
	struct ledger_reading reading = { 0 };
	json_error_t error;
	json_t *tree = json_loadb(line, length, 0, &error);

	if (json_is_object(tree))
		read_line(&reading, tree, taker->rank);
	else
		reading.wrong = "all of it";
	check_place(&reading, taker->rank < 0);
	if (!reading.wrong) {
		taker->rank = reading.entry.rank;
		taker->take(taker->arg, &reading.entry);
	}
	json_decref(tree);
	return reading.wrong;
}

static int read_lines(FILE *file, struct taker *taker, char why[PLAN_WHY])
{
	const char *wrong = NULL;
	char *line = NULL;
	size_t room = 0, count = 0;
	ssize_t length = 0;

	while (!wrong && (length = xgetline(&line, &room, file)) > 0) {
		if (line[length - 1] != '\n')
			break;
		count++;
		wrong = take_line(taker, line, length);
	}
	free(line);
	if (wrong)
		return plan_refuse(why, "line %zu: %s is missing or of another kind", count, wrong);
	if (ferror(file))
		return plan_refuse(why, "%s", strerror(EIO)), -EIO;
	return count ? 0 : plan_refuse(why, "no line in it");
}

int ledger_read(const char *path, void (*take)(void *arg, const struct ledger_entry *entry),
		void *arg, char why[PLAN_WHY])
{
	struct taker taker = { take, arg, -1 };
	FILE *file = readable_open(path);
	int err = -errno;

	if (!file)
		return plan_refuse(why, "%s", readable_why(err)), err;
	err = read_lines(file, &taker, why);
	fclose(file);
	return err;
}
