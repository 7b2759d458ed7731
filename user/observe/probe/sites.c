// SPDX-License-Identifier: BSD-3-Clause
#include <stddef.h>
#include <string.h>

#include "base/vec.h"
#include "observe/probe/sites_tables.h"

static const struct site_table *const tables[] = {
	&sites_mpi,
	&sites_mpi4,
	&sites_ucp_ops,
	&sites_ucp_am,
	&sites_ucp_rest,
	&sites_ucp_errors,
	&sites_uct_base,
	&sites_uct_slots,
	&sites_uct_ops,
	&sites_cuda,
	&sites_cudart,
	&sites_hip,
	&sites_hsa,
	&sites_ze,
	&sites_uct_socket,
	&sites_shmem,
	&sites_shmem_ordering,
};

#define TABLES ARRAY_SIZE(tables)

const char *site_layer_name(enum level layer)
{
	return layer == LEVEL_BESIDE ? "memory" : level_names[layer];
}

bool site_layer_in(enum level layer, enum level level)
{
	return (layer == LEVEL_BESIDE ? LEVEL_UCP : layer) <= level;
}

/* Row numbers start at 1, in the order of the tables. */
static const struct site_table *table_of(unsigned int row, unsigned int *index)
{
	*index = row - 1;
	for (size_t i = 0; row && i < TABLES; i++) {
		if (*index < tables[i]->count)
			return tables[i];
		*index -= tables[i]->count;
	}
	return NULL;
}

const struct site *site_row(unsigned int row)
{
	unsigned int index;
	const struct site_table *table = table_of(row, &index);

	return table ? &table->rows[index] : NULL;
}

unsigned int site_count(void)
{
	unsigned int count = 1;

	for (size_t i = 0; i < TABLES; i++)
		count += tables[i]->count;
	return count;
}

bool site_expected(unsigned int row, unsigned int roles)
{
	unsigned int index;
	const struct site_table *table = table_of(row, &index);

	return table && (table->expected_in & roles);
}

bool site_of_shmem(unsigned int row)
{
	return site_expected(row, LIB_SHMEM);
}

const char *site_marker(unsigned int row)
{
	unsigned int index;
	const struct site_table *table = table_of(row, &index);

	return table ? table->marker : NULL;
}

unsigned int site_arguments(const struct site *site)
{
	const __u8 *wire = (const __u8 *)&site->wire;
	unsigned int mask = 0;

	for (size_t i = offsetof(struct ub_site, arg_obj);
	     i <= offsetof(struct ub_site, arg_device); i++)
		if (wire[i])
			mask |= 1u << wire[i];
	return mask;
}

/*
 * By the beginning of their names: calls of which a job makes few, and functions that stock builds
 * leave without an instruction that the kernel emulates. None of the latter is on the path of an
 * MPI message, save for large ones over verbs: atomics and packed puts to memory that is shared,
 * and completions of rendezvous by put.
 */
static const char *const rare[] = {
	"PMPI_Init",
	"PMPI_Finalize",
	"PMPI_Abort",
	"PMPI_Session_",
	"PMPI_Comm_",
	"PMPI_Win_create",
	"PMPI_Win_allocate",
	"PMPI_Win_free",
	"pshmem_ctx_create",
	"pshmem_ctx_destroy",
	"uct_sm_ep_atomic",
	"uct_sm_ep_put_bcopy",
	"ucp_rndv_put_completion",
	"uct_rc_verbs_ep_put_zcopy",
};

bool site_may_step(const struct site *site)
{
	for (size_t i = 0; i < ARRAY_SIZE(rare); i++)
		if (!strncmp(rare[i], site->symbol, strlen(rare[i])))
			return true;
	return site->wire.kind == UB_OBJ || site->wire.kind == UB_MEM || ub_is_error(&site->wire);
}

static unsigned int first_row(const struct site_table *wanted)
{
	unsigned int row = 1;

	for (size_t i = 0; i < TABLES && tables[i] != wanted; i++)
		row += tables[i]->count;
	return row;
}

unsigned int site_by_slot(int ops_slot)
{
	for (unsigned int i = 0; i < sites_uct_slots.count; i++)
		if (sites_uct_slots.rows[i].ops_slot == ops_slot)
			return first_row(&sites_uct_slots) + i;
	return 0;
}

unsigned int site_for_completion(enum ub_comp_what what)
{
	for (unsigned int row = 1; row < site_count(); row++) {
		const struct site *site = site_row(row);

		if (site->wire.kind == UB_COMP && site->wire.what == what)
			return row;
	}
	return 0;
}
