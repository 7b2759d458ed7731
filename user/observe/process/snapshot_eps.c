// SPDX-License-Identifier: BSD-3-Clause
/*
 * A worker's endpoints: the peers that UCX knows for each, and the lanes that carry them.
 */
#include <errno.h>

#include "observe/process/record.h"
#include "observe/process/snapshot_private.h"

#define MAX_EPS (1 << 20)

/* Endpoint flags (src/ucp/core/ucp_ep.h, 1.13.1 to 1.22.0): which id of the peer holds. */
#define EP_ON_MATCH_CTX (1 << 6)
#define EP_REMOTE_ID (1 << 7)

static int read_flags(struct snap_walk *walk, uint64_t ep, unsigned int *flags)
{
	uint16_t low; /* the bits that matter are in the low half, which all builds have */
	int error =
		snap_read(walk->snapshot, ep + walk->snapshot->layout->ep_flags, &low, sizeof(low));

	*flags = low;
	return error;
}

static int add_ids(struct snap_walk *walk, uint64_t ep, uint64_t ext, json_t *record)
{
	const struct layout *layout = walk->snapshot->layout;
	uint64_t ids = ext, value;
	unsigned int flags;
	int error = read_flags(walk, ep, &flags);

	if (!error && flags & EP_ON_MATCH_CTX && layout->ext_dest_uuid != UB_OFF_UNKNOWN) {
		error = snap_pointer(walk->snapshot, ext + layout->ext_dest_uuid, &value);
		if (!error)
			record_hex(record, "peer_uuid", value);
	}
	if (!error && layout->ext_control != UB_OFF_UNKNOWN)
		error = snap_pointer(walk->snapshot, ext + layout->ext_control, &ids);
	if (error || layout->ext_local_id == UB_OFF_UNKNOWN)
		return error;
	error = snap_pointer(walk->snapshot, ids + layout->ext_local_id, &value);
	if (!error)
		record_hex(record, "local_id", value);
	if (!error && flags & EP_REMOTE_ID) {
		error = snap_pointer(walk->snapshot, ids + layout->ext_remote_id, &value);
		if (!error)
			record_hex(record, "remote_id", value);
	}
	return error;
}

/* The ep that owns a list element, with every pointer back checked. */
static int ep_of(struct snap_walk *walk, uint64_t ext, uint64_t *ep)
{
	struct snapshot *snapshot = walk->snapshot;
	const struct layout *layout = snapshot->layout;
	uint64_t back = ext, worker;
	int error = 0;

	if (layout->ep_ext_is_stride) {
		*ep = ext - layout->ep_ext;
	} else {
		error = snap_pointer(snapshot, ext, ep);
		if (!error)
			error = snap_pointer(snapshot, *ep + layout->ep_ext, &back);
	}
	if (!error)
		error = snap_pointer(snapshot, *ep + layout->wire.ep_worker, &worker);
	if (!error && (back != ext || worker != walk->worker->address))
		error = snap_refuse(snapshot, -EBADMSG, "an endpoint does not point to its worker");
	return error;
}

static int add_ep(struct snap_walk *walk, uint64_t ext)
{
	json_t *record, *lanes;
	uint64_t ep;
	int error = ep_of(walk, ext, &ep);

	if (error)
		return error;
	record = record_new("ep", walk->snapshot->pid, walk->ts);
	lanes = json_array();
	record_hex(record, "ep", ep);
	record_hex(record, "worker", walk->worker->address);
	error = add_ids(walk, ep, ext, record);
	if (!error)
		error = snap_lanes(walk, ep, ext, lanes);
	if (!error && snap_expired(walk->snapshot))
		error = snap_refuse(walk->snapshot, -ETIME, "took too long");
	json_object_set_new(record, "lanes", lanes);
	if (error)
		json_decref(record);
	else
		json_array_append_new(walk->records, record);
	return error;
}

/* ucs_list_link_t: prev, next; circular through its head (src/ucs/datastruct/list.h). */
static int walk_list(struct snap_walk *walk)
{
	const struct layout *layout = walk->snapshot->layout;
	uint64_t head = walk->worker->address + layout->worker_all_eps, at = head;
	int error = 0;

	for (unsigned int i = 0; i < MAX_EPS; i++) {
		uint64_t link[2], previous = at;

		error = snap_read(walk->snapshot, at, link, sizeof(link));
		if (error || link[1] == head)
			return error;
		at = link[1];
		error = snap_pointer(walk->snapshot, at, &link[0]);
		if (!error && link[0] != previous)
			error = snap_refuse(walk->snapshot, -EBADMSG,
					    "list of endpoints is broken");
		if (!error)
			error = add_ep(walk, at - layout->ext_ep_list);
		if (error)
			return error;
	}
	return snap_refuse(walk->snapshot, -EBADMSG, "list of endpoints has no end");
}

int snap_endpoints(struct snapshot *snapshot, const struct snap_worker *worker, uint64_t ts,
		   json_t *records)
{
	struct snap_walk walk = { snapshot, worker, ts, records, { 0 } };
	const struct layout *layout = snapshot->layout;
	int error;

	if (layout->worker_all_eps == UB_OFF_UNKNOWN || layout->ext_ep_list == UB_OFF_UNKNOWN ||
	    layout->ep_ext == UB_OFF_UNKNOWN || layout->ep_flags == UB_OFF_UNKNOWN)
		return snap_refuse(snapshot, -EBADMSG, "the layout lacks fields of the endpoint");
	error = walk_list(&walk);
	map_release(&walk.seen);
	return error;
}
