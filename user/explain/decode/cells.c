// SPDX-License-Identifier: BSD-3-Clause
/* Sums that the kernel has kept: side records "cell" (description) and "cells" (sums). */
#include "explain/decode/internal.h"

#include <string.h>

static struct count_cell *cell_by_id(struct capture *capture, uint32_t id)
{
	uint64_t *index = map_find(&capture->cell_ids, id, 0);

	return index ? &capture->cells.data[*index - 1] : NULL;
}

static struct count_cell *cell_add(struct capture *capture, const struct count_cell *cell)
{
	struct count_cell *added = vec_add(&capture->cells);

	*added = *cell;
	*map_insert(&capture->cell_ids, cell->id, 0, NULL) = capture->cells.len;
	return added;
}

static const struct site_info *site_of(const struct capture *capture, const json_t *side,
				       const char *key)
{
	uint64_t row = side_u64(side, key);

	return row && row < capture->sites.len ? &capture->sites.data[row] : NULL;
}

void decode_cell(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	uint32_t tgid = side_u64(side, "tgid");
	uint64_t ts = side_u64(side, "ts");
	struct process *process = process_at(decoder, capture->host, tgid, ts);
	struct count_cell cell = {
		.id = side_u64(side, "id"),
		.process = process ? process : capture_process(decoder, capture, tgid),
		.first = ts,
		.last = ts,
		.call = site_of(capture, side, "call"),
		.op = site_of(capture, side, "op"),
		.xfer = site_of(capture, side, "xfer"),
		.am_id = side_u64(side, "am_id"),
		.size_class = side_u64(side, "size_class"),
		.flags = side_u64(side, "flags"),
		.status = side_u64(side, "status"),
		.obj = side_u64(side, "obj"),
		.uct_ep = side_u64(side, "uct_ep"),
		.iface_address = side_u64(side, "iface"),
		.ucp_ep = side_u64(side, "ucp_ep"),
		.ep_number = side_u64(side, "ep"),
	};

	cell_add(capture, &cell);
}

/* Cells that are described nowhere are the first ones, for whatever found none of its own. */
static struct count_cell *cell_other(struct capture *capture, uint32_t id)
{
	static const struct site_info others[UB_CELL_OTHERS] = {
		[UB_OTHER_CALLS] = { .name = "other", .kind = UB_CALL },
		[UB_OTHER_OPS] = { .name = "other", .kind = UB_OP },
		[UB_OTHER_XFERS] = { .name = "other", .kind = UB_XFER },
	};
	struct count_cell cell = { .id = id, .flags = UB_CELL_HEADER };

	if (id >= UB_CELL_OTHERS)
		return NULL;
	cell.call = id == UB_OTHER_CALLS ? &others[id] : NULL;
	cell.op = id == UB_OTHER_OPS ? &others[id] : NULL;
	cell.xfer = id == UB_OTHER_XFERS ? &others[id] : NULL;
	return cell_add(capture, &cell);
}

void decode_cells(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	const json_t *rows = json_object_get(side, "rows"), *row;
	size_t i;

	(void)decoder;
	json_array_foreach(rows, i, row)
	{
		uint32_t id = json_integer_value(json_array_get(row, 0));
		struct count_cell *cell = cell_by_id(capture, id);

		if (!cell)
			cell = cell_other(capture, id);
		if (!cell)
			continue;
		cell->last = side_u64(side, "ts");
		cell->count = json_integer_value(json_array_get(row, 1));
		cell->bytes = json_integer_value(json_array_get(row, 2));
		cell->headers = json_integer_value(json_array_get(row, 3));
		cell->refused = json_integer_value(json_array_get(row, 4));
		cell->timed = json_integer_value(json_array_get(row, 5));
		cell->time = json_integer_value(json_array_get(row, 6));
	}
}

static int by_first(const void *left, const void *right)
{
	const struct count_cell *a = left, *b = right;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

void cells_sort(struct capture *capture)
{
	if (capture->cells.len)
		qsort(capture->cells.data, capture->cells.len, sizeof(*capture->cells.data),
		      by_first);
}

/* How far it can be trusted that a cell's transfers went to the endpoint that it names. */
enum evidence { BY_NOTHING, BY_OPERATION, BY_REQUEST };

static enum evidence evidence(const struct count_cell *cell)
{
	if (cell->ucp_ep)
		return BY_REQUEST;
	if (!cell->op || !cell->obj || !cell->op->to_peer)
		return BY_NOTHING;
	/* wire-up that was seen within it may be another endpoint's */
	return transfer_makers(cell->xfer, cell->am_id) & BIT(cell->op->op) ? BY_OPERATION
									    : BY_NOTHING;
}

static void cell_bind(struct decoder *decoder, struct count_cell *cell)
{
	uint64_t ep = cell->ucp_ep ? cell->ucp_ep : cell->obj;

	process_show(decoder, cell->process);
	if (!cell->uct_ep || !cell->xfer)
		return;
	cell->iface = decoder_object(decoder, cell->process, OBJECT_IFACE, cell->iface_address,
				     cell->first);
	/* an operation that had ended has no transfers, and is no evidence of the endpoint */
	if (!cell_nested(cell))
		cell->op = cell->call = NULL;
	if (evidence(cell) == BY_NOTHING)
		return;
	decoder_learn_lane(decoder, cell->process, cell->uct_ep, ep);
	cell->ep = decoder_ep(decoder, cell->process, ep, cell->first);
}

void cells_apply(struct decoder *decoder, struct capture *capture, uint64_t ts)
{
	while (capture->cell_next < capture->cells.len) {
		struct count_cell *cell = &capture->cells.data[capture->cell_next];

		if (cell->first > ts)
			return;
		capture->cell_next++;
		objects_apply(decoder, capture, cell->first);
		if (cell->process)
			cell_bind(decoder, cell);
	}
}

static bool tells_more(const struct count_cell *cell, const struct count_cell *than)
{
	if (!than || evidence(cell) != evidence(than))
		return !than || evidence(cell) > evidence(than);
	return cell->count > than->count;
}

/* By the number of the uct_ep: the cell that tells best which endpoint it is a lane of. */
static void best_by_lane(const struct capture *capture, struct map *best)
{
	for (size_t i = 0; i < capture->cells.len; i++) {
		struct count_cell *cell = &capture->cells.data[i];
		uint64_t *found;

		if (!cell->ep || !cell->ep_number)
			continue;
		found = map_insert(best, cell->ep_number, 0, NULL);
		if (tells_more(cell, (struct count_cell *)(uintptr_t)*found))
			*found = (uintptr_t)cell;
	}
}

void decoder_cells(struct decoder *decoder, struct capture *capture)
{
	struct map best = { 0 };

	cells_apply(decoder, capture, UINT64_MAX);
	best_by_lane(capture, &best);
	for (size_t i = 0; i < capture->cells.len; i++) {
		struct count_cell *cell = &capture->cells.data[i];
		uint64_t *found = map_find(&best, cell->ep_number, 0);

		if (!cell->process || !cell->uct_ep)
			continue;
		if (found)
			cell->ep = ((struct count_cell *)(uintptr_t)*found)->ep;
		else if (!cell->ep)
			cell->ep = decoder_ep(decoder, cell->process,
					      decoder_lane_ep(decoder, cell->process, cell->uct_ep),
					      cell->first);
	}
	map_release(&best);
}
