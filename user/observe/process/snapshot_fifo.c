// SPDX-License-Identifier: BSD-3-Clause
/*
 * The receive FIFO of a shared memory interface: where its elements lie. An arrival's address then
 * names the element it came in, and a sender that knows its element names the arrival.
 */
#include <string.h>

#include "observe/process/record.h"
#include "observe/process/snapshot_private.h"

#define MAX_SLOTS (1 << 24)
#define MAX_STRIDE (1 << 20)

static bool has_fifo(const char *tl)
{
	return !strcmp(tl, "posix") || !strcmp(tl, "sysv") || !strcmp(tl, "xpmem");
}

void snap_fifo(struct snapshot *snapshot, const struct snap_iface *iface, json_t *record)
{
	const struct layout *layout = snapshot->layout;
	uint32_t mask = 0, stride = 0;
	uint64_t base = 0;
	json_t *fifo;

	if (!layout->fifo_elems || !has_fifo(iface->tl))
		return;
	if (snap_pointer(snapshot, iface->address + layout->fifo_elems, &base) ||
	    snap_read(snapshot, iface->address + layout->fifo_mask, &mask, sizeof(mask)) ||
	    snap_read(snapshot, iface->address + layout->fifo_elem_size, &stride, sizeof(stride)))
		return;
	/* uct_mm_iface refuses a size that is no power of two (src/uct/sm/mm/base/mm_iface.c) */
	if (!base || !mask || (mask & (mask + 1)) || mask >= MAX_SLOTS || !stride ||
	    stride > MAX_STRIDE)
		return;
	fifo = json_object();
	record_hex(fifo, "base", base);
	json_object_set_new(fifo, "slots", json_integer((json_int_t)mask + 1));
	json_object_set_new(fifo, "stride", json_integer(stride));
	json_object_set_new(record, "fifo", fifo);
}
