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
#include "observe/process/unwind.h"

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

/* One function in several slots is a stub that refuses all operations. */
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

/* Operations that have no row of their own: hidden ones, and those of unknown transports. */
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

/* ---- where the file is looked at ---- */

/* A probe in an answer. */
struct listed_probe {
	uint64_t function, offset;
	uint32_t row;
	uint8_t needs_return, at_exit, sp_words, class;
};

struct listed_plan {
	uint32_t probes, left_out, missing; /* so many follow each */
};

static void list_probe(reader_answer *answer, const struct planned_probe *probe)
{
	const struct listed_probe listed = { .function = probe->function,
					     .offset = probe->offset,
					     .row = probe->row,
					     .needs_return = probe->needs_return,
					     .at_exit = probe->at_exit,
					     .sp_words = probe->sp_words,
					     .class = (uint8_t)probe->class };

	answer_add(answer, &listed, sizeof(listed));
}

struct wanted_plan {
	uint32_t level, roles;
	bool call_ends, sparse;
};

static long list_plan(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	const struct wanted_plan *wanted = arguments;
	const struct library library = { .elf = elf, .roles = wanted->roles };
	struct probe_plan plan = { .call_ends = wanted->call_ends, .sparse = wanted->sparse };
	struct planning p = { .plan = &plan, .library = &library };
	struct listed_plan listing;

	(void)size;
	for (unsigned int row = 1; row < site_count(); row++)
		if (site_layer_in(site_row(row)->layer, wanted->level) && has_marker(&library, row))
			plan_row(&p, row);
	if (wanted->level >= LEVEL_UCT && (library.roles & (LIB_UCT | LIB_UCT_MODULE)))
		plan_ops_tables(&p);
	map_release(&p.functions);
	listing = (struct listed_plan){ (uint32_t)plan.probes.len, (uint32_t)plan.left_out.len,
					(uint32_t)plan.missing.len };
	answer_add(answer, &listing, sizeof(listing));
	for (size_t i = 0; i < plan.probes.len; i++)
		list_probe(answer, &plan.probes.data[i]);
	answer_add(answer, plan.left_out.data, plan.left_out.len * sizeof(*plan.left_out.data));
	answer_add(answer, plan.missing.data, plan.missing.len * sizeof(*plan.missing.data));
	plan_release(&plan);
	return 0;
}

struct wanted_function {
	uint64_t offset;
	uint32_t row;
};

/*
 * The C library or its loader: their functions are nobody's callbacks, and each process of the
 * machine runs them.
 */
static bool is_c_library(const struct elf *elf)
{
	uint64_t offset;

	return !elf_function(elf, "__libc_start_main", &offset, NULL) ||
	       !elf_function(elf, "__tls_get_addr", &offset, NULL);
}

/*
 * The place comes from the traced process, and may be the middle of an instruction in a file that
 * other processes map as well: only the beginning of a function gets a probe.
 */
static long list_function(struct elf *elf, const void *arguments, size_t size,
			  reader_answer *answer)
{
	const struct wanted_function *wanted = arguments;
	struct planned_probe probe;
	uint64_t vaddr;
	int err;

	(void)size;
	if (is_c_library(elf))
		return -EPERM;
	err = elf_offset_to_vaddr(elf, wanted->offset, &vaddr);
	if (!err && !unwind_begins_at(elf, vaddr))
		err = -EINVAL;
	if (!err)
		err = place_at(&probe, elf, wanted->row, wanted->offset, PLACE_CODE_MAX,
			       site_row(wanted->row)->wire.needs_return);
	if (err)
		return err;
	if (too_dear(&probe, elf))
		return -ENOTSUP;
	list_probe(answer, &probe);
	return 0;
}

/* ---- who asks ---- */

/* A probe of a known row, in the file's own code. */
static bool to_probe(const struct listed_probe *listed, const struct elf *elf,
		     struct planned_probe *probe)
{
	uint64_t vaddr;

	if (!listed->row || listed->row >= site_count() || listed->needs_return > 1 ||
	    listed->at_exit > 1 || listed->class > PLACE_REFUSED ||
	    elf_offset_to_vaddr(elf, listed->function, &vaddr) ||
	    listed->offset - listed->function >= PLACE_CODE_MAX ||
	    elf_offset_to_vaddr(elf, listed->offset, &vaddr))
		return false;
	*probe = (struct planned_probe){ .row = listed->row,
					 .needs_return = listed->needs_return,
					 .at_exit = listed->at_exit,
					 .function = listed->function,
					 .offset = listed->offset,
					 .sp_words = listed->sp_words,
					 .class = (enum place_class)listed->class };
	return true;
}

static bool take_row(const reader_answer *answer, size_t *at, unsigned int *row)
{
	return answer_take(answer, at, row, sizeof(*row)) && *row && *row < site_count();
}

#define PROBES_MAX 16384 /* of a library; the kernel holds memory for each */

static bool take_plan(const reader_answer *answer, const struct elf *elf, struct probe_plan *plan)
{
	struct planned_probe probe;
	struct listed_plan listing;
	struct listed_probe listed;
	unsigned int row;
	size_t at = 0;

	if (!answer_take(answer, &at, &listing, sizeof(listing)) || listing.probes > PROBES_MAX)
		return false;
	for (uint32_t i = 0; i < listing.probes; i++) {
		if (!answer_take(answer, &at, &listed, sizeof(listed)) ||
		    !to_probe(&listed, elf, &probe))
			return false;
		vec_push(&plan->probes, probe);
	}
	for (uint32_t i = 0; i < listing.left_out; i++) {
		if (!take_row(answer, &at, &row))
			return false;
		vec_push(&plan->left_out, row);
	}
	for (uint32_t i = 0; i < listing.missing; i++) {
		if (!take_row(answer, &at, &row))
			return false;
		vec_push(&plan->missing, row);
	}
	return at == answer->len;
}

int plan_library(struct probe_plan *plan, const struct library *library, enum level level)
{
	const struct wanted_plan wanted = { level, library->roles, plan->call_ends, plan->sparse };
	reader_answer answer = { 0 };
	long err = elf_ask(library->elf, list_plan, &wanted, sizeof(wanted), &answer);

	if (err >= 0 && !take_plan(&answer, library->elf, plan)) {
		plan_release(plan);
		err = elf_refuse(library->elf);
	}
	vec_release(&answer);
	return err < 0 ? (int)err : 0;
}

int plan_function(struct planned_probe *probe, const struct library *library, unsigned int row,
		  uint64_t function_offset)
{
	const struct wanted_function wanted = { function_offset, row };
	struct listed_probe listed;
	int err = site_row(row) ? elf_ask_for(library->elf, list_function, &wanted, sizeof(wanted),
					      &listed, sizeof(listed))
				: -EINVAL;

	if (err)
		return err;
	return to_probe(&listed, library->elf, probe) ? 0 : elf_refuse(library->elf);
}

void plan_release(struct probe_plan *plan)
{
	vec_release(&plan->probes);
	vec_release(&plan->missing);
	vec_release(&plan->left_out);
}
