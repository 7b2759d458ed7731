/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An "MPI library" on user-level threads, and a program on it: tests/live/call_ends.bats builds the
 * parts of this file one by one. A call entered on one stack is left only after the same function
 * has run on another one, which is what a return probe does not survive.
 */
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

int ABT_init(int argc, char **argv);
void runtime_yield(void);
void runtime_start(void (*body)(void));
int MPI_Init(int *argc, char ***argv);
int MPI_Barrier(void *comm);

#ifdef RUNTIME
static ucontext_t contexts[2];
static char stack[1 << 18];
static int current;

int ABT_init(int argc, char **argv)
{
	(void)argc, (void)argv;
	return 0;
}

void runtime_yield(void)
{
	int from = current;

	current = !from;
	swapcontext(&contexts[from], &contexts[!from]);
}

void runtime_start(void (*body)(void))
{
	getcontext(&contexts[1]);
	contexts[1].uc_stack.ss_sp = stack;
	contexts[1].uc_stack.ss_size = sizeof(stack);
	contexts[1].uc_link = &contexts[0];
	makecontext(&contexts[1], body, 0);
	runtime_yield();
	current = 0;
}
#endif

#ifdef LIBRARY
static int calls;

__attribute__((noinline)) int PMPI_Init(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	return 0;
}

/* The first call waits on its stack until the second one is over. */
__attribute__((noinline)) int PMPI_Barrier(void *comm)
{
	(void)comm;
	if (calls++ == 0)
		runtime_yield();
	return 0;
}

int MPI_Init(int *argc, char ***argv) __attribute__((weak, alias("PMPI_Init")));
int MPI_Barrier(void *comm) __attribute__((weak, alias("PMPI_Barrier")));
#endif

#ifdef PROGRAM
static void body(void)
{
	MPI_Barrier(NULL);
}

int main(int argc, char **argv)
{
	/* time to be looked at */
	usleep(300000);
	ABT_init(argc, argv);
	MPI_Init(&argc, &argv);
	runtime_start(body);
	MPI_Barrier(NULL);
	runtime_yield();
	puts("done");
	return 0;
}
#endif
