// SPDX-License-Identifier: BSD-3-Clause
/* Versions of symbols: .gnu.version_r of who needs them, .gnu.version_d of who has them. */
#include <string.h>

#include "observe/process/elf_needs.h"
#include "observe/process/elf_private.h"

#define MAX_ENTRIES 65536 /* chains are by offsets, which may be forged into a ring */

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

static const char *text(const struct versions *versions, size_t at)
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
			defined = text(versions, own.vda_name);
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
		const char *name = text(needs, entry.vna_name);

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
		const char *file = text(&needs, entry.vn_file);

		if (file && !strcmp(file, name))
			return lacking(&needs, at + (int)entry.vn_aux, entry.vn_cnt, &has);
		if (!entry.vn_next)
			break;
		at += (int)entry.vn_next;
	}
	return NULL;
}
