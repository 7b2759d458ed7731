// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

#include "file/column.h"
#include "file/sorted_context.h"

#define FIELD(name)                                                                                \
	{                                                                                          \
		offsetof(struct context, name), sizeof(((struct context *)0)->name)                \
	}

const struct context_field context_fields[CONTEXT_FIELDS] = {
	FIELD(key),  FIELD(tgid),   FIELD(tid),   FIELD(cpu),    FIELD(site),
	FIELD(kind), FIELD(layout), FIELD(flags), FIELD(frames), FIELD(count),
};

const uint8_t residual_width[RESIDUALS] = { 8, 4, 4, 4, 4, 4, 4 };

static uint32_t thread_slot(const struct threads *threads, const struct context *contexts,
			    uint32_t i, uint32_t mask)
{
	const struct context *c = &contexts[i];
	uint32_t slot = (uint32_t)context_hash(c->tgid, c->tid, 0, 0) & mask;

	while (threads->slots[slot]) {
		const struct context *other = &contexts[threads->slots[slot] - 1];

		if (other->tgid == c->tgid && other->tid == c->tid)
			break;
		slot = (slot + 1) & mask;
	}
	return slot;
}

void threads_init(struct threads *threads, const struct context *contexts, uint32_t n,
		  uint64_t base_ts)
{
	uint32_t i, size = context_slots(n);

	memset(threads->slots, 0, size * sizeof(threads->slots[0]));
	for (i = 0; i < n; i++) {
		uint32_t slot = thread_slot(threads, contexts, i, size - 1);

		if (!threads->slots[slot])
			threads->slots[slot] = i + 1;
		threads->of_context[i] = threads->slots[slot] - 1;
		threads->cpu_seq[contexts[i].cpu] = 0;
		threads->state[i] = (struct thread_state){ .ts = base_ts };
	}
}

/* A span around the thread's last record most likely ended a little after that one. */
static uint32_t predicted_dur(const struct thread_state *last, uint64_t ts)
{
	uint64_t dur = last->ts + last->dur - ts;

	return last->dur && ts <= last->ts && dur <= UINT32_MAX ? (uint32_t)dur : 0;
}

void header_decode(struct threads *threads, uint32_t context, const struct context *c,
		   const uint64_t res[RESIDUALS], struct ub_hdr *h)
{
	struct thread_state *last = &threads->state[threads->of_context[context]];
	uint32_t seq = last->seq + (uint32_t)unzigzag(res[RES_SEQ]);

	h->ts = last->ts + unzigzag(res[RES_TS]);
	h->tgid = c->tgid;
	h->tid = c->tid;
	h->cpu_seq = threads->cpu_seq[c->cpu] + (uint32_t)unzigzag(res[RES_CPU_SEQ]);
	h->cpu = c->cpu;
	h->site = c->site;
	h->seq = c->frames & FRAMES_SEQ ? seq : 0;
	h->call = c->frames & FRAMES_CALL ? seq - (uint32_t)unzigzag(res[RES_CALL]) : 0;
	h->op = c->frames & FRAMES_OP ? seq - (uint32_t)unzigzag(res[RES_OP]) : 0;
	h->rx = c->frames & FRAMES_RX ? seq - (uint32_t)unzigzag(res[RES_RX]) : 0;
	h->dur = predicted_dur(last, h->ts) + (uint32_t)unzigzag(res[RES_DUR]);
	h->kind = c->kind;
	h->layout = c->layout;
	h->flags = c->flags;
	threads->cpu_seq[c->cpu] = h->cpu_seq + 1;
	*last = (struct thread_state){ .ts = h->ts, .dur = h->dur, .seq = seq };
}
