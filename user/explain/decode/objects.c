// SPDX-License-Identifier: BSD-3-Clause
/*
 * Objects of UCX by their address and time, from records and from snapshots (side records), and who
 * is at the other end of an endpoint.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#include "explain/decode/internal.h"

/* One map for all kinds: the second half of the key is process and kind. */
static uint64_t object_owner(const struct process *process, enum object_kind kind)
{
	return (uint64_t)process->id << 3 | kind;
}

/*
 * Likewise, of objects that are known now. After a loss only workers are: later entries have
 * another key, and nothing looks for the earlier ones.
 */
static uint64_t owner_now(const struct process *process, enum object_kind kind)
{
	const uint64_t losses = kind == OBJECT_WORKER ? 0 : process->object_losses;

	return losses << 34 | object_owner(process, kind);
}

static struct object *object_add(struct decoder *decoder, enum object_kind kind,
				 struct process *process, uint64_t address, uint64_t ts)
{
	struct object *object = xcalloc(1, sizeof(*object));

	object->kind = kind;
	object->process = process;
	object->address = address;
	object->from = ts;
	object->tl = transport_named(NULL);
	vec_push(&decoder->objects, object);
	if (kind == OBJECT_WORKER)
		vec_push(&process->workers, object);
	if (kind == OBJECT_IFACE)
		vec_push(&process->ifaces, object);
	return object;
}

/* name is interned. */
static void object_set_transport(struct object *object, const char *name)
{
	object->transport = name;
	object->tl = transport_named(name);
}

static void object_install(struct decoder *decoder, struct object *object)
{
	uint64_t key = owner_now(object->process, object->kind);

	*map_insert(&decoder->by_address, object->address, key, NULL) = (uintptr_t)object;
	if (object->kind == OBJECT_WORKER && object->uuid)
		*map_insert(&decoder->uuids, object->uuid, 0, NULL) = (uintptr_t)object;
	if (object->tl->maps_peers)
		object->process->maps_peers = true;
	for (size_t i = 0; i < object->lanes.len; i++)
		decoder_learn_lane(decoder, object->process, object->lanes.data[i],
				   object->address);
}

struct object *decoder_object(struct decoder *decoder, const struct process *process,
			      enum object_kind kind, uint64_t address, uint64_t ts)
{
	uint64_t *found = map_find(&decoder->by_address, address, owner_now(process, kind));
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

void objects_forget(struct process *process, uint64_t until)
{
	if (until > process->objects_lost_until)
		process->objects_lost_until = until;
	process->object_losses++;
}

static void created(struct decoder *decoder, const struct event *event, enum object_kind kind,
		    const struct ub_obj *record)
{
	struct object *object;

	if (!record->obj || record->status)
		return;
	object = object_add(decoder, kind, event->process, record->obj, record->h.ts);
	object->born = event->site->what != UB_OBJ_WORKER_ADDRESS;
	object->parent = record->parent;
	object->uuid = record->uuid;
	object_set_transport(
		object, strings_field(&decoder->strings, record->tl_name, sizeof(record->tl_name)));
	object->device =
		strings_field(&decoder->strings, record->dev_name, sizeof(record->dev_name));
	object_install(decoder, object);
}

static void destroyed(struct decoder *decoder, const struct event *event, enum object_kind kind,
		      uint64_t address)
{
	uint64_t *found = map_find(&decoder->by_address, address, owner_now(event->process, kind));

	if (found)
		*found = 0;
}

/* The peer may be reported during or after endpoint creation. */
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
	case UB_OBJ_MEM_MAP: /* memory is no object of a message */
	case UB_OBJ_MEM_UNMAP:
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

uint64_t decoder_lane_ep(const struct decoder *decoder, const struct process *process,
			 uint64_t uct_ep)
{
	uint64_t *ep = map_find(&decoder->lanes, uct_ep, owner_now(process, OBJECT_UCT_EP));

	return ep ? *ep : 0;
}

void decoder_learn_lane(struct decoder *decoder, const struct process *process, uint64_t uct_ep,
			uint64_t ep)
{
	if (uct_ep && ep)
		*map_insert(&decoder->lanes, uct_ep, owner_now(process, OBJECT_UCT_EP), NULL) = ep;
}

typedef VEC(const char *) lane_names;

/* iface: NULL: unknown */
static void add_lane(struct decoder *decoder, lane_names *names, const struct object *iface)
{
	char name[64] = "?";

	if (iface && iface->transport)
		snprintf(name, sizeof(name), "%s/%s", iface->transport,
			 iface->device ? iface->device : "?");
	for (size_t i = 0; i < names->len; i++)
		if (!strcmp(names->data[i], name))
			return;
	vec_push(names, strings_intern(&decoder->strings, name));
}

static void lanes_told(struct decoder *decoder, const struct object *ep, lane_names *names)
{
	for (size_t i = 0; i < ep->lanes.len; i++) {
		const struct object *lane = decoder_object(decoder, ep->process, OBJECT_UCT_EP,
							   ep->lanes.data[i], ep->lanes_at);

		add_lane(decoder, names,
			 lane ? decoder_object(decoder, ep->process, OBJECT_IFACE, lane->parent,
					       ep->lanes_at)
			      : NULL);
	}
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static const char *join_names(struct decoder *decoder, lane_names *names, const char *before)
{
	const char *joined;
	char *text;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	qsort(names->data, names->len, sizeof(*names->data), by_name);
	fputs(before, out);
	for (size_t i = 0; i < names->len; i++)
		fprintf(out, "%s%s", i ? ", " : "", names->data[i]);
	fclose(out);
	joined = strings_intern(&decoder->strings, text);
	free(text);
	return joined;
}

const char *decoder_lanes(struct decoder *decoder, struct object *ep)
{
	const struct process *process = ep->process;
	const bool told = ep->lanes.len && ep->lanes_are != LANES_SOME;
	lane_names names = { 0 };

	if (ep->lane_names && ep->lane_names_of == process->ifaces.len)
		return ep->lane_names;
	if (told)
		lanes_told(decoder, ep, &names);
	for (size_t i = 0; !told && i < process->ifaces.len; i++)
		if (process->ifaces.data[i]->parent == ep->parent)
			add_lane(decoder, &names, process->ifaces.data[i]);
	if (names.len) {
		ep->lane_names = join_names(decoder, &names, told ? "" : LANES_SOME_OF);
		ep->lane_names_of = process->ifaces.len;
	}
	vec_release(&names);
	return ep->lane_names;
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

/* (local id, remote id) of every endpoint; 0: held by several processes, it names none of them. */
static void index_ids(struct decoder *decoder, struct map *ids)
{
	for (size_t i = 0; i < decoder->objects.len; i++) {
		struct object *ep = decoder->objects.data[i];
		uint64_t *slot;
		bool fresh;

		if (ep->kind != OBJECT_EP || !ep->local_id || !ep->remote_id)
			continue;
		slot = map_insert(ids, ep->local_id, ep->remote_id, &fresh);
		if (fresh || (*slot && ((struct object *)(uintptr_t)*slot)->process == ep->process))
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
						     ep->lanes.data[i], ep->lanes_at);
		struct process *found = NULL;

		if (lane && lane->peer_pid)
			found = process_named_by(decoder, ep->process, lane->peer_pid);
		if (found)
			return found;
	}
	return NULL;
}

struct object *process_only_worker(const struct process *process)
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
		ep->peer = process_only_worker(ep->peer_process);
	return ep->peer_process;
}

static void read_lanes(struct object *object, const json_t *side)
{
	const json_t *lanes = json_object_get(side, "lanes");
	const json_t *all = json_object_get(side, "lanes_all");
	const json_t *lane;
	size_t i;

	json_array_foreach(lanes, i, lane)
	{
		const char *text = json_string_value(lane);
		uint64_t address = text ? strtoull(text, NULL, 0) : 0;

		if (address)
			vec_push(&object->lanes, address);
	}
	if (all)
		object->lanes_are = json_is_true(all) ? LANES_ALL : LANES_SOME;
	object->lanes_at = object->from;
}

/* A complete list of lanes replaces one that may lack some. */
static void take_lanes(struct object *known, const struct object *object)
{
	if (object->lanes_are != LANES_ALL || (known->lanes.len && known->lanes_are != LANES_SOME))
		return;
	known->lanes.len = 0;
	for (size_t i = 0; i < object->lanes.len; i++)
		vec_push(&known->lanes, object->lanes.data[i]);
	known->lanes_are = LANES_ALL;
	known->lanes_at = object->lanes_at;
	known->lane_names = NULL;
}

static void read_fifo(struct object *object, const json_t *fifo)
{
	uint64_t slots = side_u64(fifo, "slots"), stride = side_u64(fifo, "stride");

	if (!stride || stride > UINT32_MAX || slots > UINT32_MAX || (slots & (slots - 1)))
		return;
	object->fifo.base = side_u64(fifo, "base");
	object->fifo.slots = slots;
	object->fifo.stride = stride;
}

static const struct {
	const char *address, *parent, *uuid;
} side_keys[] = {
	[OBJECT_WORKER] = { "worker", "", "uuid" },
	[OBJECT_IFACE] = { "iface", "worker", "" },
	[OBJECT_EP] = { "ep", "worker", "peer_uuid" },
	[OBJECT_UCT_EP] = { "uct_ep", "iface", "" },
};

/*
 * An object told of by a snapshot was there before the snapshot: until its time comes, it stands
 * for its address where nothing else does.
 */
static void remember_later(struct decoder *decoder, struct object *object)
{
	struct object **first =
		(struct object **)map_insert(&decoder->later, object->address,
					     object_owner(object->process, object->kind), NULL);
	struct object *latest = *first ? (*first)->latest : NULL;
	struct object **link = first;

	if (latest && latest->from <= object->from) /* as a rule */
		link = &latest->later;
	while (*link && (*link)->from <= object->from)
		link = &(*link)->later;
	object->later = *link;
	*link = object;
	(*first)->latest = object->later ? latest : object;
}

void decode_side_object(struct decoder *decoder, struct capture *capture, enum object_kind kind,
			const json_t *side)
{
	struct process *process =
		capture_process(decoder, capture, (uint32_t)side_u64(side, "tgid"));
	struct strings *strings = &decoder->strings;
	struct object *object =
		object_add(decoder, kind, process, side_u64(side, side_keys[kind].address),
			   side_u64(side, "ts"));

	object->parent = side_u64(side, side_keys[kind].parent);
	object->uuid = side_u64(side, side_keys[kind].uuid);
	object->local_id = side_u64(side, "local_id");
	object->remote_id = side_u64(side, "remote_id");
	object->peer_pid = side_u64(side, "peer_pid");
	object_set_transport(
		object, strings_intern(strings, json_string_value(json_object_get(side, "tl"))));
	object->device = strings_intern(strings, json_string_value(json_object_get(side, "dev")));
	read_lanes(object, side);
	read_fifo(object, json_object_get(side, "fifo"));
	vec_push(&capture->side_objects, object);
	remember_later(decoder, object);
	for (size_t i = 0; i < object->lanes.len; i++)
		if (!decoder_lane_ep(decoder, process, object->lanes.data[i]))
			decoder_learn_lane(decoder, process, object->lanes.data[i],
					   object->address);
	if (kind == OBJECT_WORKER && object->uuid)
		*map_insert(&decoder->uuids, object->uuid, 0, NULL) = (uintptr_t)object;
}

/* A later snapshot of a known object adds members. */
static bool merge(struct decoder *decoder, struct object *known, const struct object *object)
{
	if (known->uuid && object->uuid && known->uuid != object->uuid)
		return false;
	if (known->kind == OBJECT_IFACE && object->transport &&
	    (known->transport != object->transport || known->device != object->device))
		return false;
	known->uuid = known->uuid ? known->uuid : object->uuid;
	known->parent = known->parent ? known->parent : object->parent;
	known->local_id = known->local_id ? known->local_id : object->local_id;
	known->remote_id = known->remote_id ? known->remote_id : object->remote_id;
	known->peer_pid = known->peer_pid ? known->peer_pid : object->peer_pid;
	known->peer = known->peer ? known->peer : object->peer;
	known->peer_process = known->peer_process ? known->peer_process : object->peer_process;
	for (size_t i = 0; i < object->lanes.len; i++)
		decoder_learn_lane(decoder, known->process, object->lanes.data[i], known->address);
	take_lanes(known, object);
	return true;
}

void objects_apply(struct decoder *decoder, struct capture *capture, uint64_t ts)
{
	while (capture->side_next < capture->side_objects.len) {
		struct object *object = capture->side_objects.data[capture->side_next];
		uint64_t *found;

		if (object->from > ts)
			return;
		capture->side_next++;
		found = map_find(&decoder->by_address, object->address,
				 owner_now(object->process, object->kind));
		if (!found || !*found ||
		    !merge(decoder, (struct object *)(uintptr_t)*found, object))
			object_install(decoder, object);
	}
}
