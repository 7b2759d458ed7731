// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/signatures.h"

#include <stdlib.h>

#define MIN_SLOTS 3

/*
 * Slot whose function each transport has for itself: close, query, then the send operations. Not
 * flush, fence or progress, which transports share.
 */
static const unsigned char own_slots[] = { 45, 46, 8, 6, 2, 5, 29, 33 };

static void add_table(struct signatures *signatures, const struct mapped_library *mapped,
		      const struct elf_ops_table *found)
{
	struct signature_table *table = vec_add(&signatures->tables);
	unsigned int known = 0;

	for (unsigned int i = 0; i < ELF_OPS_SLOTS; i++) {
		uint64_t vaddr;

		if (!found->slot[i] ||
		    elf_offset_to_vaddr(mapped->library->elf, found->slot[i], &vaddr))
			continue;
		table->slot[i] = mapped->base + vaddr;
		known++;
	}
	for (size_t i = 0; i < sizeof(own_slots) && known >= MIN_SLOTS; i++) {
		unsigned int slot = own_slots[i];

		if (!table->slot[slot])
			continue;
		vec_push(&signatures->all,
			 ((struct signature){ table->slot[slot],
					      (unsigned int)signatures->tables.len - 1, slot }));
		return;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct signature *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

void signatures_init(struct signatures *signatures, const mapped_libraries *mapped)
{
	*signatures = (struct signatures){ 0 };
	for (size_t i = 0; i < mapped->len; i++) {
		const struct mapped_library *one = &mapped->data[i];
		const struct elf_ops_table *tables;
		int count;

		if (!(one->library->roles & (LIB_UCT | LIB_UCT_MODULE)))
			continue;
		count = library_ops(one->library, &tables);
		for (int t = 0; t < count; t++)
			add_table(signatures, one, &tables[t]);
	}
	if (!signatures->all.len)
		return;
	qsort(signatures->all.data, signatures->all.len, sizeof(*signatures->all.data), by_address);
	signatures->lowest = signatures->all.data[0].address;
	signatures->highest = signatures->all.data[signatures->all.len - 1].address;
}

void signatures_release(struct signatures *signatures)
{
	vec_release(&signatures->all);
	vec_release(&signatures->tables);
}

/* Most functions must agree; a transport may replace some of them for one interface. */
static bool agrees(const struct signature_table *table, const uint64_t *words)
{
	unsigned int known = 0, same = 0;

	for (unsigned int i = 0; i < ELF_OPS_SLOTS; i++) {
		known += table->slot[i] != 0;
		same += table->slot[i] && table->slot[i] == words[i];
	}
	return same * 2 > known;
}

bool signatures_match(const struct signatures *signatures, const uint64_t *block, size_t count,
		      size_t at, size_t *iface)
{
	struct signature key = { .address = block[at] };
	const struct signature *found;

	found = bsearch(&key, signatures->all.data, signatures->all.len, sizeof(key), by_address);
	if (!found || at < found->slot || at - found->slot + ELF_OPS_SLOTS > count)
		return false;
	*iface = at - found->slot;
	return agrees(&signatures->tables.data[found->table], block + *iface);
}
