// SPDX-License-Identifier: BSD-3-Clause
#include "explain/decode/internal.h"

#include <stdio.h>
#include <string.h>

uint64_t object_owner(const struct process *process, enum object_kind kind)
{
	return (uint64_t)process->id << 3 | kind;
}

struct object *object_add(struct decoder *decoder, enum object_kind kind, struct process *process,
			  uint64_t address, uint64_t ts)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		abort();
	object->kind = kind;
	object->process = process;
	object->address = address;
	object->from = ts;
	vec_push(&decoder->objects, object);
	if (kind == OBJECT_WORKER)
		vec_push(&process->workers, object);
	if (kind == OBJECT_IFACE)
		vec_push(&process->ifaces, object);
	return object;
}

void object_install(struct decoder *decoder, struct object *object)
{
	uint64_t key = object_owner(object->process, object->kind);

	*map_insert(&decoder->by_address, object->address, key, NULL) = (uintptr_t)object;
	if (object->kind == OBJECT_WORKER && object->uuid)
		*map_insert(&decoder->uuids, object->uuid, 0, NULL) = (uintptr_t)object;
	if (object->transport && !strcmp(object->transport, "xpmem"))
		object->process->maps_peers = true;
	for (size_t i = 0; i < object->lanes.len; i++)
		decoder_learn_lane(decoder, object->process, object->lanes.data[i],
				   object->address);
}

struct object *decoder_object(struct decoder *decoder, const struct process *process,
			      enum object_kind kind, uint64_t address, uint64_t ts)
{
	uint64_t *found = map_find(&decoder->by_address, address, object_owner(process, kind));
	struct object *object;

	if (!address)
		return NULL;
	if (found && *found)
		return (struct object *)(uintptr_t)*found;
	found = map_find(&decoder->later, address, object_owner(process, kind));
	object = found ? (struct object *)(uintptr_t)*found : NULL;
	while (object && object->later && object->from < ts)
		object = object->later;
	if (object && kind != OBJECT_WORKER && object->from < process->objects_lost_until)
		return NULL;
	return object;
}

void objects_forget(struct decoder *decoder, struct process *process, uint64_t until)
{
	struct map_slot *slot;
	size_t pos = 0;

	if (until > process->objects_lost_until)
		process->objects_lost_until = until;
	while ((slot = map_next(&decoder->by_address, &pos)))
		if (slot->b >> 3 == (uint64_t)process->id && (slot->b & 7) != OBJECT_WORKER)
			slot->value = 0;
	pos = 0;
	while ((slot = map_next(&decoder->lanes, &pos)))
		if (slot->b == (uint64_t)process->id)
			slot->value = 0;
}

static void created(struct decoder *decoder, const struct event *event, enum object_kind kind,
		    const struct ub_obj *record)
{
	struct object *object;
	char text[sizeof(record->dev_name) + 1] = "";

	if (!record->obj || record->status)
		return;
	object = object_add(decoder, kind, event->process, record->obj, record->h.ts);
	object->born = event->site->what != UB_OBJ_WORKER_ADDRESS;
	object->parent = record->parent;
	object->uuid = record->uuid;
	memcpy(text, record->tl_name, sizeof(record->tl_name));
	object->transport = strings_intern(&decoder->strings, text);
	memset(text, 0, sizeof(text));
	memcpy(text, record->dev_name, sizeof(record->dev_name));
	object->device = strings_intern(&decoder->strings, text);
	object_install(decoder, object);
}

static void destroyed(struct decoder *decoder, const struct event *event, enum object_kind kind,
		      uint64_t address)
{
	uint64_t *found =
		map_find(&decoder->by_address, address, object_owner(event->process, kind));

	if (found)
		*found = 0;
}

/* Told while the endpoint is still being made, as well as long after. */
static void peer_told(struct decoder *decoder, const struct event *event,
		      const struct ub_obj *record)
{
	struct object *ep =
		decoder_object(decoder, event->process, OBJECT_EP, record->obj, record->h.ts);

	if (!ep)
		created(decoder, event, OBJECT_EP, record);
	else if (!ep->uuid)
		ep->uuid = record->uuid;
}

/* A worker's uuid becomes known with its address, once or many times. */
static void addressed(struct decoder *decoder, const struct event *event,
		      const struct ub_obj *record)
{
	struct object *worker =
		decoder_object(decoder, event->process, OBJECT_WORKER, record->obj, record->h.ts);

	if (!record->uuid || (worker && worker->uuid == record->uuid))
		return;
	if (!worker || worker->uuid) {
		created(decoder, event, OBJECT_WORKER, record);
		return;
	}
	worker->uuid = record->uuid;
	object_install(decoder, worker);
}

void decode_object(struct decoder *decoder, const struct event *event, const struct ub_obj *record)
{
	switch ((enum ub_obj_what)event->site->what) {
	case UB_OBJ_IFACE_OPEN:
		return created(decoder, event, OBJECT_IFACE, record);
	case UB_OBJ_UCT_EP_CREATE:
		return created(decoder, event, OBJECT_UCT_EP, record);
	case UB_OBJ_UCP_EP_CREATE:
		return created(decoder, event, OBJECT_EP, record);
	case UB_OBJ_UCP_EP_PEER:
		return peer_told(decoder, event, record);
	case UB_OBJ_WORKER_CREATE:
		return created(decoder, event, OBJECT_WORKER, record);
	case UB_OBJ_WORKER_ADDRESS:
		return addressed(decoder, event, record);
	case UB_OBJ_IFACE_CLOSE:
		return destroyed(decoder, event, OBJECT_IFACE, record->obj);
	case UB_OBJ_UCT_EP_DESTROY:
		return destroyed(decoder, event, OBJECT_UCT_EP, record->obj);
	case UB_OBJ_UCP_EP_DESTROY:
		return destroyed(decoder, event, OBJECT_EP, record->obj);
	case UB_OBJ_WORKER_DESTROY:
		return destroyed(decoder, event, OBJECT_WORKER, record->obj);
	case UB_OBJ_NONE:
		return;
	}
}

void decoder_foresee(struct decoder *decoder, struct capture *capture, const struct ub_hdr *h)
{
	const struct ub_obj *record = (const struct ub_obj *)h;
	struct object *worker;
	uint8_t what;

	if (capture->looked)
		evidence_foresee(decoder, capture, h);
	if (h->kind != UB_OBJ || h->site >= capture->sites.len || !record->uuid)
		return;
	what = capture->sites.data[h->site].what;
	if ((what != UB_OBJ_WORKER_CREATE && what != UB_OBJ_WORKER_ADDRESS) ||
	    map_find(&decoder->uuids, record->uuid, 0))
		return;
	worker = object_add(decoder, OBJECT_WORKER, capture_process(decoder, capture, h->tgid),
			    record->obj, h->ts);
	worker->uuid = record->uuid;
	*map_insert(&decoder->uuids, record->uuid, 0, NULL) = (uintptr_t)worker;
}
