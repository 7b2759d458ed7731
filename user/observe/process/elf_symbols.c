// SPDX-License-Identifier: BSD-3-Clause
/* The symbols of a file: in file order, by name, and by address. */
#include "observe/process/elf.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/order.h"
#include "observe/process/elf_private.h"

static bool to_symbol(const struct elf *elf, const GElf_Shdr *table, const GElf_Sym *sym,
		      struct elf_symbol *symbol)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);

	/* an IFUNC's address is its resolver, never what callers run */
	if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE)
		return false;
	symbol->name = elf_strptr(elf->handle, table->sh_link, sym->st_name);
	if (!symbol->name || !*symbol->name)
		return false;
	symbol->vaddr = sym->st_value;
	symbol->size = sym->st_size;
	symbol->function = type == STT_FUNC;
	symbol->defined =
		sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS && type != STT_NOTYPE;
	return true;
}

int elf_each_symbol(const struct elf *elf, bool dynamic,
		    int (*fn)(void *arg, const struct elf_symbol *symbol), void *arg)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section(elf, dynamic ? SHT_DYNSYM : SHT_SYMTAB, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t count = data && header.sh_entsize ? header.sh_size / header.sh_entsize : 0;

	for (size_t i = 1; i < count; i++) {
		struct elf_symbol symbol;
		GElf_Sym sym;
		int stop;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		if (!to_symbol(elf, &header, &sym, &symbol))
			continue;
		stop = fn(arg, &symbol);
		if (stop)
			return stop;
	}
	return 0;
}

/* ---- by name ---- */

static int add_defined(void *arg, const struct elf_symbol *symbol)
{
	if (symbol->defined)
		vec_push((elf_symbols *)arg, *symbol);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Defined symbols of .dynsym (dynamic) or .symtab by name, loaded on first use. */
static const elf_symbols *elf_symbol_table(const struct elf *elf, bool dynamic)
{
	struct elf_index *index = elf->index;
	elf_symbols *table = dynamic ? &index->dynsym : &index->symtab;
	bool *loaded = dynamic ? &index->dynsym_loaded : &index->symtab_loaded;

	if (*loaded)
		return table;
	*loaded = true;
	elf_each_symbol(elf, dynamic, add_defined, table);
	if (table->len)
		qsort(table->data, table->len, sizeof(*table->data), by_name);
	return table;
}

static const struct elf_symbol *find_in(const elf_symbols *table, const char *name, bool function)
{
	size_t i = search_count(table->len, at, strcmp(table->data[at].name, name) < 0);

	for (; i < table->len && !strcmp(table->data[i].name, name); i++)
		if (table->data[i].function == function)
			return &table->data[i];
	return NULL;
}

static const struct elf_symbol *find_here(const struct elf *elf, const char *name, bool function)
{
	const struct elf_symbol *symbol = find_in(elf_symbol_table(elf, true), name, function);

	return symbol ? symbol : find_in(elf_symbol_table(elf, false), name, function);
}

struct wanted_symbol {
	bool function;
	char name[READER_ARGUMENTS - sizeof(bool)];
};

struct found {
	uint64_t vaddr, size;
};

/* An answer of a reader, kept: each process asks for the same few symbols again. */
struct known_symbol {
	char *name;
	bool function;
	int err;
	struct found found;
};

struct known_symbols {
	pthread_mutex_t lock;
	VEC(struct known_symbol) all;
};

struct known_symbols *known_symbols_new(void)
{
	struct known_symbols *known = xcalloc(1, sizeof(*known));

	pthread_mutex_init(&known->lock, NULL);
	return known;
}

void known_symbols_free(struct known_symbols *known)
{
	if (!known)
		return;
	for (size_t i = 0; i < known->all.len; i++)
		free(known->all.data[i].name);
	vec_release(&known->all);
	pthread_mutex_destroy(&known->lock);
	free(known);
}

static long find_symbol(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	const struct wanted_symbol *wanted = arguments;
	const struct elf_symbol *symbol = find_here(elf, wanted->name, wanted->function);

	(void)size;
	if (!symbol)
		return -ENOENT;
	answer_add(answer, &(struct found){ symbol->vaddr, symbol->size }, sizeof(struct found));
	return 0;
}

static int ask_for_symbol(const struct elf *elf, const char *name, bool function,
			  struct found *found)
{
	struct wanted_symbol wanted = { .function = function };

	if (strlen(name) >= sizeof(wanted.name))
		return -ENOENT;
	strcpy(wanted.name, name);
	return elf_ask_for(elf, find_symbol, &wanted, sizeof(wanted), found, sizeof(*found));
}

static struct known_symbol *known_symbol(struct known_symbols *known, const char *name,
					 bool function)
{
	for (size_t i = 0; i < known->all.len; i++)
		if (known->all.data[i].function == function &&
		    !strcmp(known->all.data[i].name, name))
			return &known->all.data[i];
	return NULL;
}

static int find_by_reader(const struct elf *elf, const char *name, bool function,
			  struct found *found)
{
	struct known_symbols *known = elf->known;
	struct known_symbol *symbol;
	int err;

	pthread_mutex_lock(&known->lock);
	symbol = known_symbol(known, name, function);
	if (!symbol) {
		symbol = vec_add(&known->all);
		*symbol = (struct known_symbol){ .name = xstrdup(name), .function = function };
		symbol->err = ask_for_symbol(elf, name, function, &symbol->found);
	}
	*found = symbol->found;
	err = symbol->err;
	pthread_mutex_unlock(&known->lock);
	return err;
}

static int find(const struct elf *elf, const char *name, bool function, struct found *found)
{
	const struct elf_symbol *symbol;

	if (!elf->handle)
		return find_by_reader(elf, name, function, found);
	symbol = find_here(elf, name, function);
	if (!symbol)
		return -ENOENT;
	*found = (struct found){ symbol->vaddr, symbol->size };
	return 0;
}

int elf_function(const struct elf *elf, const char *name, uint64_t *offset, uint64_t *size)
{
	struct found found;
	int err = find(elf, name, true, &found);

	if (err)
		return err;
	if (size)
		*size = found.size;
	return elf_vaddr_to_offset(elf, found.vaddr, offset);
}

int elf_object(const struct elf *elf, const char *name, uint64_t *vaddr, uint64_t *size)
{
	struct found found;
	int err = find(elf, name, false, &found);

	if (err)
		return err;
	if (size)
		*size = found.size;
	*vaddr = found.vaddr;
	return 0;
}

/* ---- by address ---- */

static int by_vaddr(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void append(struct elf_index *index, const elf_symbols *table)
{
	for (size_t i = 0; i < table->len; i++)
		vec_push(&index->by_vaddr, table->data[i]);
}

static void load_by_vaddr(const struct elf *elf)
{
	struct elf_index *index = elf->index;

	if (index->by_vaddr_loaded)
		return;
	index->by_vaddr_loaded = true;
	append(index, elf_symbol_table(elf, true));
	/* an executable seldom exports the symbols linked into it */
	if (elf_is_executable(elf))
		append(index, elf_symbol_table(elf, false));
	if (index->by_vaddr.len)
		qsort(index->by_vaddr.data, index->by_vaddr.len, sizeof(*index->by_vaddr.data),
		      by_vaddr);
}

/* Number of symbols that start below vaddr. */
static size_t count_below(const struct elf *elf, uint64_t vaddr)
{
	load_by_vaddr(elf);
	return search_count(elf->index->by_vaddr.len, at,
			    elf->index->by_vaddr.data[at].vaddr < vaddr);
}

const char *elf_name_at(const struct elf *elf, uint64_t vaddr)
{
	size_t i = count_below(elf, vaddr);

	for (; i < elf->index->by_vaddr.len && elf->index->by_vaddr.data[i].vaddr == vaddr; i++)
		if (elf->index->by_vaddr.data[i].function)
			return elf->index->by_vaddr.data[i].name;
	return NULL;
}
