// SPDX-License-Identifier: BSD-3-Clause
/*
 * arm64: every instruction is 4 bytes, so the function's start is always an instruction, and
 * arguments and the stack pointer are intact there. The kernel simulates branches, adr and the
 * hints that compilers put first (nop, bti, paciasp: arch/arm64/kernel/probes/decode-insn.c); the
 * rest runs out of line. A stepped first instruction behind a landing pad is no better than the
 * pad.
 */
#include <string.h>

#include "probe/place_arch.h"

struct pattern {
	uint32_t mask, value;
	enum place_class class;
};

/* First match counts. */
static const struct pattern patterns[] = {
	{ 0xfffff01f, 0xd503201f, PLACE_EMULATED }, /* hint: nop, bti, paciasp */
	{ 0x7c000000, 0x14000000, PLACE_EMULATED }, /* b, bl */
	{ 0xff000010, 0x54000000, PLACE_EMULATED }, /* b.cond */
	{ 0x7e000000, 0x34000000, PLACE_EMULATED }, /* cbz, cbnz */
	{ 0x7e000000, 0x36000000, PLACE_EMULATED }, /* tbz, tbnz */
	{ 0x1f000000, 0x10000000, PLACE_EMULATED }, /* adr, adrp */
	{ 0xffe0001f, 0xd4200000, PLACE_REFUSED }, /* brk: somebody's breakpoint */
	{ 0xffff0000, 0x00000000, PLACE_REFUSED }, /* udf: padding or data */
	{ 0x3f000000, 0x08000000, PLACE_REFUSED }, /* exclusive load or store: never in one step */
	{ 0x00000000, 0x00000000, PLACE_STEPPED },
};

struct placement place_arm64(const uint8_t *code, size_t size)
{
	struct placement place = { .class = PLACE_REFUSED };
	const struct pattern *pattern = patterns;
	uint32_t instruction;

	if (size < sizeof(instruction))
		return place;
	memcpy(&instruction, code, sizeof(instruction));
	while ((instruction & pattern->mask) != pattern->value)
		pattern++;
	place.class = pattern->class;
	return place;
}
