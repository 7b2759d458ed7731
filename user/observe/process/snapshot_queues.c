// SPDX-License-Identifier: BSD-3-Clause
/*
 * A worker's tag matching (src/ucp/tag/tag_match.h), and with it the sends of snapshot_sends.c. The
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
#define DESC_EAGER_ONLY (1 << 2)
#define DESC_EAGER_SYNC (1 << 3)
#define DESC_EAGER_OFFLOAD (1 << 4)
#define DESC_RNDV (1 << 6)

#define REQUEST_OFFLOADED (1 << 10) /* src/ucp/core/ucp_request.h, since 1.13 */

int snap_follow(struct snapshot *snapshot)
{
	if (!snapshot->links)
		return snap_refuse(snapshot, -E2BIG,
				   "they have more entries than one inspection follows");
	snapshot->links--;
	return 0;
}

bool snap_circles(struct snap_circle *circle, uint64_t link)
{
	if (circle->met == link)
		return true;
	if (circle->steps++ == circle->turn)
		*circle = (struct snap_circle){ link, 0, 2 * circle->turn + 1 };
	return false;
}

json_t *snap_row(struct snap_queues *queues, json_t *list, size_t max)
{
	json_t *row;

	if (json_array_size(list) >= max) {
		queues->cut++;
		return NULL;
	}
	row = json_array();
	json_array_append_new(list, row);
	return row;
}

void snap_put_hex(json_t *row, uint64_t value)
{
	json_array_append_new(row, json_hex(value));
}

static int add_posted(struct snap_queues *reading, uint64_t request)
{
	struct snapshot *snapshot = reading->snapshot;
	const struct layout *layout = snapshot->layout;
	uint64_t tag[2], worker;
	uint32_t flags;
	json_t *row;
	int error = snap_pointer(snapshot, request + layout->recv_worker, &worker);

	if (!error)
		error = snap_read(snapshot, request + layout->recv_tag, tag, sizeof(tag));
	if (!error)
		error = snap_read(snapshot, request + layout->wire.req_flags, &flags,
				  sizeof(flags));
	if (error)
		return error;
	if (worker != reading->worker)
		return snap_refuse(snapshot, -EBADMSG, "a receive does not point to its worker");
	row = snap_row(reading, reading->posted, MAX_POSTED);
	if (!row)
		return 0;
	snap_put_hex(row, request);
	snap_put_hex(row, tag[0]);
	snap_put_hex(row, tag[1]);
	if (flags & REQUEST_OFFLOADED)
		json_array_append_new(row, json_true());
	return 0;
}

/* at: address of the head. ucs_queue_elem_t: next; the last one's is anything. */
static int read_queue(struct snap_queues *reading, uint64_t at, const struct request_queue *queue)
{
	struct snapshot *snapshot = reading->snapshot;
	struct snap_circle circle = { 0 };
	uint64_t link = queue->head;
	int error;

	if (queue->tail == at)
		return 0;
	for (;;) {
		error = snap_follow(snapshot);
		if (!error && snap_circles(&circle, link))
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

static int read_posted(struct snap_queues *reading, uint64_t tm)
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

/*
 * The words at the beginning of a message. Announced, ucp_rndv_rts_hdr_t: tag, endpoint's and
 * request's id, address, size. Sent in one piece by a send that waits for the receive,
 * ucp_eager_sync_hdr_t: the same three; in several, ucp_eager_sync_first_hdr_t: tag, size, number,
 * the two ids.
 */
#define HEADER_WORDS 5

struct announcement {
	uint64_t tag;
	bool known; /* the following: of a message whose sender waits for the receive */
	uint64_t request, size;
};

static int read_announcement(struct snapshot *snapshot, uint64_t desc, uint16_t flags,
			     struct announcement *announcement)
{
	const bool sync = flags & DESC_EAGER_SYNC && !(flags & DESC_EAGER_OFFLOAD);
	const bool only = sync && flags & DESC_EAGER_ONLY;
	const size_t words = only ? 3 : sync || flags & DESC_RNDV ? HEADER_WORDS : 1;
	uint64_t header[HEADER_WORDS] = { 0 };
	uint32_t length;
	int error = snap_read(snapshot, desc + DESC_LENGTH, &length, sizeof(length));

	if (!error)
		error = snap_read(snapshot, desc + DESC_SIZE, header, words * sizeof(*header));
	*announcement = (struct announcement){ .tag = header[0], .known = words > 1 };
	if (flags & DESC_RNDV) {
		announcement->request = header[2];
		announcement->size = header[4];
	} else if (only) {
		announcement->request = header[2];
		announcement->size = length - words * sizeof(*header);
		announcement->known = length >= words * sizeof(*header);
	} else if (sync) {
		announcement->request = header[4];
		announcement->size = header[1];
	}
	return error;
}

static int add_waiting(struct snap_queues *reading, uint64_t desc)
{
	struct announcement announcement;
	uint16_t flags;
	json_t *row;
	int error = snap_read(reading->snapshot, desc + DESC_FLAGS, &flags, sizeof(flags));

	if (!error)
		error = read_announcement(reading->snapshot, desc, flags, &announcement);
	if (error)
		return error;
	row = snap_row(reading, reading->waiting, MAX_WAITING);
	if (!row)
		return 0;
	snap_put_hex(row, announcement.tag);
	if (announcement.known) {
		json_array_append_new(row, json_integer((json_int_t)announcement.size));
		snap_put_hex(row, announcement.request);
	}
	return 0;
}

/* ucs_list_link_t: prev, next; circular through its head. */
static int read_waiting(struct snap_queues *reading, uint64_t tm)
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
		error = snap_follow(reading->snapshot);
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

/* The reading ended early: the entries that it found are right. */
static bool is_part(int error)
{
	return error == -ETIME || error == -E2BIG;
}

static int read_queues(struct snap_queues *reading, const struct snapshot_stack *stacks,
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
	error = read_posted(reading, tm);
	if (!error)
		error = read_waiting(reading, tm);
	if (!error)
		error = snap_sends(reading, stacks, stack_count);
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
	struct snap_queues reading = {
		snapshot, worker, json_array(), json_array(), json_array(), 0
	};
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
