// SPDX-License-Identifier: BSD-3-Clause
/* What captures show of a sweep's own messages, as lines of evidence. */
#include "site/judge/evidence/kinds.h"

static const char *id_at(const struct judge *judge, uint64_t process)
{
	return judge->exhibits.traced.processes.data[process].id;
}

static bool read_process_at(struct judge *judge, struct line_ref field, uint32_t *process)
{
	const char *id = field_kept(&judge->exhibits, field);

	if (id)
		*process = traced_at(&judge->exhibits.traced, id);
	return id != NULL;
}

void write_sent(const struct judge *judge, struct evidence_lines *lines)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&judge->exhibits.traced.sent, &pos));) {
		line_begin(lines, "sent");
		line_word(lines, id_at(judge, slot->a));
		line_number(lines, slot->b / TRACED_MEMORIES);
		line_number(lines, slot->b % TRACED_MEMORIES);
		line_number(lines, slot->value);
	}
}

const char *read_sent(struct judge *judge, const struct line_ref *fields)
{
	uint64_t size, memory, count;
	uint32_t process;

	if (!read_process_at(judge, fields[0], &process) || !field_number(fields[1], &size) ||
	    !field_number(fields[2], &memory) || memory >= TRACED_MEMORIES ||
	    !field_number(fields[3], &count))
		return FIELD_NO_NUMBER;
	*map_insert(&judge->exhibits.traced.sent, process, traced_sent_key(size, memory), NULL) =
		count;
	return NULL;
}

void write_met(const struct judge *judge, struct evidence_lines *lines)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&judge->exhibits.traced.met, &pos));) {
		line_begin(lines, "met");
		line_word(lines, id_at(judge, slot->a >> 32));
		line_word(lines, id_at(judge, slot->a & UINT32_MAX));
		line_number(lines, slot->b);
		line_number(lines, slot->value);
	}
}

const char *read_met(struct judge *judge, const struct line_ref *fields)
{
	uint32_t process, peer;
	uint64_t size, count;

	if (!read_process_at(judge, fields[0], &process) ||
	    !read_process_at(judge, fields[1], &peer) || !field_number(fields[2], &size) ||
	    !field_number(fields[3], &count))
		return FIELD_NO_NUMBER;
	*map_insert(&judge->exhibits.traced.met, traced_met_key(process, peer), size, NULL) = count;
	return NULL;
}

void write_collectives(const struct judge *judge, struct evidence_lines *lines)
{
	const struct traced *traced = &judge->exhibits.traced;

	for (size_t i = 0; i < traced->processes.len; i++) {
		line_begin(lines, "collective");
		line_word(lines, traced->processes.data[i].id);
		for (int call = 0; call < TRACED_CALLS; call++)
			line_number(lines, traced->processes.data[i].calls[call]);
		line_number(lines, traced->processes.data[i].counted);
	}
}

const char *read_collective(struct judge *judge, const struct line_ref *fields)
{
	struct traced_process *process;
	uint64_t counted;
	uint32_t at;

	if (!read_process_at(judge, fields[0], &at))
		return FIELD_NO_NUMBER;
	process = &judge->exhibits.traced.processes.data[at];
	for (int call = 0; call < TRACED_CALLS; call++)
		if (!field_number(fields[1 + call], &process->calls[call]))
			return FIELD_NO_NUMBER;
	if (!field_number(fields[1 + TRACED_CALLS], &counted))
		return FIELD_NO_NUMBER;
	process->counted = counted;
	return NULL;
}
