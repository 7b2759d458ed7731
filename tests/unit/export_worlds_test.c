// SPDX-License-Identifier: BSD-3-Clause
/* Which collective calls belong together, and why it is not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
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
						       .id = job->time + 1,
						       .start = ++job->time });
}

/* Of the last call, or, with an id, of another one. */
static void op(struct job *job, uint64_t id, const char *function, const char *name)
{
	worlds_op(&job->worlds, &(struct fact_op){ .call = id ? id : job->time,
						   .function = function,
						   .op = name,
						   .sends = strstr(name, "send") != NULL });
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
	const struct fact_call call = {
		.id = start, .process = process, .function = function, .comm = comm, .start = start
	};
	struct collective found;
	const char *reason;
	const struct world *world = worlds_of(&job->worlds, &call, &found, &reason);

	if (reason)
		assert_null(world);
	else if (world && found.root != OTF2_COLLECTIVE_ROOT_NONE)
		return found.root == 0 ? "root 0" : found.root == 1 ? "root 1" : "another root";
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
	assert_string_equal(ask(&job, 0, "MPI_Bcast", world_comm, 4), "its root is not certain");
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

/*
 * A call of all processes, which have the ranks 2, 1, 0. Each does: 's' send, 'r' receive, 'b'
 * both, 'o' something else, '-' nothing.
 */
static void rooted(struct job *job, const char *function, const char *did)
{
	for (int i = 0; i < RANKS; i++) {
		/* its operations before and behind it */
		if (did[i] == 'r' || did[i] == 'b')
			op(job, job->time + 1, function, "tag_recv");
		call(job, i, function, world_comm);
		if (did[i] == 's' || did[i] == 'b')
			op(job, 0, function, "tag_send_sync");
		if (did[i] == 'o')
			op(job, 0, function, "flush");
	}
}

static void roots(void **state)
{
	static const char unsure[] = "its root is not certain";
	static const struct {
		const char *function, *did, *expected;
	} cases[] = {
		{ "MPI_Bcast", "rrs", "root 0" },
		{ "MPI_Bcast", "bsr", "root 1" },
		{ "MPI_Scatterv_c", "srr", "another root" },
		{ "MPI_Reduce", "srb", "root 1" },
		{ "MPI_Gather", "ssr", "root 0" },
		/* none, several, some that got their data in another way */
		{ "MPI_Bcast", "bbr", unsure },
		{ "MPI_Bcast", "ssr", unsure },
		{ "MPI_Bcast", "sr-", unsure },
		{ "MPI_Gather", "r-s", unsure },
		{ "MPI_Bcast", "sro", unsure },
		{ "MPI_Bcast", "---", unsure },
		{ "MPI_Barrier", "bbb", "told" },
		{ "MPI_Reduce", "rss", "another root" },
	};
	struct job job;
	uint64_t first;

	(void)state;
	begin(&job);
	for (int i = 0; i < RANKS; i++)
		call(&job, i, "MPI_Init", NULL);
	message(&job, 2, 0);
	message(&job, 1, 2);
	first = job.time + 1;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		rooted(&job, cases[i].function, cases[i].did);
	call(&job, 0, "MPI_Bcast", world_comm);
	settle(&job, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (int k = 0; k < RANKS; k++)
			assert_string_equal(ask(&job, k, cases[i].function, world_comm,
						first + i * RANKS + (uint64_t)k),
					    cases[i].expected);
	assert_string_equal(ask(&job, 0, "MPI_Bcast", world_comm, job.time),
			    "not seen of every rank");
	worlds_release(&job.worlds);
}

/* A world of one is its own root. */
static void alone(void **state)
{
	struct job job;

	(void)state;
	begin(&job);
	job.processes[0] = (struct fact_process){ .rank = 0, .size = 1, .from_start = true };
	call(&job, 0, "MPI_Init", NULL);
	call(&job, 0, "MPI_Bcast", world_comm);
	settle(&job, NULL);
	assert_string_equal(ask(&job, 0, "MPI_Bcast", world_comm, 2), "root 0");
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
		cmocka_unit_test(roots),
		cmocka_unit_test(alone),
		cmocka_unit_test(in_doubt),
		cmocka_unit_test(of_another_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
