// SPDX-License-Identifier: BSD-3-Clause
/* Version and build of a libucp, from its code, without debug information. */
#include "observe/process/layout.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_CODE 256
#define REQUEST_FLAGS 4 /* offset of ucp_request_t.flags, same in all releases */
#define MIN_REQUEST 128
#define MAX_REQUEST 1024

struct code {
	uint64_t vaddr;
	size_t size, at;
	unsigned char bytes[MAX_CODE];
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static int load_code(const struct elf *elf, const char *function, struct code *code)
{
	uint64_t offset, size;
	long got;

	memset(code, 0, sizeof(*code));
	if (elf_function(elf, function, &offset, &size) ||
	    elf_offset_to_vaddr(elf, offset, &code->vaddr))
		return -ENOENT;
	got = elf_read(elf, offset, code->bytes, size < MAX_CODE ? size : MAX_CODE);
	code->size = got > 0 ? (size_t)got : 0;
	return code->size ? 0 : -ENOENT;
}

static bool any_insn(const ZydisDecoder *decoder, struct code *code)
{
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(decoder, code->bytes + code->at,
					       code->size - code->at, &code->insn, code->operands)))
		return false;
	code->at += code->insn.length;
	return true;
}

/* The next instruction; false at the end and after the first return or jump. */
static bool next_insn(const ZydisDecoder *decoder, struct code *code)
{
	ZydisInstructionCategory category = code->insn.meta.category;

	return category != ZYDIS_CATEGORY_RET && category != ZYDIS_CATEGORY_UNCOND_BR &&
	       any_insn(decoder, code);
}

static int argument_of(ZydisRegister reg)
{
	return reg == ZYDIS_REGISTER_RDI   ? 0
	       : reg == ZYDIS_REGISTER_RSI ? 1
	       : reg == ZYDIS_REGISTER_RDX ? 2
					   : -1;
}

/* mov dword [argument], constant */
static int stored_constant(const struct code *code, unsigned int version[3])
{
	const ZydisDecodedOperand *to = &code->operands[0], *from = &code->operands[1];
	int argument;

	if (code->insn.mnemonic != ZYDIS_MNEMONIC_MOV || to->type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    from->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || to->size != 32 || to->mem.disp.value)
		return -1;
	argument = argument_of(to->mem.base);
	if (argument >= 0)
		version[argument] = (unsigned int)from->imm.value.u;
	return argument;
}

static int version_from_constants(const struct elf *elf, const ZydisDecoder *decoder,
				  unsigned int version[3])
{
	struct code code;
	unsigned int found = 0;

	if (load_code(elf, "ucp_get_version", &code))
		return -ENOENT;
	while (next_insn(decoder, &code)) {
		int argument = stored_constant(&code, version);

		if (argument >= 0)
			found |= 1u << argument;
	}
	return found == 7 ? 0 : -ENOENT;
}

/* adrp x0, page; add x0, x0, #offset */
static uint64_t arm64_address(const struct code *code)
{
	uint32_t adrp, add;
	int64_t page;

	for (size_t at = 0; at + 8 <= code->size; at += 4) {
		memcpy(&adrp, code->bytes + at, 4);
		memcpy(&add, code->bytes + at + 4, 4);
		if ((adrp & 0x9f00001f) != 0x90000000 || (add & 0xffc003ff) != 0x91000000)
			continue;
		page = (int32_t)((adrp >> 5 & 0x7ffff) << 13) >> 11 | (int32_t)(adrp >> 29 & 3);
		return ((code->vaddr + at) & ~0xfffull) + (uint64_t)(page * 4096) +
		       (add >> 10 & 0xfff);
	}
	return 0;
}

/* lea rax, [rip + text] */
static uint64_t x86_address(const ZydisDecoder *decoder, struct code *code)
{
	while (next_insn(decoder, code))
		if (code->insn.mnemonic == ZYDIS_MNEMONIC_LEA &&
		    code->operands[1].mem.base == ZYDIS_REGISTER_RIP)
			return code->vaddr + code->at + (uint64_t)code->operands[1].mem.disp.value;
	return 0;
}

static int version_from_text(const struct elf *elf, const ZydisDecoder *decoder,
			     unsigned int version[3])
{
	uint64_t vaddr, offset;
	char text[32] = "";
	struct code code;

	if (load_code(elf, "ucp_get_version_string", &code))
		return -ENOENT;
	vaddr = elf_machine(elf) == EM_AARCH64 ? arm64_address(&code) : x86_address(decoder, &code);
	if (elf_vaddr_to_offset(elf, vaddr, &offset) ||
	    elf_read(elf, offset, text, sizeof(text) - 1) <= 0)
		return -ENOENT;
	return sscanf(text, "%u.%u.%u", &version[0], &version[1], &version[2]) == 3 ? 0 : -ENOENT;
}

int ucx_version(const struct elf *elf, unsigned int version[3])
{
	unsigned int found[3] = { 0 };
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if ((elf_machine(elf) != EM_X86_64 || version_from_constants(elf, &decoder, found)) &&
	    version_from_text(elf, &decoder, found))
		return -ENOENT;
	memcpy(version, found, sizeof(found));
	return 0;
}

/* mov r32, [rdi - (size - 4)], or test byte or dword there */
static int64_t size_from_load(const struct code *code)
{
	const ZydisDecodedOperand *from =
		&code->operands[code->insn.mnemonic == ZYDIS_MNEMONIC_MOV ? 1 : 0];

	if (code->insn.mnemonic != ZYDIS_MNEMONIC_MOV && code->insn.mnemonic != ZYDIS_MNEMONIC_TEST)
		return 0;
	if (from->type != ZYDIS_OPERAND_TYPE_MEMORY || from->mem.base != ZYDIS_REGISTER_RDI)
		return 0;
	return REQUEST_FLAGS - from->mem.disp.value;
}

/* sub register, size: unoptimised builds compute the request's address first */
static int64_t size_from_sub(const struct code *code)
{
	if (code->insn.mnemonic != ZYDIS_MNEMONIC_SUB ||
	    code->operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    code->operands[0].reg.value == ZYDIS_REGISTER_RSP ||
	    code->operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return 0;
	return code->operands[1].imm.value.s;
}

static unsigned int size_in(const struct elf *elf, const ZydisDecoder *decoder, const char *name)
{
	struct code code;

	if (load_code(elf, name, &code))
		return 0;
	while (next_insn(decoder, &code)) {
		int64_t size = size_from_load(&code);

		if (!size)
			size = size_from_sub(&code);
		if (size >= MIN_REQUEST && size <= MAX_REQUEST && size % 8 == 0)
			return (unsigned int)size;
	}
	return 0;
}

unsigned int ucx_request_size(const struct elf *elf)
{
	ZydisDecoder decoder;
	unsigned int size;

	if (elf_machine(elf) != EM_X86_64)
		return 0;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	size = size_in(elf, &decoder, "ucp_request_is_completed");
	return size ? size : size_in(elf, &decoder, "ucp_request_check_status");
}

/* A call, or a jump to a part of the function that the compiler put elsewhere. */
static bool leaves(const struct code *code)
{
	ZydisInstructionCategory category = code->insn.meta.category;
	uint64_t target;

	if (category == ZYDIS_CATEGORY_CALL)
		return true;
	if ((category != ZYDIS_CATEGORY_COND_BR && category != ZYDIS_CATEGORY_UNCOND_BR) ||
	    ZYAN_FAILED(ZydisCalcAbsoluteAddress(&code->insn, &code->operands[0],
						 code->vaddr + code->at - code->insn.length,
						 &target)))
		return false;
	return target - code->vaddr >= code->size;
}

enum ucx_asserts ucx_asserts(const struct elf *elf)
{
	ZydisDecoder decoder;
	struct code code;

	if (elf_machine(elf) != EM_X86_64 || load_code(elf, "ucp_request_check_status", &code))
		return UCX_ASSERTS_UNKNOWN;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (code.at < code.size) {
		if (!any_insn(&decoder, &code))
			return UCX_ASSERTS_UNKNOWN;
		if (leaves(&code))
			return UCX_ASSERTS_IN;
	}
	return UCX_ASSERTS_OUT;
}

struct build {
	uint32_t version[3], request_size, asserts;
};

static long find_build(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	struct build build = { 0 };

	(void)arguments;
	(void)size;
	ucx_version(elf, build.version);
	build.request_size = ucx_request_size(elf);
	build.asserts = ucx_asserts(elf);
	answer_add(answer, &build, sizeof(build));
	return 0;
}

void ucx_build(const struct elf *elf, unsigned int version[3], unsigned int *request_size,
	       enum ucx_asserts *asserts)
{
	struct build build;
	int err = elf_ask_for(elf, find_build, NULL, 0, &build, sizeof(build));

	if (!err && (build.request_size > MAX_REQUEST || build.asserts > UCX_ASSERTS_OUT))
		err = elf_refuse(elf);
	if (err)
		build = (struct build){ 0 };
	memcpy(version, build.version, sizeof(build.version));
	*request_size = build.request_size;
	*asserts = (enum ucx_asserts)build.asserts;
}
