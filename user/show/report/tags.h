/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages by the meaning of their tags to the library that sent them, and their senders. */
#ifndef UCXBPF_REPORT_TAGS_H
#define UCXBPF_REPORT_TAGS_H

#include "base/map.h"
#include "base/rowset.h"
#include "base/vec.h"
#include "explain/facts/facts.h"

/* Interned texts, 0: none. */
struct tag_key {
	uint64_t library, kind, team;
};

struct tag_row {
	struct tag_key key;
	uint64_t messages, bytes;
	uint64_t senders, numbers; /* distinct ones */
};

/* A number that a process's messages gave as their sender's in a team. */
struct tag_sender {
	uint64_t library, team; /* as above */
	int64_t sender, process;
	uint64_t messages;
};

struct report_tags {
	VEC(struct tag_row) rows;
	VEC(struct tag_sender) senders;
	struct rowset index, sender_index;
	struct map seen; /* (row, a sender or a number) -> present */
};

void report_tags_release(struct report_tags *tags);
/* Messages of no known library are left out. */
void report_tags_add(struct report_tags *tags, const struct fact_message *message);

/* Puts rows into their order: by library, team and kind. */
void report_tags_finish(struct report_tags *tags);

#endif
