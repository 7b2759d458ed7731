// SPDX-License-Identifier: BSD-3-Clause
/*
 * Preloaded into ucxbpf: from the NO_MEMORY_FROM-th allocation on there is no memory, or for
 * NO_MEMORY_TIMES of them. Prints the number of allocations on stderr at exit if NO_MEMORY_COUNT is
 * set. Programs that ucxbpf starts have all the memory they want. As glibc alone has these names
 * behind malloc(), for glibc only.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *data, size_t size);

static unsigned long allocations;

static unsigned long number(const char *variable)
{
	const char *text = getenv(variable);

	return text ? strtoul(text, NULL, 10) : (unsigned long)-1;
}

static int is_over(void)
{
	static unsigned long from, times;
	unsigned long at;

	if (strcmp(program_invocation_short_name, "ucxbpf"))
		return 0;
	at = __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
	if (!from) {
		times = number("NO_MEMORY_TIMES");
		from = number("NO_MEMORY_FROM");
	}
	if (at < from || at - from >= times)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return is_over() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return is_over() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *data, size_t size)
{
	return is_over() ? NULL : __libc_realloc(data, size);
}

static __attribute__((destructor)) void count(void)
{
	if (allocations && getenv("NO_MEMORY_COUNT"))
		dprintf(2, "%lu\n", allocations);
}
