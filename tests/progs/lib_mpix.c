// SPDX-License-Identifier: BSD-3-Clause
/* An MPI library of a few functions, which never return: of its own code, and of calls. */
#include <unistd.h>

int PMPI_Init(int *argc, char ***argv);
int PMPI_Recv(void);
int MPIX_Comm_agree(void);
int MPIX_Threadcomm_start(void);
int mpix_own(void);

int PMPI_Init(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

/* Not the last thing that its callers do: each has a frame. */
static __attribute__((noipa)) int stay(void)
{
	for (;;)
		pause();
	return 1;
}

__attribute__((noipa)) int mpix_own(void)
{
	return 1 + stay();
}

__attribute__((noipa)) int PMPI_Recv(void)
{
	return 2 + mpix_own();
}

__attribute__((noipa)) int MPIX_Comm_agree(void)
{
	return 3 + PMPI_Recv();
}

__attribute__((noipa)) int MPIX_Threadcomm_start(void)
{
	return 4 + MPIX_Comm_agree();
}
