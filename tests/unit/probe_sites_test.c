// SPDX-License-Identifier: BSD-3-Clause
/* The site table is consistent with itself and with what BPF programs read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "observe/probe/sites_tables.h"
#include "unit/sites.h"

static void rows_are_complete_and_unique(void **state)
{
	(void)state;
	assert_null(site_row(0));
	assert_null(site_row(site_count()));
	assert_true(site_count() < UB_MAX_SITES);
	for (unsigned int row = 1; row < site_count(); row++) {
		const struct site *site = site_row(row);

		assert_non_null(site->symbol);
		assert_non_null(site->name);
		assert_true(site->wire.kind > 0 && site->wire.kind < UB_KIND_MAX);
		if (!strchr(site->symbol, '*'))
			assert_int_equal(site_by_symbol(site->symbol), row);
	}
	assert_int_equal(site_by_symbol("main"), 0);
}

static bool is_runtime(const struct ub_site *wire)
{
	return wire->kind == UB_MEM && wire->what == UB_MEM_RUNTIME;
}

static void kinds_fit_layers(void **state)
{
	(void)state;
	for (unsigned int row = 1; row < site_count(); row++) {
		const struct site *site = site_row(row);
		const struct ub_site *wire = &site->wire;

		assert_int_equal(site->layer == LEVEL_MPI, wire->kind == UB_CALL);
		assert_int_equal(site->ops_slot >= 0, wire->kind == UB_XFER);
		assert_true(wire->kind != UB_XFER || site->layer == LEVEL_UCT);
		/* return probes break programs that switch stacks inside an MPI call */
		assert_true(wire->kind != UB_CALL || !wire->needs_return);
		assert_true(wire->kind != UB_CALL || *site->symbol == 'P' ||
			    !strncmp(site->name, "sh", 2) || !strcmp(site->name, "start_pes") ||
			    !strncmp(site->name, "MPIX_Comm_", 10));
		assert_true(wire->kind != UB_CALL || strchr(site->name, '*') ||
			    !strcmp(site->name, site->symbol + 1) ||
			    (!strcmp(site->name, site->symbol) && *site->symbol == 'M'));
		if (wire->kind != UB_CALL && !is_runtime(wire))
			assert_int_not_equal(site_arguments(site), 0);
	}
}

/* Of a message whose first part was seen: too many. */
static bool is_fragment(unsigned int am_id)
{
	return am_id == 4 || am_id == 12 || am_id == 25;
}

/* All but wire-up (1), fragments, and the ids that UCX does not use (5, 13). */
static void arrivals_have_their_ids(void **state)
{
	unsigned int seen = 0;

	(void)state;
	for (unsigned int row = 1; row < site_count(); row++) {
		const struct ub_site *wire = &site_row(row)->wire;

		assert_int_equal(wire->kind == UB_RX && wire->what == UB_RX_PLAIN,
				 wire->am_id != 0);
		assert_int_equal(seen & 1u << wire->am_id & ~1u, 0);
		seen |= 1u << wire->am_id;
	}
	for (unsigned int id = 1; id <= 26; id++)
		assert_int_equal(!(seen & 1u << id),
				 id == 1 || id == 5 || id == 13 || is_fragment(id));
}

static void every_data_slot_has_a_row(void **state)
{
	(void)state;
	for (int slot = 0; slot < 20; slot++) {
		const struct site *generic = site_row(site_by_slot(slot));

		assert_non_null(generic);
		assert_int_equal(generic->ops_slot, slot);
		for (unsigned int row = 1; row < site_count(); row++) {
			const struct site *site = site_row(row);
			struct ub_site wire = site->wire;

			if (site->ops_slot != slot)
				continue;
			assert_string_equal(site->name, generic->name);
			/* what a transport adds to the operation is its own */
			wire.what = generic->wire.what;
			wire.ends_with_op = generic->wire.ends_with_op;
			wire.derivable = generic->wire.derivable;
			assert_memory_equal(&wire, &generic->wire, sizeof(wire));
		}
	}
	assert_int_equal(site_by_slot(20), 0);
	assert_int_equal(site_by_slot(-1), 0);
}

static void completions_have_rows(void **state)
{
	(void)state;
	for (int what = UB_COMP_UCT; what <= UB_COMP_REQ_FREE; what++) {
		unsigned int row = site_for_completion(what);

		if (what == UB_COMP_SCOPY) /* in old captures only */
			continue;
		assert_int_not_equal(row, 0);
		assert_int_equal(site_row(row)->wire.what, what);
	}
	/* not the row of some function: these stand for addresses learnt later */
	assert_non_null(strchr(site_row(site_for_completion(UB_COMP_UCT))->symbol, '.'));
	assert_non_null(strchr(site_row(site_for_completion(UB_COMP_SEND_CB))->symbol, '.'));
	assert_non_null(strchr(site_row(site_for_completion(UB_COMP_RECV_CB))->symbol, '.'));
}

static void memory_is_in_two_levels(void **state)
{
	(void)state;
	assert_false(site_layer_in(LEVEL_BESIDE, LEVEL_MPI));
	assert_true(site_layer_in(LEVEL_BESIDE, LEVEL_UCP));
	assert_true(site_layer_in(LEVEL_BESIDE, LEVEL_UCT));
	assert_false(site_layer_in(LEVEL_UCT, LEVEL_UCP));
	assert_string_equal(site_layer_name(LEVEL_BESIDE), "memory");
	assert_int_equal(level_by_name("memory"), -1);
	assert_int_equal(level_by_name("uct"), LEVEL_UCT);
	for (unsigned int row = 1; row < site_count(); row++)
		assert_int_equal(site_row(row)->layer == LEVEL_BESIDE,
				 site_row(row)->wire.kind == UB_MEM);
}

static const struct ub_site *wire_of(const char *symbol)
{
	return &site_row(site_by_symbol(symbol))->wire;
}

static void arguments_follow_prototypes(void **state)
{
	(void)state;
	assert_int_equal(wire_of("PMPI_Send")->arg_comm, 6);
	assert_int_equal(wire_of("PMPI_Alltoallw")->arg_comm, 9);
	assert_int_equal(wire_of("PMPI_Sendrecv")->arg_comm, 11);
	assert_int_equal(wire_of("PMPI_Waitall")->arg_comm, 0);
	assert_int_equal(wire_of("ucp_am_send_nbx")->arg_param, 7);
	assert_int_equal(wire_of("uct_tcp_ep_am_zcopy")->arg_comp, 8);
	assert_int_equal(wire_of("uct_tcp_ep_am_zcopy")->length_rule, UB_LEN_ZCOPY_AM);
	assert_int_equal(wire_of("uct_mm_ep_am_bcopy")->arg_pack, 4);
	assert_int_equal(wire_of("uct_scopy_ep_get_zcopy")->arg_comp, 6);
	assert_int_equal(wire_of("cuCtxCreate_v3")->arg_device, 5);
	assert_int_equal(site_arguments(site_row(site_by_symbol("cuCtxCreate_v4"))),
			 1 << 1 | 1 << 4);
	assert_int_equal(wire_of("zeMemAllocShared")->arg_obj, 7);
	assert_int_equal(wire_of("hsa_amd_memory_pool_allocate")->arg_obj, 4);
	assert_int_equal(wire_of("cuIpcGetMemHandle")->arg_obj, 2);
	assert_int_equal(site_arguments(site_row(site_by_symbol("ucp_ep_flush_nbx"))),
			 1 << 1 | 1 << 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_complete_and_unique),
		cmocka_unit_test(kinds_fit_layers),
		cmocka_unit_test(arrivals_have_their_ids),
		cmocka_unit_test(every_data_slot_has_a_row),
		cmocka_unit_test(completions_have_rows),
		cmocka_unit_test(arguments_follow_prototypes),
		cmocka_unit_test(memory_is_in_two_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
