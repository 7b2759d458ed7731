// SPDX-License-Identifier: BSD-3-Clause
/* Who is at the other end of an endpoint. */
#include "explain/decode/internal.h"

uint64_t decoder_lane_ep(const struct decoder *decoder, const struct process *process,
			 uint64_t uct_ep)
{
	uint64_t *ep = map_find(&decoder->lanes, uct_ep, process->id);

	return ep ? *ep : 0;
}

void decoder_learn_lane(struct decoder *decoder, const struct process *process, uint64_t uct_ep,
			uint64_t ep)
{
	if (uct_ep && ep)
		*map_insert(&decoder->lanes, uct_ep, process->id, NULL) = ep;
}

struct object *decoder_ep(struct decoder *decoder, struct process *process, uint64_t address,
			  uint64_t ts)
{
	struct object *ep = decoder_object(decoder, process, OBJECT_EP, address, ts);

	if (ep || !address)
		return ep;
	ep = object_add(decoder, OBJECT_EP, process, address, ts);
	object_install(decoder, ep);
	return ep;
}

/* (local id, remote id) of every endpoint; a pair held by several endpoints names none of them. */
static void index_ids(struct decoder *decoder, struct map *ids)
{
	for (size_t i = 0; i < decoder->objects.len; i++) {
		struct object *ep = decoder->objects.data[i];
		uint64_t *slot;
		bool fresh;

		if (ep->kind != OBJECT_EP || !ep->local_id || !ep->remote_id)
			continue;
		slot = map_insert(ids, ep->local_id, ep->remote_id, &fresh);
		if (fresh || ((struct object *)(uintptr_t)*slot)->process == ep->process)
			*slot = (uintptr_t)ep;
		else
			*slot = 0;
	}
}

static void pair(struct decoder *decoder, const struct map *ids, struct object *ep)
{
	uint64_t *found = map_find(ids, ep->remote_id, ep->local_id);
	struct object *other = found ? (struct object *)(uintptr_t)*found : NULL;

	if (!other)
		return;
	ep->peer_process = other->process;
	ep->peer = decoder_object(decoder, other->process, OBJECT_WORKER, other->parent, 0);
}

void objects_pair(struct decoder *decoder)
{
	struct map ids = { 0 };

	index_ids(decoder, &ids);
	for (size_t i = 0; i < decoder->objects.len; i++) {
		struct object *ep = decoder->objects.data[i];

		if (ep->kind == OBJECT_EP && !ep->uuid && ep->local_id && ep->remote_id)
			pair(decoder, &ids, ep);
	}
	map_release(&ids);
}

static struct process *process_by_lanes(struct decoder *decoder, const struct object *ep)
{
	for (size_t i = 0; i < ep->lanes.len; i++) {
		struct object *lane = decoder_object(decoder, ep->process, OBJECT_UCT_EP,
						     ep->lanes.data[i], ep->from);
		struct process *found = NULL;

		if (lane && lane->peer_pid)
			found = process_by_ns_pid(decoder, ep->process->host, lane->peer_pid);
		if (found)
			return found;
	}
	return NULL;
}

/* Where a process has one worker, whoever talks to the process talks to that worker. */
static struct object *only_worker(const struct process *process)
{
	struct object *const *workers = process->workers.data;

	for (size_t i = 1; i < process->workers.len; i++)
		if (workers[i]->uuid != workers[i - 1]->uuid)
			return NULL;
	return process->workers.len ? workers[process->workers.len - 1] : NULL;
}

bool decoder_peer(struct decoder *decoder, struct object *ep, bool *traced)
{
	*traced = true;
	if (ep->peer || ep->peer_process)
		return true;
	if (ep->uuid) {
		uint64_t *worker = map_find(&decoder->uuids, ep->uuid, 0);

		*traced = worker;
		if (worker) {
			ep->peer = (struct object *)(uintptr_t)*worker;
			ep->peer_process = ep->peer->process;
		}
		return worker;
	}
	ep->peer_process = process_by_lanes(decoder, ep);
	if (ep->peer_process)
		ep->peer = only_worker(ep->peer_process);
	return ep->peer_process;
}
