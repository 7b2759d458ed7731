// SPDX-License-Identifier: BSD-3-Clause
/*
 * Copies within a process. UCX moves what a transport cannot reach through memory that it can, with
 * operations of transports of their own, on endpoints to itself: what they call the remote address
 * is the GPU's, of the process itself (src/uct/cuda/cuda_copy/cuda_copy_ep.c,
 * src/uct/cuda/gdr_copy/gdr_copy_ep.c, src/uct/rocm/copy/rocm_copy_ep.c,
 * src/uct/ze/copy/ze_copy_ep.c, 1.13.1 to 1.18.1). Eager data is packed and unpacked so, inside the
 * transfer or the arrival's handler (src/ucp/dt/dt.c); a rendezvous is staged in fragments
 * (src/ucp/rndv).
 */
#include <string.h>

#include "explain/attribute/internal.h"

uint64_t op_buffer_size(const struct op *op)
{
	uint64_t bytes = op->bytes == UINT64_MAX ? op->room : op->bytes;

	if (op->room && op->room < bytes)
		bytes = op->room;
	return op->buffer && bytes != UINT64_MAX ? bytes : 0;
}

bool op_covers(const struct op *op, uint64_t address)
{
	return address - op->buffer < op_buffer_size(op);
}

/*
 * Over these transports an operation may also move its own data: from or to a buffer of the process
 * itself, whose address is then the remote one (ucp_put and messages to itself).
 */
bool is_copy(const struct object *iface, const struct site_info *site, const struct ub_xfer *xfer,
	     const struct op *op)
{
	if (!iface_copies(iface) || (site->verb != VERB_PUT && site->verb != VERB_GET))
		return false;
	return !op || !op_covers(op, xfer->laddr) || op_covers(op, xfer->raddr);
}

/*
 * Into memory of the peer that is mapped here ("rndv/rkey_ptr/mtype" of protocol v2, the pipeline
 * over shared memory of v1: src/ucp/rndv/rndv.c, ucp_rndv_rkey_ptr_get_mem_type()): the send is
 * done with it, and sends no data besides.
 */
bool copies_cross(const struct op *op)
{
	return op->sends && op->copied && !op->carried && op->copied >= op->bytes;
}

/* Its second half may still show that it was one within the process. */
bool copy_waits(const struct transfer *transfer)
{
	const struct op *op = transfer->op;

	return transfer->copy && op && op->process == transfer->process && op->sends &&
	       transfer->site->verb == VERB_GET && transfer->site->mode == MODE_ZCOPY &&
	       !transfer->retried && (op->open || op->framed);
}

/* It runs inside of a transfer of the same thread, whose data it packs. */
static struct op *by_transfer(const struct thread *thread, const struct ub_hdr *h)
{
	return h->ts >= thread->around.from && h->ts + h->dur <= thread->around.to
		       ? thread->around.op
		       : NULL;
}

#define FILLED                                                                                     \
	(1u << OP_TAG_RECV | 1u << OP_TAG_MSG_RECV | 1u << OP_AM_RECV_DATA |                       \
	 1u << OP_STREAM_RECV | 1u << OP_GET)
#define EMPTIED                                                                                    \
	(1u << OP_TAG_SEND | 1u << OP_AM_SEND | 1u << OP_STREAM_SEND | 1u << OP_PUT |              \
	 1u << OP_ATOMIC)

struct op *copy_resolve(struct attribute *attribute, const struct thread *thread,
			const struct event *event)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;
	struct op *op = by_transfer(thread, event->h);

	if (!iface_copies(decoder_object(attribute->decoder, event->process, OBJECT_IFACE,
					 xfer->iface, xfer->h.ts)))
		return NULL;
	if (op && op->process == event->process && op_covers(op, xfer->raddr))
		return op;
	return request_covering(attribute, event->process,
				event->site->verb == VERB_PUT ? FILLED : EMPTIED, xfer->raddr);
}

void thread_around(struct attribute *attribute, struct thread *thread, const struct ub_xfer *xfer,
		   struct op *op)
{
	thread->around.from = xfer->h.ts;
	thread->around.to = xfer->h.flags & UB_F_NO_RETURN ? 0 : xfer->h.ts + xfer->h.dur;
	if (op == thread->around.op)
		return;
	if (op)
		op_hold(op);
	op_drop(attribute, thread->around.op);
	thread->around.op = op;
}

void thread_about(struct attribute *attribute, struct thread *thread, const struct ub_hdr *h,
		  struct op *op)
{
	thread->about.rx = h->kind == UB_RX ? h->seq : h->rx;
	thread->about.frame = h->kind == UB_RX || h->rx > h->op ? 0 : h->op;
	if (op)
		op_hold(op);
	op_drop(attribute, thread->about.op);
	thread->about.op = op;
}
