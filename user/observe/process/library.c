// SPDX-License-Identifier: BSD-3-Clause
/* The libraries of processes: opening and knowing them again, listing those of a process. */
#include "observe/process/library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/log.h"
#include "observe/process/elf.h"
#include "observe/process/layout.h"
#include "observe/process/proc.h"
#include "observe/process/process.h"
#include "observe/process/remote.h"

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
		found = xcalloc(MAX_OPS_TABLES, sizeof(*found));
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
	enum ucx_asserts asserts;

	ucx_build(library->elf, library->version, &library->request_size, &asserts);
	library->layout = layout_find(library->version, library->request_size, asserts);
	if (!library->layout)
		library->layout = layout_from_dwarf(library->elf, library->version);
}

static struct library *library_new(struct elf *elf, const char *path, unsigned int roles)
{
	struct library *library = xcalloc(1, sizeof(*library));

	library->path = xstrdup(path);
	library->open_path = xasprintf("/proc/self/fd/%d", elf_fd(elf));
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

	*error = elf_load_library(&elf, open_path);
	if (*error == -ENOEXEC || *error == -EOPNOTSUPP)
		*error = 0;
	else if (!*error) {
		roles = elf_roles(elf);
		if (roles)
			library = library_new(elf, path, roles);
		else
			elf_free(elf);
	}
	return library;
}

/* Not where another file was mapped or renamed to there meanwhile. */
static bool is_file(int fd, const struct stat *st)
{
	struct stat now;

	return !fstat(fd, &now) && now.st_dev == st->st_dev && now.st_ino == st->st_ino;
}

/* A file that was not seen by this number may have been by the other one. */
static int get_by_stat(struct library_set *set, const char *path, const char *open_path,
		       uint64_t *index)
{
	struct library *library;
	struct stat st;
	uint64_t *seen;
	int err;

	err = remote_stat(open_path, &st);
	if (err)
		return err;
	seen = map_find(&set->seen, st.st_dev, st.st_ino);
	*index = seen ? *seen : 0;
	if (seen)
		return 0;
	library = load(path, open_path, &err);
	if (library && !is_file(elf_fd(library->elf), &st)) {
		library_free(library);
		err = -ESTALE;
	}
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

struct library_search {
	pid_t pid;
	struct library_set *set;
	mapped_libraries *out;
};

static void add_mapped(mapped_libraries *out, struct library *library,
		       const struct mapping *mapping)
{
	uint64_t base;

	if (elf_load_bias(library->elf, mapping->start, mapping->offset, &base))
		return;
	/* a text segment is several mappings where its protection was changed in part */
	for (size_t i = 0; i < out->len; i++)
		if (out->data[i].library == library && out->data[i].base == base)
			return;
	vec_push(out, ((struct mapped_library){ library, base }));
}

/*
 * A file that cannot be read is named once: here, or where its reader ended. One that vanished
 * under us may well come back.
 */
static void give_up(const struct library_search *search, const struct mapping *mapping, int error)
{
	bool vanished = error == -ENOENT || error == -ESRCH || error == -ESTALE;

	log_printf(vanished || error == -EREMOTEIO ? LOG_DEBUG : LOG_WARN,
		   "cannot read %s, mapped by process %d: %s", mapping->path, search->pid,
		   error == -ETIME ? "nobody answers" : strerror(-error));
	if (!vanished)
		map_insert(&search->set->seen, mapping->dev, mapping->ino, NULL);
}

static int look_at(void *arg, const struct mapping *mapping)
{
	struct library_search *search = arg;
	struct library *library = NULL;
	char open_path[4096] = "";
	uint64_t *seen;
	int error = 0;

	if (!mapping->executable || !mapping->ino)
		return 0;
	seen = map_find(&search->set->seen, mapping->dev, mapping->ino);
	if (seen && !*seen)
		return 0;
	if (!seen)
		error = mapping_open_path(search->pid, mapping, open_path, sizeof(open_path));
	if (!error)
		library = library_set_get(search->set, mapping->dev, mapping->ino, mapping->path,
					  open_path, &error);
	if (error)
		give_up(search, mapping, error);
	if (library)
		add_mapped(search->out, library, mapping);
	return 0;
}

int process_libraries(pid_t pid, struct library_set *set, mapped_libraries *out)
{
	struct library_search search = { pid, set, out };
	int bits = process_is_32bit(pid);

	if (bits)
		return bits > 0 ? -EOPNOTSUPP : bits;
	return process_each_mapping(pid, look_at, &search);
}

static size_t directory_length(const char *path, size_t length)
{
	while (length && path[length - 1] != '/')
		length--;
	return length ? length - 1 : 0;
}

static bool lies_in(const char *path, const char *directory, size_t length)
{
	return directory_length(path, strlen(path)) == length && !strncmp(path, directory, length);
}

static const struct library *ucp_in(const mapped_libraries *mapped, const char *directory,
				    size_t length)
{
	for (size_t i = 0; i < mapped->len; i++) {
		const struct library *library = mapped->data[i].library;

		if (library->roles & LIB_UCP && lies_in(library->path, directory, length))
			return library;
	}
	return NULL;
}

static const struct library *only_ucp(const mapped_libraries *mapped)
{
	const struct library *found = NULL;

	for (size_t i = 0; i < mapped->len; i++) {
		const struct library *library = mapped->data[i].library;

		if (!(library->roles & LIB_UCP) || library == found)
			continue;
		if (found)
			return NULL;
		found = library;
	}
	return found;
}

const struct library *library_owner_ucp(const mapped_libraries *mapped,
					const struct library *library)
{
	const struct library *found;
	size_t length = directory_length(library->path, strlen(library->path));

	if (library->roles & LIB_UCP)
		return library;
	found = ucp_in(mapped, library->path, length);
	if (!found)
		found = ucp_in(mapped, library->path, directory_length(library->path, length));
	return found ? found : only_ucp(mapped);
}
