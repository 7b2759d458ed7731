// SPDX-License-Identifier: BSD-3-Clause
/* Processes and their copies of UCX, as lines of evidence. */
#include "site/judge/evidence/kinds.h"

void write_processes(const struct judge *judge, struct evidence_lines *lines)
{
	const struct exhibits *exhibits = &judge->exhibits;

	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];
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
	struct exhibits *exhibits = &judge->exhibits;
	struct member *member = exhibits_member(exhibits, field_kept(exhibits, fields[0]));
	struct fact_process fact = {
		.index = member - exhibits->members.data,
		.host_id = field_kept(exhibits, fields[3]),
		.host_name = field_kept(exhibits, fields[4]),
		.comm = field_kept(exhibits, fields[8]),
		.exe = field_kept(exhibits, fields[9]),
		.mpi = field_kept(exhibits, fields[10]),
		.job = field_kept(exhibits, fields[11]),
		.cpus = member->fact.cpus, /* of lines of their own, which may come before */
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
	exhibits_place(exhibits, &fact);
	member->fact = fact;
	member->known = true;
	return NULL;
}

/* Those that were traced from their start: what they sent is all there. */
void write_starts(const struct judge *judge, struct evidence_lines *lines)
{
	const struct exhibits *exhibits = &judge->exhibits;

	for (size_t i = 0; i < exhibits->members.len; i++) {
		if (!exhibits->members.data[i].fact.from_start)
			continue;
		line_begin(lines, "start");
		line_word(lines, exhibits->members.data[i].id);
	}
}

const char *read_start(struct judge *judge, const struct line_ref *fields)
{
	struct exhibits *exhibits = &judge->exhibits;

	exhibits_member(exhibits, field_kept(exhibits, fields[0]))->fact.from_start = true;
	return NULL;
}

void write_libraries(const struct judge *judge, struct evidence_lines *lines)
{
	const struct exhibits *exhibits = &judge->exhibits;

	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];

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
	struct exhibits *exhibits = &judge->exhibits;
	struct member *member = exhibits_member(exhibits, field_kept(exhibits, fields[0]));
	const struct fact_ucx ucx = {
		.path = field_kept(exhibits, fields[2]),
		.build_id = field_kept(exhibits, fields[3]),
		.version = field_kept(exhibits, fields[4]),
		.layout = field_kept(exhibits, fields[5]),
	};

	vec_push(&member->ucx, ucx);
	return NULL;
}

void write_environment(const struct judge *judge, struct evidence_lines *lines)
{
	const struct exhibits *exhibits = &judge->exhibits;

	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];

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
	struct exhibits *exhibits = &judge->exhibits;
	struct member *member = exhibits_member(exhibits, field_kept(exhibits, fields[0]));
	const struct fact_variable variable = {
		.name = field_kept(exhibits, fields[1]),
		.value = field_kept(exhibits, fields[2]),
	};

	vec_push(&member->environment, variable);
	return NULL;
}

void write_cpus(const struct judge *judge, struct evidence_lines *lines)
{
	const struct exhibits *exhibits = &judge->exhibits;

	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];

		if (!member->fact.cpus)
			continue;
		line_begin(lines, "cpus");
		line_word(lines, member->id);
		line_word(lines, member->fact.cpus);
	}
}

const char *read_cpus(struct judge *judge, const struct line_ref *fields)
{
	struct exhibits *exhibits = &judge->exhibits;
	struct member *member = exhibits_member(exhibits, field_kept(exhibits, fields[0]));

	member->fact.cpus = field_kept(exhibits, fields[1]);
	return NULL;
}

/* Those that a signal ended. */
void write_deaths(const struct judge *judge, struct evidence_lines *lines)
{
	const struct exhibits *exhibits = &judge->exhibits;

	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];

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
	struct exhibits *exhibits = &judge->exhibits;
	struct member *member = exhibits_member(exhibits, field_kept(exhibits, fields[0]));
	uint64_t number;

	if (!field_number(fields[1], &number) || number > INT32_MAX ||
	    !field_number(fields[2], &member->outlived_ns))
		return FIELD_NO_NUMBER;
	member->exit_signal = number;
	return NULL;
}
