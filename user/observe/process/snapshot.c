// SPDX-License-Identifier: BSD-3-Clause
/* The reading of a process's memory, a worker and its interfaces, and the records made of them. */
#include "observe/process/snapshot.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/transport.h"
#include "base/vec.h"
#include "observe/process/proc.h"
#include "observe/process/process.h"
#include "observe/process/record.h"
#include "observe/process/snapshot_private.h"

/*
 * Objects lie side by side and are small: one system call for a page of them, and none for the
 * pages that were read for the same look at a worker.
 */
#define PAGE 4096
#define PAGES 256

struct snapshot_pages {
	uint64_t tag[PAGES]; /* address + 1 of each page, 0: none */
	unsigned char data[PAGES][PAGE];
};

/* A worker that gets an endpoint while it is read may look inconsistent once, seldom twice. */
#define ATTEMPTS 3

uint64_t snap_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

bool snap_expired(const struct snapshot *snapshot)
{
	return snap_now() >= snapshot->deadline;
}

int snap_refuse(struct snapshot *snapshot, int error, const char *reason)
{
	snapshot->reason = reason;
	return error;
}

static int read_page(struct snapshot *snapshot, uint64_t address, unsigned char *page)
{
	long got;

	if (snap_expired(snapshot))
		return snap_refuse(snapshot, -ETIME, "took too long");
	got = proc_read_memory(snapshot->pid, address, page, PAGE);
	if (got < 0)
		return snap_refuse(snapshot, (int)got, "memory of the process not readable");
	snapshot->bytes += (uint64_t)got;
	if (got != PAGE)
		return snap_refuse(snapshot, -EBADMSG, "a pointer leads to unmapped memory");
	return 0;
}

/* The page at address, read if it is not there yet. */
static int find_page(struct snapshot *snapshot, uint64_t address, const unsigned char **page)
{
	size_t slot = address / PAGE * 0x9e3779b97f4a7c15 >> 56;
	int error = 0;

	if (!snapshot->pages)
		snapshot->pages = xcalloc(1, sizeof(*snapshot->pages));
	*page = snapshot->pages->data[slot];
	if (snapshot->pages->tag[slot] != address + 1) {
		snapshot->pages->tag[slot] = 0;
		error = read_page(snapshot, address, snapshot->pages->data[slot]);
		if (!error)
			snapshot->pages->tag[slot] = address + 1;
	}
	return error;
}

void snap_forget_pages(struct snapshot *snapshot)
{
	if (snapshot->pages)
		memset(snapshot->pages->tag, 0, sizeof(snapshot->pages->tag));
}

int snap_read(struct snapshot *snapshot, uint64_t address, void *buffer, size_t size)
{
	unsigned char *to = buffer;

	while (size) {
		size_t offset = address % PAGE, part = PAGE - offset < size ? PAGE - offset : size;
		const unsigned char *page;
		int error = find_page(snapshot, address - offset, &page);

		if (error)
			return error;
		memcpy(to, page + offset, part);
		to += part;
		address += part;
		size -= part;
	}
	return 0;
}

int snap_pointer(struct snapshot *snapshot, uint64_t address, uint64_t *value)
{
	return snap_read(snapshot, address, value, sizeof(*value));
}

void snapshot_init(struct snapshot *snapshot, pid_t pid, const struct layout *layout,
		   unsigned int deadline_ms)
{
	*snapshot = (struct snapshot){
		.pid = pid,
		.ns_pid = process_ns_pid(pid),
		.layout = layout,
		.deadline = snap_now() + deadline_ms * 1000000ull,
		.links = SNAPSHOT_LINKS,
		.reason = "",
	};
}

void snapshot_release(struct snapshot *snapshot)
{
	free(snapshot->pages);
	snapshot->pages = NULL;
}

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
 * "host:pid" (ucp_worker_create(), since 1.13), which MAX_WORKER_ADDRESS_NAME may have cut.
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

	/* not opened: UCX keeps a slot for each resource, also for those that it does not use */
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

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
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

#define MAX_SLOTS (1 << 24)
#define MAX_STRIDE (1 << 20)

/*
 * Adds "fifo" to the record of an interface that receives through one: where its elements lie. An
 * arrival's address then names the element it came in, and a sender that knows its element names
 * the arrival.
 */
static void snap_fifo(struct snapshot *snapshot, const struct snap_iface *iface, json_t *record)
{
	const struct layout *layout = snapshot->layout;
	uint32_t mask = 0, stride = 0;
	uint64_t base = 0;
	uint8_t first;
	json_t *fifo;

	if (!layout->fifo_elems || !transport_named(iface->tl)->fifo)
		return;
	if (snap_pointer(snapshot, iface->address + layout->fifo_elems, &base) ||
	    snap_read(snapshot, iface->address + layout->fifo_mask, &mask, sizeof(mask)) ||
	    snap_read(snapshot, iface->address + layout->fifo_elem_size, &stride, sizeof(stride)))
		return;
	/* uct_mm_iface refuses a size that is no power of two (src/uct/sm/mm/base/mm_iface.c) */
	if (!mask || (mask & (mask + 1)) || mask >= MAX_SLOTS || !stride || stride > MAX_STRIDE ||
	    snap_read(snapshot, base, &first, sizeof(first)))
		return;
	fifo = json_object();
	record_hex(fifo, "base", base);
	json_object_set_new(fifo, "slots", json_integer((json_int_t)mask + 1));
	json_object_set_new(fifo, "stride", json_integer(stride));
	json_object_set_new(record, "fifo", fifo);
}

static void add_worker(json_t *records, const struct snapshot *snapshot,
		       const struct snap_worker *worker, uint64_t ts)
{
	json_t *record = record_new("worker", snapshot->pid, ts);

	record_hex(record, "worker", worker->address);
	record_hex(record, "uuid", worker->uuid);
	record_text(record, "address_name", worker->address_name);
	json_array_append_new(records, record);
}

static void add_iface(json_t *records, struct snapshot *snapshot, const struct snap_worker *worker,
		      const struct snap_iface *iface, uint64_t ts)
{
	json_t *record = record_new("iface", snapshot->pid, ts);

	record_hex(record, "iface", iface->address);
	record_hex(record, "worker", worker->address);
	record_text(record, "tl", iface->tl);
	record_text(record, "dev", iface->device);
	snap_fifo(snapshot, iface, record);
	json_array_append_new(records, record);
}

static int collect(struct snapshot *snapshot, uint64_t address, json_t *records)
{
	struct snap_worker worker = { 0 };
	uint64_t ts = snap_now();
	int error;

	snap_forget_pages(snapshot);
	error = snap_worker_load(snapshot, address, &worker);
	if (!error) {
		add_worker(records, snapshot, &worker, ts);
		for (size_t i = 0; i < worker.ifaces.len; i++)
			add_iface(records, snapshot, &worker, &worker.ifaces.data[i], ts);
		error = snap_endpoints(snapshot, &worker, ts, records);
	}
	snap_worker_release(&worker);
	return error;
}

int snapshot_worker(struct snapshot *snapshot, uint64_t worker, snapshot_emit emit, void *arg)
{
	json_t *records = json_array(), *record;
	int error = -EBADMSG;
	size_t i;

	for (int attempt = 0; attempt < ATTEMPTS && error == -EBADMSG; attempt++) {
		json_array_clear(records);
		error = collect(snapshot, worker, records);
	}
	if (!error || error == -ETIME)
		json_array_foreach(records, i, record) emit(arg, record);
	json_decref(records);
	return error;
}
