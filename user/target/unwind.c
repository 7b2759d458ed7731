// SPDX-License-Identifier: BSD-3-Clause
#include "target/unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf_private.h"

/* Register numbers of the x86-64 psABI. */
enum { DWARF_RBP = 6, DWARF_RSP = 7, DWARF_RETURN = 16 };

#define STOP(why) UB_ROW(0, 0, UB_ROW_STOP + (why))

/*
 * .eh_frame_hdr as every linker writes it: version 1, pointer and count in 4 bytes, a table of
 * (function, FDE) sorted by function, as 4-byte differences from the header's address.
 */
struct index_header {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
};

struct index_entry {
	int32_t function, fde;
};

struct frame_index {
	uint64_t vaddr; /* of the header */
	const struct index_entry *entries;
	uint32_t count;
};

static const GElf_Phdr *index_segment(const struct elf *elf)
{
	for (size_t i = 0; i < elf->segments.len; i++)
		if (elf->segments.data[i].p_type == PT_GNU_EH_FRAME)
			return &elf->segments.data[i];
	return NULL;
}

static int find_index(const struct elf *elf, struct frame_index *index)
{
	const GElf_Phdr *segment = index_segment(elf);
	const struct index_header *header;
	Elf_Data *data;

	if (!segment || segment->p_filesz < sizeof(*header))
		return -ENOENT;
	data = elf_getdata_rawchunk(elf->handle, (int64_t)segment->p_offset, segment->p_filesz,
				    ELF_T_BYTE);
	if (!data)
		return -ENOENT;
	header = data->d_buf;
	if (header->version != 1 || header->count_encoding != DW_EH_PE_udata4 ||
	    header->table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
	    header->count > (data->d_size - sizeof(*header)) / sizeof(*index->entries))
		return -ENOENT;
	*index =
		(struct frame_index){ segment->p_vaddr, (const void *)(header + 1), header->count };
	return 0;
}

static uint64_t function_at(const struct frame_index *index, uint32_t i)
{
	return i < index->count ? index->vaddr + (uint64_t)(int64_t)index->entries[i].function
				: UINT64_MAX;
}

/* A register's rule: whether it was saved, and where from the CFA; false: in some other way. */
static bool saved_at(Dwarf_Frame *frame, int reg, bool *saved, int64_t *offset)
{
	Dwarf_Op space[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, reg, space, &ops, &count))
		return false;
	*saved = count > 0;
	*offset = 0;
	if (count == 0)
		return true;
	if (ops[0].atom != DW_OP_call_frame_cfa || count > 2)
		return false;
	if (count == 2 && ops[1].atom != DW_OP_plus_uconst)
		return false;
	*offset = count == 2 ? (int64_t)ops[1].number : 0;
	return true;
}

/* Undefined, as opposed to "the caller's is the same": the outermost frame. */
static bool is_undefined(Dwarf_Frame *frame, int reg)
{
	Dwarf_Op space[3], *ops;
	size_t count;

	return !dwarf_frame_register(frame, reg, space, &ops, &count) && !count && ops;
}

static uint32_t rule_of(Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t count;
	int64_t return_at, bp_at, cfa;
	bool saved;

	if (is_undefined(frame, DWARF_RETURN))
		return STOP(UB_STACK_WHOLE);
	if (!saved_at(frame, DWARF_RETURN, &saved, &return_at) || !saved || return_at != -8)
		return STOP(UB_STACK_RULE);
	if (!saved_at(frame, DWARF_RBP, &saved, &bp_at) || bp_at > 0 || bp_at % 8 ||
	    bp_at <= -8 * UB_ROW_STOP || (saved && !bp_at))
		return STOP(UB_STACK_RULE);
	if (dwarf_frame_cfa(frame, &ops, &count) || count != 1 || ops[0].atom != DW_OP_bregx ||
	    (ops[0].number != DWARF_RSP && ops[0].number != DWARF_RBP))
		return STOP(UB_STACK_RULE);
	cfa = (int64_t)ops[0].number2;
	if (cfa <= 0 || cfa % 8 || cfa / 8 > UB_ROW_MAX_CFA)
		return STOP(UB_STACK_RULE);
	return UB_ROW(cfa / 8, ops[0].number == DWARF_RBP, -bp_at / 8);
}

static void add(unwind_rows *rows, size_t first, uint64_t pc, uint32_t rule)
{
	if (rows->len > first && rows->data[rows->len - 1].pc == pc)
		rows->data[rows->len - 1].rule = rule;
	else if (rows->len == first || rows->data[rows->len - 1].rule != rule)
		vec_push(rows, ((struct ub_row){ (uint32_t)pc, rule }));
}

/* From a function's start up to the next one's, or to where nothing is said any more. */
static void read_function(Dwarf_CFI *cfi, unwind_rows *rows, size_t first, uint64_t pc,
			  uint64_t next)
{
	while (pc < next) {
		Dwarf_Addr start, end;
		Dwarf_Frame *frame;
		bool is_signal;

		if (dwarf_cfi_addrframe(cfi, pc, &frame)) {
			add(rows, first, pc, STOP(UB_STACK_NO_ROWS));
			return;
		}
		add(rows, first, pc, rule_of(frame));
		if (dwarf_frame_info(frame, &start, &end, &is_signal) < 0 || end <= pc)
			end = next;
		free(frame);
		pc = end;
	}
}

static int read_rows(Dwarf_CFI *cfi, const struct frame_index *index, unwind_rows *rows)
{
	size_t first = rows->len;

	for (uint32_t i = 0; i < index->count; i++) {
		uint64_t pc = function_at(index, i), next = function_at(index, i + 1);

		if (pc > UINT32_MAX || (i && pc < function_at(index, i - 1)))
			return -ENOENT;
		read_function(cfi, rows, first, pc, next < pc ? pc : next);
	}
	return 0;
}

int unwind_read(const struct elf *elf, unwind_rows *rows)
{
	struct frame_index index;
	size_t before = rows->len;
	Dwarf_CFI *cfi;
	int err;

	if (elf->machine != EM_X86_64)
		return -EOPNOTSUPP;
	err = find_index(elf, &index);
	if (err)
		return err;
	cfi = dwarf_getcfi_elf(elf->handle);
	err = cfi ? read_rows(cfi, &index, rows) : -ENOENT;
	dwarf_cfi_end(cfi);
	if (err)
		rows->len = before;
	return err;
}
