// SPDX-License-Identifier: BSD-3-Clause
/* Opens an ELF file: its segments and the dynamic section. */
#include "observe/process/elf.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/vec.h"
#include "observe/process/elf_private.h"
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

	elf->fd = remote_open(path);
	if (elf->fd < 0)
		return elf->fd;
	if (fstat(elf->fd, &st))
		return -errno;
	elf->size = (uint64_t)st.st_size;
	return 0;
}

/* File systems without a server that could stop to answer. An overlay may lie on any.
 */
static bool answers_always(int fd)
{
	static const unsigned int local[] = {
		BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, RAMFS_MAGIC,
		TMPFS_MAGIC,       SQUASHFS_MAGIC,   XFS_SUPER_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		if ((unsigned int)fs.f_type == local[i])
			return true;
	return false;
}

#define IMAGE_MAX (64u << 20) /* larger files are read in parts, where they are needed */
#define IMAGE_PART (1u << 20)

/* The whole file, patiently: afterwards nobody has to answer. */
static int read_image(struct elf *elf)
{
	long got = 1;

	elf->image = malloc(elf->size ? elf->size : 1);
	if (!elf->image)
		return -ENOMEM;
	for (uint64_t done = 0; done < elf->size; done += (uint64_t)got) {
		uint64_t left = elf->size - done;

		got = remote_pread(elf->fd, elf->image + done,
				   left < IMAGE_PART ? left : IMAGE_PART, done);
		if (got < 0)
			return (int)got;
		if (!got) /* cut short meanwhile */
			elf->size = done;
	}
	return 0;
}

static int load(struct elf *elf, const char *path)
{
	int error = open_fd(elf, path);

	if (!error && elf->size <= IMAGE_MAX && !answers_always(elf->fd))
		error = read_image(elf);
	if (error)
		return error;
	elf_version(EV_CURRENT);
	/* no mmap: a file that is cut short while we read it would raise SIGBUS */
	elf->handle = elf->image ? elf_memory(elf->image, elf->size)
				 : elf_begin(elf->fd, ELF_C_READ, NULL);
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
	free(elf->image);
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

Elf_Scn *elf_section(const struct elf *elf, unsigned int type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf->handle, section)))
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	return NULL;
}

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

/* Length of the word at the beginning of a folder that stands for the file's own; 0: none. */
static int origin_length(const char *folder)
{
	static const char *const words[] = { "$ORIGIN", "${ORIGIN}" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strncmp(folder, words[i], strlen(words[i])))
			return (int)strlen(words[i]);
	return 0;
}

int elf_each_runpath(const struct elf *elf, const char *path,
		     int (*fn)(void *arg, const char *folder), void *arg)
{
	const char *list = dynamic_text(elf, DT_RUNPATH, 0), *end = strrchr(path, '/');
	int err = 0;

	if (!list)
		list = dynamic_text(elf, DT_RPATH, 0);
	while (list && *list && !err) {
		const int length = (int)strcspn(list, ":"), skip = origin_length(list);
		char folder[PATH_MAX];
		int size;

		size = snprintf(folder, sizeof(folder), "%.*s%.*s",
				skip && end ? (int)(end - path) : 0, path, length - skip,
				list + skip);
		if (size > 0 && size < (int)sizeof(folder))
			err = fn(arg, folder);
		list += length + (list[length] == ':');
	}
	return err;
}

#define MAX_ENTRIES 65536 /* chains are by offsets, which may be forged into a ring */

/* Versions of symbols: .gnu.version_r of who needs them, .gnu.version_d of who has them. */
struct versions {
	Elf_Data *data;
	GElf_Shdr header;
	const struct elf *elf;
};

static bool versions_of(const struct elf *elf, unsigned int type, struct versions *versions)
{
	Elf_Scn *section = elf_section(elf, type, &versions->header);

	versions->elf = elf;
	versions->data = section ? elf_getdata(section, NULL) : NULL;
	return versions->data;
}

static const char *version_text(const struct versions *versions, size_t at)
{
	return elf_strptr(versions->elf->handle, versions->header.sh_link, at);
}

static bool defines(const struct versions *versions, const char *name)
{
	int at = 0, left = MAX_ENTRIES;
	GElf_Verdef entry;

	while (left-- && gelf_getverdef(versions->data, at, &entry)) {
		GElf_Verdaux own;
		const char *defined = NULL;

		if (gelf_getverdaux(versions->data, at + (int)entry.vd_aux, &own))
			defined = version_text(versions, own.vda_name);
		if (defined && !strcmp(defined, name))
			return true;
		if (!entry.vd_next)
			return false;
		at += (int)entry.vd_next;
	}
	return false;
}

/* The first one of a library's list that is missing; a weak one may be. */
static const char *lacking(const struct versions *needs, int at, unsigned int count,
			   const struct versions *has)
{
	GElf_Vernaux entry;

	while (count-- && gelf_getvernaux(needs->data, at, &entry)) {
		const char *name = version_text(needs, entry.vna_name);

		if (name && !(entry.vna_flags & VER_FLG_WEAK) && !defines(has, name))
			return name;
		if (!entry.vna_next)
			break;
		at += (int)entry.vna_next;
	}
	return NULL;
}

const char *elf_lacks_version(const struct elf *elf, const char *name, const struct elf *found)
{
	struct versions needs, has;
	int at = 0, left = MAX_ENTRIES;
	GElf_Verneed entry;

	/* a library without versions serves every one, with a warning */
	if (!versions_of(elf, SHT_GNU_verneed, &needs) || !versions_of(found, SHT_GNU_verdef, &has))
		return NULL;
	while (left-- && gelf_getverneed(needs.data, at, &entry)) {
		const char *file = version_text(&needs, entry.vn_file);

		if (file && !strcmp(file, name))
			return lacking(&needs, at + (int)entry.vn_aux, entry.vn_cnt, &has);
		if (!entry.vn_next)
			break;
		at += (int)entry.vn_next;
	}
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
