// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <link.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "observe/probe/links.h"
#include "observe/probe/keeper.h"

/* What gets probed: at instructions that the kernel emulates, as in UCX and MPI. */
void links_guinea_pig(void), links_guinea_span(void);
__asm__(".pushsection .text\n"
	".globl links_guinea_pig, links_guinea_span\n"
	".hidden links_guinea_pig, links_guinea_span\n"
	".type links_guinea_pig, %function\n"
	".type links_guinea_span, %function\n"
	"links_guinea_pig:\n"
	"	nop\n"
	"	ret\n"
	"links_guinea_span:\n"
	"	nop\n"
	"	ret\n"
	".popsection\n");

static int find_own_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t vaddr = (uintptr_t)links_guinea_pig - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && vaddr >= segment->p_vaddr &&
		    vaddr - segment->p_vaddr < segment->p_filesz) {
			*(uint64_t *)arg = vaddr - segment->p_vaddr + segment->p_offset;
			return 1;
		}
	}
	return 0;
}

static int load_empty_program(int attach_type)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.expected_attach_type = attach_type;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uintptr_t) "Dual BSD/GPL";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return fd < 0 ? -errno : fd;
}

/* A link with an empty program there; session: of both ends. */
static int link_own_code(enum link_mechanism mechanism, uint64_t offset, bool session,
			 bool at_return)
{
	static const uint64_t cookie = 1;
	struct link_target target = { "/proc/self/exe", &offset, &cookie, 1 };
	int type = links_attach_type(mechanism, session);
	int prog = load_empty_program(type), fd;

	if (prog < 0)
		return prog;
	fd = mechanism == LINK_PERF ? link_perf(prog, at_return, &target)
				    : link_multi(prog, type, at_return, &target);
	close(prog);
	return fd;
}

static int try_mechanism(enum link_mechanism mechanism, uint64_t offset)
{
	int fd = link_own_code(mechanism, offset, mechanism == LINK_SESSION, false);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int links_detect(enum link_mechanism *best)
{
	uint64_t offset = 0;
	int err = -ENOENT;

	if (!dl_iterate_phdr(find_own_code, &offset)) {
		*best = LINK_NONE;
		return err;
	}
	for (*best = LINK_SESSION; *best != LINK_NONE; --*best) {
		err = try_mechanism(*best, offset);
		if (!err)
			break;
	}
	return err;
}

#define ROUNDS 9
#define CALLS 100

static int by_size(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static double call_ns(void (*function)(void))
{
	double rounds[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t from = clock_ns(CLOCK_MONOTONIC);

		for (int i = 0; i < CALLS; i++)
			function();
		rounds[round] = (double)(clock_ns(CLOCK_MONOTONIC) - from) / CALLS;
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), by_size);
	return rounds[ROUNDS / 2];
}

/* One link of a session; else the return, which must be there first, and the entry. */
static int link_span(enum link_mechanism mechanism, uint64_t offset, int *fds, size_t *count)
{
	bool session = mechanism == LINK_SESSION;

	for (int at_return = !session; at_return >= 0; at_return--) {
		int fd = link_own_code(mechanism, offset, session, at_return);

		if (fd < 0)
			return fd;
		fds[(*count)++] = fd;
	}
	return 0;
}

int links_measure(enum link_mechanism mechanism, struct link_cost *cost)
{
	double without = call_ns(links_guinea_pig);
	uint64_t offset = 0;
	size_t count = 1;
	int fds[3], err;

	if (!dl_iterate_phdr(find_own_code, &offset))
		return -ENOENT;
	fds[0] = link_own_code(mechanism, offset, false, false);
	if (fds[0] < 0)
		return fds[0];
	offset += (uintptr_t)links_guinea_span - (uintptr_t)links_guinea_pig;
	err = link_span(mechanism, offset, fds, &count);
	cost->entry = call_ns(links_guinea_pig) - without;
	cost->at_return = call_ns(links_guinea_span) - without - cost->entry;
	keeper_close_wait(keeper_close_begin(fds, count));
	if (cost->at_return < 0)
		cost->at_return = 0;
	return err;
}
