// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/snapshot.h"

#include "base/clock.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
		snapshot->pages = calloc(1, sizeof(*snapshot->pages));
	if (!snapshot->pages)
		abort();
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
		.reason = "",
	};
}

void snapshot_release(struct snapshot *snapshot)
{
	free(snapshot->pages);
	snapshot->pages = NULL;
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
