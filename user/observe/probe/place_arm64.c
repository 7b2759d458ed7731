// SPDX-License-Identifier: BSD-3-Clause
/*
 * arm64: every instruction is 4 bytes, so the function's start is always an instruction. The kernel
 * simulates branches, adr and adrp, from 6.13 on nop; bti, paciasp and the rest are stepped out of
 * line, and what reads beside the program counter is refused (arch/arm64/kernel/probes/
 * decode-insn.c). A step is a second exception there, not dozens of times dearer as on x86-64.
 *
 * A return probe replaces the link register, so it must stand before that is saved or signed: at
 * the start. Others may stand behind what saves registers, where the next instruction is simulated.
 */
#include <stdbool.h>
#include <string.h>

#include "base/vec.h"
#include "observe/probe/place_arch.h"

#define SIZE 4

struct instruction_pattern {
	uint32_t mask, value;
	enum place_class class;
};

/* First match counts. */
static const struct instruction_pattern patterns[] = {
	{ 0xffffffff, 0xd503201f, PLACE_EMULATED }, /* nop */
	{ 0x7c000000, 0x14000000, PLACE_EMULATED }, /* b, bl */
	{ 0xff000010, 0x54000000, PLACE_EMULATED }, /* b.cond */
	{ 0x7e000000, 0x34000000, PLACE_EMULATED }, /* cbz, cbnz */
	{ 0x7e000000, 0x36000000, PLACE_EMULATED }, /* tbz, tbnz */
	{ 0x1f000000, 0x10000000, PLACE_EMULATED }, /* adr, adrp */
	{ 0xff9ffc1f, 0xd61f0000, PLACE_EMULATED }, /* br, blr, ret */
	{ 0xff000000, 0xd4000000, PLACE_REFUSED }, /* exceptions: somebody's breakpoint */
	{ 0xffff0000, 0x00000000, PLACE_REFUSED }, /* udf: padding or data */
	{ 0x3f000000, 0x08000000, PLACE_REFUSED }, /* exclusive load or store: never in one step */
	{ 0x3b000000, 0x18000000, PLACE_REFUSED }, /* load of a literal */
	{ 0x00000000, 0x00000000, PLACE_STEPPED },
};

/* Instructions that run straight on, write neither an argument nor the link register, and move sp
 * as given. */
static const struct {
	uint32_t mask, value;
	enum { KEEPS_SP, PAIR_PUSHED, REGISTER_PUSHED, SUBTRACTED } sp;
} passable[] = {
	{ 0xfffff01f, 0xd503201f, KEEPS_SP }, /* hints: nop, bti, paciasp */
	{ 0xffc003e0, 0xa98003e0, PAIR_PUSHED }, /* stp x, x, [sp, #imm]! */
	{ 0xffc003e0, 0x6d8003e0, PAIR_PUSHED }, /* stp d, d, [sp, #imm]! */
	{ 0xffc003e0, 0xa90003e0, KEEPS_SP }, /* stp x, x, [sp, #imm] */
	{ 0xffe00fe0, 0xf8000fe0, REGISTER_PUSHED }, /* str x, [sp, #imm]! */
	{ 0xffc003e0, 0xf90003e0, KEEPS_SP }, /* str x, [sp, #imm] */
	{ 0xffc003ff, 0xd10003ff, SUBTRACTED }, /* sub sp, sp, #imm */
	{ 0xff8003ff, 0x910003fd, KEEPS_SP }, /* add x29, sp, #imm */
	{ 0xffe0fff0, 0xaa0003f0, KEEPS_SP }, /* mov x16..x31, x */
	{ 0x7fe0fff0, 0x2a0003f0, KEEPS_SP }, /* mov w16..w31, w */
};

static enum place_class classify(uint32_t instruction)
{
	const struct instruction_pattern *pattern = patterns;

	while ((instruction & pattern->mask) != pattern->value)
		pattern++;
	return pattern->class;
}

/* Words by which a downward move of the stack pointer goes, < 0: none that is known. */
static int words_moved(uint32_t instruction, int kind)
{
	int bytes = 0;

	switch (kind) {
	case PAIR_PUSHED:
		bytes = -((int32_t)(instruction << 10) >> 25) * 8;
		break;
	case REGISTER_PUSHED:
		bytes = -((int32_t)(instruction << 11) >> 23);
		break;
	case SUBTRACTED:
		bytes = instruction >> 10 & 0xfff;
		break;
	}
	return bytes < 0 || bytes % 8 ? -1 : bytes / 8;
}

static bool step_over(uint32_t instruction, unsigned int *sp_words)
{
	for (size_t i = 0; i < ARRAY_SIZE(passable); i++) {
		int words;

		if ((instruction & passable[i].mask) != passable[i].value)
			continue;
		words = words_moved(instruction, passable[i].sp);
		if (words < 0)
			return false;
		*sp_words += words;
		return *sp_words <= UINT8_MAX;
	}
	return false;
}

static uint32_t instruction_at(const uint8_t *code, size_t pos)
{
	uint32_t instruction;

	memcpy(&instruction, code + pos, sizeof(instruction));
	return instruction;
}

/* Whether a direct branch of the function leads behind its start and then on to pos. */
static bool in_loop(const uint8_t *code, size_t size, size_t pos)
{
	for (size_t at = 0; at + SIZE <= size; at += SIZE) {
		uint32_t i = instruction_at(code, at);
		int64_t offset;

		if ((i & 0x7c000000) == 0x14000000)
			offset = (int64_t)((int32_t)(i << 6) >> 6) * SIZE;
		else if ((i & 0xff000010) == 0x54000000 || (i & 0x7e000000) == 0x34000000)
			offset = (int64_t)((int32_t)(i << 8) >> 13) * SIZE;
		else if ((i & 0x7e000000) == 0x36000000)
			offset = (int64_t)((int32_t)(i << 13) >> 18) * SIZE;
		else
			continue;
		if ((int64_t)at + offset > 0 && (int64_t)at + offset <= (int64_t)pos)
			return true;
	}
	return false;
}

struct placement place_arm64(const uint8_t *code, size_t size, int needs_return)
{
	struct placement first = { .class = PLACE_REFUSED };
	unsigned int sp_words = 0;

	if (size < SIZE)
		return first;
	first.class = classify(instruction_at(code, 0));
	if (first.class != PLACE_STEPPED || needs_return)
		return first;
	for (size_t pos = 0; pos + 2 * SIZE <= size && pos + SIZE < PLACE_WINDOW; pos += SIZE) {
		if (!step_over(instruction_at(code, pos), &sp_words))
			break;
		if (classify(instruction_at(code, pos + SIZE)) == PLACE_EMULATED &&
		    !in_loop(code, size, pos + SIZE))
			return (struct placement){ pos + SIZE, sp_words, PLACE_EMULATED };
	}
	return first;
}
