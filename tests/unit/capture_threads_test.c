// SPDX-License-Identifier: BSD-3-Clause
/* A look finds a thread in a call, or outside of MPI, or says why neither is known. */
#include "file_records.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/deadline.h"
#include "observe/capture/threads.h"

#define FRAME __attribute__((noipa))

struct where {
	char state[4], function[64], reason[128];
	bool outside;
	uint64_t ts;
};

static volatile int *ready; /* shared with the child */

/* The program's own function, called where the child stays. */
static int (*inner)(void);

FRAME static int sleeps(void)
{
	for (;;)
		pause();
	return 1;
}

FRAME static int spins(void)
{
	for (volatile int turn = 1; turn; turn++)
		turn += turn > 1000;
	return 1;
}

FRAME static void stays(void)
{
	*ready = 1;
	*ready += inner();
}

#define DEEP (128 << 10) /* bytes: more than a sample of a running thread's stack has */

FRAME static int is_deep(void)
{
	volatile char room[DEEP];

	room[0] = room[DEEP - 1] = 1;
	return room[0] + spins();
}

/* Jumps into a page of code that no file has: an endless loop. */
FRAME static int in_made_code(void)
{
	static const unsigned char loop[] = { 0xeb, 0xfe };
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, loop, sizeof(loop));
	return 1 + ((int (*)(void))(void *)page)();
}

static int (*from_library(const char *name))(void)
{
	const char *build = getenv("BUILD");
	char path[512];
	void *library;

	snprintf(path, sizeof(path), "%s/tests/progs/lib/lib_mpix.so", build ? build : "build");
	library = dlopen(path, RTLD_NOW);
	assert_non_null(library);
	return (int (*)(void))dlsym(library, name);
}

/* Returns in the parent alone. */
static void *forks(void *pid)
{
	*(pid_t *)pid = fork();
	if (!*(pid_t *)pid) {
		stays();
		_exit(0);
	}
	return NULL;
}

/* The process's own stack is another one then. */
static bool from_thread;

static pid_t start(int (*where)(void))
{
	pthread_t thread;
	pid_t pid;

	assert_non_null(where);
	inner = where;
	ready = mmap(NULL, sizeof(*ready), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	assert_ptr_not_equal((void *)ready, MAP_FAILED);
	if (from_thread) {
		assert_int_equal(pthread_create(&thread, NULL, forks, &pid), 0);
		pthread_join(thread, NULL);
	} else {
		forks(&pid);
	}
	assert_true(pid > 0);
	while (!*ready)
		usleep(1000);
	return pid;
}

static void text(char *to, size_t size, const json_t *record, const char *name)
{
	const char *from = json_string_value(json_object_get(record, name));

	snprintf(to, size, "%s", from ? from : "");
}

static uint64_t deadline = DEADLINE_NONE; /* of looks */

/* Its records, the caller's, and how many threads have none. */
static json_t *look(pid_t pid, unsigned int more_roles, bool last, unsigned int *untold)
{
	struct library mpi = { .roles = LIB_MPI };
	struct tracked tracked = { .tgid = pid,
				   .alive = true,
				   .user_threads = more_roles & LIB_USER_THREADS };
	struct addresses addresses;
	struct track track = { 0 };
	call_stacks stacks = { 0 };
	char *path = temp_path();
	struct file_writer *writer = must_create(path);
	struct file_reader *reader;
	json_t *sides;

	vec_push(&tracked.libraries, &mpi);
	vec_push(&track.processes, tracked);
	*map_insert(&track.latest, (uint64_t)pid, 0, NULL) = 1;
	addresses_init(&addresses, writer);
	*untold = threads_look(&track, &addresses, writer, &stacks, last, deadline);
	assert_int_equal(file_writer_close(writer, NULL), 0);
	reader = must_open(path);
	sides = json_deep_copy(file_reader_sides(reader));
	file_reader_free(reader);
	temp_free(path);
	vec_release(&stacks);
	vec_release(&track.processes.data[0].libraries);
	vec_release(&track.processes);
	map_release(&track.latest);
	addresses_release(&addresses);
	return sides;
}

static void look_once(pid_t pid, unsigned int more_roles, struct where *where)
{
	unsigned int untold;
	json_t *sides = look(pid, more_roles, true, &untold);
	const json_t *record = json_array_get(sides, 0);

	assert_int_equal(json_array_size(sides), 1);
	*where = (struct where){ 0 };
	text(where->state, sizeof(where->state), record, "state");
	text(where->function, sizeof(where->function), record, "function");
	text(where->reason, sizeof(where->reason), record, "reason");
	where->outside = json_is_true(json_object_get(record, "outside"));
	where->ts = (uint64_t)json_integer_value(json_object_get(record, "ts"));
	json_decref(sides);
}

/* It takes the child a moment to be where it stays, and a busy machine may let it wait. */
static void expect(int (*place)(void), unsigned int more_roles, const char *state,
		   const char *function, const char *reason)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + 20000000000ull;
	const pid_t pid = start(place);
	struct where where;
	uint64_t before;

	do {
		before = clock_ns(CLOCK_MONOTONIC);
		look_once(pid, more_roles, &where);
	} while ((strcmp(where.state, state) || strcmp(where.reason, reason) ||
		  strcmp(where.function, function)) &&
		 clock_ns(CLOCK_MONOTONIC) < until);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap((void *)ready, sizeof(*ready));
	assert_string_equal(where.reason, reason);
	assert_string_equal(where.function, function);
	assert_string_equal(where.state, state);
	assert_int_equal(where.outside, !*function && !*reason);
	assert_true(where.ts >= before);
}

static void outside(void **state)
{
	(void)state;
	expect(sleeps, 0, "S", "", "");
	if (!geteuid())
		expect(spins, 0, "R", "", "");
}

static void in_a_call(void **state)
{
	(void)state;
	expect(from_library("PMPI_Recv"), 0, "S", "MPI_Recv", "");
}

/* Stacks that take too long to walk have that reason. */
static void in_no_time(void **state)
{
	(void)state;
	deadline = 1;
	expect(from_library("PMPI_Recv"), 0, "S", "", "its stack was not walked in time");
	deadline = DEADLINE_NONE;
}

/* No probe sees calls of some extensions, so two looks would not show that it is the same call. */
static void in_an_extension(void **state)
{
	(void)state;
	expect(from_library("MPIX_Comm_agree"), 0, "S", "MPIX_Comm_agree", "");
	expect(from_library("MPIX_Threadcomm_start"), 0, "S", "",
	       "it is in a function of MPI that is not traced");
}

static void in_code_of_the_library(void **state)
{
	(void)state;
	expect(from_library("mpix_own"), 0, "S", "",
	       "it runs code of the MPI library, a tool or UCX, in no known function of MPI");
}

static void on_stacks_that_are_switched(void **state)
{
	(void)state;
	expect(sleeps, LIB_USER_THREADS, "S", "",
	       "its stack is one of several that it runs in turn, another may be in MPI");
	from_thread = true;
	expect(sleeps, 0, "S", "", "its stack is not the one that the process began with");
	from_thread = false;
}

static void stack_not_known_to_its_beginning(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	expect(in_made_code, 0, "R", "", "its stack leads into code of no file");
	expect(is_deep, 0, "R", "", "a frame of its stack cannot be found");
}

static void before_the_last_look(int (*place)(void), size_t records, unsigned int untold)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + 20000000000ull;
	const pid_t pid = start(place);
	unsigned int got;
	size_t written;

	do {
		json_t *sides = look(pid, 0, false, &got);

		written = json_array_size(sides);
		json_decref(sides);
	} while ((written != records || got != untold) && clock_ns(CLOCK_MONOTONIC) < until);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap((void *)ready, sizeof(*ready));
	assert_int_equal(written, records);
	assert_int_equal(got, untold);
}

/* Two looks that find a thread in the same place are what proves that its call stays open. */
static void another_look_may_tell(void **state)
{
	(void)state;
	before_the_last_look(from_library("PMPI_Recv"), 1, 0);
	before_the_last_look(from_library("mpix_own"), 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outside),
		cmocka_unit_test(in_a_call),
		cmocka_unit_test(in_no_time),
		cmocka_unit_test(in_an_extension),
		cmocka_unit_test(in_code_of_the_library),
		cmocka_unit_test(on_stacks_that_are_switched),
		cmocka_unit_test(stack_not_known_to_its_beginning),
		cmocka_unit_test(another_look_may_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
