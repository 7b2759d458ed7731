// SPDX-License-Identifier: BSD-3-Clause
/* Opens an ELF file: its segments and the dynamic section. */
#include "observe/process/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/library_role.h"
#include "base/vec.h"
#include "observe/process/elf_private.h"
#include "observe/process/library.h"
#include "observe/process/remote.h"

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

#define SEGMENTS_MAX 1024 /* a library has about ten */

static bool is_inside(const struct elf *elf, const GElf_Phdr *segment)
{
	return segment->p_offset <= elf->size && segment->p_filesz <= elf->size - segment->p_offset;
}

static int load_segments(struct elf *elf)
{
	size_t count;

	if (elf_getphdrnum(elf->handle, &count) || count > SEGMENTS_MAX)
		return -ENOEXEC;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf->handle, (int)i, &segment) || !is_inside(elf, &segment))
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

/*
 * Shared: the kernel puts the breakpoints of uprobes on a file into all private mappings of it that
 * could be made executable (valid_vma() in kernel/events/uprobes.c).
 */
static int map_image(struct elf *elf, int fd)
{
	void *image;

	if (!elf->size)
		return -ENOEXEC;
	image = mmap(NULL, elf->size, PROT_READ, MAP_SHARED, fd, 0);
	if (image == MAP_FAILED)
		return -errno;
	elf->image = image;
	return 0;
}

/* Parses the file by libelf, in this process. */
static int look(struct elf *elf)
{
	int err;

	elf_version(EV_CURRENT);
	elf->handle = elf->image ? elf_memory(elf->image, elf->size)
				 : elf_begin(elf->file.fd, ELF_C_READ, NULL);
	if (!elf->handle)
		return -ENOEXEC;
	err = check_header(elf);
	if (!err)
		err = load_segments(elf);
	if (!err)
		load_build_id(elf);
	return err;
}

/*
 * A file of root's that others may write to counts as another owner's. Each file system has owners
 * of its own, since its server, the root of a container, or the maker of a mounted image can make
 * any file root's.
 */
static uint64_t owner_of(const struct stat *st)
{
	const uint32_t user =
		!st->st_uid && st->st_mode & (S_IWGRP | S_IWOTH) ? UINT32_MAX : st->st_uid;

	return (uint64_t)st->st_dev << 32 | user;
}

/* A reader's first answer about a file. */
struct description {
	uint32_t machine, type, segments, roles;
	char build_id[ELF_BUILD_ID_TEXT];
};

static void add_description(const struct elf *elf, uint32_t roles, reader_answer *answer)
{
	struct description description = { .machine = (uint32_t)elf->machine,
					   .type = (uint32_t)elf->type,
					   .segments = (uint32_t)elf->segments.len,
					   .roles = roles };

	memcpy(description.build_id, elf->build_id, sizeof(description.build_id));
	answer_add(answer, &description, sizeof(description));
	answer_add(answer, elf->segments.data, elf->segments.len * sizeof(*elf->segments.data));
}

static long describe(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	(void)arguments;
	(void)size;
	add_description(elf, ROLES_UNKNOWN, answer);
	return 0;
}

static long describe_with_roles(struct elf *elf, const void *arguments, size_t size,
				reader_answer *answer)
{
	(void)arguments;
	(void)size;
	add_description(elf, elf_roles(elf), answer);
	return 0;
}

static bool take_description(struct elf *elf, const reader_answer *answer)
{
	struct description description;
	const char *id = description.build_id;
	size_t at = 0;

	if (!answer_take(answer, &at, &description, sizeof(description)) ||
	    (description.machine != EM_X86_64 && description.machine != EM_AARCH64) ||
	    description.type > UINT16_MAX || description.segments > SEGMENTS_MAX ||
	    (description.roles & ~(uint32_t)LIB_ALL && description.roles != ROLES_UNKNOWN) ||
	    answer->len - at != description.segments * sizeof(GElf_Phdr) ||
	    id[ELF_BUILD_ID_TEXT - 1] || strspn(id, "0123456789abcdef") != strlen(id))
		return false;
	for (uint32_t i = 0; i < description.segments; i++) {
		GElf_Phdr segment;

		if (!answer_take(answer, &at, &segment, sizeof(segment)) ||
		    !is_inside(elf, &segment))
			return false;
		vec_push(&elf->segments, segment);
	}
	elf->machine = (int)description.machine;
	elf->type = (int)description.type;
	elf->roles = description.roles;
	elf->known = known_symbols_new();
	memcpy(elf->build_id, id, sizeof(elf->build_id));
	return true;
}

static void ask_reader(struct elf *elf, uint64_t owner, bool with_roles)
{
	char link[32], name[512];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", elf->file.fd);
	length = readlink(link, name, sizeof(name) - 1);
	name[length > 0 ? length : 0] = '\0';
	elf->remote = reader_file_open(elf_content_fd(elf), elf->size, owner, name,
				       with_roles ? describe_with_roles : describe);
}

int elf_load_end(struct elf *elf)
{
	reader_answer answer = { 0 };
	long err = elf->remote ? reader_file_opened(elf->remote, &answer) : 0;

	if (elf->remote && err >= 0 && !take_description(elf, &answer))
		err = elf_refuse(elf);
	vec_release(&answer);
	return err < 0 ? (int)err : 0;
}

static int load(struct elf *elf, bool with_roles)
{
	int err;

	elf->size = (uint64_t)elf->file.st.st_size;
	if (readers_started()) {
		ask_reader(elf, owner_of(&elf->file.st), with_roles);
		return 0;
	}
	/*
	 * the file itself is not mapped: if it were cut short meanwhile, reads would raise SIGBUS
	 */
	err = elf->file.image >= 0 ? map_image(elf, elf->file.image) : 0;
	return err ? err : look(elf);
}

static struct elf *elf_new(void)
{
	struct elf *elf = calloc(1, sizeof(*elf));

	if (!elf)
		return NULL;
	elf->file.fd = elf->file.image = -1;
	elf->index = calloc(1, sizeof(*elf->index));
	if (elf->index)
		return elf;
	free(elf);
	return NULL;
}

static int loaded(struct elf **out, struct elf *elf, int err)
{
	if (err)
		elf_free(elf);
	else
		*out = elf;
	return err;
}

static int begin(struct elf **out, const struct remote_file *file, bool with_roles)
{
	struct elf *elf = elf_new();

	if (!elf) {
		remote_close(file);
		return -ENOMEM;
	}
	elf->file = *file;
	return loaded(out, elf, load(elf, with_roles));
}

int elf_load_begin(struct elf **elf, const struct remote_file *file)
{
	return begin(elf, file, true);
}

int elf_load_file(struct elf **out, const struct remote_file *file)
{
	struct elf *elf;
	int err = begin(&elf, file, false);

	return err ? err : loaded(out, elf, elf_load_end(elf));
}

int elf_load(struct elf **elf, const char *path)
{
	struct remote_file file;
	const int err = remote_open(path, &file);

	return err ? err : elf_load_file(elf, &file);
}

int elf_parse(struct elf **out, int fd, uint64_t size)
{
	struct elf *elf = elf_new();
	int err;

	if (!elf)
		return -ENOMEM;
	elf->size = size;
	err = map_image(elf, fd);
	return loaded(out, elf, err ? err : look(elf));
}

void elf_free(struct elf *elf)
{
	if (!elf)
		return;
	vec_release(&elf->index->dynsym);
	vec_release(&elf->index->symtab);
	vec_release(&elf->index->by_vaddr);
	free(elf->index);
	vec_release(&elf->segments);
	vec_release(&elf->needed);
	known_symbols_free(elf->known);
	if (elf->unwind)
		elf->unwind_free(elf->unwind);
	elf_end(elf->handle);
	if (elf->remote)
		reader_file_close(elf->remote);
	if (elf->image)
		munmap(elf->image, elf->size);
	remote_close(&elf->file);
	free(elf);
}

long elf_ask(const struct elf *elf, reader_service serve, const void *arguments, size_t size,
	     reader_answer *answer)
{
	answer->len = 0;
	if (elf->remote)
		return reader_file_ask(elf->remote, serve, arguments, size, answer);
	return serve((struct elf *)elf, arguments, size, answer);
}

int elf_ask_for(const struct elf *elf, reader_service serve, const void *arguments, size_t size,
		void *to, size_t to_size)
{
	reader_answer answer = { 0 };
	long err = elf_ask(elf, serve, arguments, size, &answer);

	if (!err && answer.len == to_size)
		memcpy(to, answer.data, to_size);
	else if (err >= 0)
		err = elf_refuse(elf);
	vec_release(&answer);
	return (int)err;
}

int elf_refuse(const struct elf *elf)
{
	return elf->remote ? reader_file_refuse(elf->remote) : -EREMOTEIO;
}

const char *elf_build_id(const struct elf *elf)
{
	return elf->build_id;
}

int elf_fd(const struct elf *elf)
{
	return elf->file.fd;
}

int elf_content_fd(const struct elf *elf)
{
	return elf->file.image >= 0 ? elf->file.image : elf->file.fd;
}

const struct remote_file *elf_file(const struct elf *elf)
{
	return &elf->file;
}

int elf_machine(const struct elf *elf)
{
	return elf->machine;
}

long elf_read(const struct elf *elf, uint64_t offset, void *buffer, size_t size)
{
	if (elf->image) {
		if (offset >= elf->size)
			return 0;
		size = size < elf->size - offset ? size : elf->size - offset;
		memcpy(buffer, elf->image + offset, size);
		return (long)size;
	}
	return remote_pread(&elf->file, buffer, size, offset);
}

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

bool elf_has_interpreter(const struct elf *elf)
{
	for (size_t i = 0; i < elf->segments.len; i++)
		if (elf->segments.data[i].p_type == PT_INTERP)
			return true;
	return false;
}

bool elf_is_executable(const struct elf *elf)
{
	return elf->type == ET_EXEC || elf_has_interpreter(elf);
}

Elf_Scn *elf_section(const struct elf *elf, unsigned int type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf->handle, section)))
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	return NULL;
}

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
