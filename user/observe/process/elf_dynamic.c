// SPDX-License-Identifier: BSD-3-Clause
/* The libraries that a file needs: their names, where it looks for them, versions of symbols. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "observe/process/elf_private.h"

/* The n-th entry with that tag; strings: the section of its text. */
static bool dynamic_entry(const struct elf *elf, int64_t tag, unsigned int n, GElf_Dyn *entry,
			  size_t *strings)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section(elf, SHT_DYNAMIC, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t count = data && header.sh_entsize ? header.sh_size / header.sh_entsize : 0;

	*strings = section ? header.sh_link : 0;
	for (size_t i = 0; i < count && gelf_getdyn(data, (int)i, entry); i++)
		if (entry->d_tag == tag && !n--)
			return true;
	return false;
}

static const char *dynamic_text(const struct elf *elf, int64_t tag, unsigned int n)
{
	GElf_Dyn entry;
	size_t strings;

	return dynamic_entry(elf, tag, n, &entry, &strings)
		       ? elf_strptr(elf->handle, strings, entry.d_un.d_val)
		       : NULL;
}

static long is_pie(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	GElf_Dyn entry;
	size_t strings;
	const bool pie =
		dynamic_entry(elf, DT_FLAGS_1, 0, &entry, &strings) && entry.d_un.d_val & DF_1_PIE;

	(void)arguments;
	(void)size;
	answer_add(answer, &pie, sizeof(pie));
	return 0;
}

bool elf_is_program(const struct elf *elf)
{
	bool pie = false;

	return elf->type == ET_EXEC ||
	       (!elf_ask_for(elf, is_pie, NULL, 0, &pie, sizeof(pie)) && pie);
}

#define NEEDED_MAX 65536 /* bytes of names, which are kept */

static long list_needed(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	const char *name;

	(void)arguments;
	(void)size;
	for (unsigned int n = 0;
	     (name = dynamic_text(elf, DT_NEEDED, n)) && answer->len <= NEEDED_MAX; n++)
		answer_add(answer, name, strlen(name) + 1);
	return answer->len > NEEDED_MAX ? -E2BIG : 0;
}

/* The n-th of the names that a reader listed. */
static const char *listed_name(struct elf *elf, unsigned int n)
{
	reader_answer *names = &elf->needed;
	const char *name, *end;

	if (!names->len && elf_ask(elf, list_needed, NULL, 0, names))
		vec_release(names);
	if (!names->len)
		return NULL;
	if (names->data[names->len - 1] || names->len > NEEDED_MAX) {
		elf_refuse(elf);
		vec_release(names);
		return NULL;
	}
	name = (const char *)names->data;
	end = name + names->len;
	while (n-- && name < end)
		name += strlen(name) + 1;
	return name < end ? name : NULL;
}

const char *elf_needed(const struct elf *elf, unsigned int n)
{
	return elf->handle ? dynamic_text(elf, DT_NEEDED, n) : listed_name((struct elf *)elf, n);
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

/* The text with its NUL; empty where the file has no such entry. */
static long list_runpath(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	const char *list = dynamic_text(elf, DT_RUNPATH, 0);

	(void)arguments;
	(void)size;
	list = list ? list : dynamic_text(elf, DT_RPATH, 0);
	if (list)
		answer_add(answer, list, strlen(list) + 1);
	return 0;
}

int elf_each_runpath(const struct elf *elf, const char *path,
		     int (*fn)(void *arg, const char *folder), void *arg)
{
	const char *list = NULL, *end = strrchr(path, '/');
	reader_answer answer = { 0 };
	int err = 0;

	if (!elf_ask(elf, list_runpath, NULL, 0, &answer) && answer.len) {
		list = (const char *)answer.data;
		if (strnlen(list, answer.len) + 1 != answer.len) {
			elf_refuse(elf);
			list = NULL;
		}
	}
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
	vec_release(&answer);
	return err;
}

#define MAX_ENTRIES 65536 /* chains are by offsets, which may be forged into a ring */

/*
 * Versions of symbols: .gnu.version_r of the file that needs them, .gnu.version_d of the one that
 * has them.
 */
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

static void add_text(reader_answer *answer, const char *text)
{
	if (text)
		answer_add(answer, text, strlen(text) + 1);
}

/*
 * A library without versions serves every version, with the loader's warning: nothing is missing.
 */
static long list_defined(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	int at = 0, left = MAX_ENTRIES;
	struct versions has;
	GElf_Verdef entry;

	(void)arguments;
	(void)size;
	if (!versions_of(elf, SHT_GNU_verdef, &has))
		return 0;
	while (left-- && gelf_getverdef(has.data, at, &entry)) {
		GElf_Verdaux own;

		if (gelf_getverdaux(has.data, at + (int)entry.vd_aux, &own))
			add_text(answer, version_text(&has, own.vda_name));
		if (!entry.vd_next)
			break;
		at += (int)entry.vd_next;
	}
	return 0;
}

/* Weak versions do not count: they may be missing. */
static void list_of_library(const struct versions *needs, int at, unsigned int count,
			    reader_answer *answer)
{
	GElf_Vernaux entry;

	while (count-- && gelf_getvernaux(needs->data, at, &entry)) {
		if (!(entry.vna_flags & VER_FLG_WEAK))
			add_text(answer, version_text(needs, entry.vna_name));
		if (!entry.vna_next)
			break;
		at += (int)entry.vna_next;
	}
}

/* arguments: the library's name, with its NUL. */
static long list_required(struct elf *elf, const void *arguments, size_t size,
			  reader_answer *answer)
{
	int at = 0, left = MAX_ENTRIES;
	struct versions needs;
	GElf_Verneed entry;

	(void)size;
	if (!versions_of(elf, SHT_GNU_verneed, &needs))
		return 0;
	while (left-- && gelf_getverneed(needs.data, at, &entry)) {
		const char *file = version_text(&needs, entry.vn_file);

		if (file && !strcmp(file, arguments)) {
			list_of_library(&needs, at + (int)entry.vn_aux, entry.vn_cnt, answer);
			break;
		}
		if (!entry.vn_next)
			break;
		at += (int)entry.vn_next;
	}
	return 0;
}

/* Texts, each with its NUL. */
static void list_texts(const struct elf *elf, reader_service serve, const char *argument,
		       reader_answer *texts)
{
	long err = elf_ask(elf, serve, argument, argument ? strlen(argument) + 1 : 0, texts);

	if (!err && texts->len && texts->data[texts->len - 1])
		err = elf_refuse(elf);
	if (err)
		vec_release(texts);
}

static const char *next_text(const reader_answer *texts, size_t *at)
{
	const char *text = *at < texts->len ? (const char *)texts->data + *at : NULL;

	*at += text ? strlen(text) + 1 : 0;
	return text;
}

static bool has_text(const reader_answer *texts, const char *wanted)
{
	const char *text;
	size_t at = 0;

	while ((text = next_text(texts, &at)) && strcmp(text, wanted))
		;
	return text;
}

char *elf_lacks_version(const struct elf *elf, const char *name, const struct elf *found)
{
	reader_answer needs = { 0 }, has = { 0 };
	char *lacking = NULL;
	const char *text;
	size_t at = 0;

	list_texts(elf, list_required, name, &needs);
	list_texts(found, list_defined, NULL, &has);
	while (has.len && !lacking && (text = next_text(&needs, &at)))
		if (!has_text(&has, text))
			lacking = xstrdup(text);
	vec_release(&needs);
	vec_release(&has);
	return lacking;
}
