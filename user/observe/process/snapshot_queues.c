// SPDX-License-Identifier: BSD-3-Clause
/*
 * A worker's tag matching (src/ucp/tag/tag_match.h), and its requests that are under way. The
 * process goes on meanwhile: a list that changes under the reader breaks one of the invariants, and
 * is read again.
 */
#include <errno.h>
#include <string.h>

#include "base/shape.h"
#include "observe/process/proc.h"
#include "observe/process/record.h"
#include "observe/process/snapshot_private.h"

/* Enough entries to show why a job waits; the others are counted. */
#define MAX_POSTED 256
#define MAX_WAITING 64
#define MAX_SENDS 256

#define ATTEMPTS 3

/* src/ucp/tag/tag_match.h and .inl, the same since 1.13: ucp_tag_match_t.expected */
#define HASH_SIZE 1021
#define TM_HASH 24 /* behind the queue of wildcards */
#define TM_SEQUENCE 32
#define TM_UNEXPECTED 48
#define TM_HEAD                                                                                    \
	64 /* all heads and counters of the queues: whatever goes in or out changes some           \
	    */

struct request_queue { /* ucp_request_queue_t */
	uint64_t head, tail; /* ucs_queue_head_t: tail points to where the next one is to be put */
	uint32_t counts[2];
};

/* ucp_recv_desc_t, the same since 1.13: the links of both lists, then its length and flags. */
#define DESC_ALL 16 /* tag_list[UCP_RDESC_ALL_LIST] */
#define DESC_LENGTH 32
#define DESC_FLAGS 40
#define DESC_SIZE 48 /* the message's header follows, which begins with the tag */
#define DESC_RNDV (1 << 6)

/* Flags of requests (src/ucp/core/ucp_request.h, since 1.13). */
#define REQUEST_COMPLETED (1 << 0)
#define REQUEST_RELEASED (1 << 1)
#define REQUEST_PROTO_SEND (1 << 2)
#define REQUEST_SEND_TAG (1 << 14)
#define REQUEST_OTHERS (1 << 12 | 1 << 13 | 1 << 16 | 1 << 17) /* streams, AM, receives */
#define REQUEST_FLAGS 24 /* bits in use */

#define OP_TAG_SEND_SYNC 1 /* UCP_OP_ID_TAG_SEND is 0 */

struct queue_reading {
	struct snapshot *snapshot;
	uint64_t worker;
	json_t *posted, *waiting, *sends;
	int64_t cut; /* that found no room in these */
};

/* Takes one link from the budget: a process may have made a list without an end. */
static int follow(struct snapshot *snapshot)
{
	if (!snapshot->links)
		return snap_refuse(snapshot, -E2BIG,
				   "they have more entries than one inspection follows");
	snapshot->links--;
	return 0;
}

/* Brent's algorithm: a link is kept, for longer each time, and met again. Zeroed at first. */
struct circle {
	uint64_t met;
	uint32_t steps, turn;
};

static bool circles(struct circle *circle, uint64_t link)
{
	if (circle->met == link)
		return true;
	if (circle->steps++ == circle->turn)
		*circle = (struct circle){ link, 0, 2 * circle->turn + 1 };
	return false;
}

static json_t *put(struct queue_reading *reading, json_t *list, size_t max)
{
	json_t *row;

	if (json_array_size(list) >= max) {
		reading->cut++;
		return NULL;
	}
	row = json_array();
	json_array_append_new(list, row);
	return row;
}

static void put_hex(json_t *row, uint64_t value)
{
	json_array_append_new(row, json_hex(value));
}

static int add_posted(struct queue_reading *reading, uint64_t request)
{
	struct snapshot *snapshot = reading->snapshot;
	const struct layout *layout = snapshot->layout;
	uint64_t tag[2], worker;
	json_t *row;
	int error = snap_pointer(snapshot, request + layout->recv_worker, &worker);

	if (!error)
		error = snap_read(snapshot, request + layout->recv_tag, tag, sizeof(tag));
	if (error)
		return error;
	if (worker != reading->worker)
		return snap_refuse(snapshot, -EBADMSG, "a receive does not point to its worker");
	row = put(reading, reading->posted, MAX_POSTED);
	if (!row)
		return 0;
	put_hex(row, request);
	put_hex(row, tag[0]);
	put_hex(row, tag[1]);
	return 0;
}

/* at: address of the head. ucs_queue_elem_t: next; the last one's is anything. */
static int read_queue(struct queue_reading *reading, uint64_t at, const struct request_queue *queue)
{
	struct snapshot *snapshot = reading->snapshot;
	struct circle circle = { 0 };
	uint64_t link = queue->head;
	int error;

	if (queue->tail == at)
		return 0;
	for (;;) {
		error = follow(snapshot);
		if (!error && circles(&circle, link))
			error = snap_refuse(snapshot, -EBADMSG, "a queue of receives has no end");
		if (!error)
			error = add_posted(reading, link - snapshot->layout->recv_queue);
		if (error || link == queue->tail)
			return error;
		error = snap_pointer(snapshot, link, &link);
		if (error)
			return error;
	}
}

static int read_posted(struct queue_reading *reading, uint64_t tm)
{
	struct request_queue queues[HASH_SIZE], wildcards;
	uint64_t hash = 0;
	int error = snap_read(reading->snapshot, tm, &wildcards, sizeof(wildcards));

	if (!error)
		error = snap_pointer(reading->snapshot, tm + TM_HASH, &hash);
	if (!error)
		error = read_queue(reading, tm, &wildcards);
	if (!error)
		error = snap_read(reading->snapshot, hash, queues, sizeof(queues));
	for (unsigned int i = 0; !error && i < HASH_SIZE; i++)
		error = read_queue(reading, hash + i * sizeof(*queues), &queues[i]);
	return error;
}

/* ucp_rndv_rts_hdr_t: tag, endpoint's and request's id, address, size. */
struct announcement {
	uint64_t tag, ep, request, address, size;
};

static int add_waiting(struct queue_reading *reading, uint64_t desc)
{
	struct snapshot *snapshot = reading->snapshot;
	struct announcement header;
	uint32_t length;
	uint16_t flags;
	json_t *row;
	int error = snap_read(snapshot, desc + DESC_LENGTH, &length, sizeof(length));

	if (!error)
		error = snap_read(snapshot, desc + DESC_FLAGS, &flags, sizeof(flags));
	if (!error)
		error = snap_read(snapshot, desc + DESC_SIZE, &header,
				  flags & DESC_RNDV ? sizeof(header) : sizeof(header.tag));
	if (error)
		return error;
	row = put(reading, reading->waiting, MAX_WAITING);
	if (!row)
		return 0;
	put_hex(row, header.tag);
	if (flags & DESC_RNDV) {
		json_array_append_new(row, json_integer((json_int_t)header.size));
		put_hex(row, header.request);
	}
	return 0;
}

/* ucs_list_link_t: prev, next; circular through its head. */
static int read_waiting(struct queue_reading *reading, uint64_t tm)
{
	const uint64_t head = tm + TM_UNEXPECTED;
	uint64_t at = head, link[2], previous;
	int error;

	for (;;) {
		error = snap_read(reading->snapshot, at, link, sizeof(link));
		if (error || link[1] == head)
			return error;
		previous = at;
		at = link[1];
		error = follow(reading->snapshot);
		if (!error)
			error = snap_pointer(reading->snapshot, at, link);
		if (!error && link[0] != previous)
			error = snap_refuse(reading->snapshot, -EBADMSG,
					    "the list of unexpected messages is broken");
		if (!error)
			error = add_waiting(reading, at - DESC_ALL);
		if (error)
			return error;
	}
}

/* A word that only looks like a pointer leads to no request: that is no error. */
static int guess(int error)
{
	return error == -EBADMSG ? -ENOENT : error;
}

/* -ENOENT unless a request sends a message with a tag, and is not done. */
static int is_tag_send(struct snapshot *snapshot, uint64_t request, uint32_t flags)
{
	const struct layout *layout = snapshot->layout;
	uint64_t config;
	uint8_t op;
	int error;

	if (flags & (REQUEST_COMPLETED | REQUEST_RELEASED | REQUEST_OTHERS) ||
	    flags >> REQUEST_FLAGS)
		return -ENOENT;
	if (!(flags & REQUEST_PROTO_SEND))
		return flags & REQUEST_SEND_TAG ? 0 : -ENOENT;
	error = snap_pointer(snapshot, request + layout->wire.req_proto_config, &config);
	if (!error)
		error = snap_read(snapshot, config + layout->proto_config_op, &op, sizeof(op));
	return error ? error : (op & 15) <= OP_TAG_SEND_SYNC ? 0 : -ENOENT;
}

struct queued_send {
	uint64_t tag, length;
};

static int read_send(const struct queue_reading *reading, uint64_t request, uint64_t ep,
		     struct queued_send *send)
{
	struct snapshot *snapshot = reading->snapshot;
	const struct ub_layout *wire = &snapshot->layout->wire;
	uint64_t worker;
	uint32_t flags;
	int error;

	if (!ep || ep % sizeof(ep))
		return -ENOENT;
	error = snap_pointer(snapshot, ep + wire->ep_worker, &worker);
	if (!error && worker != reading->worker)
		return -ENOENT;
	if (!error)
		error = snap_read(snapshot, request + wire->req_flags, &flags, sizeof(flags));
	if (!error)
		error = is_tag_send(snapshot, request, flags);
	if (!error)
		error = snap_pointer(snapshot, request + wire->req_msg_tag, &send->tag);
	if (!error)
		error = snap_pointer(snapshot,
				     request + (flags & REQUEST_PROTO_SEND ? wire->req_dt_length
									   : wire->req_length),
				     &send->length);
	return guess(error);
}

/* ep: what a request there has where a send keeps its endpoint. */
static int add_send(struct queue_reading *reading, uint64_t request, uint64_t ep)
{
	struct queued_send send;
	json_t *row;
	int error = read_send(reading, request, ep, &send);

	if (error)
		return error == -ENOENT ? 0 : error;
	row = put(reading, reading->sends, MAX_SENDS);
	if (!row)
		return 0;
	put_hex(row, request);
	put_hex(row, ep);
	put_hex(row, send.tag);
	json_array_append_new(row, json_integer((json_int_t)send.length));
	return 0;
}

/* src/ucs/datastruct/mpool.h and mpool.c, since 1.13 */
struct pool {
	uint64_t element, alignment; /* bytes: with the header in front of each, its multiple */
};

struct chunk {
	uint64_t next, elements;
	uint32_t count;
};

#define POOL_DATA 8 /* in ucs_mpool_t */
#define ELEMENT_HEADER 8 /* of one in use: the pool */
#define MAX_ELEMENT 65536

static int read_chunk(struct queue_reading *reading, uint64_t pool, uint64_t stride,
		      const struct chunk *chunk)
{
	const unsigned int req_ep = reading->snapshot->layout->wire.req_ep;
	uint64_t owner, ep;
	int error = 0;

	for (uint32_t i = 0; !error && i < chunk->count; i++) {
		const uint64_t element = chunk->elements + i * stride;

		error = follow(reading->snapshot);
		if (!error)
			error = snap_pointer(reading->snapshot, element, &owner);
		if (error || owner != pool)
			continue;
		error = snap_pointer(reading->snapshot, element + ELEMENT_HEADER + req_ep, &ep);
		if (!error)
			error = add_send(reading, element + ELEMENT_HEADER, ep);
	}
	return error;
}

static int read_pool(struct queue_reading *reading)
{
	struct snapshot *snapshot = reading->snapshot;
	const uint64_t address = reading->worker + snapshot->layout->worker_req_mp;
	struct circle circle = { 0 };
	struct chunk chunk = { 0 };
	struct pool pool;
	uint64_t data, stride;
	int error = snap_pointer(snapshot, address + POOL_DATA, &data);

	if (!error)
		error = snap_read(snapshot, data, &pool, sizeof(pool));
	if (!error)
		error = snap_pointer(snapshot, data + snapshot->layout->mpool_chunks, &chunk.next);
	if (error)
		return error;
	if (pool.element < snapshot->layout->request_size || pool.element > MAX_ELEMENT ||
	    !pool.alignment || pool.alignment & (pool.alignment - 1) ||
	    pool.alignment > MAX_ELEMENT)
		return snap_refuse(snapshot, -EBADMSG, "no pool of requests there");
	stride = (pool.element + pool.alignment - 1) & ~(pool.alignment - 1);
	while (!error && chunk.next) {
		if (circles(&circle, chunk.next))
			return snap_refuse(snapshot, -EBADMSG, "the pool of requests has no end");
		error = follow(snapshot);
		if (!error)
			error = snap_read(snapshot, chunk.next, &chunk, sizeof(chunk));
		if (!error)
			error = read_chunk(reading, address, stride, &chunk);
	}
	return error;
}

/* Any word may be a request's endpoint: the fields around it must fit as well. */
static int read_stack(struct queue_reading *reading, const struct snapshot_stack *stack)
{
	const unsigned int req_ep = reading->snapshot->layout->wire.req_ep;
	int error = 0;
	uint64_t word;

	for (uint64_t at = (stack->from + 7) & ~7ull; !error && at + sizeof(word) <= stack->to;
	     at += sizeof(word)) {
		error = snap_pointer(reading->snapshot, at, &word);
		/* its thread has ended: what else there is, is as it was */
		if (error == -EBADMSG)
			return snap_refuse(reading->snapshot, -E2BIG,
					   "a thread's stack was no longer mapped");
		if (error || !word || word % sizeof(word) ||
		    (word >= stack->from && word < stack->to))
			continue;
		error = follow(reading->snapshot);
		if (!error)
			error = add_send(reading, at - req_ep, word);
	}
	return error;
}

static int read_lists(struct queue_reading *reading, const struct snapshot_stack *stacks,
		      size_t stack_count, uint64_t tm)
{
	int error = read_posted(reading, tm);

	if (!error)
		error = read_waiting(reading, tm);
	if (!error)
		error = read_pool(reading);
	for (size_t i = 0; !error && i < stack_count; i++)
		error = read_stack(reading, &stacks[i]);
	return error;
}

/* The reading ended early: the entries that it found are right. */
static bool is_part(int error)
{
	return error == -ETIME || error == -E2BIG;
}

static int read_queues(struct queue_reading *reading, const struct snapshot_stack *stacks,
		       size_t stack_count, uint64_t *sequence)
{
	struct snapshot *snapshot = reading->snapshot;
	const uint64_t tm = reading->worker + snapshot->layout->worker_tm;
	unsigned char before[TM_HEAD] = { 0 }, after[TM_HEAD];
	struct snap_worker worker = { 0 };
	int error;

	if (!snapshot->layout->worker_tm)
		return snap_refuse(snapshot, -ENOENT, "the layout lacks fields of the queues");
	snap_forget_pages(snapshot);
	error = snap_worker_load(snapshot, reading->worker, &worker);
	snap_worker_release(&worker);
	if (!error)
		error = snap_read(snapshot, tm, before, sizeof(before));
	if (error)
		return is_part(error) ? -EAGAIN : error;
	memcpy(sequence, before + TM_SEQUENCE, sizeof(*sequence));
	error = read_lists(reading, stacks, stack_count, tm);
	if (error && !is_part(error))
		return error;
	if (proc_read_memory(snapshot->pid, tm, after, sizeof(after)) != (long)sizeof(after))
		return snap_refuse(snapshot, -ESRCH, "memory of the process not readable");
	if (memcmp(before, after, sizeof(after)))
		return snap_refuse(snapshot, -EBADMSG, "they changed while they were read");
	return error;
}

void snapshot_queues(struct snapshot *snapshot, uint64_t worker,
		     const struct snapshot_stack *stacks, size_t stack_count, snapshot_emit emit,
		     void *arg)
{
	struct queue_reading reading = { snapshot,     worker,       json_array(),
					 json_array(), json_array(), 0 };
	uint64_t sequence = 0, ts = 0;
	const uint64_t links = snapshot->links;
	int error = -EBADMSG;
	json_t *record;

	for (int attempt = 0; attempt < ATTEMPTS && error == -EBADMSG; attempt++) {
		json_array_clear(reading.posted);
		json_array_clear(reading.waiting);
		json_array_clear(reading.sends);
		reading.cut = 0;
		snapshot->links = links;
		ts = snap_now();
		error = read_queues(&reading, stacks, stack_count, &sequence);
	}
	record = record_new("queues", snapshot->pid, ts);
	record_hex(record, "worker", worker);
	if (error)
		record_text(record, "reason", snapshot->reason);
	if (!error || is_part(error)) {
		record_integer(record, "sequence", (int64_t)sequence);
		json_object_set(record, "posted", reading.posted);
		json_object_set(record, "waiting", reading.waiting);
		json_object_set(record, "sends", reading.sends);
		if (reading.cut)
			record_integer(record, "cut", reading.cut);
	}
	emit(arg, record);
	json_decref(record);
	json_decref(reading.posted);
	json_decref(reading.waiting);
	json_decref(reading.sends);
}
