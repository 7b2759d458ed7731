// SPDX-License-Identifier: BSD-3-Clause
#include "site/inventory/ldso.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "observe/process/elf.h"
#include "site/inventory/internal.h"

/* ---- its cache ---- */

/* /etc/ld.so.cache in the form of glibc since 2.1.94: sysdeps/generic/dl-cache.h, cache_file_new.
 */

#define MAX_CACHE (16 << 20)

static const char magic[] = "glibc-ld.so.cache1.1";

struct cache_head {
	char magic[20];
	uint32_t count, text_bytes, rest[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t name, path, version; /* offsets from the head */
	uint64_t hardware;
};

static const char *text_at(const char *head, size_t size, uint32_t offset)
{
	return offset < size ? head + offset : "";
}

static void take_entries(struct ldso *ld, const char *head, size_t size)
{
	struct cache_head fields;

	if (size < sizeof(fields))
		return;
	memcpy(&fields, head, sizeof(fields));
	for (uint32_t i = 0; i < fields.count; i++) {
		size_t at = sizeof(fields) + i * sizeof(struct cache_entry);
		struct cache_entry entry;

		if (at + sizeof(entry) > size)
			return;
		memcpy(&entry, head + at, sizeof(entry));
		vec_push(&ld->entries, ((struct ldso_entry){ text_at(head, size, entry.name),
							     text_at(head, size, entry.path) }));
	}
}

/* Fills cache and entries; leaves them empty without a cache of a known format. */
static void ld_cache_read(struct ldso *ld)
{
	size_t size = 0;
	const char *head;

	ld->cache = look_whole("/etc/ld.so.cache", MAX_CACHE, &size);
	if (!ld->cache)
		return;
	/* an older form may come before it */
	head = memmem(ld->cache, size, magic, sizeof(magic) - 1);
	if (head)
		take_entries(ld, head, size - (size_t)(head - ld->cache));
}

/* ---- searching ---- */

#define MAX_DEPTH 32 /* of libraries that need each other */

/* Where the loader looks in the end. */
static const char *const last_folders[] = { "/lib64", "/usr/lib64", "/lib", "/usr/lib" };

void ldso_init(struct ldso *ld)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	char *copy = xstrdup(path ? path : ""), *rest = copy, *folder;

	*ld = (struct ldso){ 0 };
	while ((folder = strsep(&rest, ":;")))
		if (*folder)
			vec_push(&ld->folders, xstrdup(folder));
	free(copy);
	ld_cache_read(ld);
}

void ldso_release(struct ldso *ld)
{
	for (size_t i = 0; i < ld->folders.len; i++)
		free(ld->folders.data[i]);
	for (size_t i = 0; i < ld->known.len; i++) {
		free(ld->known.data[i].path);
		free(ld->known.data[i].missing);
	}
	vec_release(&ld->folders);
	vec_release(&ld->known);
	vec_release(&ld->entries);
	free(ld->cache);
}

static bool is_usable(const char *path)
{
	struct elf *elf;

	if (access(path, R_OK) || elf_load(&elf, path))
		return false;
	elf_free(elf);
	return true;
}

/* The folder's file of that name, the caller's; NULL: none, or not for this machine. */
static char *in_folder(const char *folder, int length, const char *name)
{
	char path[LOOK_PATH];

	look_path(path, "%.*s/%s", length, folder, name);
	return *path && is_usable(path) ? xstrdup(path) : NULL;
}

struct wanted_library {
	const char *name;
	char *found;
};

static int look_in_runpath(void *arg, const char *folder)
{
	struct wanted_library *wanted = arg;

	wanted->found = in_folder(folder, (int)strlen(folder), wanted->name);
	return wanted->found != NULL;
}

static char *in_cache(const struct ldso *ld, const char *name)
{
	for (size_t i = 0; i < ld->entries.len; i++)
		if (!strcmp(ld->entries.data[i].name, name) && is_usable(ld->entries.data[i].path))
			return xstrdup(ld->entries.data[i].path);
	return NULL;
}

/* The file that the loader takes for a name; NULL: none. */
static char *find(const struct ldso *ld, const char *name, const struct elf *elf,
		  const char *carrier, const char *home)
{
	struct wanted_library wanted = { .name = name };
	char *found = NULL;

	if (strchr(name, '/'))
		return is_usable(name) ? xstrdup(name) : NULL;
	/* by a prefix, since the libraries of renamed copies keep it */
	if (home && !strncmp(name, "libuc", strlen("libuc")))
		found = in_folder(home, (int)strlen(home), name);
	if (!found && elf_each_runpath(elf, carrier, look_in_runpath, &wanted))
		found = wanted.found;
	for (size_t i = 0; !found && i < ld->folders.len; i++)
		found = in_folder(ld->folders.data[i], (int)strlen(ld->folders.data[i]), name);
	found = found ? found : in_cache(ld, name);
	for (size_t i = 0; !found && i < sizeof(last_folders) / sizeof(*last_folders); i++)
		found = in_folder(last_folders[i], (int)strlen(last_folders[i]), name);
	return found;
}

static void say(char **all, const char *format, const char *a, const char *b)
{
	char *one = xasprintf(format, a, b);
	char *both = xasprintf("%s%s%s", *all ? *all : "", *all ? ", " : "", one);

	free(one);
	free(*all);
	*all = both;
}

static const char *missing_of(struct ldso *ld, const char *path, const char *home, int depth);

static void check_needed(struct ldso *ld, const struct elf *elf, const char *path, const char *name,
			 const char *home, int depth, char **missing)
{
	char *found = find(ld, name, elf, path, home);
	const char *below;
	char *version;
	struct elf *other;

	if (!found) {
		say(missing, "%s%s is not found", name, "");
		return;
	}
	if (!elf_load(&other, found)) {
		version = elf_lacks_version(elf, name, other);
		if (version)
			say(missing, "%s has no version %s", found, version);
		free(version);
		elf_free(other);
	}
	below = missing_of(ld, found, home, depth + 1);
	if (below)
		say(missing, "%s: %s", name, below);
	free(found);
}

static const char *missing_of(struct ldso *ld, const char *path, const char *home, int depth)
{
	size_t at = ld->known.len;
	char *missing = NULL;
	struct elf *elf;
	const char *name;

	for (size_t i = 0; i < at; i++)
		if (!strcmp(ld->known.data[i].path, path))
			return ld->known.data[i].missing;
	/* before the libraries that it needs are examined: some libraries need each other */
	vec_push(&ld->known, ((struct ldso_known){ xstrdup(path), NULL }));
	if (depth > MAX_DEPTH || elf_load(&elf, path))
		return NULL;
	for (unsigned int i = 0; (name = elf_needed(elf, i)); i++)
		check_needed(ld, elf, path, name, home, depth, &missing);
	elf_free(elf);
	ld->known.data[at].missing = missing;
	return missing;
}

char *ldso_refuses(struct ldso *ld, const char *path, const char *home)
{
	const char *missing;

	if (!is_usable(path))
		return xstrdup("not a library that this machine can read");
	missing = missing_of(ld, path, home, 0);
	return missing ? xstrdup(missing) : NULL;
}
