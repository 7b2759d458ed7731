/* SPDX-License-Identifier: BSD-3-Clause */
/* From the stages' own forms to facts. */
#ifndef UCXBPF_ANALYSIS_EMIT_H
#define UCXBPF_ANALYSIS_EMIT_H

#include "explain/analysis/input.h"
#include "explain/match/match.h"
#include "explain/waits/waits.h"

/* Reports from time to time how many calls, operations, transfers and messages were emitted. */
struct fact_watch {
	void (*look)(void *arg, uint64_t facts); /* NULL: nobody */
	void *arg;
};

#define WATCH_EVERY 65536 /* facts between two reports, a power of two */

struct emitter {
	struct decoder *decoder;
	const struct fact_sink *sink;
	struct fact_totals *totals;
	struct fact_watch watch;
	uint64_t facts;
	size_t processes; /* emitted so far */
	VEC(void *) lists; /* referred to by facts of processes */
	VEC(struct fact_device) devices;
	struct fact_device_user *device_users; /* of all of them */
	VEC(struct open_device) open_devices;
	VEC(struct library_use) libraries;
	VEC(struct host_system) systems;
};

void emitter_release(struct emitter *emitter);

/* Counts one more fact. */
static inline void emit_count(struct emitter *emitter)
{
	if (++emitter->facts % WATCH_EVERY == 0 && emitter->watch.look)
		emitter->watch.look(emitter->watch.arg, emitter->facts);
}

/* Emits the first pair of clock readings of each host's captures. */
void emit_clocks(struct emitter *emitter, const inputs *inputs);

/* Emits every process that has an index and was not emitted yet. */
void emit_processes(struct emitter *emitter);

/*
 * until: the latest possible end of a call that no other one followed; 0: unknown. open: it surely
 * lasts until then.
 */
void emit_call(struct emitter *emitter, const struct call *call, uint64_t until, bool open,
	       struct collective_identity identity);
void emit_wait(struct emitter *emitter, const struct fact_wait *wait);
void emit_collective(struct emitter *emitter, const struct fact_collective *collective);
void emit_op(struct emitter *emitter, struct op *op);
void emit_transfer(struct emitter *emitter, const struct transfer *transfer);
/* To be called once the ways of its operations are complete. */
void emit_message(struct emitter *emitter, const struct message *message);
/* The operation that receives a message emitted with its send's way only. */
void emit_way_joined(const struct way *send, struct way *recv);
void emit_way_over(struct emitter *emitter, struct way *way);
/* After all records; number: the capture's, in the order in which they are read. */
void emit_windows(struct emitter *emitter, const struct input *input, int number);

/* Likewise: memory, and the reasons where it is unknown. */
void emit_memory_uses(struct emitter *emitter);
/* Until when each process was seen, by its id, to be freed: its end, or that of a capture. */
uint64_t *lifetimes_of(const struct decoder *decoder, const inputs *inputs);
void emit_lifetimes(struct emitter *emitter, const uint64_t *until, struct waits *waits);

/* At the very end: GPUs, also into the totals. */
void emit_devices(struct emitter *emitter);

/* Likewise: devices that processes have interfaces on. */
void emit_open_devices(struct emitter *emitter);

/* Likewise: libraries that processes have mapped, and the systems of their hosts. */
void emit_software(struct emitter *emitter);

int emit_index(const struct process *process); /* NULL: -1 */

/* The peer process; NULL: not known. */
const struct process *emit_peer(struct emitter *emitter, struct object *ep);
enum fact_locality emit_locality(const struct process *process, const struct process *peer,
				 const struct object *iface);

/* The memory that all data over an interface is in, "host"; NULL: any memory. */
const char *iface_memory(const struct object *iface);

/* ---- emit_cells.c ---- */
void emit_cells(struct emitter *emitter, const struct capture *capture);

#endif
