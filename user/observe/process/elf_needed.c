// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/elf_needs.h"

#include "observe/process/elf_private.h"

/* The text of the n-th entry with that tag. */
static const char *dynamic_text(const struct elf *elf, int64_t tag, unsigned int n)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section(elf, SHT_DYNAMIC, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t count = data && header.sh_entsize ? header.sh_size / header.sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Dyn entry;

		if (!gelf_getdyn(data, (int)i, &entry))
			break;
		if (entry.d_tag == tag && !n--)
			return elf_strptr(elf->handle, header.sh_link, entry.d_un.d_val);
	}
	return NULL;
}

const char *elf_needed(const struct elf *elf, unsigned int n)
{
	return dynamic_text(elf, DT_NEEDED, n);
}

const char *elf_runpath(const struct elf *elf)
{
	const char *path = dynamic_text(elf, DT_RUNPATH, 0);

	return path ? path : dynamic_text(elf, DT_RPATH, 0);
}
