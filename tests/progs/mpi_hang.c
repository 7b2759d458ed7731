// SPDX-License-Identifier: BSD-3-Clause
/* mpi_hang SECONDS: rank 0 waits for what rank 1 never sends; after that time the job is aborted.
 */
#include <stdlib.h>
#include <unistd.h>

#include "mpi_common.h"

int main(int argc, char **argv)
{
	char byte = 0;

	job_start("mpi_hang", &argc, &argv);
	EXPECT(argc == 2);
	T(MPI_Barrier)(MPI_COMM_WORLD);
	if (rank == 0)
		T(MPI_Recv)(&byte, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 1)
		sleep((unsigned int)atoi(argv[1]));
	MPI_Abort(MPI_COMM_WORLD, 3);
	return 3;
}
