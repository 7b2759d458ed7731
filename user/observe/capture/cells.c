// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/cells.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/shape.h"
#include "base/vec.h"
#include "observe/capture/side.h"
#include "observe/probe/sites.h"
#include "ucxbpf.skel.h"

#define WRITE_NS 2000000000ull /* at the least between two writes, */
#define WRITE_SHARE 16 /* or this part of the time since the start */
#define ROWS_MAX 8192 /* of one side record */

int cells_open(struct cells *cells, struct ucxbpf *skel, bool count)
{
	void *all = mmap(NULL, UB_MAX_CELLS * sizeof(struct ub_cell), PROT_READ | PROT_WRITE,
			 MAP_SHARED, bpf_map__fd(skel->maps.cells), 0);

	if (all == MAP_FAILED)
		return -errno;
	*cells = (struct cells){ .skel = skel, .count = count, .all = all, .started = side_now() };
	cells->next_write = cells->started + WRITE_NS;
	cells->written = calloc(UB_MAX_CELLS, sizeof(*cells->written));
	cells->ids = calloc(UB_MAX_CELLS, sizeof(*cells->ids));
	return cells->written && cells->ids ? 0 : -ENOMEM;
}

int cells_live(struct cells *cells)
{
	cells->taken = calloc(UB_MAX_CELLS, sizeof(*cells->taken));
	cells->told = json_array();
	cells->rows = json_array();
	return cells->taken && cells->told && cells->rows ? 0 : -ENOMEM;
}

void cells_release(struct cells *cells)
{
	if (cells->all)
		munmap(cells->all, UB_MAX_CELLS * sizeof(struct ub_cell));
	free(cells->written);
	free(cells->ids);
	free(cells->taken);
	json_decref(cells->told);
	json_decref(cells->rows);
	vec_release(&cells->ends);
}

void cells_mpi_text(struct cells *cells, pid_t tgid, uint64_t from, uint64_t to)
{
	struct ub_mpi_text text = { 0 };
	uint32_t key = tgid;
	int i = 0;

	if (!cells->skel)
		return;
	bpf_map__lookup_elem(cells->skel->maps.mpi_texts, &key, sizeof(key), &text, sizeof(text),
			     0);
	while (i < UB_MAX_TEXTS && text.to[i])
		i++;
	if (i == UB_MAX_TEXTS)
		return;
	text.from[i] = from;
	text.to[i] = to;
	bpf_map__update_elem(cells->skel->maps.mpi_texts, &key, sizeof(key), &text, sizeof(text),
			     0);
}

void cells_process_ended(struct cells *cells, pid_t tgid, uint64_t ts)
{
	if (cells->skel)
		vec_push(&cells->ends, ((struct cells_end){ (uint32_t)tgid, 0, ts }));
}

void cells_record(struct cells *cells, const struct ub_hdr *record)
{
	const struct ub_obj *obj = (const struct ub_obj *)record;
	const struct ub_task *task = (const struct ub_task *)record;

	if (!cells->skel)
		return;
	if (record->kind == UB_TASK && task->what == UB_EXIT)
		cells_process_ended(cells, (pid_t)record->tgid, record->ts);
	/* a thread's outbox may still hold records of an endpoint that another thread destroyed */
	if (cells->count && record->kind == UB_OBJ &&
	    site_row(record->site)->wire.what == UB_OBJ_UCT_EP_DESTROY)
		vec_push(&cells->ends, ((struct cells_end){ record->tgid, obj->obj, record->ts }));
}

bool cells_due(const struct cells *cells)
{
	return cells->skel &&
	       (cells->ends.len || (!cells->taken && side_now() >= cells->next_write));
}

static uint32_t cells_used(const struct cells *cells)
{
	uint32_t used = __atomic_load_n(&cells->skel->data->cells_used, __ATOMIC_ACQUIRE);

	return used < UB_MAX_CELLS ? used : UB_MAX_CELLS;
}

uint64_t cells_count(const struct cells *cells)
{
	uint32_t used = cells->count ? cells_used(cells) : 0;
	uint64_t sum = cells->count ? cells->given_back : 0;

	for (uint32_t i = 0; i < used; i++)
		sum += cells->all[i].count + cells->all[i].refused;
	return sum;
}

static struct cell_sums sums_of(const struct ub_cell *cell)
{
	return (struct cell_sums){ { cell->count, cell->bytes, cell->headers, cell->refused,
				     cell->timed, cell->time } };
}

/* Grows with every sum. */
static uint64_t added_up(const struct cell_sums *sums)
{
	uint64_t all = 0;

	for (size_t i = 0; i < CELL_SUMS; i++)
		all += sums->of[i];
	return all;
}

#define CELL(member, ...)                                                                          \
	SHAPE_OF(struct ub_cell, member, .null = SHAPE_ZERO, .optional = true, ##__VA_ARGS__)

static const struct shape cell_shape[] = {
	CELL(call),
	CELL(op),
	CELL(xfer),
	CELL(am_id),
	CELL(size_class),
	CELL(flags),
	CELL(status),
	CELL(obj, .hex = true),
	CELL(uct_ep, .hex = true),
	CELL(ep),
	CELL(iface, .hex = true),
	CELL(ucp_ep, .hex = true),
	{ 0 },
};

/* at: when its objects are looked up. */
static json_t *description(uint32_t id, const struct ub_cell *cell, uint64_t at)
{
	json_t *record = json_pack("{s:s, s:i, s:i, s:I}", "t", "cell", "id", (int)id, "tgid",
				   (int)cell->tgid, "ts", (json_int_t)at);

	shape_put(record, cell_shape, cell, NULL);
	return record;
}

/* Trailing zeros are left out. */
static json_t *sums_json(uint32_t id, const struct cell_sums *sums)
{
	json_t *row = json_array();
	size_t n = CELL_SUMS;

	while (n && !sums->of[n - 1])
		n--;
	json_array_append_new(row, json_integer(id));
	for (size_t i = 0; i < n; i++)
		json_array_append_new(row, json_integer((json_int_t)sums->of[i]));
	return row;
}

static void write_rows(struct file_writer *writer, json_t *rows)
{
	if (json_array_size(rows))
		side_write(writer, json_pack("{s:s, s:I, s:O}", "t", "cells", "ts",
					     (json_int_t)side_now(), "rows", rows));
	json_array_clear(rows);
}

/* Unready cells have no description: docs/side-records.md lists their ids. */
static bool is_ready(uint32_t i, const struct ub_cell *cell)
{
	return i < UB_CELL_OTHERS || __atomic_load_n(&cell->ts, __ATOMIC_ACQUIRE);
}

static bool has_ended(const struct cells *cells, const struct ub_cell *cell)
{
	for (size_t i = 0; i < cells->ends.len; i++) {
		const struct cells_end *end = &cells->ends.data[i];

		if (end->tgid == cell->tgid && cell->ts <= end->ts &&
		    (!end->uct_ep || end->uct_ep == cell->uct_ep))
			return true;
	}
	return false;
}

/* all: else only cells of processes and endpoints that have ended. */
static void write_changed(struct cells *cells, struct file_writer *writer, bool all)
{
	uint32_t used = cells_used(cells);
	json_t *rows = json_array();

	for (uint32_t i = 0; i < used; i++) {
		const struct ub_cell *cell = &cells->all[i];
		const struct cell_sums sums = sums_of(cell);
		uint64_t sum = added_up(&sums);

		if (sum == cells->written[i] || !is_ready(i, cell) ||
		    (!all && !has_ended(cells, cell)))
			continue;
		if (i >= UB_CELL_OTHERS && !cells->ids[i]) {
			cells->ids[i] = UB_CELL_OTHERS + cells->last_id++;
			side_write(writer, description(cells->ids[i], cell, cell->ts));
		}
		cells->written[i] = sum;
		json_array_append_new(rows,
				      sums_json(i < UB_CELL_OTHERS ? i : cells->ids[i], &sums));
		if (json_array_size(rows) == ROWS_MAX)
			write_rows(writer, rows);
	}
	write_rows(writer, rows);
	json_decref(rows);
}

/*
 * Notes the growth of a cell since it was last taken. It gets a new number each time. Its objects
 * lived when the interval began; their state at that time may be known even if their creation is
 * not.
 */
static void take(struct cells *cells, uint32_t i)
{
	const struct ub_cell *cell = &cells->all[i];
	struct cell_sums now, gained;
	uint32_t id = i;

	if (!is_ready(i, cell))
		return;
	now = sums_of(cell);
	for (size_t k = 0; k < CELL_SUMS; k++)
		gained.of[k] = now.of[k] - cells->taken[i].of[k];
	if (!added_up(&gained))
		return;
	cells->taken[i] = now;
	if (i >= UB_CELL_OTHERS) {
		id = UB_CELL_OTHERS + cells->last_id++;
		json_array_append_new(
			cells->told,
			description(id, cell, cell->ts > cells->since ? cell->ts : cells->since));
	}
	json_array_append_new(cells->rows, sums_json(id, &gained));
}

static void take_ended(struct cells *cells)
{
	uint32_t used = cells_used(cells);

	for (uint32_t i = UB_CELL_OTHERS; i < used; i++)
		if (cells->all[i].ts && has_ended(cells, &cells->all[i]))
			take(cells, i);
}

void cells_take(struct cells *cells, struct file_writer *writer)
{
	uint32_t used = cells_used(cells);
	json_t *told;
	size_t i;

	for (uint32_t number = 0; number < used; number++)
		take(cells, number);
	json_array_foreach(cells->told, i, told) side_write(writer, json_incref(told));
	json_array_clear(cells->told);
	write_rows(writer, cells->rows);
	cells->since = side_now();
}

static uint64_t rows_of(const struct ub_cell *cell)
{
	return UB_ROWS_CALL(cell->call) | UB_ROWS_OP(cell->op) | UB_ROWS_XFER(cell->xfer) |
	       UB_ROWS_AM(cell->am_id) | UB_ROWS_CLASS(cell->size_class) |
	       UB_ROWS_FLAGS(cell->flags) | UB_ROWS_STATUS(cell->status);
}

/* A cell of the process's share is free again. No BPF program writes this element of the map. */
static void share_return(struct cells *cells, uint32_t tgid)
{
	const struct ub_share_key key = { tgid, UB_SHARE_RETURNED };
	struct bpf_map *shares = cells->skel->maps.cell_shares;
	uint32_t returned = 0;

	bpf_map__lookup_elem(shares, &key, sizeof(key), &returned, sizeof(returned), 0);
	returned++;
	bpf_map__update_elem(shares, &key, sizeof(key), &returned, sizeof(returned), 0);
}

static bool process_has_ended(const struct cells *cells, uint32_t tgid)
{
	for (size_t i = 0; i < cells->ends.len; i++)
		if (cells->ends.data[i].tgid == tgid && !cells->ends.data[i].uct_ep)
			return true;
	return false;
}

/* Those of ended processes. */
static void forget_eps_over(struct cells *cells)
{
	struct bpf_map *map = cells->skel->maps.eps_over;
	struct ub_over_key key, next;
	bool more = !bpf_map__get_next_key(map, NULL, &next, sizeof(next));

	while (more) {
		key = next;
		more = !bpf_map__get_next_key(map, &key, &next, sizeof(key));
		if (process_has_ended(cells, key.tgid) &&
		    !bpf_map__delete_elem(map, &key, sizeof(key), 0))
			__atomic_sub_fetch(&cells->skel->bss->eps_over_used, 1, __ATOMIC_SEQ_CST);
	}
}

static void forget_process(struct cells *cells, uint32_t tgid)
{
	bpf_map__delete_elem(cells->skel->maps.mpi_texts, &tgid, sizeof(tgid), 0);
	for (uint32_t share = UB_SHARE_TAKEN; share < UB_SHARES; share++) {
		const struct ub_share_key key = { tgid, share };

		bpf_map__delete_elem(cells->skel->maps.cell_shares, &key, sizeof(key), 0);
	}
}

/* No program adds to it any more, and its number is never looked up again. */
static void give_back(struct cells *cells, uint32_t i)
{
	struct ub_cell *cell = &cells->all[i];
	struct ub_cell_key key = { cell->tgid, cell->ep, rows_of(cell) };
	struct ub_ep_key ep = { cell->uct_ep, cell->space };
	uint32_t slot;

	bpf_map__delete_elem(cells->skel->maps.cell_numbers, &key, sizeof(key), 0);
	if (cell->uct_ep)
		bpf_map__delete_elem(cells->skel->maps.ep_numbers, &ep, sizeof(ep), 0);
	if (!(cell->flags & UB_CELL_BEYOND))
		share_return(cells, cell->tgid);
	cells->given_back += cell->count + cell->refused;
	memset(cell, 0, sizeof(*cell));
	cells->ids[i] = 0;
	cells->written[i] = 0;
	if (cells->taken)
		cells->taken[i] = (struct cell_sums){ 0 };
	slot = cells->skel->bss->free_given % UB_MAX_CELLS;
	bpf_map__update_elem(cells->skel->maps.free_cells, &slot, sizeof(slot), &i, sizeof(i), 0);
	__atomic_add_fetch(&cells->skel->bss->free_given, 1, __ATOMIC_SEQ_CST);
}

static void give_back_ended(struct cells *cells)
{
	uint32_t used = cells_used(cells);
	bool processes = false;

	for (uint32_t i = UB_CELL_OTHERS; i < used; i++)
		if (cells->all[i].ts && has_ended(cells, &cells->all[i]))
			give_back(cells, i);
	for (size_t i = 0; i < cells->ends.len; i++) {
		if (cells->ends.data[i].uct_ep)
			continue;
		forget_process(cells, cells->ends.data[i].tgid);
		processes = true;
	}
	if (processes)
		forget_eps_over(cells);
	if (cells->ends.len)
		__atomic_add_fetch(&cells->skel->data->cache_epoch, 1, __ATOMIC_SEQ_CST);
	cells->ends.len = 0;
}

/* all: else only sums of ended processes and endpoints. */
static void write_and_give_back(struct cells *cells, struct file_writer *writer, bool all)
{
	if (!cells->skel || !(all || cells->ends.len))
		return;
	if (cells->taken)
		take_ended(cells);
	else
		write_changed(cells, writer, all);
	give_back_ended(cells);
}

void cells_write_ended(struct cells *cells, struct file_writer *writer)
{
	write_and_give_back(cells, writer, false);
}

bool cells_write(struct cells *cells, struct file_writer *writer, bool last)
{
	uint64_t now = side_now(), pause = (now - cells->started) / WRITE_SHARE;
	bool all = !cells->taken && (last || now >= cells->next_write);

	write_and_give_back(cells, writer, all);
	if (all)
		cells->next_write = now + (pause > WRITE_NS ? pause : WRITE_NS);
	return all && cells->skel;
}
