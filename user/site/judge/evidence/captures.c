// SPDX-License-Identifier: BSD-3-Clause
/*
 * Captures, counters over all of them, their processes, and inventories of their nodes, as
 * lines of evidence.
 */
#include "site/judge/evidence/kinds.h"
#include "site/judge/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "site/judge/aggregates/totals.h"

/* ---- captures, and counters over all of them ---- */

void write_captures(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < aggregates->captures.len; i++) {
		const struct aggregated_capture *capture = &aggregates->captures.data[i];

		line_begin(lines, "capture");
		line_word(lines, capture->host_name);
		line_number(lines, capture->start);
		line_word(lines, capture->host_id);
	}
}

const char *read_capture(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;
	struct aggregated_capture capture = {
		.host_id = field_kept(aggregates, fields[2]),
		.host_name = field_kept(aggregates, fields[0]),
	};

	if (!field_number(fields[1], &capture.start))
		return FIELD_NO_NUMBER;
	vec_push(&aggregates->captures, capture);
	return NULL;
}

void write_reasons(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < TOTALS_LISTS; i++) {
		const struct fact_reason *list = totals_list(
			(struct fact_totals *)&aggregates->totals, totals_lists[i].name);

		for (int k = 0; k < FACT_MAX_REASONS && list[k].reason; k++) {
			line_begin(lines, "reason");
			line_word(lines, totals_lists[i].name);
			line_word(lines, list[k].reason);
			line_number(lines, list[k].count);
		}
	}
}

const char *read_reason(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;
	struct fact_reason *list =
		totals_list(&aggregates->totals, field_kept(aggregates, fields[0]));
	const char *reason = field_kept(aggregates, fields[1]);
	uint64_t count;

	if (!list || !reason)
		return "a list of reasons that this version does not know";
	if (!field_number(fields[2], &count))
		return FIELD_NO_NUMBER;
	totals_reason(list, reason, count);
	return NULL;
}

/* Only for captures that name their levels: others may have all of them. */
void write_levels(const struct judge *judge, struct evidence_lines *lines)
{
	const struct fact_self *self = &judge->aggregates.totals.self;

	for (int i = 0; self->known && i < LEVELS; i++) {
		if (!self->levels[i])
			continue;
		line_begin(lines, "level");
		line_word(lines, level_names[i]);
	}
}

const char *read_level(struct judge *judge, const struct line_ref *fields)
{
	const char *name = field_kept(&judge->aggregates, fields[0]);
	struct fact_self *self = &judge->aggregates.totals.self;

	int level = level_by_name(name);

	if (level < 0)
		return "none that this version knows";
	self->levels[level] = true;
	self->known++;
	return NULL;
}

void write_losses(const struct judge *judge, struct evidence_lines *lines)
{
	for (size_t i = 0; i < judge->losses.list.len; i++) {
		const struct node_loss *loss = &judge->losses.list.data[i];

		for (int kind = 0; kind < LOSS_KINDS; kind++) {
			if (!loss->counts[kind])
				continue;
			line_begin(lines, "loss");
			line_word(lines, loss->node);
			line_word(lines, loss_names[kind]);
			line_number(lines, loss->counts[kind]);
		}
	}
}

const char *read_loss(struct judge *judge, const struct line_ref *fields)
{
	const char *node = field_kept(&judge->aggregates, fields[0]);
	const char *name = field_kept(&judge->aggregates, fields[1]);
	uint64_t count;

	if (!node || !field_number(fields[2], &count))
		return FIELD_NO_NUMBER;
	for (int kind = 0; name && kind < LOSS_KINDS; kind++)
		if (!strcmp(name, loss_names[kind])) {
			losses_add(&judge->losses, node, kind, count);
			return NULL;
		}
	return "of a kind that this version does not know";
}

#define BROKEN "broken" /* gatherings of which a capture lacked something */

void write_totals(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < TOTALS_NUMBERS; i++) {
		uint64_t *number = totals_number((struct fact_totals *)&aggregates->totals,
						 totals_numbers[i].name);

		if (!*number)
			continue;
		line_begin(lines, "total");
		line_word(lines, totals_numbers[i].name);
		line_number(lines, *number);
	}
	if (!judge->captures_broken)
		return;
	line_begin(lines, "total");
	line_word(lines, BROKEN);
	line_number(lines, 1);
}

const char *read_total(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;
	const char *name = field_kept(aggregates, fields[0]);
	uint64_t *number = totals_number(&aggregates->totals, name), broken;

	if (name && !strcmp(name, BROKEN)) {
		number = &broken;
		judge->captures_broken = true;
	}
	if (!number)
		return "a total that this version does not know";
	return field_number(fields[1], number) ? NULL : FIELD_NO_NUMBER;
}

/* ---- processes and their copies of UCX ---- */

void write_processes(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member *member = &aggregates->members.data[i];
		const struct fact_process *fact = &member->fact;

		line_begin(lines, "process");
		line_word(lines, member->id);
		line_number(lines, member->data_calls);
		line_number(lines, member->ops);
		line_word(lines, fact->host_id);
		line_word(lines, fact->host_name);
		line_number(lines, fact->tgid);
		line_number(lines, fact->pid);
		line_number(lines, fact->start_time);
		line_word(lines, fact->comm);
		line_word(lines, fact->exe);
		line_word(lines, fact->mpi);
		line_word(lines, fact->job);
		line_index(lines, fact->rank);
		line_index(lines, fact->size);
		line_index(lines, fact->environment_cut);
	}
}

const char *read_process(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;
	struct member *member = aggregates_member(aggregates, field_kept(aggregates, fields[0]));
	struct fact_process fact = {
		.index = member - aggregates->members.data,
		.host_id = field_kept(aggregates, fields[3]),
		.host_name = field_kept(aggregates, fields[4]),
		.comm = field_kept(aggregates, fields[8]),
		.exe = field_kept(aggregates, fields[9]),
		.mpi = field_kept(aggregates, fields[10]),
		.job = field_kept(aggregates, fields[11]),
		.cpus = member->fact.cpus, /* from a line of its own, which may come before */
		.from_start = member->fact.from_start,
	};
	uint64_t tgid, pid;

	if (!field_number(fields[1], &member->data_calls) ||
	    !field_number(fields[2], &member->ops) || !field_number(fields[5], &tgid) ||
	    !field_number(fields[6], &pid) || !field_number(fields[7], &fact.start_time) ||
	    !field_index(fields[12], &fact.rank) || !field_index(fields[13], &fact.size) ||
	    !field_index(fields[14], &fact.environment_cut))
		return FIELD_NO_NUMBER;
	fact.tgid = tgid;
	fact.pid = pid;
	aggregates_place(aggregates, &fact);
	member->fact = fact;
	member->known = true;
	return NULL;
}

/* A process traced from its start: everything it sent is there. */
void write_starts(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < aggregates->members.len; i++) {
		if (!aggregates->members.data[i].fact.from_start)
			continue;
		line_begin(lines, "start");
		line_word(lines, aggregates->members.data[i].id);
	}
}

const char *read_start(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;

	aggregates_member(aggregates, field_kept(aggregates, fields[0]))->fact.from_start = true;
	return NULL;
}

void write_libraries(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member *member = &aggregates->members.data[i];

		for (size_t k = 0; k < member->ucx.len; k++) {
			line_begin(lines, "library");
			line_word(lines, member->id);
			line_number(lines, k);
			line_word(lines, member->ucx.data[k].path);
			line_word(lines, member->ucx.data[k].build_id);
			line_word(lines, member->ucx.data[k].version);
			line_word(lines, member->ucx.data[k].layout);
		}
	}
}

const char *read_library(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;
	struct member *member = aggregates_member(aggregates, field_kept(aggregates, fields[0]));
	const struct fact_ucx ucx = {
		.path = field_kept(aggregates, fields[2]),
		.build_id = field_kept(aggregates, fields[3]),
		.version = field_kept(aggregates, fields[4]),
		.layout = field_kept(aggregates, fields[5]),
	};

	vec_push(&member->ucx, ucx);
	return NULL;
}

void write_environment(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member *member = &aggregates->members.data[i];

		for (size_t k = 0; k < member->environment.len; k++) {
			line_begin(lines, "environment");
			line_word(lines, member->id);
			line_word(lines, member->environment.data[k].name);
			line_word(lines, member->environment.data[k].value);
		}
	}
}

const char *read_environment(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;
	struct member *member = aggregates_member(aggregates, field_kept(aggregates, fields[0]));
	const struct fact_variable variable = {
		.name = field_kept(aggregates, fields[1]),
		.value = field_kept(aggregates, fields[2]),
	};

	vec_push(&member->environment, variable);
	return NULL;
}

void write_cpus(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member *member = &aggregates->members.data[i];

		if (!member->fact.cpus)
			continue;
		line_begin(lines, "cpus");
		line_word(lines, member->id);
		line_word(lines, member->fact.cpus);
	}
}

const char *read_cpus(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;
	struct member *member = aggregates_member(aggregates, field_kept(aggregates, fields[0]));

	member->fact.cpus = field_kept(aggregates, fields[1]);
	return NULL;
}

/* Those that a signal ended. */
void write_deaths(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member *member = &aggregates->members.data[i];

		if (!member->exit_signal)
			continue;
		line_begin(lines, "death");
		line_word(lines, member->id);
		line_number(lines, member->exit_signal);
		line_number(lines, member->outlived_ns);
	}
}

const char *read_death(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;
	struct member *member = aggregates_member(aggregates, field_kept(aggregates, fields[0]));
	uint64_t number;

	if (!field_number(fields[1], &number) || number > INT32_MAX ||
	    !field_number(fields[2], &member->outlived_ns))
		return FIELD_NO_NUMBER;
	member->exit_signal = number;
	return NULL;
}

/* For processes that called MPI. */
void write_waits(const struct judge *judge, struct evidence_lines *lines)
{
	const struct aggregates *aggregates = &judge->aggregates;

	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member *member = &aggregates->members.data[i];
		const struct member_time *time = &member->time;

		if (!member_in_mpi(member))
			continue;
		line_begin(lines, "wait");
		line_word(lines, member->id);
		line_number(lines, time->calls);
		line_number(lines, time->first);
		line_number(lines, time->until);
		line_number(lines, time->caused);
		line_number(lines, time->late_progress);
		line_number(lines, time->in_collectives);
		line_number(lines, time->open);
	}
}

const char *read_waits(struct judge *judge, const struct line_ref *fields)
{
	struct aggregates *aggregates = &judge->aggregates;
	struct member *member = aggregates_member(aggregates, field_kept(aggregates, fields[0]));
	struct member_time *time = &member->time;

	if (!field_number(fields[1], &time->calls) || !field_number(fields[2], &time->first) ||
	    !field_number(fields[3], &time->until) || !field_number(fields[4], &time->caused) ||
	    !field_number(fields[5], &time->late_progress) ||
	    !field_number(fields[6], &time->in_collectives) ||
	    !field_number(fields[7], &time->open))
		return FIELD_NO_NUMBER;
	return NULL;
}

/* ---- inventories: all of each node, as they are ---- */

static void write_one(const struct inventory *inventory, struct evidence_lines *lines)
{
	char *text = NULL;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	/* into memory: nothing else can fail */
	if (inventory_write(inventory, out))
		alloc_failed();
	fclose(out);
	line_begin(lines, "inventory");
	line_word(lines, inventory->host);
	line_index(lines, inventory->mono_ns);
	line_word(lines, inventory->boot_id);
	line_word(lines, text);
	free(text);
}

void write_inventories(const struct judge *judge, struct evidence_lines *lines)
{
	for (size_t i = 0; i < judge->inventories.list.len; i++) {
		const struct node_inventory *node = &judge->inventories.list.data[i];

		for (size_t k = 0; k < node->all.len; k++)
			write_one(node->all.data[k], lines);
	}
}

const char *read_inventory(struct judge *judge, const struct line_ref *fields)
{
	struct inventory *inventory;
	char why[INVENTORY_WHY], *room = xmalloc(fields[3].size + 1);
	const char *text = field_word(fields[3], room);
	int err = text ? inventory_parse(text, &inventory, why) : -1;

	free(room);
	if (err)
		return "none that this version knows";
	vec_push(&judge->inventories.kept, inventory);
	judge_inventory(judge, inventory);
	return NULL;
}
