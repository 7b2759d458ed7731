// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "observe/process/elf.h"
#include "observe/process/layout.h"
#include "observe/process/layout_dwarf.h"
#include "observe/process/roles.h"
#include "observe/process/ucx_build.h"

static void library_free(struct library *library)
{
	if (!library)
		return;
	/* a layout that is no row of the table was read for this library alone */
	if (library->layout && !layout_is_row(library->layout))
		layout_dwarf_free(library->layout);
	elf_free(library->elf);
	for (size_t i = 0; i < library->program_elfs.len; i++)
		elf_free(library->program_elfs.data[i]);
	vec_release(&library->program_elfs);
	map_release(&library->programs);
	free((void *)library->ops);
	free(library->path);
	free(library->open_path);
	free(library);
}

void library_set_release(struct library_set *set)
{
	for (size_t i = 0; i < set->all.len; i++)
		library_free(set->all.data[i]);
	vec_release(&set->all);
	map_release(&set->seen);
}

#define MAX_OPS_TABLES 32

int library_ops(struct library *library, const struct elf_ops_table **tables)
{
	struct elf_ops_table *found;

	if (!library->ops) {
		found = calloc(MAX_OPS_TABLES, sizeof(*found));
		if (!found)
			abort();
		library->ops_count = elf_ops_tables(library->elf, found, MAX_OPS_TABLES);
		if (library->ops_count > MAX_OPS_TABLES)
			library->ops_count = MAX_OPS_TABLES;
		library->ops = found;
	}
	*tables = library->ops;
	return library->ops_count;
}

static void identify_ucp(struct library *library)
{
	ucx_version(library->elf, library->version);
	library->request_size = ucx_request_size(library->elf);
	library->layout =
		layout_find(library->version, library->request_size, ucx_asserts(library->elf));
	if (!library->layout)
		library->layout = layout_from_dwarf(library->elf, library->version);
}

static struct library *library_new(struct elf *elf, const char *path, unsigned int roles)
{
	struct library *library = calloc(1, sizeof(*library));

	if (!library)
		return NULL;
	library->path = strdup(path);
	if (!library->path || asprintf(&library->open_path, "/proc/self/fd/%d", elf_fd(elf)) < 0) {
		free(library->path);
		free(library);
		return NULL;
	}
	library->elf = elf;
	library->roles = roles;
	if (roles & LIB_MPI)
		library->mpi =
			elf_mpi_kind(elf, library->mpi_version, sizeof(library->mpi_version));
	if (roles & LIB_UCP)
		identify_ucp(library);
	return library;
}

/* NULL with *error 0: does not matter. */
static struct library *load(const char *path, const char *open_path, int *error)
{
	struct library *library = NULL;
	struct elf *elf;
	unsigned int roles;

	*error = elf_load(&elf, open_path);
	if (*error == -ENOEXEC || *error == -EOPNOTSUPP)
		*error = 0;
	else if (!*error) {
		roles = elf_roles(elf);
		if (roles)
			library = library_new(elf, path, roles);
		if (roles && !library)
			*error = -ENOMEM;
		if (!library)
			elf_free(elf);
	}
	return library;
}

/* A file that was not seen by this number may have been by the other one. */
static int get_by_stat(struct library_set *set, const char *path, const char *open_path,
		       uint64_t *index)
{
	struct library *library;
	struct stat st;
	uint64_t *seen;
	int err;

	if (stat(open_path, &st))
		return -errno;
	seen = map_find(&set->seen, st.st_dev, st.st_ino);
	*index = seen ? *seen : 0;
	if (seen)
		return 0;
	library = load(path, open_path, &err);
	if (err)
		return err;
	if (library) {
		library->dev = st.st_dev;
		library->ino = st.st_ino;
		vec_push(&set->all, library);
		*index = set->all.len;
	}
	*map_insert(&set->seen, st.st_dev, st.st_ino, NULL) = *index;
	return 0;
}

struct library *library_set_get(struct library_set *set, dev_t dev, ino_t ino, const char *path,
				const char *open_path, int *error)
{
	uint64_t *seen = map_find(&set->seen, dev, ino), index = seen ? *seen : 0;

	*error = seen ? 0 : get_by_stat(set, path, open_path, &index);
	if (*error)
		return NULL;
	if (!seen)
		*map_insert(&set->seen, dev, ino, NULL) = index;
	return index ? set->all.data[index - 1] : NULL;
}
