// SPDX-License-Identifier: BSD-3-Clause
/*
 * Probes on this program's own functions, by every mechanism that the kernel has. Needs the right
 * to load BPF programs; skipped without.
 */
#include <errno.h>
#include <link.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/probe/links.h"

#define SELF "/proc/self/exe"
#define COUNTERS 8
#define CALLS 7
#define SPANS 11

enum { COOKIE_CALL = 1, COOKIE_SPAN = 2, COOKIE_BAD = 3 };

__attribute__((noinline)) static int called(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

__attribute__((noinline)) static int spanned(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 2;
}

struct lookup {
	uint64_t address, offset;
};

static int find_segment(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct lookup *lookup = arg;
	uint64_t vaddr = lookup->address - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && vaddr >= segment->p_vaddr &&
		    vaddr - segment->p_vaddr < segment->p_filesz) {
			lookup->offset = vaddr - segment->p_vaddr + segment->p_offset;
			return 1;
		}
	}
	return 0;
}

static uint64_t offset_of(int (*function)(int))
{
	struct lookup lookup = { .address = (uintptr_t)function };

	assert_int_equal(dl_iterate_phdr(find_segment, &lookup), 1);
	return lookup.offset;
}

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int new_counters(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = 8;
	attr.max_entries = COUNTERS;
	return bpf(BPF_MAP_CREATE, &attr);
}

static uint64_t counter(int map, uint32_t key)
{
	union bpf_attr attr;
	uint64_t value = 0;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&value;
	assert_int_equal(bpf(BPF_MAP_LOOKUP_ELEM, &attr), 0);
	return value;
}

#define INSN(c, d, s, o, i)                                                                        \
	{                                                                                          \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)                \
	}

/* counters[cookie]++ */
static int load_counting_program(int map, int attach_type)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_attach_cookie),
		INSN(BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_0, -4, 0),
		INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0, BPF_ADD),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.expected_attach_type = attach_type;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uintptr_t) "Dual BSD/GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

struct setting {
	struct link_programs programs;
	struct links links;
	int counters, entry, session;
};

static enum link_mechanism best_or_skip(void)
{
	enum link_mechanism best;

	if (links_detect(&best))
		skip();
	return best;
}

static void set_up(struct setting *s, enum link_mechanism mechanism)
{
	memset(&s->programs, -1, sizeof(s->programs));
	s->counters = new_counters();
	s->entry = load_counting_program(s->counters, links_attach_type(mechanism, false));
	s->session = load_counting_program(s->counters, links_attach_type(mechanism, true));
	assert_true(s->counters >= 0 && s->entry >= 0 && s->session >= 0);
	s->programs.entry_fd[UB_CALL] = s->entry;
	if (mechanism == LINK_SESSION) {
		s->programs.session_fd[UB_OP] = s->session;
	} else {
		s->programs.span_entry_fd[UB_OP] = s->entry;
		s->programs.return_fd[UB_OP] = s->entry;
	}
	links_init(&s->links, mechanism, &s->programs);
}

static void tear_down(struct setting *s)
{
	links_release(&s->links);
	close(s->entry);
	close(s->session);
	close(s->counters);
}

static void run_victims(void)
{
	for (volatile int i = 0; i < CALLS; i++)
		called(i);
	for (volatile int i = 0; i < SPANS; i++)
		spanned(i);
}

static void counts_by(enum link_mechanism mechanism)
{
	const struct link_probe probes[] = {
		{ offset_of(spanned), COOKIE_SPAN, UB_OP, true, false },
		{ 1ull << 40, COOKIE_BAD, UB_OP, true, false },
		{ offset_of(called), COOKIE_CALL, UB_CALL, false, false },
		{ 1ull << 40, COOKIE_BAD, UB_CALL, false, false },
	};
	unsigned char before[16], after[16];
	struct setting s;
	size_t refused;

	memcpy(before, (void *)(uintptr_t)spanned, sizeof(before));
	set_up(&s, mechanism);
	assert_int_equal(links_attach(&s.links, SELF, probes, 4, &refused), 0);
	assert_int_equal(refused, 2);
	run_victims();
	assert_int_equal(counter(s.counters, COOKIE_CALL), CALLS);
	assert_int_equal(counter(s.counters, COOKIE_SPAN), 2 * SPANS);
	links_release(&s.links);
	memcpy(after, (void *)(uintptr_t)spanned, sizeof(after));
	assert_memory_equal(before, after, sizeof(before));
	run_victims();
	assert_int_equal(counter(s.counters, COOKIE_CALL), CALLS);
	assert_int_equal(counter(s.counters, COOKIE_BAD), 0);
	tear_down(&s);
}

static void each_mechanism_counts(void **state)
{
	enum link_mechanism best = best_or_skip();

	(void)state;
	for (int mechanism = LINK_PERF; mechanism <= (int)best; mechanism++) {
		print_message("%s\n", link_mechanism_name(mechanism));
		counts_by(mechanism);
	}
}

/* A file that has gone takes its own links alone. */
static void one_of_two_files_forgotten(void **state)
{
	const struct link_probe probes[] = {
		{ offset_of(spanned), COOKIE_SPAN, UB_OP, true, false },
		{ offset_of(called), COOKIE_CALL, UB_CALL, false, false },
	};
	struct map gone = { 0 };
	struct setting s;
	size_t refused;

	(void)state;
	set_up(&s, best_or_skip());
	for (int i = 0; i < 2; i++) {
		s.links.file = (uint64_t)i;
		assert_int_equal(links_attach(&s.links, SELF, &probes[i], 1, &refused), 0);
	}
	run_victims();
	map_insert(&gone, 1, 0, NULL);
	links_forget(&s.links, &gone);
	links_settle(&s.links);
	run_victims();
	assert_int_equal(counter(s.counters, COOKIE_CALL), CALLS);
	assert_int_equal(counter(s.counters, COOKIE_SPAN), 2 * 2 * SPANS);
	map_release(&gone);
	tear_down(&s);
}

/* As windows do: nothing is counted between them, and everything again in the next one. */
static void detached_and_back(void **state)
{
	const struct link_probe probes[] = {
		{ offset_of(spanned), COOKIE_SPAN, UB_OP, true, false },
		{ offset_of(called), COOKIE_CALL, UB_CALL, false, false },
	};
	struct setting s;
	size_t refused;

	(void)state;
	set_up(&s, best_or_skip());
	for (int window = 1; window <= 3; window++) {
		assert_int_equal(links_attach(&s.links, SELF, probes, 2, &refused), 0);
		run_victims();
		links_detach(&s.links);
		assert_int_equal(s.links.all.len, 0);
		links_settle(&s.links);
		links_settle(&s.links);
		run_victims();
		assert_int_equal(counter(s.counters, COOKIE_CALL), window * CALLS);
		assert_int_equal(counter(s.counters, COOKIE_SPAN), window * 2 * SPANS);
	}
	tear_down(&s);
}

static void no_program_of_that_kind(void **state)
{
	const struct link_probe probe = { offset_of(called), 1, UB_RX, false, false };
	enum link_mechanism best = best_or_skip();
	struct setting s;
	size_t refused;

	(void)state;
	set_up(&s, best);
	assert_int_equal(links_attach(&s.links, SELF, &probe, 1, &refused), -EBADF);
	tear_down(&s);
}

static void no_such_file(void **state)
{
	const struct link_probe probe = { 64, 1, UB_CALL, false, false };
	enum link_mechanism best = best_or_skip();

	(void)state;
	for (int mechanism = LINK_PERF; mechanism <= (int)best; mechanism++) {
		struct setting s;
		size_t refused;

		set_up(&s, mechanism);
		assert_int_equal(links_attach(&s.links, "/no/such/file", &probe, 1, &refused),
				 -ENOENT);
		assert_int_equal(s.links.all.len, 0);
		tear_down(&s);
	}
}

static void nothing_to_attach(void **state)
{
	struct setting s;
	size_t refused = 1;

	(void)state;
	set_up(&s, best_or_skip());
	assert_int_equal(links_attach(&s.links, SELF, NULL, 0, &refused), 0);
	assert_int_equal(refused, 0);
	tear_down(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mechanism_counts),
		cmocka_unit_test(detached_and_back),
		cmocka_unit_test(one_of_two_files_forgotten),
		cmocka_unit_test(no_program_of_that_kind),
		cmocka_unit_test(no_such_file),
		cmocka_unit_test(nothing_to_attach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
