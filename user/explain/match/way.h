/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a message's bytes, as its two operations' transfers show it: the sender's copies, the
 * transfers to the peer, the receiver's copies. Memory is kept only if a process has a GPU library:
 * all others have one kind.
 */
#ifndef UCXBPF_MATCH_WAY_H
#define UCXBPF_MATCH_WAY_H

#include "explain/decode/decode.h"
#include "explain/facts/facts.h"

struct leg {
	const char *transport, *src, *dst; /* interned or static; NULL: not known */
	struct leg *next; /* with other names */
};

/* Transfers of one part of a way. */
struct legs {
	uint64_t count, bytes;
	struct leg *sorts; /* one per different name */
};

struct open_message;

/* The part of an operation in a message's way. */
struct way {
	unsigned int refs;
	bool over; /* nothing will be added */
	struct memory_answer *memory; /* of the operation's buffer; NULL: sorts are not kept */
	struct legs copies, data;
	struct open_message *waiting; /* message that goes on once it is over */
	struct way_pool *from;
	struct way *next; /* free one */
};

/* Pool of free ways: there are two for each message. */
struct way_pool {
	struct way *free;
};

void way_pool_release(struct way_pool *pool);

/* memory NULL: only bytes are of interest */
struct way *way_new(struct way_pool *pool, const struct memory_answer *memory);
struct way *way_hold(struct way *way); /* NULL is a way, too */
void way_drop(struct way *way);

void way_add(struct way *way, bool copy, const struct leg *leg, uint64_t count, uint64_t bytes);

/* Lists of names with commas, interned: hops have one less. */
struct chain {
	const char *nodes, *hops; /* NULL: not known, */
	const char *reason; /* and the reason; static */
};

/* Why a message's bytes are not those of its two ways, which are over or NULL; NULL: they are. */
const char *way_lacks(const struct way *send, const struct way *recv, uint64_t bytes);

/* The same ways, joined up; src and dst: the names of the buffers' memory, NULL unknown. */
struct chain chain_of(struct strings *strings, const struct way *send, const struct way *recv,
		      const char *src, const char *dst, uint64_t bytes);

#endif
