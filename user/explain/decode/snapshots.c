// SPDX-License-Identifier: BSD-3-Clause
/* Objects that snapshots tell of, as side records. */
#include "explain/decode/internal.h"

static void read_lanes(struct object *object, const json_t *side)
{
	const json_t *lanes = json_object_get(side, "lanes");
	const json_t *lane;
	size_t i;

	json_array_foreach(lanes, i, lane)
	{
		const char *text = json_string_value(lane);
		uint64_t address = text ? strtoull(text, NULL, 0) : 0;

		if (address)
			vec_push(&object->lanes, address);
	}
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
	object->transport = strings_intern(strings, json_string_value(json_object_get(side, "tl")));
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

/* A later snapshot of an object that is known already adds to what is known of it. */
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
				 object_owner(object->process, object->kind));
		if (!found || !*found ||
		    !merge(decoder, (struct object *)(uintptr_t)*found, object))
			object_install(decoder, object);
	}
}
