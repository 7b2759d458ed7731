// SPDX-License-Identifier: BSD-3-Clause
/* Properties of MPI functions, by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mpi_function.h"
#include "base/vec.h"

static void collectives_by_all_forms(void **state)
{
	static const char *const forms[] = { "MPI_Allreduce", "MPI_Allreduce_c", "MPI_Iallreduce",
					     "MPI_Iallreduce_c" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct mpi_function found = mpi_function(forms[i]);

		assert_true(found.collective);
		assert_int_equal(found.kind, COLLECTIVE_ALLREDUCE);
		assert_int_equal(found.flow, FLOW_ALL);
		assert_int_equal(found.blocks, i < 2);
	}
	assert_int_equal(mpi_function("MPI_Reduce_scatter").kind, COLLECTIVE_REDUCE_SCATTER);
	assert_int_equal(mpi_function("MPI_Reduce").flow, FLOW_TO_ROOT);
	assert_int_equal(mpi_function("MPI_Ibarrier").flow, FLOW_BARRIER);
}

static void no_collectives(void **state)
{
	static const char *const names[] = { "MPI_Send",           "MPI_Reduce_local",
					     "MPI_Allreduce_init", "MPI_Neighbor_alltoall",
					     "Allreduce",          "MPI_Comm_split" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_false(mpi_function(names[i]).collective);
	assert_false(mpi_function(NULL).blocks);
}

static void blocking(void **state)
{
	static const char *const blocks[] = { "MPI_Send", "MPI_Recv",        "MPI_Waitall",
					      "MPI_Init", "MPI_Info_create", "MPI_Is_thread_main",
					      "MPI_Probe" };
	static const char *const returns[] = { "MPI_Isend",
					       "MPI_Isendrecv",
					       "MPI_Test",
					       "MPI_Testall",
					       "MPI_Startall",
					       "MPI_Send_init",
					       "MPI_Put",
					       "MPI_Rget",
					       "MPI_Bsend",
					       "MPI_Improbe",
					       "MPI_Ineighbor_alltoall" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		assert_true(mpi_function(blocks[i]).blocks);
	for (size_t i = 0; i < ARRAY_SIZE(returns); i++)
		assert_false(mpi_function(returns[i]).blocks);
	assert_true(mpi_function("MPI_Waitsome").completes);
	assert_false(mpi_function("MPI_Recv").completes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collectives_by_all_forms),
		cmocka_unit_test(no_collectives),
		cmocka_unit_test(blocking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
