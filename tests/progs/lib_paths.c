// SPDX-License-Identifier: BSD-3-Clause
/* A library for mpi_paths, linked without symbols and debug information: calls back from below. */
#include <alloca.h>
#include <string.h>

void paths_call(void (*function)(void), int depth);

/* Frames of a size that is known at run time only: found through %rbp. */
static __attribute__((noipa)) void with_alloca(void (*function)(void), int depth)
{
	char *space = alloca(64 * (depth + 1));

	memset(space, depth, 64 * (depth + 1));
	paths_call(function, depth - 1);
	__asm__ volatile("" : : "r"(space) : "memory");
}

__attribute__((noipa)) void paths_call(void (*function)(void), int depth)
{
	if (depth > 0)
		with_alloca(function, depth);
	else
		function();
	__asm__ volatile("" : : : "memory");
}
