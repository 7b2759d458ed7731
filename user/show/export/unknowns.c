// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/unknowns.h"

#include <stddef.h>

static const struct {
	const char *topic, *what;
	size_t offset;
} numbers[] = {
#define NUMBER(topic, what, member)                                                                \
	{                                                                                          \
		topic, what, offsetof(struct fact_totals, member)                                  \
	}
	NUMBER("loss", "produced", produced),
	NUMBER("loss", "stored", stored),
	NUMBER("loss", "damaged_bytes", damaged_bytes),
	NUMBER("captures", "all", captures),
	NUMBER("captures", "counted", counted),
	NUMBER("matching", "sends", sends),
	NUMBER("matching", "receives", receives),
	NUMBER("matching", "matched", matched),
	NUMBER("matching", "ambiguous", ambiguous),
	NUMBER("attribution", "data_bytes", data_bytes),
	NUMBER("attribution", "to_op", to_op_bytes),
	NUMBER("attribution", "to_call", to_call_bytes),
	NUMBER("attribution", "unexplained", unexplained_bytes),
	NUMBER("attribution", "copies", copies),
	NUMBER("attribution", "copy_bytes", copy_bytes),
	NUMBER("attribution", "copy_unexplained", copy_unexplained_bytes),
#undef NUMBER
};

static const struct {
	const char *topic;
	size_t offset;
} reasons[] = {
	{ "dropped", offsetof(struct fact_totals, dropped) },
	{ "unmatched_sends", offsetof(struct fact_totals, unmatched_sends) },
	{ "unmatched_receives", offsetof(struct fact_totals, unmatched_receives) },
	{ "unexplained", offsetof(struct fact_totals, unexplained) },
	{ "notes", offsetof(struct fact_totals, notes) },
};

const char *unknowns_heading(const struct fact_totals *totals, uint64_t facts)
{
	if (totals->captures && totals->counted == totals->captures)
		return "captures made with --count: sums alone, there are no single events";
	if (totals->counted)
		return "some captures made with --count: no single events of those";
	if (!facts)
		return "no events at all";
	return "loss, and what is not known";
}

void unknowns_each(const struct fact_totals *totals, unknowns_put put, void *arg)
{
	const char *base = (const char *)totals;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		put(arg, numbers[i].topic, numbers[i].what,
		    *(const uint64_t *)(base + numbers[i].offset));
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		const struct fact_reason *rows =
			(const struct fact_reason *)(base + reasons[i].offset);

		for (int k = 0; k < FACT_MAX_REASONS && rows[k].reason; k++)
			if (rows[k].count)
				put(arg, reasons[i].topic, rows[k].reason, rows[k].count);
	}
}
