/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Positions in the FIFO of a shared memory interface: an identity that both ends of a message can
 * read, where eager messages have none on the wire. The sender reads where it will write, before
 * and after its operation, the receiver where it reads. src/uct/sm/mm/base/mm_iface.h, mm_iface.c,
 * mm_ep.c and mm_ep.h: the same since UCX 1.13.
 */
#ifndef UCXBPF_FIFO_BPF_H
#define UCXBPF_FIFO_BPF_H

#include "context.bpf.h"
#include "ucxbpf_am.h"

/*
 * Positions are read in bursts, since order tells the rest. Processes of one host share the clock,
 * so that both ends of a message read in the same slices; a task also reads for a while when it
 * has not for the length of a slice, and all tasks do at the beginning and after a loss
 * (fifo_until). A message that lies there for longer than a burst is read by one end alone. Where
 * that is so, messages are rare: time pays for positions besides, one per FIFO_PRICE, saved up for
 * as long as FIFO_SAVED. Positions are also always read where some slices have no detail: order
 * begins anew in each.
 */
#define FIFO_SLICE (1u << 24) /* ns */
#define FIFO_BURST (1u << 20)
#define FIFO_PRICE (1u << 17)
#define FIFO_SAVED (1u << 24)

/* Its slice has detail, while others have none. */
static __always_inline bool fifo_alone(__u64 ts)
{
	return detail_slices != ~0ull && (slice_detail(ts) & 1);
}

static __always_inline bool fifo_due(struct turn *turn, __u64 ts)
{
	__u64 saved = turn->saved + (ts - turn->last);

	turn->last = ts;
	turn->saved = saved < FIFO_SAVED ? saved : FIFO_SAVED;
	if (unlikely(turn->saved >= FIFO_PRICE)) {
		turn->saved -= FIFO_PRICE;
		return true;
	}
	if (unlikely((ts & (FIFO_SLICE - 1)) < FIFO_BURST || ts - turn->burst < FIFO_BURST ||
		     ts < fifo_until || fifo_alone(ts)))
		return true;
	if (likely(ts - turn->burst < FIFO_SLICE))
		return false;
	turn->burst = ts;
	return true;
}

static __always_inline bool am_without_id(__u8 am_id)
{
	return AM_WITHOUT_ID >> (am_id & 31) & 1;
}

/* uct_mm_ep_t.fifo_ctl, uct_mm_fifo_ctl_t.head; the top bit of head is a flag. */
#define MM_EP_FIFO_CTL 8
#define MM_FIFO_HEAD 0
#define MM_FIFO_HEAD_ARMED (1ull << 63)

#define FIFO_NOT_SEEN (~0ull)

/* Not static, here and below: verified once, and not for each path to it. */
__weak __noinline __u64 fifo_head(__u64 uct_ep)
{
	__u64 ctl = read_u64(uct_ep + MM_EP_FIFO_CTL), head;

	if (bpf_probe_read_user(&head, sizeof(head), (void *)(ctl + MM_FIFO_HEAD)))
		return FIFO_NOT_SEEN;
	return head & ~MM_FIFO_HEAD_ARMED;
}

/* uct_mm_iface_t from recv_fifo_elems on */
struct mm_receiver {
	__u64 elems, read_index_elem, read_index;
	__u8 shift, pad[3];
	__u32 mask;
};

/* uct_mm_fifo_element_t; the data of an inline message is behind it */
struct mm_element {
	__u8 flags, am_id;
	__u16 length;
	__u8 desc[16];
	__u64 desc_data;
} __attribute__((packed));

#define MM_ELEMENT_INLINE 2

/* Offsets and active-message id for the search. */
#define FIFO_LOOK(layout, am_id)                                                                   \
	((__u64)(layout)->mm_elems | (__u64)(layout)->worker_ifaces << 16 |                        \
	 (__u64)(layout)->worker_num_ifaces << 32 | (__u64)(am_id) << 48)

/*
 * Whether the arrival lies in the element that this interface reads now: then its position is the
 * interface's. An address that is no such interface's does not point to an element that points
 * back to the arrival, with its length and id.
 */
__weak __noinline int fifo_reads(struct ub_rx *rx, __u64 iface, __u64 look)
{
	struct mm_receiver receiver;
	struct mm_element element;
	__u64 data;

	if (!rx ||
	    bpf_probe_read_user(&receiver, sizeof(receiver), (void *)(iface + (__u16)look)) ||
	    bpf_probe_read_user(&element, sizeof(element), (void *)receiver.read_index_elem))
		return 0;
	data = element.flags & MM_ELEMENT_INLINE ? receiver.read_index_elem + sizeof(element)
						 : element.desc_data;
	if (data != rx->data || element.length != rx->length ||
	    element.am_id != (__u8)(look >> 48) || receiver.mask & (receiver.mask + 1))
		return 0;
	rx->data = receiver.read_index;
	rx->am_flags |= (__u32)(iface >> 4) << 16;
	rx->h.flags |= UB_F_FIFO;
	return 1;
}

/* Tries the interfaces of the arrival's worker: ucp_worker_t.ifaces, their first member. */
__weak __noinline int fifo_search(struct receiver *receiver, struct ub_rx *rx, __u64 look)
{
	__u32 count = 0;

	if (!receiver || !rx)
		return 0;
	receiver->worker = rx->worker;
	receiver->iface = 0;
	bpf_probe_read_user(&count, sizeof(count), (void *)(rx->worker + (__u16)(look >> 32)));
	if (count > RECEIVER_IFACES)
		count = RECEIVER_IFACES;
	if (bpf_probe_read_user(receiver->ifaces, (count & 31) * 8,
				(void *)read_u64(rx->worker + (__u16)(look >> 16))))
		return 0;
	for (__u32 i = 0; i < RECEIVER_IFACES; i++) {
		__u64 iface;

		if (i >= count)
			break;
		iface = read_u64(receiver->ifaces[i]);
		if (!iface || !fifo_reads(rx, iface, look))
			continue;
		receiver->iface = iface;
		return 1;
	}
	return 0;
}

/* Puts the position of a message without an id into its record, if there is one. */
static __always_inline void fifo_arrival(const struct hit *hit, struct ub_rx *rx, __u8 am_id)
{
	struct receiver *receiver = &hit->task->receiver;
	const struct ub_layout *layout;

	if (!fifo_due(&receiver->turn, hit->ts))
		return;
	layout = layout_at(hit->slot);
	if (!layout || !layout->mm_elems)
		return;
	if (receiver->worker == rx->worker && receiver->iface &&
	    fifo_reads(rx, receiver->iface, FIFO_LOOK(layout, am_id)))
		return;
	if (hit->ts - receiver->searched < FIFO_SLICE)
		return;
	receiver->searched = hit->ts;
	fifo_search(receiver, rx, FIFO_LOOK(layout, am_id));
}

#endif
