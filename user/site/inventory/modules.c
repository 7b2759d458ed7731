// SPDX-License-Identifier: BSD-3-Clause
/*
 * Modules of a copy of UCX: those that its libraries name (":ib:rdmacm:cma", a text of libuct and
 * of modules that have some themselves) and those that lie in its folder. Both in UCX 1.13.1
 * to 1.18.1: src/ucs/sys/module.c looks for ucx/lib<framework>_<module>.so.0 beside libucs.
 */
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "observe/process/elf.h"
#include "site/inventory/collect.h"
#include "site/inventory/ldso.h"

#define MAX_MODULES 64

struct modules {
	struct inventory_library *to;
	struct ldso *ld;
	char home[LOOK_PATH], folder[LOOK_PATH];
	char prefix[64]; /* of what a list's words mean: "libuct" of ":ib" is libuct_ib */
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

static int take_list(void *arg, const char *text)
{
	struct modules *modules = arg;
	char path[LOOK_PATH];

	if (!is_list(text))
		return 0;
	while (*text == ':') {
		int length = (int)strcspn(text + 1, ":");

		look_path(path, "%s/%s_%.*s.so.0", modules->folder, modules->prefix, length,
			  text + 1);
		add_named(modules, path);
		text += 1 + length;
	}
	return 0;
}

/* The modules that a library of UCX says it has. */
static void take_lists(struct modules *modules, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	char outer[sizeof(modules->prefix)];
	struct elf *elf;

	if (elf_load(&elf, path))
		return;
	memcpy(outer, modules->prefix, sizeof(outer));
	snprintf(modules->prefix, sizeof(modules->prefix), "%.*s", (int)strcspn(name, "."), name);
	elf_each_text(elf, ':', take_list, modules);
	memcpy(modules->prefix, outer, sizeof(outer));
	elf_free(elf);
}

static char *build_id_of(const char *path)
{
	struct elf *elf;
	char *text = NULL;

	if (elf_load(&elf, path))
		return NULL;
	if (*elf_build_id(elf))
		text = strdup(elf_build_id(elf));
	elf_free(elf);
	return text;
}

static void add_named(struct modules *modules, const char *path)
{
	struct inventory_module *module;

	if (!*path || is_there(modules, path) || modules->to->modules.len == MAX_MODULES)
		return;
	module = vec_add(&modules->to->modules);
	module->path = text_plain(path);
	if (access(path, F_OK)) {
		module->missing = strdup("there is no such file");
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

	look_path(pattern, "%s/lib*.so.0", modules->folder);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_named(modules, found.gl_pathv[i]);
	globfree(&found);
}

void collect_ucx_modules(struct inventory_library *to, struct ldso *ld, const char *libucp)
{
	static const char *const with_lists[] = { "libuct.so.0", "libucm.so.0" };
	struct modules modules = { .to = to, .ld = ld };
	const char *folder = getenv("UCX_MODULE_DIR");
	char path[LOOK_PATH];

	look_path(modules.home, "%.*s", (int)(strrchr(libucp, '/') - libucp), libucp);
	look_path(modules.folder, "%s%s", folder ? folder : modules.home, folder ? "" : "/ucx");
	for (size_t i = 0; i < sizeof(with_lists) / sizeof(*with_lists); i++) {
		look_path(path, "%s/%s", modules.home, with_lists[i]);
		if (*path)
			take_lists(&modules, path);
	}
	take_present(&modules);
	if (to->modules.len)
		qsort(to->modules.data, to->modules.len, sizeof(*to->modules.data), by_path);
}
