// SPDX-License-Identifier: BSD-3-Clause
/*
 * Children come and go between messages: one that only exits, one that runs another program. One
 * more is there from before MPI_Init to the end.
 */
#include <sys/wait.h>

#include "mpi_common.h"

#define ROUNDS 5
#define MESSAGES 11
#define BYTES 1301

static void child_comes_and_goes(bool executes)
{
	pid_t child = fork();
	int status;

	EXPECT(child >= 0);
	if (child == 0) {
		if (executes)
			execl("/bin/true", "true", (char *)NULL);
		_exit(0);
	}
	EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

/* It ends with its parent, whose end of the pipe that closes. */
static void child_stays(void)
{
	int ends[2];
	char byte;
	pid_t child;

	if (pipe(ends) || (child = fork()) < 0)
		exit(2);
	if (child)
		return;
	close(ends[1]);
	_exit(read(ends[0], &byte, 1) != 0);
}

int main(int argc, char **argv)
{
	char buffer[BYTES];
	int round, i;

	child_stays();

	job_start("mpi_fork", &argc, &argv);
	EXPECT(size == 2);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < MESSAGES; i++) {
			if (rank == round % 2)
				send_bytes(buffer, BYTES, !rank, i);
			else
				recv_bytes(buffer, BYTES, !rank, i);
		}
		child_comes_and_goes(round % 2);
	}
	return job_end();
}
