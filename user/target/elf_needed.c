// SPDX-License-Identifier: BSD-3-Clause
#include "target/elf_private.h"

const char *elf_needed(const struct elf *elf, unsigned int n)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section(elf, SHT_DYNAMIC, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t count = data && header.sh_entsize ? header.sh_size / header.sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Dyn entry;

		if (!gelf_getdyn(data, (int)i, &entry))
			break;
		if (entry.d_tag == DT_NEEDED && !n--)
			return elf_strptr(elf->handle, header.sh_link, entry.d_un.d_val);
	}
	return NULL;
}
