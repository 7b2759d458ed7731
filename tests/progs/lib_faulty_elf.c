/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fault of libelf, to be preloaded: a file that ends in "crash" or "hang" does that to who looks
 * at it in memory, as a reader of foreign files does.
 */
#include <dlfcn.h>
#include <libelf.h>
#include <stdbool.h>
#include <string.h>

static bool ends_in(const char *image, size_t size, const char *what)
{
	size_t length = strlen(what);

	return size > length && !memcmp(image + size - length, what, length);
}

Elf *elf_memory(char *image, size_t size)
{
	Elf *(*real)(char *, size_t) = dlsym(RTLD_NEXT, "elf_memory");
	static volatile const char *volatile nowhere;
	static volatile bool forever = true;

	if (ends_in(image, size, "crash") && *nowhere)
		return NULL;
	while (ends_in(image, size, "hang") && forever)
		;
	return real(image, size);
}
