// SPDX-License-Identifier: BSD-3-Clause
/*
 * File offsets, link-time addresses and run-time addresses.
 */
#include <errno.h>
#include <unistd.h>

#include "observe/process/elf_private.h"

int elf_vaddr_to_offset(const struct elf *elf, uint64_t vaddr, uint64_t *offset)
{
	for (size_t i = 0; i < elf->segments.len; i++) {
		const GElf_Phdr *segment = &elf->segments.data[i];

		if (segment->p_type != PT_LOAD || vaddr < segment->p_vaddr ||
		    vaddr - segment->p_vaddr >= segment->p_filesz)
			continue;
		*offset = vaddr - segment->p_vaddr + segment->p_offset;
		return 0;
	}
	return -ENOENT;
}

int elf_offset_to_vaddr(const struct elf *elf, uint64_t offset, uint64_t *vaddr)
{
	for (size_t i = 0; i < elf->segments.len; i++) {
		const GElf_Phdr *segment = &elf->segments.data[i];

		if (segment->p_type != PT_LOAD || offset < segment->p_offset ||
		    offset - segment->p_offset >= segment->p_filesz)
			continue;
		*vaddr = offset - segment->p_offset + segment->p_vaddr;
		return 0;
	}
	return -ENOENT;
}

uint64_t elf_reach(const struct elf *elf)
{
	uint64_t end = 0;

	for (size_t i = 0; i < elf->segments.len; i++) {
		const GElf_Phdr *segment = &elf->segments.data[i];

		if (segment->p_type == PT_LOAD && segment->p_vaddr + segment->p_memsz > end)
			end = segment->p_vaddr + segment->p_memsz;
	}
	return end;
}

bool elf_vaddr_in(const struct elf *elf, uint64_t vaddr, unsigned int flags)
{
	for (size_t i = 0; i < elf->segments.len; i++) {
		const GElf_Phdr *segment = &elf->segments.data[i];

		if (segment->p_type == PT_LOAD && vaddr >= segment->p_vaddr &&
		    vaddr - segment->p_vaddr < segment->p_memsz)
			return (segment->p_flags & flags) == flags;
	}
	return false;
}

int elf_load_bias(const struct elf *elf, uint64_t start, uint64_t offset, uint64_t *bias)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < elf->segments.len; i++) {
		const GElf_Phdr *segment = &elf->segments.data[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
		    offset < segment->p_offset / page * page ||
		    offset >= segment->p_offset + segment->p_filesz)
			continue;
		*bias = start - (segment->p_vaddr - segment->p_offset + offset);
		return 0;
	}
	return -ENOENT;
}

bool elf_is_executable(const struct elf *elf)
{
	if (elf->type == ET_EXEC)
		return true;
	for (size_t i = 0; i < elf->segments.len; i++)
		if (elf->segments.data[i].p_type == PT_INTERP)
			return true;
	return false;
}
