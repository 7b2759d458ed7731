// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/map.h"
#include "observe/process/elf_private.h"

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
	const uint8_t *entries; /* struct index_entry, at any place */
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
	struct index_header header;
	Elf_Data *data;

	if (!segment || segment->p_filesz < sizeof(header))
		return -ENOENT;
	data = elf_getdata_rawchunk(elf->handle, (int64_t)segment->p_offset, segment->p_filesz,
				    ELF_T_BYTE);
	if (!data)
		return -ENOENT;
	memcpy(&header, data->d_buf, sizeof(header));
	if (header.version != 1 || header.count_encoding != DW_EH_PE_udata4 ||
	    header.table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
	    header.count > (data->d_size - sizeof(header)) / sizeof(struct index_entry))
		return -ENOENT;
	*index =
		(struct frame_index){ segment->p_vaddr,
				      (const uint8_t *)data->d_buf + sizeof(header), header.count };
	return 0;
}

static uint64_t function_at(const struct frame_index *index, uint32_t i)
{
	struct index_entry entry;

	if (i >= index->count)
		return UINT64_MAX;
	memcpy(&entry, index->entries + i * sizeof(entry), sizeof(entry));
	return index->vaddr + (uint64_t)(int64_t)entry.function;
}

bool unwind_begins_at(const struct elf *elf, uint64_t vaddr)
{
	struct frame_index index;
	uint32_t from = 0, to;

	if (elf_name_at(elf, vaddr))
		return true;
	if (find_index(elf, &index))
		return false;
	for (to = index.count; from < to;) {
		const uint32_t middle = from + (to - from) / 2;

		if (function_at(&index, middle) < vaddr)
			from = middle + 1;
		else
			to = middle;
	}
	return function_at(&index, from) == vaddr;
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

/* The CFA is in the frame itself, and %rbp right where it points to: how GCC realigns a stack. */
static uint32_t realigned_rule(Dwarf_Frame *frame, const Dwarf_Op *cfa)
{
	int64_t at = -(int64_t)cfa->number;
	Dwarf_Op space[3], *ops;
	size_t count;

	if (at <= 0 || at % 8 || at / 8 > UB_ROW_MAX_CFA)
		return STOP(UB_STACK_RULE);
	/* such an expression begins with the CFA on its stack, and ends with its result there */
	if (dwarf_frame_register(frame, DWARF_RBP, space, &ops, &count) || count != 2 ||
	    ops[0].atom != DW_OP_call_frame_cfa || ops[1].atom != DW_OP_breg0 + DWARF_RBP ||
	    ops[1].number)
		return STOP(UB_STACK_RULE);
	return UB_ROW(at / 8, UB_ROW_REALIGNED, 0);
}

static uint32_t plain_rule(Dwarf_Frame *frame, const Dwarf_Op *cfa)
{
	int64_t bp_at, offset = (int64_t)cfa->number2;
	bool saved;

	if (cfa->number != DWARF_RSP && cfa->number != DWARF_RBP)
		return STOP(UB_STACK_RULE);
	if (!saved_at(frame, DWARF_RBP, &saved, &bp_at) || bp_at > 0 || bp_at % 8 ||
	    bp_at <= -8 * UB_ROW_STOP || (saved && !bp_at))
		return STOP(UB_STACK_RULE);
	if (offset <= 0 || offset % 8 || offset / 8 > UB_ROW_MAX_CFA)
		return STOP(UB_STACK_RULE);
	return UB_ROW(offset / 8, cfa->number == DWARF_RBP ? UB_ROW_RBP : UB_ROW_RSP, -bp_at / 8);
}

/*
 * The one rule that linkers write for all entries of a PLT, 16 bytes each: the CFA is 8 bytes above
 * %rsp, and 16 from the entry's push on, which is at its byte N.
 */
static uint32_t plt_rule(const Dwarf_Op *cfa, size_t count, uint64_t pc)
{
	static const uint8_t atoms[] = {
		DW_OP_breg0 + DWARF_RSP,
		DW_OP_breg0 + DWARF_RETURN,
		DW_OP_lit15,
		DW_OP_and,
		DW_OP_lit0,
		DW_OP_ge,
		DW_OP_lit3,
		DW_OP_shl,
		DW_OP_plus,
	};
	enum { AT_PUSH = 4 };
	unsigned int push;

	if (count != ARRAY_SIZE(atoms) || cfa[0].number != 8 || cfa[1].number)
		return STOP(UB_STACK_RULE);
	for (size_t i = 0; i < count; i++)
		if (i != AT_PUSH && cfa[i].atom != atoms[i])
			return STOP(UB_STACK_RULE);
	push = cfa[AT_PUSH].atom - DW_OP_lit0;
	if (push > 15)
		return STOP(UB_STACK_RULE);
	return UB_ROW((pc & 15) >= push ? 2 : 1, UB_ROW_RSP, 0);
}

static uint32_t rule_of(Dwarf_Frame *frame)
{
	int64_t return_at;
	size_t count;
	Dwarf_Op *cfa;
	bool saved;

	if (is_undefined(frame, DWARF_RETURN))
		return STOP(UB_STACK_WHOLE);
	if (!saved_at(frame, DWARF_RETURN, &saved, &return_at) || !saved || return_at != -8 ||
	    dwarf_frame_cfa(frame, &cfa, &count))
		return STOP(UB_STACK_RULE);
	if (count == 1 && cfa[0].atom == DW_OP_bregx)
		return plain_rule(frame, cfa);
	if (count == 2 && cfa[0].atom == DW_OP_breg0 + DWARF_RBP && cfa[1].atom == DW_OP_deref)
		return realigned_rule(frame, cfa);
	return STOP(UB_STACK_RULE);
}

static void add(unwind_rows *rows, uint64_t pc, uint32_t rule)
{
	if (rows->len && rows->data[rows->len - 1].pc == pc)
		rows->data[rows->len - 1].rule = rule;
	else if (!rows->len || rows->data[rows->len - 1].rule != rule)
		vec_push(rows, ((struct ub_row){ (uint32_t)pc, rule }));
}

/* The row at a place before the next function, whose end or that one's start it returns. */
static uint64_t read_row(Dwarf_CFI *cfi, unwind_rows *rows, uint64_t pc, uint64_t next)
{
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	bool is_signal;

	if (dwarf_cfi_addrframe(cfi, pc, &frame)) {
		add(rows, pc, STOP(UB_STACK_NO_ROWS));
		return next;
	}
	add(rows, pc, rule_of(frame));
	if (dwarf_frame_info(frame, &start, &end, &is_signal) < 0 || end <= pc)
		end = next;
	free(frame);
	return end < next ? end : next;
}

/* ---- where the file is looked at ---- */

struct unwind_tables {
	Dwarf_CFI *cfi;
	struct frame_index index;
};

static void tables_free(struct unwind_tables *tables)
{
	dwarf_cfi_end(tables->cfi);
	free(tables);
}

static int find_tables(struct elf *elf, const struct unwind_tables **out)
{
	struct frame_index index;
	int err = elf->machine == EM_X86_64 ? 0 : -EOPNOTSUPP;

	*out = elf->unwind;
	if (elf->unwind)
		return 0;
	if (!err)
		err = find_index(elf, &index);
	if (err)
		return err;
	elf->unwind = calloc(1, sizeof(*elf->unwind));
	if (!elf->unwind)
		return -ENOMEM;
	elf->unwind_free = tables_free;
	elf->unwind->index = index;
	elf->unwind->cfi = dwarf_getcfi_elf(elf->handle);
	if (!elf->unwind->cfi) {
		free(elf->unwind);
		elf->unwind = NULL;
		return -ENOENT;
	}
	*out = elf->unwind;
	return 0;
}

struct unwind_place {
	uint64_t pc; /* in the function; 0: its start */
	uint32_t next; /* function in the index */
	uint32_t last; /* pc of the last row */
	uint32_t rule; /* its rule */
	uint32_t rows; /* whether there is one; in an answer: how many follow */
};

/*
 * On to more rows until then, one at least. 1: more to read. The clock is looked at after each row:
 * it is counted from the beginning of its function, which may be long.
 */
static int read_rows(const struct unwind_tables *tables, struct unwind_place *place,
		     unwind_rows *rows, uint64_t until)
{
	const struct frame_index *index = &tables->index;

	for (bool over = false; !over && place->next < index->count; over = deadline_over(until)) {
		uint64_t start = function_at(index, place->next);
		uint64_t next = function_at(index, place->next + 1);

		if (!place->pc) {
			/* the table is sorted, and the kernel's half relies on it */
			if (start > UINT32_MAX ||
			    (rows->len && start < rows->data[rows->len - 1].pc))
				return -EBADMSG;
			place->pc = start;
		}
		if (place->pc < next)
			place->pc = read_row(tables->cfi, rows, place->pc, next);
		if (place->pc >= next) {
			place->next++;
			place->pc = 0;
		}
	}
	return place->next < index->count;
}

struct unwind_reading {
	struct unwind_place from;
	uint64_t ns;
};

/* The first row of the answer is the last one before, which may have another rule now. */
static long list_rows(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	const struct unwind_reading *reading = arguments;
	const struct unwind_tables *tables;
	struct unwind_place place = reading->from;
	unwind_rows rows = { 0 };
	const uint64_t until = deadline_in(reading->ns);
	int err = find_tables(elf, &tables), more = err;

	(void)size;
	/* a search takes the last row at or before a place: there has to be one for each */
	if (place.rows)
		vec_push(&rows, ((struct ub_row){ place.last, place.rule }));
	else
		add(&rows, 0, STOP(UB_STACK_NO_ROWS));
	if (!err)
		more = read_rows(tables, &place, &rows, until);
	place.rows = (uint32_t)rows.len;
	answer_add(answer, &place, sizeof(place));
	answer_add(answer, rows.data, rows.len * sizeof(*rows.data));
	vec_release(&rows);
	return more;
}

static long find_rule(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	const struct unwind_tables *tables;
	uint32_t rule = STOP(UB_STACK_NO_ROWS);
	Dwarf_Frame *frame;
	Dwarf_Op *cfa;
	size_t count;
	uint64_t pc;

	if (size == sizeof(pc) && !find_tables(elf, &tables)) {
		memcpy(&pc, arguments, sizeof(pc));
		if (!dwarf_cfi_addrframe(tables->cfi, pc, &frame)) {
			rule = rule_of(frame);
			/* rows have no place for it: no call returns into a PLT */
			if (rule == STOP(UB_STACK_RULE) && !dwarf_frame_cfa(frame, &cfa, &count))
				rule = plt_rule(cfa, count, pc);
			free(frame);
		}
	}
	answer_add(answer, &rule, sizeof(rule));
	return 0;
}

/* ---- who asks ---- */

#define RULES_KEPT 65536 /* all ranks of a job wait in the same few functions */

struct unwind {
	const struct elf *elf;
	struct unwind_place place;
	unsigned int asked; /* for rows */
	struct map rules; /* by pc */
};

int unwind_open(struct unwind **out, const struct elf *elf)
{
	if (elf->machine != EM_X86_64)
		return -EOPNOTSUPP;
	if (!index_segment(elf))
		return -ENOENT;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->elf = elf;
	return 0;
}

void unwind_close(struct unwind *unwind)
{
	if (unwind)
		map_release(&unwind->rules);
	free(unwind);
}

/* Rows that go on from the ones before, each behind the last; and a place that lies further. */
static bool take_rows(const struct unwind *unwind, bool more, const reader_answer *answer,
		      unwind_rows *rows, struct unwind_place *place)
{
	const struct unwind_place *from = &unwind->place;
	size_t at = 0;

	if (!answer_take(answer, &at, place, sizeof(*place)) ||
	    answer->len - at != place->rows * sizeof(*rows->data) || place->rows < from->rows ||
	    (more && place->next <= from->next &&
	     (place->next < from->next || place->pc <= from->pc)) ||
	    rows->len + place->rows > elf_reach(unwind->elf))
		return false;
	if (from->rows)
		rows->len--;
	for (uint32_t i = 0; i < place->rows; i++) {
		struct ub_row row;

		if (!answer_take(answer, &at, &row, sizeof(row)) ||
		    (rows->len && row.pc <= rows->data[rows->len - 1].pc))
			return false;
		vec_push(rows, row);
	}
	return true;
}

#define READING_NS 10000000 /* a reader answers one question after the other */
#define ROWS_MAX (1u << 24)
#define ASKED_MAX (1u << 18) /* questions: an answer may add no row */

int unwind_read(struct unwind *unwind, unwind_rows *rows, uint64_t ns)
{
	struct unwind_reading reading = { unwind->place, ns < READING_NS ? ns : READING_NS };
	reader_answer answer = { 0 };
	struct unwind_place place;
	long more;

	reading.from.rows = rows->len > 0;
	if (rows->len) {
		reading.from.last = rows->data[rows->len - 1].pc;
		reading.from.rule = rows->data[rows->len - 1].rule;
	}
	unwind->place = reading.from;
	more = elf_ask(unwind->elf, list_rows, &reading, sizeof(reading), &answer);
	if (more >= 0 && !take_rows(unwind, more, &answer, rows, &place))
		more = elf_refuse(unwind->elf);
	if (more >= 0)
		unwind->place = place;
	vec_release(&answer);
	/* a reader may go on for ever in small steps */
	return rows->len > ROWS_MAX || ++unwind->asked > ASKED_MAX ? -E2BIG : (int)more;
}

uint32_t unwind_rule(struct unwind *unwind, uint64_t pc)
{
	const uint64_t *known = map_find(&unwind->rules, pc, 0);
	uint32_t rule;

	if (known)
		return (uint32_t)*known;
	if (elf_ask_for(unwind->elf, find_rule, &pc, sizeof(pc), &rule, sizeof(rule)))
		rule = STOP(UB_STACK_NO_ROWS);
	if (unwind->rules.used < RULES_KEPT)
		*map_insert(&unwind->rules, pc, 0, NULL) = rule;
	return rule;
}
