// SPDX-License-Identifier: BSD-3-Clause
/*
 * Preloaded: from the NO_MEMORY_FROM-th allocation on there is no memory. Prints the number of
 * allocations on stderr at exit if NO_MEMORY_COUNT is set. As glibc alone has these names behind
 * malloc(), for glibc only.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *data, size_t size);

static unsigned long allocations;

static int is_over(void)
{
	static unsigned long from;
	const char *text;

	if (!from) {
		text = getenv("NO_MEMORY_FROM");
		from = text ? strtoul(text, NULL, 10) : (unsigned long)-1;
	}
	if (__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) < from)
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
	if (getenv("NO_MEMORY_COUNT"))
		dprintf(2, "%lu\n", allocations);
}
