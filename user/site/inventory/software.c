// SPDX-License-Identifier: BSD-3-Clause
/*
 * Copies of UCX and MPI: what LD_LIBRARY_PATH, the loader's cache and the usual folders hold,
 * recognised by what they export, each file once.
 */
#include <glob.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "site/inventory/collect.h"
#include "site/inventory/ldso.h"
#include "observe/process/library.h"

static const char *const usual_folders[] = {
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib64",
	"/usr/lib",
	"/usr/local/lib",
	"/usr/local/lib64",
	"/usr/lib64/openmpi/lib",
	"/usr/lib64/mpich/lib",
	"/opt/*/lib",
	"/opt/*/lib64",
	"/opt/*/*/lib",
	"/opt/*/*/lib64",
};

static const char *const names[] = { "libucp.so*", "libmpi*.so*" };

struct search {
	struct look *look;
	struct ldso ld;
	struct library_set set;
	struct map taken; /* (device, inode) */
	const char *found_by;
};

static char *text_or_null(const char *text)
{
	return *text ? text_plain(text) : NULL;
}

static char *version_of(const struct library *library)
{
	const unsigned int *version = library->version;
	char text[64] = "";

	if (library->roles & LIB_MPI)
		return text_or_null(library->mpi_version);
	if (version[0] || version[1] || version[2])
		snprintf(text, sizeof(text), "%u.%u.%u", version[0], version[1], version[2]);
	return text_or_null(text);
}

static void take_library(struct search *search, const struct library *library)
{
	bool ucx = library->roles & LIB_UCP;
	struct inventory_library *to =
		inventory_add_library(search->look->inventory, ucx ? "ucx" : "mpi");

	to->path = text_plain(library->path);
	to->build_id = text_or_null(elf_build_id(library->elf));
	to->version = version_of(library);
	to->found_by = strdup(search->found_by);
	to->missing = ldso_refuses(&search->ld, library->path, NULL);
	if (ucx)
		collect_ucx_modules(to, &search->ld, library->path);
}

static void take_file(struct search *search, const char *path)
{
	char real[PATH_MAX];
	struct library *library;
	struct stat file;
	bool fresh;
	int err;

	if (!realpath(path, real) || stat(real, &file) || !S_ISREG(file.st_mode))
		return;
	map_insert(&search->taken, file.st_dev, file.st_ino, &fresh);
	if (!fresh)
		return;
	library = library_set_get(&search->set, file.st_dev, file.st_ino, real, real, &err);
	if (library && library->roles & (LIB_UCP | LIB_MPI))
		take_library(search, library);
}

static void take_pattern(struct search *search, const char *folder, const char *name)
{
	char pattern[LOOK_PATH];
	glob_t found;

	look_path(pattern, "%s/%s", folder, name);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc && i < LOOK_ENTRIES; i++)
		take_file(search, found.gl_pathv[i]);
	globfree(&found);
}

static void take_folder(struct search *search, const char *folder)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		take_pattern(search, folder, names[i]);
}

static void take_cache(struct search *search)
{
	for (size_t i = 0; i < search->ld.entries.len; i++) {
		const struct ldso_entry *entry = &search->ld.entries.data[i];

		if (!strncmp(entry->name, "libucp.so", 9) || !strncmp(entry->name, "libmpi", 6))
			take_file(search, entry->path);
	}
}

void collect_software(struct look *look)
{
	struct search search = { .look = look };

	if (*look->root)
		return;
	ldso_init(&search.ld);
	search.found_by = "LD_LIBRARY_PATH";
	for (size_t i = 0; i < search.ld.folders.len; i++)
		take_folder(&search, search.ld.folders.data[i]);
	search.found_by = "loader cache";
	take_cache(&search);
	search.found_by = "usual folder";
	for (size_t i = 0; i < sizeof(usual_folders) / sizeof(*usual_folders); i++)
		take_folder(&search, usual_folders[i]);
	library_set_release(&search.set);
	map_release(&search.taken);
	ldso_release(&search.ld);
}
