// SPDX-License-Identifier: BSD-3-Clause
/* Executable mappings, their files, and the names of addresses there. */
#include "observe/process/code.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/newfile.h"
#include "base/order.h"
#include "observe/process/elf.h"
#include "observe/process/library.h"
#include "observe/process/proc.h"
#include "observe/process/remote.h"

static void free_file(struct code_file *file)
{
	elf_free(file->elf);
	free(file->path);
	free(file);
}

void code_files_release(struct code_files *files)
{
	for (size_t i = 0; i < files->all.len; i++)
		free_file(files->all.data[i]);
	vec_release(&files->all);
	map_release(&files->known);
}

void code_files_keep(struct code_files *files, const struct map *numbers)
{
	size_t kept = 0;

	for (size_t i = 0; i < files->all.len; i++) {
		struct code_file *file = files->all.data[i];

		if (map_find(numbers, (uint64_t)file->number, 0)) {
			files->all.data[kept++] = file;
			continue;
		}
		if (!file->rewritten)
			map_remove(&files->known, file->dev, file->ino);
		free_file(file);
	}
	files->all.len = kept;
}

void code_files_rewritten(struct code_files *files, const struct map *keys)
{
	for (size_t i = 0; i < files->all.len; i++) {
		struct code_file *file = files->all.data[i];

		if (file->rewritten || !map_find(keys, file_key(file->dev, file->ino), 0))
			continue;
		file->rewritten = true;
		map_remove(&files->known, file->dev, file->ino);
	}
}

static struct code_file *file_of(struct code_files *files, dev_t dev, ino_t ino, const char *path)
{
	bool fresh;
	uint64_t *known = map_insert(&files->known, dev, ino, &fresh);
	struct code_file *file;

	if (!fresh)
		return (struct code_file *)(uintptr_t)*known;
	file = xmalloc(sizeof(*file));
	*file = (struct code_file){
		.dev = dev, .ino = ino, .number = files->next++, .path = xstrdup(path)
	};
	vec_push(&files->all, file);
	*known = (uintptr_t)file;
	return file;
}

struct code_file *code_files_open(struct code_files *files, dev_t dev, ino_t ino, const char *path,
				  const char *open_path)
{
	struct code_file *file = file_of(files, dev, ino, path);

	if (!file->looked)
		file->error = elf_load(&file->elf, open_path);
	file->looked = true;
	return file;
}

struct code_range code_range_of(struct code_files *files, const struct mapping *mapping)
{
	return (struct code_range){
		mapping->start, mapping->end, mapping->offset,
		mapping->ino ? file_of(files, mapping->dev, mapping->ino, mapping->path) : NULL
	};
}

struct listing {
	struct code_files *files;
	code_ranges *ranges;
};

static int list_one(void *arg, const struct mapping *mapping)
{
	struct listing *listing = arg;

	if (mapping->executable)
		vec_push(listing->ranges, code_range_of(listing->files, mapping));
	return 0;
}

int code_list(pid_t pid, struct code_files *files, code_ranges *ranges)
{
	return process_each_mapping(pid, list_one, &(struct listing){ files, ranges });
}

const struct code_range *code_find(const code_ranges *ranges, uint64_t address)
{
	size_t i = search_count(ranges->len, at, ranges->data[at].end <= address);

	return i < ranges->len && ranges->data[i].start <= address ? &ranges->data[i] : NULL;
}

/* If the process is gone, the path may still lead to the same file. */
static int open_file(pid_t pid, const struct code_range *range)
{
	struct code_file *file = range->file;
	const struct mapping mapping = { .start = range->start,
					 .end = range->end,
					 .dev = file->dev,
					 .ino = file->ino,
					 .path = file->path };
	struct remote_file opened;
	int err = mapping_open(pid, &mapping, &opened);

	if (err && err != -ETIME) {
		err = remote_open(file->path, &opened);
		if (!err && (opened.st.st_dev != file->dev || opened.st.st_ino != file->ino)) {
			remote_close(&opened);
			err = -ESTALE;
		}
	}
	return err ? err : elf_load_file(&file->elf, &opened);
}

struct elf *code_file_elf(pid_t pid, const struct code_range *range)
{
	struct code_file *file = range->file;

	if (!file->looked)
		file->error = open_file(pid, range);
	file->looked = true;
	return file->elf;
}

uint64_t code_vaddr(const struct code_range *range, uint64_t address)
{
	uint64_t offset = address - range->start + range->offset, vaddr;

	if (!range->file->elf || elf_offset_to_vaddr(range->file->elf, offset, &vaddr))
		return offset;
	return vaddr;
}

int code_bias(const struct code_range *range, uint64_t *bias)
{
	if (!range->file->elf)
		return range->file->error;
	return elf_load_bias(range->file->elf, range->start, range->offset, bias);
}

struct symbols {
	Dwfl_Callbacks callbacks; /* of dwfl, while it lives */
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t bias; /* from link-time addresses to libdwfl's */
};

/*
 * The standard search ends with a question to debuginfod's servers where the environment names
 * some: a download would hold up the end of a capture, so then only local files are looked at.
 */
static int find_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			   const char *file, const char *link, GElf_Word crc, char **debug_file)
{
	if (getenv("DEBUGINFOD_URLS"))
		return dwfl_build_id_find_debuginfo(module, data, name, base, file, link, crc,
						    debug_file);
	return dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc, debug_file);
}

/*
 * The owner of the file's folder may make us wait for it: it is searched if that owner is trusted.
 */
static char trusted_folders[] = ":.debug:/usr/lib/debug", shared_folder[] = "/usr/lib/debug";
static char *debug_folders_trusted = trusted_folders, *debug_folders_shared = shared_folder;

/* Whether a search by the path asks no server. */
static bool is_local(const struct elf *elf, const char *path)
{
	const struct remote_file *file = elf_file(elf);
	struct stat st;

	return file->local && !remote_stat(path, &st) && st.st_dev == file->st.st_dev &&
	       st.st_ino == file->st.st_ino;
}

static int open_module(struct symbols *symbols, const struct elf *elf, const char *path)
{
	int fd = fcntl(elf_content_fd(elf), F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	dwfl_report_begin(symbols->dwfl);
	symbols->module = dwfl_report_offline(symbols->dwfl, path, path, fd);
	dwfl_report_end(symbols->dwfl, NULL, NULL);
	if (!symbols->module)
		close(fd);
	return symbols->module && dwfl_module_getelf(symbols->module, &symbols->bias) ? 0 : -1;
}

struct symbols *symbols_open(const struct elf *elf, const char *path)
{
	const bool by_path = is_local(elf, path);
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = by_path ? find_debug_file : dwfl_build_id_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = by_path && !newfile_foreign(&elf_file(elf)->st)
					  ? &debug_folders_trusted
					  : &debug_folders_shared,
	};
	symbols->dwfl = dwfl_begin(&symbols->callbacks);
	if (symbols->dwfl && !open_module(symbols, elf, path))
		return symbols;
	symbols_free(symbols);
	return NULL;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	if (symbols->dwfl)
		dwfl_end(symbols->dwfl);
	free(symbols);
}

void symbols_find(struct symbols *symbols, uint64_t return_vaddr, struct symbol *symbol)
{
	uint64_t call = return_vaddr + symbols->bias - 1;
	Dwfl_Line *line = dwfl_module_getsrc(symbols->module, call);
	GElf_Off offset;
	GElf_Sym sym;

	*symbol = (struct symbol){ 0 };
	symbol->name = dwfl_module_addrinfo(symbols->module, call, &offset, &sym, NULL, NULL, NULL);
	/* libdwfl takes the nearest symbol below where none covers the address */
	if (symbol->name && (!sym.st_size || offset < sym.st_size))
		symbol->offset = offset + 1;
	else
		symbol->name = NULL;
	if (line)
		symbol->file = dwfl_lineinfo(line, NULL, &symbol->line, NULL, NULL, NULL);
}
