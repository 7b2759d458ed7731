/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Records leave through here and nowhere else: into the task's outbox, from there as a batch into
 * the ring of the CPU, counted first, without a wake-up (user space drains by time).
 * produced = stored + dropped holds for every CPU. Calls, operations and transfers that are not
 * stored are added up (fold.bpf.h).
 */
#ifndef UCXBPF_EMIT_BPF_H
#define UCXBPF_EMIT_BPF_H

#include "fold.bpf.h"

/*
 * The ring of a CPU; NULL where no traced task was expected: the loss is counted, and user space
 * makes the ring.
 */
static __always_inline void *ring_of(__u32 cpu)
{
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	if (!ring && cpu < UB_MAX_CPUS)
		__sync_fetch_and_or(&rings_missing[cpu / 64], 1ULL << (cpu % 64));
	return ring;
}

/* A record that could not be made: produced, and dropped at once. */
static __always_inline void emit_nothing(__u8 kind)
{
	struct ub_cpu_stats *st = cpu_stats();

	if (!st)
		return;
	__sync_fetch_and_add(&st->cpu_seq, 1);
	__sync_fetch_and_add(&st->s.produced[UB_COUNTER(kind)], 1);
	__sync_fetch_and_add(&st->s.dropped[UB_COUNTER(kind)], 1);
}

/*
 * A batch of one record, behind its head: for records that bypass the task's outbox. False: there
 * was no room.
 */
static __always_inline bool emit_alone(struct ub_batch *batch, __u32 bytes, __u8 kind)
{
	struct ub_cpu_stats *st = cpu_stats();
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = ring_of(cpu);

	if (!st)
		return false;
	batch->first_seq = __sync_fetch_and_add(&st->cpu_seq, 1);
	batch->cpu = cpu;
	batch->records = 1;
	__sync_fetch_and_add(&st->s.produced[UB_COUNTER(kind)], 1);
	if (ring && !bpf_ringbuf_output(ring, batch, bytes, BPF_RB_NO_WAKEUP))
		return true;
	__sync_fetch_and_add(&st->s.dropped[UB_COUNTER(kind)], 1);
	return false;
}

/* Room for a record of a constant size that began at ts. It must be filled at once. */
static __always_inline void *outbox_room(struct outbox *box, __u8 kind, __u32 size, __u64 ts)
{
	__u32 at = box->bytes & (OUTBOX - 1);

	if (unlikely(!at || ts < box->oldest))
		box->oldest = ts;
	box->bytes = at + size;
	box->kinds[UB_COUNTER(kind)]++;
	return box->records + at;
}

/*
 * Reports records that are missing since ts, and the call around the first record here. Readers
 * sort by time, and that call's operations may have begun long before they are recorded: the report
 * carries the time of the first missing record, so that it comes before them.
 */
static __always_inline struct ub_loss *loss_place(struct outbox *box, __u64 ts)
{
	const struct ub_hdr *first = record_at(box, 0);
	__u32 call = box->bytes ? first->call : 0, rows = first->cpu_seq;
	struct ub_loss *loss = outbox_room(box, UB_LOSS, sizeof(*loss), ts);

	__builtin_memset(loss, 0, sizeof(*loss));
	loss->h.ts = ts;
	loss->h.tgid = box->id >> 32;
	loss->h.tid = box->id;
	loss->h.kind = UB_LOSS;
	loss->call = call;
	loss->call_site = call ? rows & AROUND_CALL : 0;
	return loss;
}

static __always_inline void lost_place(struct outbox *box)
{
	struct ub_loss *loss = loss_place(box, box->lost_from);

	loss->records = box->lost;
	loss->until = box->lost_until;
}

static __always_inline __u32 batch_count(const struct outbox *box, __u64 *counters)
{
	__u32 records = 0;

	for (int kind = 0; kind < UB_KINDS; kind++) {
		__u32 n = box->kinds[kind];

		if (n)
			__sync_fetch_and_add(&counters[kind], n);
		records += n;
	}
	return records;
}

/* Numbers the batch and puts it into the ring of this CPU. */
static __always_inline long batch_send(struct outbox *box, struct ub_cpu_stats *st, __u32 records)
{
	__u32 cpu = bpf_get_smp_processor_id(), bytes = box->bytes;
	void *ring = ring_of(cpu);

	box->head.first_seq = __sync_fetch_and_add(&st->cpu_seq, records);
	box->head.cpu = cpu;
	box->head.records = records;
	if (!ring || bytes > OUTBOX)
		return -1;
	return bpf_ringbuf_output(ring, &box->head, sizeof(box->head) + bytes, BPF_RB_NO_WAKEUP);
}

#define FIFO_AFTER_LOSS (1u << 28) /* ns */

/*
 * Thinned records take no sequence number of their CPU, since a gap in the numbers means a loss.
 * They have a single counter, which kernel_stats() adds to both produced and dropped, so that a
 * reader between two updates never sees a loss.
 */
static __always_inline void batch_thin(struct outbox *box, struct ub_cpu_stats *st)
{
	if (!box->thinned)
		box->thinned_from = box->oldest;
	box->thinned += batch_count(box, st->s.thinned);
}

/* False: it found no room. */
static __always_inline bool batch_leave(struct outbox *box, struct ub_cpu_stats *st, __u64 now)
{
	bool room = box->bytes + 2 * sizeof(struct ub_loss) <= OUTBOX;
	bool thinned = room && box->bytes && box->thinned, lost = room && box->lost;
	__u64 oldest = box->oldest; /* reports reach further back */
	__u32 records;

	if (thinned)
		loss_place(box, box->thinned_from)->thinned = box->thinned;
	if (lost)
		lost_place(box);
	records = batch_count(box, st->s.produced);
	if (!batch_send(box, st, records)) {
		box->thinned = thinned ? 0 : box->thinned;
		box->lost = lost ? 0 : box->lost;
		return true;
	}
	batch_count(box, st->s.dropped);
	if (!box->lost)
		box->lost_from = oldest;
	box->lost += records;
	box->lost_until = now;
	if (fifo_until < now + FIFO_AFTER_LOSS / 2)
		fifo_until = now + FIFO_AFTER_LOSS;
	return false;
}

/*
 * True: its records are to be added up. Not static: its variables must not lie on the stack below
 * those of fold_record(), all of which has 512 bytes.
 */
__weak __noinline int batch_flush(struct outbox *box, __u64 now)
{
	struct ub_cpu_stats *st = cpu_stats();

	if (!st || !box)
		return 0;
	__sync_fetch_and_add(&st->s.hits, box->hits);
	if (!box->closed)
		return !batch_leave(box, st, now);
	batch_thin(box, st);
	return 1;
}

/*
 * Empties the outbox: records that find no room in the ring, or are not wanted, are added up,
 * counted, and reported later. Not static: verified once, and not for each program that calls it.
 */
__weak __noinline int outbox_flush(struct outbox *box, __u64 now)
{
	if (!box)
		return 0;
	if (batch_flush(box, now))
		outbox_fold(box);
	box->hits = 0;
	box->bytes = 0;
	box->sent = now;
	__builtin_memset(box->kinds, 0, sizeof(box->kinds));
	return 0;
}

/* Kinds that thinning may leave out. Records that name objects or report losses always stay. */
#define DETAIL                                                                                     \
	(1u << UB_CALL | 1u << UB_OP | 1u << UB_XFER | 1u << UB_RX | 1u << UB_COMP |               \
	 1u << UB_MATCH | 1u << UB_CALL_END | 1u << UB_FRAGS | 1u << UB_CALL_STACK |               \
	 1u << UB_POLLS)

/* The lowest bit: whether the last slice that began by then has detail. */
static __always_inline __u64 slice_detail(__u64 ts)
{
	return detail_slices >> (ts >> UB_SLICE_SHIFT & (UB_SLICES - 1));
}

/* An outbox holds records that go the same way. */
static __always_inline void *outbox_place(struct outbox *box, __u8 kind, __u32 size, __u64 ts)
{
	__u64 closed = ~slice_detail(ts) & (DETAIL >> (kind & 31)) & 1;

	if (unlikely(box->closed != closed)) {
		if (box->bytes)
			outbox_flush(box, bpf_ktime_get_ns());
		box->closed = closed;
	}
	return outbox_room(box, kind, size, ts);
}

#define place(box, type, record_kind, ts)                                                          \
	((struct type *)outbox_place(box, record_kind, sizeof(struct type), ts))

/* Ends every program that may have placed a record. */
static __always_inline void outbox_settle(struct outbox *box, __u64 now)
{
	if (unlikely(box->bytes > OUTBOX_ENOUGH || (box->bytes && now - box->sent > BATCH_NS)))
		outbox_flush(box, now);
}

/*
 * An outbox is its task's alone, but for one visitor, which collects waiting records when no hot
 * probe is in place (task.bpf.c). Programs that work then as well ask first. They never wait: the
 * visitor may have lost its CPU, for as long as a hypervisor likes. A record that finds the outbox
 * taken leaves by itself, with emit_alone().
 */
static __always_inline bool outbox_take(struct outbox *box)
{
	return __sync_lock_test_and_set(&box->taken, 1) == 0;
}

static __always_inline void outbox_give_back(struct outbox *box)
{
	__sync_lock_test_and_set(&box->taken, 0);
}

#endif
