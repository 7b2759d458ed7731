// SPDX-License-Identifier: BSD-3-Clause
/*
 * A worker, its context's transport resources, and its interfaces.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/process/snapshot_private.h"

/* Far above what UCX allows (UCP_MAX_RESOURCES is 128 in all releases), far below nonsense. */
#define MAX_TLS 128
#define MAX_IFACES 256

static bool is_name(const char *text, size_t size)
{
	size_t length = strnlen(text, size);

	for (size_t i = 0; i < length; i++)
		if (!isgraph((unsigned char)text[i]))
			return false;
	return length && length < size;
}

/*
 * "host:pid" (ucp_worker_create, 1.13.1 to 1.22.0), which MAX_WORKER_ADDRESS_NAME may have cut.
 */
static bool is_address_name(const struct snapshot *snapshot, const char *name, size_t size)
{
	const char *colon;
	char pid[16];

	if (!is_name(name, size))
		return false;
	colon = strrchr(name, ':');
	snprintf(pid, sizeof(pid), "%d", snapshot->ns_pid);
	return !colon || !strncmp(colon + 1, pid, strlen(colon + 1));
}

static int load_header(struct snapshot *snapshot, struct snap_worker *worker)
{
	const struct layout *layout = snapshot->layout;
	int error = snap_pointer(snapshot, worker->address + layout->worker_uuid, &worker->uuid);

	if (!error)
		error = snap_read(snapshot, worker->address + layout->worker_address_name,
				  worker->address_name, sizeof(worker->address_name));
	if (error)
		return error;
	if (!worker->uuid ||
	    !is_address_name(snapshot, worker->address_name, sizeof(worker->address_name)))
		return snap_refuse(snapshot, -EBADMSG, "no worker of this process there");
	return 0;
}

static int load_resources(struct snapshot *snapshot, const struct snap_worker *worker,
			  char (*tls)[TL_STRIDE], unsigned int *count)
{
	const struct layout *layout = snapshot->layout;
	uint64_t context, array;
	unsigned char number;
	int error = snap_pointer(snapshot, worker->address + layout->worker_context, &context);

	if (!error)
		error = snap_pointer(snapshot, context + layout->context_tl_rscs, &array);
	if (!error)
		error = snap_read(snapshot, context + layout->context_num_tls, &number, 1);
	if (error)
		return error;
	if (!number || number >= MAX_TLS)
		return snap_refuse(snapshot, -EBADMSG, "number of transports out of range");
	*count = number;
	error = snap_read(snapshot, array, tls, number * sizeof(*tls));
	for (unsigned int i = 0; !error && i < number; i++)
		if (!is_name(tls[i], TL_NAME_SIZE) || !is_name(tls[i] + TL_DEVICE, TL_DEVICE_SIZE))
			error = snap_refuse(snapshot, -EBADMSG, "transport names are not text");
	return error;
}

static int load_iface(struct snapshot *snapshot, struct snap_worker *worker, uint64_t wiface,
		      char (*tls)[TL_STRIDE], unsigned int tl_count)
{
	const struct layout *layout = snapshot->layout;
	uint64_t back, upper;
	struct snap_iface iface = { 0 };
	unsigned char resource;
	int error = snap_pointer(snapshot, wiface, &iface.address);

	/* not opened: UCX keeps the slot of a resource that it does not use */
	if (error || !iface.address)
		return error;
	error = snap_pointer(snapshot, wiface + layout->wiface_worker, &back);
	if (!error)
		error = snap_read(snapshot, wiface + layout->wiface_rsc_index, &resource, 1);
	if (!error)
		error = snap_pointer(snapshot, iface.address + layout->wire.iface_worker, &upper);
	if (error)
		return error;
	if (back != worker->address || upper != worker->address || resource >= tl_count)
		return snap_refuse(snapshot, -EBADMSG, "an interface does not point to its worker");
	memcpy(iface.tl, tls[resource], sizeof(iface.tl));
	memcpy(iface.device, tls[resource] + TL_DEVICE, sizeof(iface.device));
	vec_push(&worker->ifaces, iface);
	*map_insert(&worker->iface_index, iface.address, 0, NULL) = worker->ifaces.len;
	return 0;
}

static int load_ifaces(struct snapshot *snapshot, struct snap_worker *worker,
		       char (*tls)[TL_STRIDE], unsigned int tl_count)
{
	const struct layout *layout = snapshot->layout;
	uint64_t array, wifaces[MAX_IFACES];
	unsigned int count;
	int error = snap_pointer(snapshot, worker->address + layout->worker_ifaces, &array);

	if (!error)
		error = snap_read(snapshot, worker->address + layout->worker_num_ifaces, &count,
				  sizeof(count));
	if (error)
		return error;
	if (!count || count > MAX_IFACES)
		return snap_refuse(snapshot, -EBADMSG, "number of interfaces out of range");
	error = snap_read(snapshot, array, wifaces, count * sizeof(*wifaces));
	for (unsigned int i = 0; !error && i < count; i++)
		if (wifaces[i])
			error = load_iface(snapshot, worker, wifaces[i], tls, tl_count);
	return error;
}

static bool is_complete(const struct layout *layout)
{
	const unsigned int needed[] = {
		layout->worker_uuid,       layout->worker_address_name, layout->worker_context,
		layout->context_tl_rscs,   layout->context_num_tls,     layout->worker_ifaces,
		layout->worker_num_ifaces, layout->wiface_worker,       layout->wiface_rsc_index,
		layout->wire.iface_worker,
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (needed[i] == UB_OFF_UNKNOWN)
			return false;
	return true;
}

int snap_worker_load(struct snapshot *snapshot, uint64_t address, struct snap_worker *worker)
{
	char tls[MAX_TLS][TL_STRIDE];
	unsigned int count = 0;
	int error;

	worker->address = address;
	if (!is_complete(snapshot->layout))
		return snap_refuse(snapshot, -EBADMSG, "the layout lacks fields of the worker");
	error = load_header(snapshot, worker);
	if (!error)
		error = load_resources(snapshot, worker, tls, &count);
	if (!error)
		error = load_ifaces(snapshot, worker, tls, count);
	return error;
}

void snap_worker_release(struct snap_worker *worker)
{
	vec_release(&worker->ifaces);
	map_release(&worker->iface_index);
}
