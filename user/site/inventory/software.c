// SPDX-License-Identifier: BSD-3-Clause
/*
 * Copies of UCX and MPI in LD_LIBRARY_PATH, the loader's cache and the usual directories,
 * recognised by their exports, each file once; and the modules of a copy of UCX.
 */
#include <glob.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "observe/process/elf.h"
#include "observe/process/library.h"
#include "site/inventory/ldso.h"
#include "site/inventory/internal.h"

/* ---- modules of UCX ---- */

/*
 * Modules of a copy of UCX: named in its libraries (":ib:rdmacm:cma", a string in libuct and in
 * modules that have some themselves), or present in its directory. In UCX 1.13.1 to 1.22,
 * src/ucs/sys/module.c looks in ucx/ beside libucs for "lib<framework>_<module><suffix><ending>":
 * the ending is that of the name under which libucs itself was loaded, from its first dot on; the
 * suffix is the one of 1.22's --with-soname-suffix.
 */

struct modules {
	struct inventory_library *to;
	struct ldso *ld;
	char home[LOOK_PATH], folder[LOOK_PATH];
	char prefix[64]; /* the beginning of its modules' names: "libuct" of ":ib" is libuct_ib */
	char suffix[64]; /* "-nixl"; a wheel's hash looks like one, but only the library has it */
	char ending[64]; /* ".so.0" */
};

static bool is_there(const struct modules *modules, const char *path)
{
	for (size_t i = 0; i < modules->to->modules.len; i++)
		if (!strcmp(modules->to->modules.data[i].path, path))
			return true;
	return false;
}

static void add_named(struct modules *modules, const char *path);

/* ":ib:rdmacm:cma", nothing but names */
static bool is_list(const char *text)
{
	static const char known[] = ":cma:cuda:efa:gaudi:gdrcopy:ib:knem:mlx5:rdmacm:rocm:rocmgdr:"
				    "sm:srd:ugni:xpmem:ze:";
	char word[32];

	for (const char *at = text; *at == ':'; at += 1 + strcspn(at + 1, ":")) {
		size_t length = 1 + strcspn(at + 1, ":");

		if (length + 2 > sizeof(word))
			return false;
		snprintf(word, sizeof(word), "%.*s:", (int)length, at);
		if (length == 1 || !strstr(known, word))
			return false;
	}
	return *text;
}

static void take_list(struct modules *modules, const char *text)
{
	char path[LOOK_PATH];

	while (*text == ':') {
		int length = (int)strcspn(text + 1, ":");

		look_path(path, "%s/%s_%.*s%s%s", modules->folder, modules->prefix, length,
			  text + 1, modules->suffix, modules->ending);
		if (access(path, F_OK))
			look_path(path, "%s/%s_%.*s%s", modules->folder, modules->prefix, length,
				  text + 1, modules->ending);
		add_named(modules, path);
		text += 1 + length;
	}
}

static int list_one(void *arg, const char *text)
{
	if (is_list(text))
		answer_add(arg, text, strlen(text) + 1);
	return 0;
}

/* Where the file is looked at. */
static long find_lists(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	(void)arguments;
	(void)size;
	elf_each_text(elf, ':', list_one, answer);
	return 0;
}

/* The modules that are named in a library of UCX. */
static void take_lists(struct modules *modules, const char *path)
{
	const char *name = basename(path);
	char outer[sizeof(modules->prefix)];
	reader_answer lists = { 0 };
	struct elf *elf;
	size_t at = 0;

	if (elf_load(&elf, path))
		return;
	if (elf_ask(elf, find_lists, NULL, 0, &lists) || (lists.len && lists.data[lists.len - 1]))
		lists.len = 0;
	memcpy(outer, modules->prefix, sizeof(outer));
	snprintf(modules->prefix, sizeof(modules->prefix), "%.*s", (int)library_stem(name), name);
	for (; at < lists.len; at += strlen((const char *)lists.data + at) + 1)
		if (is_list((const char *)lists.data + at))
			take_list(modules, (const char *)lists.data + at);
	memcpy(modules->prefix, outer, sizeof(outer));
	vec_release(&lists);
	elf_free(elf);
}

static char *build_id_of(const char *path)
{
	struct elf *elf;
	char *text = NULL;

	if (elf_load(&elf, path))
		return NULL;
	if (*elf_build_id(elf))
		text = xstrdup(elf_build_id(elf));
	elf_free(elf);
	return text;
}

static void add_named(struct modules *modules, const char *path)
{
	struct inventory_module *module;

	if (!*path || is_there(modules, path))
		return;
	module = vec_add(&modules->to->modules);
	module->path = text_plain(path);
	if (access(path, F_OK)) {
		module->missing = xstrdup("there is no such file");
		return;
	}
	module->build_id = build_id_of(path);
	module->missing = ldso_refuses(modules->ld, path, modules->home);
	take_lists(modules, path);
}

static int by_path(const void *left, const void *right)
{
	const struct inventory_module *a = left, *b = right;

	return strcmp(a->path, b->path);
}

static void take_present(struct modules *modules)
{
	char pattern[LOOK_PATH];
	glob_t found;

	look_path(pattern, "%s/lib*%s", modules->folder, modules->ending);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_named(modules, found.gl_pathv[i]);
	globfree(&found);
}

static void take_name_of_ucs(struct modules *modules, const char *name)
{
	const char *ending = strchr(name, '.');
	const size_t stem = library_stem(name);

	if (!ending)
		return;
	snprintf(modules->ending, sizeof(modules->ending), "%s", ending);
	snprintf(modules->suffix, sizeof(modules->suffix), "%.*s", (int)(ending - name - stem),
		 name + stem);
}

/* Calls fn for each library that a library of UCX needs and that lies beside it. */
static void each_beside(struct modules *modules, const char *path,
			void (*fn)(struct modules *modules, const char *path,
				   const struct elf *elf))
{
	char other_path[LOOK_PATH];
	struct elf *elf, *other;
	const char *name;

	if (elf_load(&elf, path))
		return;
	for (unsigned int i = 0; (name = elf_needed(elf, i)); i++) {
		look_path(other_path, "%s/%s", modules->home, name);
		if (!*other_path || elf_load(&other, other_path))
			continue;
		fn(modules, other_path, other);
		elf_free(other);
	}
	elf_free(elf);
}

static void find_ucs(struct modules *modules, const char *path, const struct elf *elf)
{
	if (elf_roles(elf) & LIB_UCS)
		take_name_of_ucs(modules, basename(path));
}

/* libucm has a list as well, and is needed by libucs alone. */
static void take_lists_of_ucs(struct modules *modules, const char *path, const struct elf *elf)
{
	(void)elf;
	take_lists(modules, path);
}

static void take_lists_beside(struct modules *modules, const char *path, const struct elf *elf)
{
	const unsigned int roles = elf_roles(elf);

	if (roles & LIB_UCT)
		take_lists(modules, path);
	if (roles & LIB_UCS)
		each_beside(modules, path, take_lists_of_ucs);
}

/* The modules of the copy of UCX that a libucp belongs to. */
static void collect_ucx_modules(struct inventory_library *to, struct ldso *ld, const char *libucp)
{
	struct modules modules = { .to = to, .ld = ld, .ending = ".so.0" };
	const char *folder = getenv("UCX_MODULE_DIR");

	look_path(modules.home, "%.*s", (int)(strrchr(libucp, '/') - libucp), libucp);
	look_path(modules.folder, "%s%s", folder ? folder : modules.home, folder ? "" : "/ucx");
	each_beside(&modules, libucp, find_ucs);
	each_beside(&modules, libucp, take_lists_beside);
	take_present(&modules);
	if (to->modules.len)
		qsort(to->modules.data, to->modules.len, sizeof(*to->modules.data), by_path);
}

/* ---- libraries ---- */

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

static const char *const names[] = { "libucp*.so*", "libmpi*.so*" };

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
	to->found_by = xstrdup(search->found_by);
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

		if (!strncmp(entry->name, "libucp", 6) || !strncmp(entry->name, "libmpi", 6))
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
