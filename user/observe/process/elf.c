// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "observe/process/elf_private.h"

static int check_header(struct elf *elf)
{
	GElf_Ehdr header;

	if (elf_kind(elf->handle) != ELF_K_ELF || !gelf_getehdr(elf->handle, &header))
		return -ENOEXEC;
	if (gelf_getclass(elf->handle) != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -EOPNOTSUPP;
	if (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)
		return -EOPNOTSUPP;
	if (header.e_shoff > elf->size ||
	    (uint64_t)header.e_shnum * header.e_shentsize > elf->size - header.e_shoff)
		return -ENOEXEC;
	elf->machine = header.e_machine;
	elf->type = header.e_type;
	return 0;
}

static int load_segments(struct elf *elf)
{
	size_t count;

	if (elf_getphdrnum(elf->handle, &count))
		return -ENOEXEC;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf->handle, (int)i, &segment))
			return -ENOEXEC;
		if (segment.p_offset > elf->size || segment.p_filesz > elf->size - segment.p_offset)
			return -ENOEXEC;
		vec_push(&elf->segments, segment);
	}
	return 0;
}

static void format_build_id(struct elf *elf, const unsigned char *id, size_t size)
{
	for (size_t i = 0; i < size && 2 * i + 2 < sizeof(elf->build_id); i++)
		snprintf(elf->build_id + 2 * i, 3, "%02x", id[i]);
}

static void load_build_id(struct elf *elf)
{
	for (size_t i = 0; i < elf->segments.len; i++) {
		GElf_Phdr *segment = &elf->segments.data[i];
		size_t at = 0, next, name, desc;
		GElf_Nhdr note;
		Elf_Data *data;

		if (segment->p_type != PT_NOTE)
			continue;
		data = elf_getdata_rawchunk(elf->handle, (int64_t)segment->p_offset,
					    segment->p_filesz,
					    segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		for (; data && (next = gelf_getnote(data, at, &note, &name, &desc)) > 0; at = next)
			if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			    !memcmp((char *)data->d_buf + name, "GNU", 4))
				return format_build_id(elf, (unsigned char *)data->d_buf + desc,
						       note.n_descsz);
	}
}

static int open_fd(struct elf *elf, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	/* opening a mapped device could have effects on it, opening a pipe would block */
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	elf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (elf->fd < 0)
		return -errno;
	elf->size = (uint64_t)st.st_size;
	return 0;
}

static int load(struct elf *elf, const char *path)
{
	int error = open_fd(elf, path);

	if (error)
		return error;
	elf_version(EV_CURRENT);
	/* no mmap: a file that is cut short while we read it would raise SIGBUS */
	elf->handle = elf_begin(elf->fd, ELF_C_READ, NULL);
	if (!elf->handle)
		return -ENOEXEC;
	error = check_header(elf);
	if (!error)
		error = load_segments(elf);
	if (!error)
		load_build_id(elf);
	return error;
}

int elf_load(struct elf **out, const char *path)
{
	struct elf *elf = calloc(1, sizeof(*elf));
	int error;

	if (!elf)
		return -ENOMEM;
	elf->index = calloc(1, sizeof(*elf->index));
	elf->fd = -1;
	error = elf->index ? load(elf, path) : -ENOMEM;
	if (error) {
		elf_free(elf);
		return error;
	}
	*out = elf;
	return 0;
}

void elf_free(struct elf *elf)
{
	if (!elf)
		return;
	if (elf->index) {
		vec_release(&elf->index->dynsym);
		vec_release(&elf->index->symtab);
		vec_release(&elf->index->by_vaddr);
	}
	free(elf->index);
	vec_release(&elf->segments);
	elf_end(elf->handle);
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf);
}

const char *elf_build_id(const struct elf *elf)
{
	return elf->build_id;
}

int elf_fd(const struct elf *elf)
{
	return elf->fd;
}

int elf_machine(const struct elf *elf)
{
	return elf->machine;
}

long elf_read(const struct elf *elf, uint64_t offset, void *buffer, size_t size)
{
	ssize_t got = pread(elf->fd, buffer, size, (off_t)offset);

	return got < 0 ? -errno : got;
}
