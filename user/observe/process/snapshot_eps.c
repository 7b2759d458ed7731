// SPDX-License-Identifier: BSD-3-Clause
/*
 * A worker's endpoints: the peers that UCX knows for each, the UCT endpoints that carry them
 * (lanes), and which process is at the other end of a lane.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/transport.h"
#include "observe/process/record.h"
#include "observe/process/snapshot_private.h"

#define MAX_LANES 64

/*
 * ucp_proxy_ep_t.iface, here since 1.13: the stub interface itself, since 1.22 a pointer to it.
 */
#define PROXY_IFACE 8

/* uct_mm_ep_t.fifo_ctl and uct_mm_fifo_ctl_t.pid, the same since 1.13 in both builds. */
#define MM_FIFO_CTL 8
#define MM_FIFO_PID 136

/* The peer's pid in the peer's pid namespace, 0 = not known. */
static int peer_pid(const struct snap_walk *walk, const char *tl, uint64_t uct_ep)
{
	struct snapshot *snapshot = walk->snapshot;
	const struct transport *transport = transport_named(tl);
	uint64_t fifo;
	int pid = 0;

	if (transport->reach == REACH_SELF)
		return snapshot->ns_pid;
	if (transport->fifo && !snap_pointer(snapshot, uct_ep + MM_FIFO_CTL, &fifo) &&
	    snap_read(snapshot, fifo + MM_FIFO_PID, &pid, sizeof(pid)))
		return 0;
	if (transport->pid_in_ep && snapshot->layout->cma_remote_pid != UB_OFF_UNKNOWN &&
	    snap_read(snapshot, uct_ep + snapshot->layout->cma_remote_pid, &pid, sizeof(pid)))
		return 0;
	return pid > 0 ? pid : 0;
}

static const struct snap_iface *iface_at(const struct snap_walk *walk, uint64_t address)
{
	uint64_t *index = map_find(&walk->worker->iface_index, address, 0);

	return index ? &walk->worker->ifaces.data[*index - 1] : NULL;
}

static void add_uct_ep(struct snap_walk *walk, uint64_t uct_ep, const struct snap_iface *iface)
{
	json_t *record;
	bool fresh;
	int pid;

	map_insert(&walk->seen, uct_ep, 0, &fresh);
	if (!fresh)
		return;
	record = record_new("uct_ep", walk->snapshot->pid, walk->ts);
	record_hex(record, "uct_ep", uct_ep);
	record_hex(record, "iface", iface->address);
	pid = peer_pid(walk, iface->tl, uct_ep);
	if (pid)
		record_integer(record, "peer_pid", pid);
	json_array_append_new(walk->records, record);
}

/* Whether it stands in front of another endpoint, as it does while lanes are wired up. */
static bool is_proxy(struct snapshot *snapshot, uint64_t ep, uint64_t uct_ep, uint64_t owner)
{
	const struct layout *layout = snapshot->layout;
	uint64_t stub, ucp_ep;

	if (layout->proxy_uct_ep == UB_OFF_UNKNOWN || layout->proxy_ucp_ep == UB_OFF_UNKNOWN)
		return false;
	if (owner == uct_ep + PROXY_IFACE)
		return true;
	return !snap_pointer(snapshot, uct_ep + PROXY_IFACE, &stub) && stub == owner &&
	       !snap_pointer(snapshot, uct_ep + layout->proxy_ucp_ep, &ucp_ep) && ucp_ep == ep;
}

/* Appends the endpoint behind one lane; false: none there (yet). */
static bool add_lane(struct snap_walk *walk, uint64_t ep, uint64_t uct_ep, json_t *lanes)
{
	struct snapshot *snapshot = walk->snapshot;
	const struct snap_iface *iface;
	uint64_t owner;
	char text[20];

	if (!uct_ep || snap_pointer(snapshot, uct_ep, &owner))
		return false;
	iface = iface_at(walk, owner);
	if (!iface && is_proxy(snapshot, ep, uct_ep, owner) &&
	    !snap_pointer(snapshot, uct_ep + snapshot->layout->proxy_uct_ep, &uct_ep) && uct_ep &&
	    !snap_pointer(snapshot, uct_ep, &owner))
		iface = iface_at(walk, owner);
	if (!iface)
		return false;
	add_uct_ep(walk, uct_ep, iface);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)uct_ep);
	json_array_append_new(lanes, json_string(text));
	return true;
}

int snap_lanes(struct snap_walk *walk, uint64_t ep, uint64_t ext, json_t *lanes, bool *all)
{
	const struct layout *layout = walk->snapshot->layout;
	uint64_t uct_eps[MAX_LANES], more, uct_ep;
	unsigned int count = layout->ep_uct_eps_max;
	int error;

	*all = false;
	if (layout->ep_uct_eps == UB_OFF_UNKNOWN || count > MAX_LANES)
		return 0;
	error = snap_read(walk->snapshot, ep + layout->ep_uct_eps, uct_eps,
			  count * sizeof(*uct_eps));
	*all = !error;
	for (unsigned int i = 0; !error && i < count; i++)
		if (!add_lane(walk, ep, uct_eps[i], lanes) && uct_eps[i])
			*all = false;
	if (error || layout->ext_uct_eps == UB_OFF_UNKNOWN)
		return error;
	error = snap_pointer(walk->snapshot, ext + layout->ext_uct_eps, &more);
	*all = *all && !error && !more;
	/* its length is not in the ep: it ends where no endpoint of this worker follows */
	for (unsigned int i = count; !error && more && i < MAX_LANES; i++, more += 8)
		if (snap_pointer(walk->snapshot, more, &uct_ep) ||
		    !add_lane(walk, ep, uct_ep, lanes))
			break;
	return error;
}

#define MAX_EPS (1 << 20)

/* Endpoint flags (src/ucp/core/ucp_ep.h, since 1.13): which id of the peer holds. */
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
	bool all = false;
	int error = ep_of(walk, ext, &ep);

	if (error)
		return error;
	record = record_new("ep", walk->snapshot->pid, walk->ts);
	lanes = json_array();
	record_hex(record, "ep", ep);
	record_hex(record, "worker", walk->worker->address);
	error = add_ids(walk, ep, ext, record);
	if (!error)
		error = snap_lanes(walk, ep, ext, lanes, &all);
	if (!error && snap_expired(walk->snapshot))
		error = snap_refuse(walk->snapshot, -ETIME, "took too long");
	json_object_set_new(record, "lanes", lanes);
	json_object_set_new(record, "lanes_all", json_boolean(all));
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
