// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sends of a worker that are under way, and how far they have come. No list has them: their
 * requests lie in the worker's pool, or on the stack of the thread that waits.
 */
#include <errno.h>
#include <string.h>

#include "base/shape.h"
#include "observe/process/snapshot_private.h"

#define MAX_SENDS 256 /* enough to show why a job waits; the others are counted */

/* Flags of requests (src/ucp/core/ucp_request.h, since 1.13). */
#define REQUEST_COMPLETED (1 << 0)
#define REQUEST_RELEASED (1 << 1)
#define REQUEST_PROTO_SEND (1 << 2)
#define REQUEST_SEND_TAG (1 << 14)
#define REQUEST_OTHERS (1 << 12 | 1 << 13 | 1 << 16 | 1 << 17) /* streams, AM, receives */
#define REQUEST_FLAGS 24 /* bits in use */

#define OP_TAG_SEND_SYNC 1 /* UCP_OP_ID_TAG_SEND is 0 */

/* A word that only looks like a pointer leads to no request: that is no error. */
static int guess(int error)
{
	return error == -EBADMSG ? -ENOENT : error;
}

struct queued_send {
	uint64_t tag, length;
	uint64_t id; /* under which the peer answers it; 0: it has none now */
	uint64_t moved; /* bytes that transports took; UINT64_MAX: not known */
	bool copied; /* transports copy them at once: the others have not left */
	bool protocols; /* of generation 2 */
	uint64_t config; /* then: ucp_proto_config_t */
};

/* -ENOENT unless a request sends a message with a tag, and is not done. */
static int is_tag_send(struct snapshot *snapshot, uint64_t request, uint32_t flags,
		       struct queued_send *send)
{
	const struct layout *layout = snapshot->layout;
	uint8_t op;
	int error;

	if (flags & (REQUEST_COMPLETED | REQUEST_RELEASED | REQUEST_OTHERS) ||
	    flags >> REQUEST_FLAGS)
		return -ENOENT;
	send->protocols = flags & REQUEST_PROTO_SEND;
	if (!send->protocols)
		return flags & REQUEST_SEND_TAG ? 0 : -ENOENT;
	error = snap_pointer(snapshot, request + layout->wire.req_proto_config, &send->config);
	if (!error)
		error = snap_read(snapshot, send->config + layout->proto_config_op, &op,
				  sizeof(op));
	return error ? error : (op & 15) <= OP_TAG_SEND_SYNC ? 0 : -ENOENT;
}

/* ---- how far a send has come ---- */

#define NAME_SIZE 24 /* of protocols: enough to tell them apart */

/* "egr/multi/bcopy": eager, not announced, by copies. */
static int read_eager(struct snapshot *snapshot, struct queued_send *send, bool *eager)
{
	const struct ub_layout *wire = &snapshot->layout->wire;
	char name[NAME_SIZE + 1] = { 0 };
	uint64_t proto, at;
	int error = snap_pointer(snapshot, send->config + wire->proto_config_proto, &proto);

	if (!error)
		error = snap_pointer(snapshot, proto + wire->proto_name, &at);
	if (!error)
		error = snap_read(snapshot, at, name, NAME_SIZE);
	*eager = !error && !strncmp(name, "egr/", strlen("egr/"));
	send->copied = *eager && (strstr(name, "bcopy") || strstr(name, "short"));
	return error;
}

#define SHORT_MOST 65536 /* no transport takes that much in one short transfer */

/*
 * A short transfer of generation 1 leaves the offset as it was in the request's memory: then it has
 * not been sent, or its request would be done.
 */
static uint64_t moved_by(const struct queued_send *send, uint64_t offset)
{
	const bool unset = send->copied && !send->protocols;

	if (offset > send->length)
		return unset ? 0 : UINT64_MAX;
	return unset && offset && send->length <= SHORT_MOST ? UINT64_MAX : offset;
}

/*
 * A request gets an id when its message is announced, or has to be answered, and loses it with the
 * answer. Generation 1 sets the offset only for data that it sends, which an announced message has
 * none of yet, and a completion function only for data that is sent from where it lies.
 * src/ucp/core/ucp_request.inl: ucp_request_send_state_reset(); ucp_dt_state_t lies where dt_iter
 * does, the same since 1.13.
 */
static int read_progress(struct snapshot *snapshot, uint64_t request, struct queued_send *send)
{
	const struct ub_layout *wire = &snapshot->layout->wire;
	const uint64_t length = request + wire->req_dt_length;
	bool eager = true;
	uint64_t completion = 0, offset = 0;
	int error = snap_pointer(snapshot, request + wire->req_id, &send->id);

	send->moved = UINT64_MAX;
	if (!error && send->protocols)
		error = guess(read_eager(snapshot, send, &eager));
	if (error || send->id || !eager)
		return error == -ENOENT ? 0 : error;
	if (!send->protocols) {
		error = snap_pointer(snapshot, request + wire->req_uct_comp, &completion);
		send->copied = !completion;
	}
	if (!error)
		error = snap_pointer(snapshot, length + (send->protocols ? 8 : -8), &offset);
	if (!error)
		send->moved = moved_by(send, offset);
	return error;
}

static int read_send(const struct snap_queues *reading, uint64_t request, uint64_t ep,
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
		error = is_tag_send(snapshot, request, flags, send);
	if (!error)
		error = snap_pointer(snapshot, request + wire->req_msg_tag, &send->tag);
	if (!error)
		error = snap_pointer(
			snapshot,
			request + (send->protocols ? wire->req_dt_length : wire->req_length),
			&send->length);
	if (!error)
		error = read_progress(snapshot, request, send);
	return guess(error);
}

/* ep: what a request there has where a send keeps its endpoint. */
static int add_send(struct snap_queues *reading, uint64_t request, uint64_t ep)
{
	struct queued_send send = { 0 };
	json_t *row;
	int error = read_send(reading, request, ep, &send);

	if (error)
		return error == -ENOENT ? 0 : error;
	row = snap_row(reading, reading->sends, MAX_SENDS);
	if (!row)
		return 0;
	snap_put_hex(row, request);
	snap_put_hex(row, ep);
	snap_put_hex(row, send.tag);
	json_array_append_new(row, json_integer((json_int_t)send.length));
	snap_put_hex(row, send.id);
	json_array_append_new(row, send.moved == UINT64_MAX ? json_null()
							    : json_integer((json_int_t)send.moved));
	json_array_append_new(row, json_boolean(send.copied));
	return 0;
}

/* ---- where requests lie ---- */

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

static int read_chunk(struct snap_queues *reading, uint64_t pool, uint64_t stride,
		      const struct chunk *chunk)
{
	const unsigned int req_ep = reading->snapshot->layout->wire.req_ep;
	uint64_t owner, ep;
	int error = 0;

	for (uint32_t i = 0; !error && i < chunk->count; i++) {
		const uint64_t element = chunk->elements + i * stride;

		error = snap_follow(reading->snapshot);
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

static int read_pool(struct snap_queues *reading)
{
	struct snapshot *snapshot = reading->snapshot;
	const uint64_t address = reading->worker + snapshot->layout->worker_req_mp;
	struct snap_circle circle = { 0 };
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
		if (snap_circles(&circle, chunk.next))
			return snap_refuse(snapshot, -EBADMSG, "the pool of requests has no end");
		error = snap_follow(snapshot);
		if (!error)
			error = snap_read(snapshot, chunk.next, &chunk, sizeof(chunk));
		if (!error)
			error = read_chunk(reading, address, stride, &chunk);
	}
	return error;
}

/* Any word may be a request's endpoint: the fields around it must fit as well. */
static int read_stack(struct snap_queues *reading, const struct snapshot_stack *stack)
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
		error = snap_follow(reading->snapshot);
		if (!error)
			error = add_send(reading, at - req_ep, word);
	}
	return error;
}

int snap_sends(struct snap_queues *queues, const struct snapshot_stack *stacks, size_t stack_count)
{
	int error = read_pool(queues);

	for (size_t i = 0; !error && i < stack_count; i++)
		error = read_stack(queues, &stacks[i]);
	return error;
}
