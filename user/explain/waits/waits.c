// SPDX-License-Identifier: BSD-3-Clause
/* Takes calls, operations and messages as they come, and lists open calls at the end. */
#include "explain/waits/waits.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "explain/waits/internal.h"

struct waits *waits_new(struct decoder *decoder, const struct waits_sink *sink)
{
	struct waits *waits = xcalloc(1, sizeof(*waits));

	waits->decoder = decoder;
	waits->sink = *sink;
	waits->patterns = patterns_new();
	return waits;
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	members_release(waits);
	numbers_release(waits);
	points_release(waits);
	skews_release(waits);
	patterns_free(waits->patterns);
	vec_release(&waits->pattern);
	vec_release(&waits->members);
	for (size_t i = 0; i < waits->all.len; i++)
		free(waits->all.data[i]);
	vec_release(&waits->all);
	vec_release(&waits->lines_of);
	map_release(&waits->lines);
	free(waits);
}

void waits_call_start(struct waits *waits, const struct call *call)
{
	struct wait_thread *line = line_of(waits, call->process, call->tid);
	struct wait_turn *turn = &line->turns[(line->newest + 1) % TURNS];

	member_leave(waits, turn);
	line->newest = (line->newest + 1) % TURNS;
	*turn = (struct wait_turn){
		.id = call->id,
		.seq = call->seq,
		.function = call->function,
		.place = call->place,
		.kind = decoder_function(waits->decoder, call->function),
		.context = CONTEXT_NONE,
		.start = call->start,
	};
	number_watch(waits, call, turn->kind);
	member_begin(waits, line, turn, call);
}

static struct wait_turn *turn_of(struct waits *waits, const struct process *process, uint32_t tid,
				 uint64_t id)
{
	return id ? turn_by_id(line_find(waits, process, tid), id) : NULL;
}

void waits_call(struct waits *waits, const struct call *call, uint64_t until)
{
	struct wait_turn *turn = turn_of(waits, call->process, call->tid, call->id);

	if (!call->id)
		number_missed(waits, call);
	if (!turn)
		return;
	turn->over = true;
	turn->place = call->place; /* its stack tells more than the place it returns to */
	turn->end = call->end.ns;
	if (call->count > 1 && call->end.precision != PRECISION_EXACT)
		turn->polled = call->until;
	member_over(waits, turn, until ? until : turn->end, !call->until);
}

#define RECEIVES (1u << OP_TAG_RECV | 1u << OP_TAG_MSG_RECV)
#define MESSAGES (RECEIVES | 1u << OP_TAG_SEND)

void waits_op_start(struct waits *waits, const struct op *op)
{
	struct wait_turn *turn;

	if (!op->call || !(MESSAGES >> op->site->op & 1))
		return;
	turn = turn_of(waits, op->process, op->tid, op->call);
	if (turn)
		member_op(turn, op);
}

void waits_message(struct waits *waits, const struct message *message)
{
	clocks_add(&waits->clocks, message->src->host, message->dst->host, message->send_start,
		   message->arrival);
	/* a rank does not wait for itself */
	if (message->src != message->dst) {
		late_sender(waits, message);
		announce(waits, message);
	}
	member_join(waits, turn_of(waits, message->src, message->send_tid, message->send_call),
		    turn_of(waits, message->dst, message->recv_tid, message->recv_call), message);
}

void waits_transfer(struct waits *waits, const struct transfer *transfer)
{
	points_transfer(waits, transfer);
}

void waits_ending(struct waits *waits)
{
	waits->ending = true;
}

static struct awaited_state state_of(struct waits *waits, const struct op *op, bool own)
{
	const struct announced *announced = announced_of(waits, op);

	return (struct awaited_state){
		.request = op->req,
		.start = op->start,
		.bytes = matched_bytes(op),
		.moved = op->carried,
		.own = own,
		.receives = RECEIVES >> op->site->op & 1,
		.refused = op->refused && !op->overtaken && !op->transfers,
		.announced = announced,
		.matched = op->met || matched_peer(op) || (announced && announced->joined),
	};
}

/*
 * Nothing more was seen of an operation. Certain: the last call of its thread made it, and returns
 * only once it is done, and no message came for it. A call that waits for earlier operations may
 * have returned for others, and data that comes without a record may have completed it.
 */
static void stays_open(struct waits *waits, const struct op *op)
{
	struct wait_thread *line = line_find(waits, op->process, op->tid);
	struct wait_turn *turn = line ? &line->turns[line->newest] : NULL;
	const bool receives = RECEIVES >> op->site->op & 1;
	const bool of_mpi = !op->caller || !op->caller->library;
	bool own;

	if (!turn || turn->over || op->failed || matched_end(op).precision != PRECISION_UNKNOWN ||
	    op->process->missing_until > op->start || !turn_awaits(turn, op->call))
		return;
	own = turn->id == op->call;
	if (turn->open.op && (turn->open.certain || !own))
		return;
	turn->open = (struct awaited_op){
		.op = op->site->name,
		.peer = op->ep ? op->ep->peer_process : matched_peer(op),
		.tag = op->tag,
		.mask = !of_mpi    ? 0
			: receives ? op->mask
				   : UINT64_MAX,
		.receives = receives,
		.certain = own && !op->met && !matched_peer(op),
		.state = state_of(waits, op, own),
	};
}

void waits_op_done(struct waits *waits, const struct op *op)
{
	if (waits->ending)
		stays_open(waits, op);
	if (waits->announced.used)
		announced_done(waits, op);
	if (waits->asked.used)
		asked_done(waits, op);
	if (waits->refused.used)
		map_remove(&waits->refused, op->id, 0);
}

bool waits_open(struct waits *waits, const struct call *call, struct fact_open *open,
		struct awaited_state *state)
{
	const struct wait_turn *turn = turn_of(waits, call->process, call->tid, call->id);
	const struct awaited_op *op = turn ? &turn->open : NULL;
	const struct process *peer;
	struct mpi_tag tag;

	if (!op || !op->op)
		return false;
	peer = op->peer;
	*state = op->state;
	*open = (struct fact_open){
		.process = call->process->index,
		.function = call->function,
		.place = call->place,
		.tid = call->tid,
		.op = op->op,
		.comm = call->comm,
		.context = -1,
		.peer_rank = peer ? peer->rank : -1,
		.tag = -1,
		.since = call->start,
		.peer_certain = op->certain,
		.certain = op->certain,
	};
	tag = decoder_tag(call->process, op->tag, op->mask);
	if (!turn->kind->collective)
		open->tag = tag.tag;
	if (tag.collective) {
		open->context = (int)tag.whole;
		open->sequence = tag.number;
		open->sequence_by = tag.number ? FACT_BY_TAGS : NULL;
	}
	if (!peer && op->receives && tag.world) {
		open->peer_rank = tag.source;
		peer = tag.source < 0 ? NULL
				      : decoder_of_rank(waits->decoder, call->process, tag.source);
	}
	open->peer = peer ? peer->index : -1;
	return true;
}

struct collective_identity waits_identity(struct waits *waits, const struct call *call)
{
	const struct wait_turn *turn = turn_of(waits, call->process, call->tid, call->id);
	const bool one = turn && turn->context >= 0;

	return (struct collective_identity){ one ? (int)turn->context : -1,
					     turn ? turn->sequence : 0,
					     turn ? turn->unnumbered : NULL };
}

uint64_t waits_entered(struct waits *waits, const struct process *process)
{
	return number_entered(waits, process);
}

bool waits_knows(struct waits *waits, const struct process *process, uint32_t tid)
{
	return line_find(waits, process, tid) != NULL;
}

void waits_finish(struct waits *waits)
{
	for (size_t i = 0; i < waits->all.len; i++)
		for (unsigned int k = 0; k < TURNS; k++)
			member_leave(waits, &waits->all.data[i]->turns[k]);
}
