// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/user_threads.h"

#include <stdio.h>
#include <string.h>

#include "observe/process/elf.h"

/* libmpi needs libopen-rte, which needs libopen-pal, which needs the runtime. */
#define MAX_DEPTH 3

static const struct {
	const char *name;
	const char *symbol; /* public functions that every program on it calls */
	const char *file; /* how the name of its library begins */
} runtimes[] = {
	{ "Argobots", "ABT_init", "libabt.so" },
	{ "Qthreads", "qthread_initialize", "libqthread.so" },
	{ "MassiveThreads", "myth_yield", "libmyth.so" },
	{ "Charm++", "CthYield", "libconv-core" },
};

#define COUNT (sizeof(runtimes) / sizeof(runtimes[0]))

bool user_threads_symbol(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (runtimes[i].symbol[0] == name[0] && !strcmp(runtimes[i].symbol, name))
			return true;
	return false;
}

static int find_symbol(void *arg, const struct elf_symbol *symbol)
{
	const char **found = arg;

	for (size_t i = 0; i < COUNT && symbol->defined; i++)
		if (!strcmp(runtimes[i].symbol, symbol->name))
			*found = runtimes[i].name;
	return *found != NULL;
}

/* Linked in statically, it is seldom exported. */
static const char *contained(const struct elf *elf)
{
	const char *found = NULL;

	if (!elf_each_symbol(elf, true, find_symbol, &found))
		elf_each_symbol(elf, false, find_symbol, &found);
	return found;
}

static const char *by_file(const char *file)
{
	for (size_t i = 0; i < COUNT; i++)
		if (!strncmp(file, runtimes[i].file, strlen(runtimes[i].file)))
			return runtimes[i].name;
	return NULL;
}

static const char *needed(const struct elf *elf, const char *folder, int length, int depth)
{
	const char *file, *found = NULL;

	for (unsigned int i = 0; !found && (file = elf_needed(elf, i)); i++)
		found = by_file(file);
	for (unsigned int i = 0; !found && depth && (file = elf_needed(elf, i)); i++) {
		char path[4096];
		struct elf *other;

		snprintf(path, sizeof(path), "%.*s/%s", length, folder, file);
		if (elf_load(&other, path))
			continue;
		found = needed(other, folder, length, depth - 1);
		elf_free(other);
	}
	return found;
}

const char *user_threads_of(const struct library *library)
{
	const char *slash = strrchr(library->path, '/');
	const char *found = contained(library->elf);

	return found ? found
		     : needed(library->elf, library->path, slash ? (int)(slash - library->path) : 0,
			      slash ? MAX_DEPTH : 0);
}

const char *user_threads_mapped(const mapped_libraries *mapped)
{
	for (size_t i = 0; i < mapped->len; i++)
		if (mapped->data[i].library->roles & LIB_USER_THREADS)
			return contained(mapped->data[i].library->elf);
	return NULL;
}
