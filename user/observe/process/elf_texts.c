// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

#include "observe/process/elf_needs.h"
#include "observe/process/elf_private.h"

static Elf_Data *read_only_data(const struct elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf->handle, &names))
		return NULL;
	while ((section = elf_nextscn(elf->handle, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf->handle, names, header.sh_name);
		if (name && !strcmp(name, ".rodata"))
			return elf_getdata(section, NULL);
	}
	return NULL;
}

int elf_each_text(const struct elf *elf, char first, int (*fn)(void *arg, const char *text),
		  void *arg)
{
	const Elf_Data *data = read_only_data(elf);
	const char *at = data ? data->d_buf : NULL, *end = at ? at + data->d_size : NULL;
	int stop = 0;

	while (!stop && at && at < end) {
		const char *zero = memchr(at, '\0', (size_t)(end - at));

		if (zero && *at == first)
			stop = fn(arg, at);
		at = zero ? zero + 1 : NULL;
	}
	return stop;
}
