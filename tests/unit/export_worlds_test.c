// SPDX-License-Identifier: BSD-3-Clause
/* Which collective calls belong together, and why it is not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "show/export/worlds.h"

#define RANKS 3

static const char world_comm[] = "MPI_COMM_WORLD", another[] = "another";

/* A job of three ranks, each of which calls MPI_Init, Allreduce, Barrier, Bcast. */
struct job {
	struct worlds worlds;
	struct fact_process processes[RANKS];
	uint64_t time;
};

static void call(struct job *job, int process, const char *function, const char *comm)
{
	worlds_call(&job->worlds, &(struct fact_call){ .process = process,
						       .function = function,
						       .comm = comm,
						       .start = ++job->time });
}

static void message(struct job *job, int src, int dst)
{
	worlds_message(&job->worlds, &(struct fact_message){ .src = src, .dst = dst });
}

static void begin(struct job *job)
{
	*job = (struct job){ 0 };
	worlds_init(&job->worlds);
	for (int i = 0; i < RANKS; i++)
		job->processes[i] = (struct fact_process){
			.index = i, .rank = RANKS - 1 - i, .size = RANKS, .from_start = true
		};
}

static void calls(struct job *job, int process)
{
	call(job, process, "MPI_Init_thread", NULL);
	call(job, process, "MPI_Allreduce", world_comm);
	call(job, process, "MPI_Barrier", world_comm);
	call(job, process, "MPI_Bcast", world_comm);
}

static void whole(struct job *job)
{
	begin(job);
	for (int i = 0; i < RANKS; i++)
		calls(job, i);
	message(job, 2, 0);
	message(job, 1, 2);
}

static const char *ask(struct job *job, int process, const char *function, const char *comm,
		       uint64_t start)
{
	const struct collective *row;
	const char *reason;
	const struct world *world =
		worlds_of(&job->worlds, process, function, comm, start, &row, &reason);

	assert_int_equal(world == NULL, reason || !row);
	return reason ? reason : world ? "told" : "none";
}

static void settle(struct job *job, const char *reason)
{
	assert_int_equal(worlds_settle(&job->worlds, job->processes, RANKS, reason), 0);
}

/* Of the barrier of the first process. */
static void settles(struct job *job, const char *reason, const char *expected)
{
	settle(job, reason);
	assert_string_equal(ask(job, 0, "MPI_Barrier", world_comm, 3), expected);
	worlds_release(&job->worlds);
}

static void told(void **state)
{
	struct job job;

	(void)state;
	whole(&job);
	call(&job, 1, "MPI_Barrier", world_comm);
	settle(&job, NULL);
	for (int i = 0; i < RANKS; i++) {
		assert_string_equal(ask(&job, i, "MPI_Allreduce", world_comm, i * 4 + 2), "told");
		assert_string_equal(ask(&job, i, "MPI_Barrier", world_comm, i * 4 + 3), "told");
	}
	assert_string_equal(ask(&job, 1, "MPI_Barrier", world_comm, job.time),
			    "not seen of every rank");
	assert_string_equal(ask(&job, 0, "MPI_Bcast", world_comm, 4), "its root is not known");
	assert_string_equal(ask(&job, 0, "MPI_Ireduce_scatter_c", world_comm, 3),
			    "not blocking: its end is not known");
	assert_string_equal(ask(&job, 0, "MPI_Barrier", another, 3),
			    "another communicator than MPI_COMM_WORLD: its members are not known");
	assert_string_equal(ask(&job, 0, "MPI_Send", world_comm, 3), "none");
	assert_string_equal(ask(&job, 0, "MPI_Init", NULL, 3), "none");
	assert_string_equal(ask(&job, -1, "MPI_Barrier", world_comm, 3),
			    "its process is not known");
	/* processes by rank, which is the other way round here */
	for (int i = 0; i < RANKS; i++)
		assert_int_equal(job.worlds.worlds.data[0].ranks.data[i], RANKS - 1 - i);
	worlds_release(&job.worlds);
}

static void in_doubt(void **state)
{
	struct job job;

	(void)state;
	whole(&job);
	settles(&job, "records were lost", "records were lost");
	whole(&job);
	job.processes[2].rank = 1;
	settles(&job, NULL, "several processes have one rank");
	whole(&job);
	job.processes[2].from_start = false;
	settles(&job, NULL, "a rank was not traced from its start");
	whole(&job);
	job.processes[1].rank = -1;
	settles(&job, NULL, "rank or size of its world are not known");
	whole(&job);
	job.processes[2].index = -1;
	settles(&job, NULL, "not all ranks were traced");
	whole(&job);
	for (int i = 0; i < RANKS; i++)
		job.processes[i].size = 1 << 30;
	settles(&job, NULL, "not all ranks were traced");
	whole(&job);
	call(&job, 1, "MPI_Bcast", NULL);
	settles(&job, NULL, "which communicator is MPI_COMM_WORLD is not known");
}

static void of_another_kind(void **state)
{
	struct job job;

	(void)state;
	/* a world each: no messages between them */
	begin(&job);
	for (int i = 0; i < RANKS; i++)
		calls(&job, i);
	message(&job, 0, 1);
	message(&job, 2, 2);
	settles(&job, NULL, "no messages join its ranks");
	/* in another order */
	begin(&job);
	calls(&job, 0);
	calls(&job, 1);
	call(&job, 2, "MPI_Init", NULL);
	call(&job, 2, "MPI_Barrier", world_comm);
	call(&job, 2, "MPI_Allreduce", world_comm);
	message(&job, 0, 1);
	message(&job, 0, 2);
	settles(&job, NULL, "its ranks call different ones");
	/* joined behind MPI_Init, as far as is seen */
	begin(&job);
	calls(&job, 0);
	calls(&job, 1);
	call(&job, 2, "MPI_Allreduce", world_comm);
	message(&job, 0, 1);
	message(&job, 0, 2);
	settles(&job, NULL, "a rank was not traced from its start");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told),
		cmocka_unit_test(in_doubt),
		cmocka_unit_test(of_another_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
