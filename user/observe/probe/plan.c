// SPDX-License-Identifier: BSD-3-Clause
/* The probes of a library: the place of each, and which functions get one. */
#include "observe/probe/plan.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "observe/probe/place_arch.h"
#include "observe/probe/sites_tables.h"

struct placement place_probe_reading(int machine, const uint8_t *code, size_t size,
				     int needs_return, unsigned int arguments)
{
	static const struct placement refused = { .class = PLACE_REFUSED };

	switch (machine) {
	case EM_X86_64:
		return place_x86_64(code, size, needs_return, arguments);
	case EM_AARCH64:
		return place_arm64(code, size, needs_return);
	}
	return refused;
}

int place_body(struct body *body, int machine, const uint8_t *code, size_t size,
	       unsigned int arguments)
{
	return machine == EM_X86_64 ? place_body_x86_64(body, code, size, arguments) : -EOPNOTSUPP;
}

#define MAX_OPS_TABLES 32
#define DATA_OPS 20 /* slots of uct_iface_ops_t that move data: put_short to tag_rndv_zcopy */

/* State of one plan_library(). */
struct planning {
	struct probe_plan *plan;
	const struct library *library;
	struct map functions; /* file offset of every function that has its probe */
};

static int place_at(struct planned_probe *probe, const struct elf *elf, unsigned int row,
		    uint64_t function, size_t size, bool needs_return)
{
	const struct site *site = site_row(row);
	uint8_t code[PLACE_CODE_MAX];
	struct placement place;
	long got;

	got = elf_read(elf, function, code, size < sizeof(code) ? size : sizeof(code));
	if (got < 0)
		return got;
	place = place_probe_reading(elf_machine(elf), code, got, needs_return,
				    site_arguments(site));
	*probe = (struct planned_probe){ .row = row,
					 .needs_return = needs_return,
					 .function = function,
					 .offset = function + place.delta,
					 .sp_words = place.sp_words,
					 .class = place.class };
	return place.class == PLACE_REFUSED ? -EINVAL : 0;
}

/* A step costs dozens of times an emulated instruction on x86-64, twice that on arm64. */
static bool too_dear(const struct planned_probe *probe, const struct elf *elf)
{
	return elf_machine(elf) == EM_X86_64 && probe->class == PLACE_STEPPED &&
	       !site_may_step(site_row(probe->row));
}

int plan_function(struct planned_probe *probe, const struct library *library, unsigned int row,
		  uint64_t function_offset)
{
	int err;

	if (!site_row(row))
		return -EINVAL;
	err = place_at(probe, library->elf, row, function_offset, PLACE_CODE_MAX,
		       site_row(row)->wire.needs_return);
	return err ? err : (too_dear(probe, library->elf) ? -ENOTSUP : 0);
}

/* A call's exact end is worth a return probe, but not a single step. */
static int place_call(struct planned_probe *probe, const struct elf *elf, unsigned int row,
		      uint64_t function, size_t size)
{
	struct planned_probe plain;
	int err = place_at(probe, elf, row, function, size, true);

	if (!err && probe->class == PLACE_STEPPED &&
	    !place_at(&plain, elf, row, function, size, false) && plain.class != PLACE_STEPPED)
		*probe = plain;
	return err;
}

static int place_row(struct planned_probe *probe, const struct planning *p, unsigned int row,
		     uint64_t function, size_t size)
{
	const struct ub_site *wire;

	if (!site_row(row))
		return -EINVAL;
	wire = &site_row(row)->wire;
	if (p->plan->call_ends && wire->kind == UB_CALL && wire->what != UB_CALL_NO_END)
		return place_call(probe, p->library->elf, row, function, size);
	return place_at(probe, p->library->elf, row, function, size, wire->needs_return);
}

static bool needs_body(unsigned int row)
{
	return site_row(row) && site_row(row)->wire.kind == UB_MEM;
}

/* A function of a GPU's library: entered behind what others patch, left at each of its returns. */
static int plan_body(struct planning *p, unsigned int row, uint64_t function, size_t size)
{
	const struct elf *elf = p->library->elf;
	uint8_t code[PLACE_CODE_MAX];
	struct body body;
	int err;

	if (size > sizeof(code) || elf_read(elf, function, code, size) != (long)size)
		return -EINVAL;
	err = place_body(&body, elf_machine(elf), code, size, site_arguments(site_row(row)));
	for (unsigned int i = 0; !err && i <= body.count; i++) {
		struct planned_probe probe = { .row = row, .function = function };

		probe.at_exit = i < body.count;
		probe.offset = function + (probe.at_exit ? body.exits[i] : body.entry.delta);
		probe.sp_words = probe.at_exit ? 0 : body.entry.sp_words;
		probe.class = probe.at_exit ? PLACE_STEPPED : body.entry.class;
		vec_push(&p->plan->probes, probe);
	}
	return err;
}

static void plan_once(struct planning *p, unsigned int row, uint64_t function, size_t size)
{
	struct planned_probe probe;
	bool fresh;

	map_insert(&p->functions, function, 0, &fresh);
	if (!fresh)
		return;
	if (needs_body(row)) {
		if (plan_body(p, row, function, size))
			vec_push(&p->plan->missing, row);
		return;
	}
	if (place_row(&probe, p, row, function, size))
		vec_push(&p->plan->missing, row);
	else if (too_dear(&probe, p->library->elf))
		vec_push(&p->plan->left_out, row);
	else
		vec_push(&p->plan->probes, probe);
}

/* Static functions that an exported object points to. */
static const struct {
	const char *symbol, *object;
	uint64_t at;
} indirect[] = {
	/* ucp_am_handler_t.cb: src/ucp/core/ucp_context.h, since 1.11 */
	{ "ucp_stream_am_handler", "ucp_am_handler_UCP_AM_ID_STREAM_DATA", 8 },
};

static int find_function(const struct elf *elf, const char *symbol, uint64_t *function,
			 uint64_t *size)
{
	if (!elf_function(elf, symbol, function, size))
		return 0;
	*size = 0;
	for (size_t i = 0; i < ARRAY_SIZE(indirect); i++)
		if (!strcmp(indirect[i].symbol, symbol))
			return elf_pointer_in(elf, indirect[i].object, indirect[i].at, function);
	return -ENOENT;
}

static void plan_row(struct planning *p, unsigned int row)
{
	uint64_t function, size;

	if (p->plan->sparse && site_row(row)->wire.derivable == UB_UNPROBED)
		return;
	if (!find_function(p->library->elf, site_row(row)->symbol, &function, &size))
		plan_once(p, row, function, size || needs_body(row) ? size : PLACE_CODE_MAX);
	else if (site_expected(row, p->library->roles))
		vec_push(&p->plan->missing, row);
}

/* One function behind several slots is a stub that refuses whatever it is asked. */
static bool is_stub(const struct elf_ops_table *table, int slot)
{
	for (int i = 0; i < ELF_OPS_SLOTS; i++)
		if (i != slot && table->slot[i] == table->slot[slot])
			return true;
	return false;
}

/* Calls the transport's own am_short, which has its probe. */
static bool is_wrapper(const char *name)
{
	return name && !strcmp(name, "uct_base_ep_am_short_iov");
}

/* Operations that have no row of their own: hidden ones, and those of transports yet unknown. */
static void plan_ops_tables(struct planning *p)
{
	struct elf_ops_table tables[MAX_OPS_TABLES];
	int count = elf_ops_tables(p->library->elf, tables, MAX_OPS_TABLES);

	for (int i = 0; i < count && i < MAX_OPS_TABLES; i++)
		for (int slot = 0; slot < DATA_OPS; slot++)
			if (tables[i].slot[slot] && !is_stub(&tables[i], slot) &&
			    !is_wrapper(tables[i].name[slot]))
				plan_once(p, site_by_slot(slot), tables[i].slot[slot],
					  PLACE_CODE_MAX);
}

static bool has_marker(const struct library *library, unsigned int row)
{
	const char *marker = site_marker(row);
	uint64_t offset;

	return !marker ||
	       ((library->roles & LIB_GPU) && !elf_function(library->elf, marker, &offset, NULL));
}

int plan_library(struct probe_plan *plan, const struct library *library, enum level level)
{
	struct planning p = { .plan = plan, .library = library };

	for (unsigned int row = 1; row < site_count(); row++)
		if (site_layer_in(site_row(row)->layer, level) && has_marker(library, row))
			plan_row(&p, row);
	if (level >= LEVEL_UCT && (library->roles & (LIB_UCT | LIB_UCT_MODULE)))
		plan_ops_tables(&p);
	map_release(&p.functions);
	return 0;
}

void plan_release(struct probe_plan *plan)
{
	vec_release(&plan->probes);
	vec_release(&plan->missing);
	vec_release(&plan->left_out);
}
