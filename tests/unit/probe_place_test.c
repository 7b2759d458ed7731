// SPDX-License-Identifier: BSD-3-Clause
/* Where a probe goes, over prologues copied from stock libraries and made-up nasty ones. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/probe/place_arch.h"

/* Of a site that reads all arguments. */
static struct placement place_all(int machine, const uint8_t *code, size_t size, int needs_return)
{
	return place_probe_reading(machine, code, size, needs_return, ~0u);
}

struct prologue_case {
	const char *what;
	const char *code;
	size_t size;
	int needs_return;
	unsigned int arguments; /* 0: all */
	struct placement want;
};

#define BYTES(text) text, sizeof(text) - 1
#define AT(d, words, c)                                                                            \
	{                                                                                          \
		.delta = (d), .sp_words = (words), .class = (c)                                    \
	}

static const struct prologue_case x86_cases[] = {
	{ "push %rbp", BYTES("\x55\x48\x89\xe5"), 1, 0, AT(0, 0, PLACE_EMULATED) },
	{ "push %r15", BYTES("\x41\x57\x41\x56"), 1, 0, AT(0, 0, PLACE_EMULATED) },
	{ "endbr64; push %rbp", BYTES("\xf3\x0f\x1e\xfa\x55"), 1, 0, AT(4, 0, PLACE_EMULATED) },
	{ "nopl 0(%rax,%rax)", BYTES("\x0f\x1f\x44\x00\x00\x55"), 1, 0, AT(0, 0, PLACE_NOP5) },
	{ "nop", BYTES("\x90\xc3"), 1, 0, AT(0, 0, PLACE_EMULATED) },
	{ "9-byte nop; push", BYTES("\x66\x0f\x1f\x84\x00\x00\x00\x00\x00\x55"), 1, 0,
	  AT(9, 0, PLACE_EMULATED) },
	/* Open MPI 4.1.4, MPI_Waitall */
	{ "mov 0x84e61(%rip),%rax; push %r12; mov %rdx,%r12; push %rbp",
	  BYTES("\x48\x8b\x05\x61\x4e\x08\x00\x41\x54\x49\x89\xd4\x55"), 1, 0,
	  AT(7, 0, PLACE_EMULATED) },
	/* UCX 1.13.1, ucp_tag_send_nb */
	{ "sub $0x58,%rsp; mov %rdx,%rax; mov %fs:0x28,%rdx",
	  BYTES("\x48\x83\xec\x58\x48\x89\xd0\x64\x48\x8b\x14\x25\x28\x00\x00\x00"), 1, 0,
	  AT(0, 0, PLACE_STEPPED) },
	{ "sub $0x58,%rsp; push %rbx, return needed", BYTES("\x48\x83\xec\x58\x53"), 1, 0,
	  AT(0, 0, PLACE_STEPPED) },
	{ "sub $0x58,%rsp; push %rbx", BYTES("\x48\x83\xec\x58\x53"), 0, 0,
	  AT(4, 11, PLACE_EMULATED) },
	{ "sub $4,%rsp; push %rbx", BYTES("\x48\x83\xec\x04\x53"), 0, 0, AT(0, 0, PLACE_STEPPED) },
	{ "and $-32,%rsp; push %rbx", BYTES("\x48\x83\xe4\xe0\x53"), 0, 0,
	  AT(0, 0, PLACE_STEPPED) },
	/* UCX 1.13.1, ucp_rndv_get_completion */
	{ "mov -0x68(%rdi),%rax; cmp; je", BYTES("\x48\x8b\x47\x98\x48\x39\x47\xc0\x74\x06\xc3"), 0,
	  0, AT(8, 0, PLACE_EMULATED) },
	/* UCX 1.13.1, uct_sm_ep_put_bcopy: %rdi goes before the tail jump */
	{ "mov %rsi,%rax; lea,%rdi; mov,%rsi; jmp *%rax",
	  BYTES("\x48\x89\xf0\x4b\x8d\x3c\x08\x48\x89\xd6\xff\xe0"), 1, 0,
	  AT(0, 0, PLACE_STEPPED) },
	{ "mov $1,%esi; push %rbx", BYTES("\xbe\x01\x00\x00\x00\x53"), 0, 0,
	  AT(0, 0, PLACE_STEPPED) },
	{ "mov $1,%esi; push %rbx, second argument unread", BYTES("\xbe\x01\x00\x00\x00\x53"), 0,
	  1 << 1, AT(5, 0, PLACE_EMULATED) },
	{ "xor %r9d,%r9d; push %rbx", BYTES("\x45\x31\xc9\x53"), 0, 0, AT(0, 0, PLACE_STEPPED) },
	{ "xor %eax,%eax; push %rbx", BYTES("\x31\xc0\x53"), 0, 0, AT(2, 0, PLACE_EMULATED) },
	{ "mov %rdi,%rax; jmp rel8", BYTES("\x48\x89\xf8\xeb\x10"), 1, 0,
	  AT(3, 0, PLACE_EMULATED) },
	{ "mov %rdi,%rax; call rel32", BYTES("\x48\x89\xf8\xe8\x00\x00\x00\x00"), 1, 0,
	  AT(3, 0, PLACE_EMULATED) },
	{ "mov; jmp *%rax; push", BYTES("\x48\x89\xf8\xff\xe0\x53"), 1, 0,
	  AT(0, 0, PLACE_STEPPED) },
	/* Debian 13: UCX 1.18.1, ucp_tag_send_nbx */
	{ "endbr64; push %rbp; mov %rsp,%rbp; push %r15",
	  BYTES("\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x41\x57"), 1, 0, AT(4, 0, PLACE_EMULATED) },
	/* UCX 1.13.1, ucp_worker_create */
	{ "push %r15; push %r14; push %r13; mov %rsi,%r13",
	  BYTES("\x41\x57\x41\x56\x41\x55\x49\x89\xf5"), 1, 0, AT(0, 0, PLACE_EMULATED) },
	{ "stack protector: sub $0x28,%rsp; mov %fs:0x28,%rax; mov %rax,0x18(%rsp); xor; call",
	  BYTES("\x48\x83\xec\x28\x64\x48\x8b\x04\x25\x28\x00\x00\x00\x48\x89\x44\x24\x18"
		"\x31\xc0\xe8\x00\x01\x00\x00"),
	  0, 0, AT(20, 5, PLACE_EMULATED) },
	{ "the same, return needed",
	  BYTES("\x48\x83\xec\x28\x64\x48\x8b\x04\x25\x28\x00\x00\x00\x48\x89\x44\x24\x18"
		"\x31\xc0\xe8\x00\x01\x00\x00"),
	  1, 0, AT(0, 0, PLACE_STEPPED) },
	{ "mov %fs:0x28,%rax; push %rbx: the guard is read before the first push",
	  BYTES("\x64\x48\x8b\x04\x25\x28\x00\x00\x00\x53"), 1, 0, AT(9, 0, PLACE_EMULATED) },
	{ "endbr64; sub $0x18,%rsp; push %rbx", BYTES("\xf3\x0f\x1e\xfa\x48\x83\xec\x18\x53"), 0, 0,
	  AT(8, 3, PLACE_EMULATED) },
	{ "endbr64; mov %rdi,%rax; push %rbx", BYTES("\xf3\x0f\x1e\xfa\x48\x89\xf8\x53"), 1, 0,
	  AT(7, 0, PLACE_EMULATED) },
	{ "endbr64; nopw 0(%rax,%rax)", BYTES("\xf3\x0f\x1e\xfa\x66\x0f\x1f\x44\x00\x00"), 1, 0,
	  AT(4, 0, PLACE_EMULATED) },
	{ "push imm8", BYTES("\x6a\x01\xc3"), 0, 0, AT(0, 0, PLACE_STEPPED) },
	{ "push (%rax); push %rbx", BYTES("\xff\x30\x53"), 0, 0, AT(2, 1, PLACE_EMULATED) },
	{ "pushw %bx", BYTES("\x66\x53\xc3"), 0, 0, AT(0, 0, PLACE_STEPPED) },
	{ "jrcxz", BYTES("\xe3\x10\xc3"), 0, 0, AT(0, 0, PLACE_STEPPED) },
	{ "xor %eax,%eax; ret", BYTES("\x31\xc0\xc3"), 0, 0, AT(0, 0, PLACE_STEPPED) },
	/* a loop around all that is emulated */
	{ "mov %rdi,%rax; nop; dec %rax; jne nop",
	  BYTES("\x48\x89\xf8\x90\x48\xff\xc8\x75\xfa\xc3"), 0, 0, AT(0, 0, PLACE_STEPPED) },
	{ "int3", BYTES("\xcc\x55\x48\x89\xe5"), 0, 0, AT(0, 0, PLACE_REFUSED) },
	{ "ud2", BYTES("\x0f\x0b"), 0, 0, AT(0, 0, PLACE_REFUSED) },
	{ "nothing", BYTES(""), 0, 0, AT(0, 0, PLACE_REFUSED) },
	{ "half an instruction", BYTES("\x48\x8b\x05\x11"), 0, 0, AT(0, 0, PLACE_REFUSED) },
	{ "not an instruction", BYTES("\x06\x06\x06"), 0, 0, AT(0, 0, PLACE_REFUSED) },
};

static const struct prologue_case arm64_cases[] = {
	{ "nop", BYTES("\x1f\x20\x03\xd5"), 1, 0, AT(0, 0, PLACE_EMULATED) },
	{ "bti c; stp x29, x30, [sp, #-16]!", BYTES("\x5f\x24\x03\xd5\xfd\x7b\xbf\xa9"), 1, 0,
	  AT(0, 0, PLACE_STEPPED) },
	{ "paciasp", BYTES("\x3f\x23\x03\xd5"), 1, 0, AT(0, 0, PLACE_STEPPED) },
	{ "stp x29, x30, [sp, #-64]!; adrp x3, return needed",
	  BYTES("\xfd\x7b\xbc\xa9\x03\x00\x00\x90"), 1, 0, AT(0, 0, PLACE_STEPPED) },
	{ "stp x29, x30, [sp, #-64]!; adrp x3", BYTES("\xfd\x7b\xbc\xa9\x03\x00\x00\x90"), 0, 0,
	  AT(4, 8, PLACE_EMULATED) },
	{ "bti c; sub sp, sp, #0x50; stp x29, x30, [sp, #16]; add x29, sp, #16; cbz x0",
	  BYTES("\x5f\x24\x03\xd5\xff\x43\x01\xd1\xfd\x7b\x01\xa9\xfd\x43\x00\x91"
		"\x40\x00\x00\xb4"),
	  0, 0, AT(16, 10, PLACE_EMULATED) },
	{ "str x19, [sp, #-32]!; mov x19, x0; bl",
	  BYTES("\xf3\x0f\x1e\xf8\xf3\x03\x00\xaa\x10\x00\x00\x94"), 0, 0,
	  AT(8, 4, PLACE_EMULATED) },
	{ "mov x1, x0; b: an argument is gone", BYTES("\xe1\x03\x00\xaa\x10\x00\x00\x14"), 0, 0,
	  AT(0, 0, PLACE_STEPPED) },
	{ "sub sp, sp, #4: no whole word", BYTES("\xff\x13\x00\xd1\x10\x00\x00\x14"), 0, 0,
	  AT(0, 0, PLACE_STEPPED) },
	{ "stp x29, x30, [sp, #-16]!; nop; b back to it",
	  BYTES("\xfd\x7b\xbf\xa9\x1f\x20\x03\xd5\xff\xff\xff\x17"), 0, 0,
	  AT(0, 0, PLACE_STEPPED) },
	{ "b.eq", BYTES("\x40\x00\x00\x54"), 1, 0, AT(0, 0, PLACE_EMULATED) },
	{ "tbnz w0, #0", BYTES("\x40\x00\x00\x37"), 1, 0, AT(0, 0, PLACE_EMULATED) },
	{ "adrp x16: a PLT stub", BYTES("\x10\x00\x00\x90"), 1, 0, AT(0, 0, PLACE_EMULATED) },
	{ "ret", BYTES("\xc0\x03\x5f\xd6"), 1, 0, AT(0, 0, PLACE_EMULATED) },
	{ "ldr x16, literal", BYTES("\x50\x00\x00\x58"), 1, 0, AT(0, 0, PLACE_REFUSED) },
	{ "stp x29, x30, [sp, #-16]!", BYTES("\xfd\x7b\xbf\xa9"), 1, 0, AT(0, 0, PLACE_STEPPED) },
	{ "b", BYTES("\x04\x00\x00\x14"), 1, 0, AT(0, 0, PLACE_EMULATED) },
	{ "cbz x0", BYTES("\x40\x00\x00\xb4"), 1, 0, AT(0, 0, PLACE_EMULATED) },
	{ "ldxr w1, [x0]", BYTES("\x01\x7c\x5f\x88"), 1, 0, AT(0, 0, PLACE_REFUSED) },
	{ "brk #0", BYTES("\x00\x00\x20\xd4"), 1, 0, AT(0, 0, PLACE_REFUSED) },
	{ "three bytes", BYTES("\x5f\x24\x03"), 1, 0, AT(0, 0, PLACE_REFUSED) },
};

static void check(int machine, const struct prologue_case *c)
{
	struct placement got =
		place_probe_reading(machine, (const uint8_t *)c->code, c->size, c->needs_return,
				    c->arguments ? c->arguments : ~0u);

	if (got.delta != c->want.delta || got.sp_words != c->want.sp_words ||
	    got.class != c->want.class)
		fail_msg("%s: +%u, %u words, class %d instead of +%u, %u, %d", c->what, got.delta,
			 got.sp_words, got.class, c->want.delta, c->want.sp_words, c->want.class);
}

static void x86_prologues(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(x86_cases) / sizeof(x86_cases[0]); i++)
		check(EM_X86_64, &x86_cases[i]);
}

static void arm64_prologues(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(arm64_cases) / sizeof(arm64_cases[0]); i++)
		check(EM_AARCH64, &arm64_cases[i]);
}

static void other_machines_are_refused(void **state)
{
	(void)state;
	assert_int_equal(place_all(EM_PPC64, (const uint8_t *)"\x55\x55\x55\x55", 4, 0).class,
			 PLACE_REFUSED);
}

/* Whatever the bytes: inside the code, and the first instruction when stepped. */
static void random_bytes_never_lead_outside(void **state)
{
	uint8_t code[PLACE_WINDOW + 16];
	uint32_t random = 2463534242;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t size = round % sizeof(code);
		struct placement got;

		for (size_t i = 0; i < size; i++) {
			random ^= random << 13;
			random ^= random >> 17;
			random ^= random << 5;
			code[i] = random;
		}
		got = place_all(round % 2 ? EM_X86_64 : EM_AARCH64, code, size, round % 3);
		if (got.class == PLACE_REFUSED || got.class == PLACE_STEPPED)
			assert_int_equal(got.delta, 0);
		else
			assert_true(got.delta < size && got.delta < PLACE_WINDOW);
	}
}

/* Begins as functions of driver 580.159.04 do: push; mov; push; sub; cmpl; je; call; ret twice. */
#define DRIVER_HEAD                                                                                \
	"\x55\x48\x89\xe5\x41\x54\x48\x83\xec\x08"                                                 \
	"\x81\x3d\x00\x01\x00\x00\x00\xba\x1c\x32"
#define DRIVER_BODY "\x0f\x84\x0c\x00\x00\x00\xff\x15\x00\x01\x00\x00"

static const struct body_case {
	const char *what, *code;
	size_t size;
	int err;
	unsigned int delta, sp_words, exits[3];
} bodies[] = {
	{ "entered at the jump, left at both returns",
	  BYTES(DRIVER_HEAD DRIVER_BODY "\x4c\x8b\x65\xf8\xc9\xc3\x4c\x8b\x65\xf8\xc9\xc3"),
	  0,
	  20,
	  3,
	  { 37, 43 } },
	{ "a tail call",
	  BYTES(DRIVER_HEAD DRIVER_BODY "\xc9\xe9\x00\x10\x00\x00\xc9\xc3"),
	  -EINVAL,
	  0,
	  0,
	  { 0 } },
	{ "a jump to anywhere",
	  BYTES(DRIVER_HEAD DRIVER_BODY "\xc9\xff\xe0\xc9\xc3"),
	  -EINVAL,
	  0,
	  0,
	  { 0 } },
	{ "a return that a patch would cover",
	  BYTES("\x55\x5d\xc3" DRIVER_HEAD DRIVER_BODY "\xc3"),
	  -EINVAL,
	  0,
	  0,
	  { 0 } },
	{ "the argument is gone by then",
	  BYTES("\x31\xff" DRIVER_HEAD "\x90\xc9\xc3"),
	  -EINVAL,
	  0,
	  0,
	  { 0 } },
	{ "nothing known of it", BYTES(""), -EINVAL, 0, 0, { 0 } },
};

static void bodies_of_patched_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		const struct body_case *c = &bodies[i];
		struct body body;
		int err = place_body(&body, EM_X86_64, (const uint8_t *)c->code, c->size, 1 << 1);

		if (err != c->err)
			fail_msg("%s: %d instead of %d", c->what, err, c->err);
		if (err)
			continue;
		assert_int_equal(body.entry.delta, c->delta);
		assert_int_equal(body.entry.sp_words, c->sp_words);
		assert_int_equal(body.entry.class, PLACE_EMULATED);
		for (unsigned int k = 0; k < 3; k++)
			assert_int_equal(k < body.count ? body.exits[k] : 0, c->exits[k]);
	}
}

static void bodies_elsewhere(void **state)
{
	struct body body;

	(void)state;
	assert_int_equal(place_body(&body, EM_AARCH64, (const uint8_t *)DRIVER_HEAD, 20, 0),
			 -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_prologues),
		cmocka_unit_test(arm64_prologues),
		cmocka_unit_test(other_machines_are_refused),
		cmocka_unit_test(random_bytes_never_lead_outside),
		cmocka_unit_test(bodies_of_patched_functions),
		cmocka_unit_test(bodies_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
