// SPDX-License-Identifier: BSD-3-Clause
/*
 * The UCT endpoints that carry a UCP endpoint, and which process is at their other end.
 */
#include <stdio.h>
#include <string.h>

#include "observe/process/record.h"
#include "observe/process/snapshot_private.h"

#define MAX_LANES 64

/*
 * ucp_proxy_ep_t.iface, same from 1.13.1 to 1.22.0: a stub interface, or since 1.22.0 where it is.
 */
#define PROXY_IFACE 8

/* uct_mm_ep_t.fifo_ctl and uct_mm_fifo_ctl_t.pid, same from 1.13.1 to 1.22.0, both builds. */
#define MM_FIFO_CTL 8
#define MM_FIFO_PID 136

enum peer_rule { PEER_UNKNOWN, PEER_SELF, PEER_MM, PEER_CMA };

static const struct {
	const char *tl;
	enum peer_rule rule;
} peer_rules[] = {
	{ "self", PEER_SELF }, { "posix", PEER_MM }, { "sysv", PEER_MM },
	{ "xpmem", PEER_MM },  { "cma", PEER_CMA },
};

static enum peer_rule peer_rule(const char *tl)
{
	for (size_t i = 0; i < sizeof(peer_rules) / sizeof(*peer_rules); i++)
		if (!strcmp(peer_rules[i].tl, tl))
			return peer_rules[i].rule;
	return PEER_UNKNOWN;
}

/* The peer's pid in the peer's pid namespace, 0 = not known. */
static int peer_pid(const struct snap_walk *walk, const char *tl, uint64_t uct_ep)
{
	struct snapshot *snapshot = walk->snapshot;
	enum peer_rule rule = peer_rule(tl);
	uint64_t fifo;
	int pid = 0;

	if (rule == PEER_SELF)
		return snapshot->ns_pid;
	if (rule == PEER_MM && !snap_pointer(snapshot, uct_ep + MM_FIFO_CTL, &fifo) &&
	    snap_read(snapshot, fifo + MM_FIFO_PID, &pid, sizeof(pid)))
		return 0;
	if (rule == PEER_CMA && snapshot->layout->cma_remote_pid != UB_OFF_UNKNOWN &&
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

int snap_lanes(struct snap_walk *walk, uint64_t ep, uint64_t ext, json_t *lanes)
{
	const struct layout *layout = walk->snapshot->layout;
	uint64_t uct_eps[MAX_LANES], more, uct_ep;
	unsigned int count = layout->ep_uct_eps_max;
	int error;

	if (layout->ep_uct_eps == UB_OFF_UNKNOWN || count > MAX_LANES)
		return 0;
	error = snap_read(walk->snapshot, ep + layout->ep_uct_eps, uct_eps,
			  count * sizeof(*uct_eps));
	for (unsigned int i = 0; !error && i < count; i++)
		add_lane(walk, ep, uct_eps[i], lanes);
	if (error || layout->ext_uct_eps == UB_OFF_UNKNOWN)
		return error;
	error = snap_pointer(walk->snapshot, ext + layout->ext_uct_eps, &more);
	/* its length is not in the ep: it ends where no endpoint of this worker follows */
	for (unsigned int i = count; !error && more && i < MAX_LANES; i++, more += 8)
		if (snap_pointer(walk->snapshot, more, &uct_ep) ||
		    !add_lane(walk, ep, uct_ep, lanes))
			break;
	return error;
}
