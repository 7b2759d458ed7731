// SPDX-License-Identifier: BSD-3-Clause
/* usage: mpi_allreduce COUNT ROUNDS: sums of COUNT doubles. Which way they go is the MPI's choice.
 */
#include "mpi_common.h"

int main(int argc, char **argv)
{
	double *mine, *sums;
	int count, rounds, round, i;

	job_start("mpi_allreduce", &argc, &argv);
	EXPECT(argc == 3);
	count = atoi(argv[1]);
	rounds = atoi(argv[2]);
	EXPECT(count > 0 && rounds > 0);
	mine = malloc(count * sizeof(*mine));
	sums = malloc(count * sizeof(*sums));
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < count; i++)
			mine[i] = rank + i % 1000 + round;
		T(MPI_Allreduce)(mine, sums, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		for (i = 0; i < count; i++)
			EXPECT(sums[i] ==
			       size * (size - 1) / 2 + size * (double)(i % 1000 + round));
	}
	free(mine);
	free(sums);
	return job_end();
}
