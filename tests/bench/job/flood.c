// SPDX-License-Identifier: BSD-3-Clause
/*
 * flood LIBRARY SECONDS RATE CPU...: calls PMPI_Waitall of a library without requests (so it does
 * nothing) from a process per CPU, RATE times a second each, 0 = flat out. Prints the calls made
 * and the ns per call of each process; begins when stdin ends.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int (*waitall_fn)(int count, void *requests, void *statuses);

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* What a pause made late is not made up for: a rate is a highest rate. */
static void produce(waitall_fn waitall, double seconds, double rate)
{
	double start = now(), t = start, due = start, gap = rate > 0 ? 16 / rate : 0;
	long calls = 0;

	while (t < start + seconds) {
		for (int i = 0; i < 16; i++)
			waitall(0, NULL, NULL);
		calls += 16;
		due = due + gap > t ? due + gap : t;
		do
			t = now();
		while (t < due);
	}
	printf("%ld %.1f\n", calls, (t - start) * 1e9 / calls);
	fflush(stdout);
}

/* Each process is an MPI job of its own: the library wants to be initialised. */
static waitall_fn load(const char *name)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
	int (*init)(int *argc, char ***argv);
	waitall_fn waitall;

	if (!library) {
		fprintf(stderr, "flood: %s\n", dlerror());
		exit(2);
	}
	*(void **)&init = dlsym(library, "PMPI_Init");
	*(void **)&waitall = dlsym(library, "PMPI_Waitall");
	init(NULL, NULL);
	return waitall;
}

static void run(char **argv, const char *cpu)
{
	waitall_fn waitall = load(argv[1]);
	char byte;

	pin(atoi(cpu));
	printf("pid %d\n", getpid());
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	produce(waitall, atof(argv[2]), atof(argv[3]));
	/* a tracer ends with the last of its processes, and is still to be asked what it took */
	sleep(1);
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: flood LIBRARY SECONDS RATE CPU...\n");
		return 2;
	}
	for (int i = 4; i < argc; i++)
		if (!fork()) {
			run(argv, argv[i]);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	return 0;
}
