// SPDX-License-Identifier: BSD-3-Clause
/* The libraries of processes: opens them, recognises them, lists those of a process. */
#include "observe/process/library.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rowset.h"
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
	for (size_t i = 0; i < library->aliases.len; i++)
		close(library->aliases.data[i]);
	vec_release(&library->aliases);
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
	map_release(&set->known);
	map_release(&set->below);
	map_release(&set->ignored);
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

/*
 * A service sees new files for months. Beyond this number it forgets all, and examines them anew.
 */
#define IGNORED_MOST 4096

/*
 * Inode numbers of a file system in user space are its owner's choice: without the secret, a file
 * could be made that has the key of another one.
 */
uint64_t file_key(dev_t dev, ino_t ino)
{
	static uint64_t secret[2];

	if (!secret[0] && getrandom(secret, sizeof(secret), 0) < 0)
		secret[0] = 1;
	return rowset_mix(dev ^ secret[0], ino ^ secret[1]);
}

uint64_t library_key(const struct library *library)
{
	return file_key(library->dev, library->ino);
}

bool library_is_deleted(const struct library *library)
{
	struct stat st;

	return !remote_look(elf_file(library->elf), &st) && !st.st_nlink;
}

/* Not by its ctime, which a rename or another name changes. */
bool library_is_rewritten(const struct library *library)
{
	const struct remote_file *file = elf_file(library->elf);
	struct stat st;

	return !remote_look(file, &st) && (st.st_mtim.tv_sec != file->st.st_mtim.tv_sec ||
					   st.st_mtim.tv_nsec != file->st.st_mtim.tv_nsec ||
					   (file->local && st.st_size != file->st.st_size));
}

static void unlearn_from(struct map *known, const struct map *keys)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(known, &at)))
		if (map_find(keys, library_key((struct library *)(uintptr_t)slot->value), 0))
			map_remove(known, slot->a, slot->b);
}

/* Removes what the set knows by number, of these files. */
static void unlearn(struct library_set *set, const struct map *keys)
{
	unlearn_from(&set->known, keys);
	unlearn_from(&set->below, keys);
}

void library_set_rewritten(struct library_set *set, const struct map *keys)
{
	unlearn(set, keys);
	for (size_t i = 0; i < set->all.len; i++)
		if (map_find(keys, library_key(set->all.data[i]), 0))
			set->all.data[i]->rewritten = true;
}

void library_set_forget_rewritten(struct library_set *set, const struct map *used)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->all.len; i++) {
		struct library *library = set->all.data[i];

		if (library->rewritten && !map_find(used, (uintptr_t)library, 0))
			library_free(library);
		else
			set->all.data[kept++] = library;
	}
	set->all.len = kept;
}

void library_set_forget(struct library_set *set, const struct map *keys)
{
	size_t kept = 0;

	unlearn(set, keys);
	for (size_t i = 0; i < set->all.len; i++) {
		struct library *library = set->all.data[i];

		if (map_find(keys, library_key(library), 0))
			library_free(library);
		else
			set->all.data[kept++] = library;
	}
	set->all.len = kept;
}

#define FOR_EVER UINT64_MAX
#define UNANSWERED_NS (60 * 1000000000ull) /* the server may only have been slow */

/* until: CLOCK_MONOTONIC, ns. Whether it was ignored once before, if that is still known. */
static bool ignore(struct library_set *set, dev_t dev, ino_t ino, const char *path, uint64_t until)
{
	bool fresh;

	if (set->ignored.used >= IGNORED_MOST)
		map_release(&set->ignored);
	*map_insert(&set->ignored, map_text(path), file_key(dev, ino), &fresh) = until;
	return !fresh;
}

bool library_set_ignores(const struct library_set *set, const struct mapping *mapping)
{
	const uint64_t *until;

	if (!mapping->ino)
		return true;
	until = map_find(&set->ignored, map_text(mapping->path),
			 file_key(mapping->dev, mapping->ino));
	return until && (*until == FOR_EVER || clock_ns(CLOCK_MONOTONIC) < *until);
}

static void know(struct library_set *set, dev_t dev, ino_t ino, struct library *library)
{
	*map_insert(&set->known, dev, ino, NULL) = (uintptr_t)library;
}

struct library *library_set_find(const struct library_set *set, dev_t dev, ino_t ino)
{
	const uint64_t *known = map_find(&set->known, dev, ino);

	return known ? (struct library *)(uintptr_t)*known : NULL;
}

/*
 * The library that has the mapping's numbers, unless another file has them as well and is mapped
 * there: st then has that one's own.
 */
static struct library *find_mapped(const struct library_set *set, pid_t pid,
				   const struct mapping *mapping, struct stat *st)
{
	struct library *library = library_set_find(set, mapping->dev, mapping->ino);
	char path[PATH_MAX];

	if (!library || library->dev == mapping->dev)
		return library;
	mapping_path(pid, mapping, path);
	if (remote_stat(path, st) || library_set_find(set, st->st_dev, st->st_ino) == library)
		return library;
	return NULL;
}

struct library *library_set_mapped(const struct library_set *set, pid_t pid,
				   const struct mapping *mapping)
{
	struct stat st;

	return find_mapped(set, pid, mapping, &st);
}

/* A file that is new to a set. */
struct new_file {
	struct elf *elf; /* begun; NULL: it is known by its other number, or does not matter */
	struct remote_file file; /* the elf's */
	int error;
};

/*
 * Since Linux 6.8 mappings show an overlay's own numbers, but probes lie on the file below: it
 * would get them once more for each overlay.
 */
static bool is_known_below(struct library_set *set, const struct remote_file *file)
{
	const uint64_t *known = file->below ? map_find(&set->below, file->below, 0) : NULL;
	struct library *library = known ? (struct library *)(uintptr_t)*known : NULL;
	int alias;

	if (!library || library->by_user || !remote_is_same(file, elf_file(library->elf)))
		return false;
	alias = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	if (alias < 0)
		return false;
	vec_push(&library->aliases, alias);
	know(set, file->st.st_dev, file->st.st_ino, library);
	return true;
}

/* A file that the set does not know by the numbers in a mapping, by those of stat(2) or below. */
static bool is_known(struct library_set *set, const struct remote_file *file)
{
	return library_set_find(set, file->st.st_dev, file->st.st_ino) || is_known_below(set, file);
}

static void begin(struct library_set *set, struct new_file *arrival)
{
	if (arrival->error)
		return;
	if (is_known(set, &arrival->file))
		remote_close(&arrival->file);
	else
		arrival->error = elf_load_begin(&arrival->elf, &arrival->file);
}

/* Takes the answer about a file that was opened: it is a library, or none. */
static void end_load(struct library_set *set, struct new_file *arrival, const char *path)
{
	struct library *library;
	unsigned int roles;

	arrival->error = elf_load_end(arrival->elf);
	roles = arrival->error ? 0 : elf_roles(arrival->elf);
	if (!roles) {
		elf_free(arrival->elf);
		return;
	}
	library = library_new(arrival->elf, path, roles);
	library->dev = arrival->file.st.st_dev;
	library->ino = arrival->file.st.st_ino;
	vec_push(&set->all, library);
	know(set, library->dev, library->ino, library);
	if (arrival->file.below)
		*map_insert(&set->below, arrival->file.below, 0, NULL) = (uintptr_t)library;
}

/* The file is known by the number dev, ino afterwards, or ignored. 0 or -errno. */
static int end(struct library_set *set, struct new_file *arrival, dev_t dev, ino_t ino,
	       const char *path)
{
	const dev_t st_dev = arrival->file.st.st_dev;
	const ino_t st_ino = arrival->file.st.st_ino;
	struct library *library;

	if (arrival->elf && !is_known(set, &arrival->file))
		end_load(set, arrival, path);
	else if (arrival->elf) /* it was met by several of its numbers, and is known by now */
		elf_free(arrival->elf);
	arrival->elf = NULL;
	if (arrival->error && arrival->error != -ENOEXEC && arrival->error != -EOPNOTSUPP)
		return arrival->error;
	/* what cannot be opened has no other number */
	library = st_ino ? library_set_find(set, st_dev, st_ino) : NULL;
	if (library)
		know(set, dev, ino, library);
	else
		ignore(set, dev, ino, path, FOR_EVER);
	return 0;
}

struct library *library_set_get(struct library_set *set, dev_t dev, ino_t ino, const char *path,
				const char *open_path, int *error)
{
	const struct mapping mapping = { .dev = dev, .ino = ino, .path = path };
	struct library *library = library_set_find(set, dev, ino);
	struct new_file arrival = { 0 };

	*error = 0;
	if (library || library_set_ignores(set, &mapping))
		return library;
	arrival.error = remote_open(open_path, &arrival.file);
	begin(set, &arrival);
	*error = end(set, &arrival, dev, ino, path);
	return *error ? NULL : library_set_find(set, dev, ino);
}

/* A mapping of a process, in the order of addresses. */
struct found_mapping {
	struct mapping mapping; /* its path is the search's */
	struct new_file arrival;
	bool is_new;
};

struct library_search {
	pid_t pid;
	struct library_set *set;
	mapped_libraries *out;
	VEC(struct found_mapping) found;
	unsigned int begun;
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

static const char *why_not_read(int error)
{
	switch (error) {
	case -ETIME:
		return "nobody answers";
	case -EFBIG:
		return "more than 64 MiB of it are holes";
	case -EMEDIUMTYPE:
		return "larger than 64 MiB, on a file system that a user has mounted";
	default:
		return strerror(-error);
	}
}

/*
 * Ignores a file that cannot be read, which is named once: here, or where its reader ended. A file
 * that has vanished may come back, a shortage of this process may end, and a server that did not
 * answer is asked again.
 */
static void give_up(const struct library_search *search, const struct mapping *mapping, int error)
{
	const bool vanished = error == -ENOENT || error == -ESRCH || error == -ESTALE;
	const bool short_of = error == -EMFILE || error == -ENFILE || error == -ENOMEM;
	/* -EAGAIN: a helper ended, as another user may have made it */
	const bool later = error == -ETIME || error == -EAGAIN;
	const uint64_t until = later ? clock_ns(CLOCK_MONOTONIC) + UNANSWERED_NS : FOR_EVER;
	const bool named = !vanished && !short_of &&
			   ignore(search->set, mapping->dev, mapping->ino, mapping->path, until);

	log_printf(vanished || named || error == -EREMOTEIO ? LOG_DEBUG : LOG_WARN,
		   "cannot read %s, mapped by process %d: %s", mapping->path, search->pid,
		   why_not_read(error));
}

static bool is_begun(const struct library_search *search, const struct mapping *mapping)
{
	for (size_t i = 0; i < search->found.len; i++) {
		const struct found_mapping *found = &search->found.data[i];

		if (found->is_new && found->mapping.dev == mapping->dev &&
		    found->mapping.ino == mapping->ino)
			return true;
	}
	return false;
}

/* NULL: the mapping is of no library. */
static struct library *ended(const struct library_search *search, const struct mapping *mapping)
{
	struct stat st = { 0 };
	struct library *library = find_mapped(search->set, search->pid, mapping, &st);
	struct mapping own = *mapping;
	char path[PATH_MAX];
	int error;

	if (library || !st.st_ino)
		return library;
	own.dev = st.st_dev;
	own.ino = st.st_ino;
	mapping_path(search->pid, mapping, path);
	library = library_set_get(search->set, own.dev, own.ino, own.path, path, &error);
	if (error)
		give_up(search, &own, error);
	return library;
}

static void end_all(struct library_search *search)
{
	for (size_t i = 0; i < search->found.len; i++) {
		struct found_mapping *found = &search->found.data[i];
		const struct mapping *mapping = &found->mapping;
		struct library *library;
		int error = 0;

		if (found->is_new)
			error = end(search->set, &found->arrival, mapping->dev, mapping->ino,
				    mapping->path);
		if (error)
			give_up(search, mapping, error);
		library = ended(search, mapping);
		if (library)
			add_mapped(search->out, library, mapping);
		free((char *)mapping->path);
	}
	vec_release(&search->found);
	search->begun = 0;
}

#define BEGUN_MAX 32 /* open files */

static int look_at(void *arg, const struct mapping *mapping)
{
	struct library_search *search = arg;
	struct found_mapping *found;

	if (!mapping->executable || library_set_ignores(search->set, mapping))
		return 0;
	found = vec_add(&search->found);
	*found = (struct found_mapping){ .mapping = *mapping };
	found->mapping.path = xstrdup(mapping->path);
	if (library_set_find(search->set, mapping->dev, mapping->ino) || is_begun(search, mapping))
		return 0;
	found->is_new = true;
	found->arrival.error = mapping_open(search->pid, mapping, &found->arrival.file);
	begin(search->set, &found->arrival);
	if (++search->begun == BEGUN_MAX)
		end_all(search);
	return 0;
}

int process_libraries(pid_t pid, struct library_set *set, mapped_libraries *out)
{
	struct library_search search = { .pid = pid, .set = set, .out = out };
	int bits = process_is_32bit(pid);

	if (!bits)
		bits = process_each_mapping(pid, look_at, &search);
	end_all(&search);
	return bits > 0 ? -EOPNOTSUPP : bits;
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
