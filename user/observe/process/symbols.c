// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/symbols.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "observe/process/elf.h"

struct symbols {
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

static int open_module(struct symbols *symbols, const struct elf *elf, const char *path)
{
	int fd = fcntl(elf_fd(elf), F_DUPFD_CLOEXEC, 0);

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
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debug_file,
		.section_address = dwfl_offline_section_address,
	};
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	symbols->dwfl = dwfl_begin(&callbacks);
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
