// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/elf_private.h"

bool elf_is_executable(const struct elf *elf)
{
	if (elf->type == ET_EXEC)
		return true;
	for (size_t i = 0; i < elf->segments.len; i++)
		if (elf->segments.data[i].p_type == PT_INTERP)
			return true;
	return false;
}

static Elf_Data *rodata(const struct elf *elf)
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

int elf_find_text(const struct elf *elf, const char *prefix, char *text, size_t size)
{
	Elf_Data *data = rodata(elf);
	size_t length = strlen(prefix);
	const char *at, *end;

	if (!data || !data->d_buf)
		return -ENOENT;
	end = (const char *)data->d_buf + data->d_size;
	for (at = data->d_buf; (at = memmem(at, (size_t)(end - at), prefix, length)); at++) {
		const char *nul = memchr(at, 0, (size_t)(end - at));

		if (!nul)
			break;
		if (at != data->d_buf && at[-1])
			continue;
		return snprintf(text, size, "%s", at) < (int)size ? 0 : -E2BIG;
	}
	return -ENOENT;
}
