// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>

#include "observe/process/elf_symbols.h"
#include "observe/process/relocs.h"

int elf_pointer_in(const struct elf *elf, const char *object, uint64_t at, uint64_t *offset)
{
	const struct reloc *reloc;
	struct relocs relocs;
	uint64_t vaddr, size;
	int err = elf_object(elf, object, &vaddr, &size);

	if (err)
		return err;
	relocs_init(&relocs, elf);
	reloc = relocs_find(&relocs, vaddr + at);
	err = at + sizeof(uint64_t) <= size && reloc && !reloc->import
		      ? elf_vaddr_to_offset(elf, reloc->target, offset)
		      : -ENOENT;
	relocs_release(&relocs);
	return err;
}
