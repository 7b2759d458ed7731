// SPDX-License-Identifier: BSD-3-Clause
#include "explain/analysis/step.h"

#include <string.h>

static struct op_step unknown(const char *reason)
{
	return (struct op_step){ NULL, reason, UINT64_MAX, UINT64_MAX };
}

static struct op_step known(const char *name, uint64_t bytes)
{
	return (struct op_step){ name, NULL, bytes, UINT64_MAX };
}

static struct op_step moving(uint64_t bytes, uint64_t moved)
{
	return (struct op_step){ FACT_STEP_DATA, NULL, bytes, moved };
}

struct op_step step_none(void)
{
	return unknown("it is not known which operation the call waits for");
}

/* ---- sends ---- */

/*
 * The peer has the message, and posted no receive for it. Unless an endpoint handles errors, an id
 * is the request's address.
 */
static bool is_unreceived(const struct queued *send, const struct process *peer)
{
	const uint64_t id = send->followed ? send->id : send->request;

	for (size_t i = 0; i < peer->queued.len; i++) {
		const struct queued *message = &peer->queued.data[i];

		if (message->what == QUEUED_MESSAGE && message->request == id &&
		    message->tag == send->tag && message->bytes == send->bytes)
			return true;
	}
	return false;
}

static struct op_step answer_of(const struct queued *send, const struct process *peer)
{
	if (!peer)
		return unknown("its peer is not traced");
	if (!peer->queues_read)
		return unknown("the queues of its peer were not read");
	if (is_unreceived(send, peer))
		return known(FACT_STEP_UNRECEIVED, send->bytes);
	return unknown("its peer holds no such message: it has not taken it in, or answers it");
}

/* By the look alone. */
static struct op_step queued_send(const struct queued *send, const struct process *peer)
{
	if (!send->followed)
		return peer && is_unreceived(send, peer)
			       ? known(FACT_STEP_UNRECEIVED, send->bytes)
			       : unknown("the capture is of an older version");
	if (send->id)
		return answer_of(send, peer);
	if (send->moved == UINT64_MAX)
		return unknown("its request does not show how much was sent");
	if (!send->moved)
		return send->copied ? known(FACT_STEP_QUEUED, send->bytes)
				    : unknown("its data may be on the way without a copy");
	if (send->moved < send->bytes)
		return moving(send->bytes, send->moved);
	return send->copied ? unknown("it was about to complete")
			    : known(FACT_STEP_UNACKNOWLEDGED, send->bytes);
}

/*
 * By the records alone. A completion that has none may have followed the last data, unless the call
 * would have returned then.
 */
static struct op_step recorded_send(const struct awaited_state *send)
{
	if (send->moved && send->moved < send->bytes)
		return moving(send->bytes, send->moved);
	if (send->moved)
		return send->own ? known(FACT_STEP_UNACKNOWLEDGED, send->bytes)
				 : unknown("all of its data was sent, perhaps it is done");
	if (send->matched)
		return known(FACT_STEP_MATCHED, send->bytes);
	if (send->announced)
		return known(FACT_STEP_ANNOUNCED, send->bytes);
	if (send->refused)
		return known(FACT_STEP_QUEUED, send->bytes);
	return unknown("no transfer of it was recorded");
}

/* The look is later, but a record shows more of what a request with an id has done. */
static struct op_step send_step(const struct awaited_state *state, const struct queued *queued,
				const struct process *peer)
{
	const struct op_step look = queued ? queued_send(queued, peer) : unknown(NULL);
	const struct op_step records = state ? recorded_send(state) : unknown(NULL);

	return look.name || (queued && !records.name) ? look : records;
}

/* ---- receives ---- */

static struct op_step recorded_receive(const struct process *process,
				       const struct awaited_state *receive)
{
	if (receive->moved && receive->moved < receive->bytes)
		return moving(receive->bytes, receive->moved);
	/* UCX takes a receive out of its queue when a message meets it, but which worker's was
	 * read? */
	if (receive->matched ||
	    (receive->own && receive->request && !process->unread.len &&
	     process->queues_read > receive->start && process_only_worker(process)))
		return known(FACT_STEP_MATCHED, receive->bytes);
	if (!process->queues_read)
		return unknown("its process ended before its queues were read");
	return unknown("it is not among the receives that were read");
}

struct op_step step_of(const struct process *process, const struct awaited_state *state,
		       const struct queued *queued, const struct process *peer)
{
	if (queued ? queued->what == QUEUED_SEND : !state->receives)
		return send_step(state, queued, peer);
	if (!queued)
		return recorded_receive(process, state);
	return queued->offloaded ? unknown("a NIC matches it")
				 : known(FACT_STEP_POSTED, state ? state->bytes : UINT64_MAX);
}

struct op_step step_join(struct op_step a, struct op_step b)
{
	if (a.name != b.name)
		return unknown("operations that the call may wait for are at different steps");
	if (a.bytes != b.bytes || a.moved != b.moved)
		a.bytes = a.moved = UINT64_MAX;
	return a;
}

const struct queued *step_row(const struct process *process, const struct awaited_state *state)
{
	for (size_t i = 0; i < process->queued.len; i++) {
		const struct queued *queued = &process->queued.data[i];

		if (state->request && queued->request == state->request &&
		    queued->ts > state->start &&
		    queued->what == (state->receives ? QUEUED_RECEIVE : QUEUED_SEND))
			return queued;
	}
	return NULL;
}

void step_tell(struct op_step step, struct fact_open *open)
{
	open->step = step.name;
	open->step_reason = step.reason;
	open->bytes = step.bytes;
	open->moved = step.moved;
}
